//! A measured table as input of a fit: levels of load and their measurements.

use dyno_engine::twin::reference::ReferenceValue;
use dyno_model::Message;
use dyno_model::plan::Load;
use std::collections::BTreeMap;

/// A table to fit.
#[derive(Debug, Clone, PartialEq)]
pub struct FitTable {
    /// Its name.
    pub name: String,
    /// The levels, in order of load.
    pub levels: Vec<TableLevel>,
    /// How many sequences the engine runs at once, if it is known.
    pub max_seqs: Option<u32>,
    /// Context length of the engine, if it is known.
    pub context: Option<u32>,
    /// How many tokens the KV pool holds, if it is known; otherwise it is assumed to be large enough.
    pub kv_tokens: Option<u64>,
    /// Whether responses end by themselves, so that their lengths vary.
    pub varied: bool,
}

/// A level of load.
#[derive(Debug, Clone, PartialEq)]
pub struct TableLevel {
    /// What it is called in messages.
    pub label: String,
    /// How requests were sent.
    pub offer: Offer,
    /// Tokens of a prompt, on average.
    pub input: f64,
    /// Tokens of a response, on average, as generated.
    pub output: f64,
    /// Tokens of a response as counted by a client that skips those without text and the last one; the
    /// time between tokens is then the client's, too. Absent if it counted all.
    pub counted: Option<f64>,
    /// When the client gave a request up, in seconds.
    pub timeout_s: Option<f64>,
    /// Whether its prompts had been sent before, so that a prefix cache may have them.
    pub repeated: bool,
    /// The measurements, without unreliable ones.
    pub metrics: BTreeMap<ReferenceValue, f64>,
    /// How it is used.
    pub role: Role,
}

/// How a level is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Role {
    /// The model is fitted to it.
    Fitted,
    /// It tests the model fitted to the others.
    HeldOut,
    /// It is not used, for this reason.
    LeftOut(Message),
}

/// How requests were sent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Offer {
    /// By one of Dyno's own kinds of load.
    Load {
        /// The load.
        load: Load,
        /// The most requests that an open loop had in flight.
        at_most: Option<u32>,
        /// When it ended.
        end: TableEnd,
    },
    /// With as many in flight as the client could; their number is unknown.
    Unknown {
        /// When it ended.
        end: TableEnd,
    },
    /// In an unknown way: times are those of a single request, rates those of a saturated engine.
    Cell {
        /// How many requests saturate it.
        requests: u32,
    },
}

/// When a level ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TableEnd {
    /// When so many requests had been sent and had ended.
    Requests {
        /// How many.
        requests: u32,
        /// How much later than its last request the end was noticed, in seconds, on average.
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
    /// All requests at once.
    pub fn burst(requests: u32) -> Self {
        let end = TableEnd::Requests { requests, noticed_s: 0.0 };
        Self::Load { load: Load::Burst { requests: u64::from(requests) }, at_most: None, end }
    }
}

impl FitTable {
    /// The levels that are fitted to.
    pub fn fitted(&self) -> impl Iterator<Item = &TableLevel> {
        self.levels.iter().filter(|level| level.role == Role::Fitted)
    }
}

impl TableLevel {
    /// Whether it is not known how many requests were in flight.
    pub fn client_unknown(&self) -> bool {
        matches!(self.offer, Offer::Unknown { .. })
    }

    /// The metrics that a model is fitted to: one of throughput, and times.
    pub fn judged(&self) -> impl Iterator<Item = (ReferenceValue, f64)> {
        let amount = match self.offer {
            Offer::Load { load: Load::Burst { .. }, .. } => [
                ReferenceValue::DurationS,
                ReferenceValue::OutputTokensPerS,
                ReferenceValue::CompletedRate,
            ],
            // Request rates of a matrix are rounded too much.
            Offer::Cell { .. } => [ReferenceValue::OutputTokensPerS; 3],
            _ => [
                ReferenceValue::CompletedRate,
                ReferenceValue::OutputTokensPerS,
                ReferenceValue::DurationS,
            ],
        };
        let between = [ReferenceValue::TpotMs, ReferenceValue::ItlMs];
        let first_of = |metrics: &[ReferenceValue]| {
            metrics.iter().copied().find(|figure| self.metrics.contains_key(figure))
        };
        [
            first_of(&amount),
            first_of(&[ReferenceValue::LatencyS, ReferenceValue::LatencyPerOutputTokenMs]),
            first_of(&[ReferenceValue::TtftMs]),
            first_of(&between),
            first_of(&[ReferenceValue::P90S]),
        ]
        .into_iter()
        .flatten()
        .filter_map(|figure| Some((figure, *self.metrics.get(&figure)?)))
    }
}
