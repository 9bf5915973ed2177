//! A measured table in the form that is fitted: levels of load, and what was measured under each.

use dyno_engine::twin::reference::Figure;
use dyno_model::plan::Load;
use std::collections::BTreeMap;

/// A table to fit.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Its name.
    pub name: String,
    /// The levels, in order of load.
    pub levels: Vec<Level>,
    /// How many sequences the engine runs at once, if that is known.
    pub max_seqs: Option<u32>,
    /// Longest prompt and answer together that the engine takes, if that is known.
    pub context: Option<u32>,
    /// How many tokens the KV pool holds, if that is known; else it is taken to be large enough.
    pub kv_tokens: Option<u64>,
    /// Whether answers end by themselves, so that their lengths vary.
    pub varied: bool,
}

/// A level of load.
#[derive(Debug, Clone, PartialEq)]
pub struct Level {
    /// What it is called in messages.
    pub label: String,
    /// How requests were sent.
    pub offer: Offer,
    /// Tokens of a prompt, on average.
    pub input: f64,
    /// Tokens of a response, on average, as the engine makes them.
    pub output: f64,
    /// Tokens of a response as a client counted them that left out those without text, and the
    /// last one; the time between tokens is then the client's, too. Absent if it counted all.
    pub counted: Option<f64>,
    /// When the client gave a request up, in seconds.
    pub timeout_s: Option<f64>,
    /// Whether its prompts had been sent before, so that a prefix cache may know them.
    pub repeated: bool,
    /// What was measured, without what is not to be believed.
    pub figures: BTreeMap<Figure, f64>,
    /// What it is for.
    pub role: Role,
}

/// What a level is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Role {
    /// Coefficients are fitted to it.
    Fitted,
    /// It judges what was fitted to the others.
    HeldOut,
    /// Neither, and why.
    LeftOut(String),
}

/// How requests were sent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Offer {
    /// By a load, as Dyno's own drivers offer it.
    Load {
        /// Which.
        load: Load,
        /// Most that an open loop had in flight.
        at_most: Option<u32>,
        /// When it ended.
        end: End,
    },
    /// As many in flight all the time as the client could, and nobody knows how many.
    Unknown {
        /// When it ended.
        end: End,
    },
    /// Nobody knows how: times are those of a lone request, rates those of an engine that has all
    /// it can do.
    Cell {
        /// How many requests it is given at once for that.
        requests: u32,
    },
}

/// When a level ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum End {
    /// When so many requests had been sent and had ended.
    Requests {
        /// How many.
        requests: u32,
        /// How much later than the last one its end was noticed, in seconds, on average.
        noticed_s: f64,
    },
    /// After so many seconds; what was in flight then does not count.
    Dropped {
        /// How long.
        seconds: f64,
    },
    /// After so many seconds, and when what was in flight then had ended.
    Drained {
        /// How long.
        seconds: f64,
    },
}

impl Offer {
    /// All at once.
    pub fn burst(requests: u32) -> Self {
        let end = End::Requests { requests, noticed_s: 0.0 };
        Self::Load { load: Load::Burst { requests: u64::from(requests) }, at_most: None, end }
    }
}

impl Table {
    /// The levels that are fitted to.
    pub fn fitted(&self) -> impl Iterator<Item = &Level> {
        self.levels.iter().filter(|level| level.role == Role::Fitted)
    }
}

impl Level {
    /// Whether it is not known how many requests were in flight.
    pub fn client_unknown(&self) -> bool {
        matches!(self.offer, Offer::Unknown { .. })
    }

    /// The figures that a model is held to: one for how much was done, and times.
    pub fn judged(&self) -> impl Iterator<Item = (Figure, f64)> {
        let amount = match self.offer {
            Offer::Load { load: Load::Burst { .. }, .. } => {
                [Figure::DurationS, Figure::OutputTokensPerS, Figure::CompletedRate]
            }
            // Rates of a matrix are rounded too much.
            Offer::Cell { .. } => [Figure::OutputTokensPerS; 3],
            _ => [Figure::CompletedRate, Figure::OutputTokensPerS, Figure::DurationS],
        };
        let between = [Figure::TpotMs, Figure::ItlMs];
        let first_of = |figures: &[Figure]| {
            figures.iter().copied().find(|figure| self.figures.contains_key(figure))
        };
        [
            first_of(&amount),
            first_of(&[Figure::LatencyS, Figure::LatencyPerOutputTokenMs]),
            first_of(&[Figure::TtftMs]),
            first_of(&between),
            first_of(&[Figure::P90S]),
        ]
        .into_iter()
        .flatten()
        .filter_map(|figure| Some((figure, *self.figures.get(&figure)?)))
    }
}
