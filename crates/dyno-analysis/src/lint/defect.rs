//! What the checks find, as types.

use super::Lint;
use dyno_model::Language;
use dyno_model::summary::Summary;
use serde::Serialize;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Weight {
    /// The figures cannot be right, or do not mean what they say.
    Error,
    /// They may be right, but it takes a reason.
    Warning,
}

/// How sure the likely cause is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Sure {
    /// The figures leave no other.
    Certain,
    /// They speak for it.
    Likely,
    /// One among others.
    Possible,
}

/// A row that a finding is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Row {
    /// What the table calls it.
    pub label: String,
    /// Its line in the file, where it was read from one.
    pub line: Option<u64>,
}

/// A row with a figure that was found and one that was to be expected.
#[derive(Debug, Clone, PartialEq)]
pub struct Against {
    /// The row.
    pub row: Row,
    /// As the table has it.
    pub found: f64,
    /// As it should be.
    pub expected: f64,
}

/// What a check has found.
#[derive(Debug, Clone, PartialEq)]
pub enum Defect {
    /// Rows of zeros: there was no data.
    Zeros(Vec<Row>),
    /// TTFT repeats the latency.
    NotStreamed(Vec<Row>),
    /// Fewer requests ended than were expected: those that ended, and those expected.
    Missing(Vec<Against>),
    /// QPS × latency ÷ parallelism, and the least that filling and draining can explain.
    Little {
        /// The rows.
        rows: Vec<Against>,
        /// Some of their requests failed.
        failed: bool,
        /// Above what slots there are, instead of below.
        above: bool,
    },
    /// Tokens/s ÷ QPS, and the output tokens of a request.
    Tokens(Vec<Against>),
    /// Mean output tokens, and those of the other rows.
    Runaway {
        /// The rows.
        rows: Vec<Against>,
        /// Tokens of the one answer that would explain it.
        longest: f64,
    },
    /// (Latency − TTFT) ÷ ITL, and the output tokens less one.
    Gaps {
        /// The rows.
        rows: Vec<Against>,
        /// The ITL of another row would fit, for so many of them.
        moved: usize,
    },
    /// Offered rates that do not lie on the sweep's own grid.
    Grid {
        /// The rows.
        rows: Vec<Row>,
        /// Least rate and step of the grid.
        first: f64,
        /// From one rate to the next.
        step: f64,
        /// Offered as printed, and as it fits when rows are put in the order of their latency.
        repair: Vec<(f64, f64)>,
    },
    /// More completed than was offered: completed, and offered.
    AboveOffered(Vec<Against>),
    /// TTFT at a rate, and the least at a higher one, in milliseconds.
    SlowAtLowRate(Vec<Against>),
    /// Throughput falls while the load rises: at the load, and the most at a lower one.
    Falls {
        /// The rows.
        rows: Vec<Against>,
        /// Some of their requests failed.
        failed: bool,
    },
    /// The slowest answers took a round time: milliseconds, and the time-out.
    Timeout {
        /// The rows.
        rows: Vec<Against>,
        /// So many requests of theirs failed.
        failed: u64,
    },
    /// TTFT under load, and one request at a time, in milliseconds.
    Prefill(Vec<Against>),
    /// Latency per output token, and with shorter answers; the context that would explain it.
    Clamp {
        /// The rows.
        rows: Vec<Against>,
        /// Tokens of the context, where the rows agree on it.
        context: Option<f64>,
    },
    /// Rows that only one of two forms of the same results has.
    Unmatched {
        /// What the other form is called.
        other: String,
        /// The rows.
        rows: Vec<Row>,
    },
    /// Two forms of the same results disagree: there, and here.
    Disagree {
        /// What the other form is called.
        other: String,
        /// Which figure.
        figure: &'static str,
        /// The rows.
        rows: Vec<Against>,
    },
}

impl Defect {
    /// A stable name of the check.
    pub fn check(&self) -> &'static str {
        match self {
            Self::Zeros(_) => "zeros",
            Self::NotStreamed(_) => "not_streamed",
            Self::Missing(_) => "requests_missing",
            Self::Little { .. } => "littles_law",
            Self::Tokens(_) => "tokens_per_request",
            Self::Runaway { .. } => "runaway_answer",
            Self::Gaps { .. } => "tokens_by_itl",
            Self::Grid { .. } => "rates_off_grid",
            Self::AboveOffered(_) => "above_offered",
            Self::SlowAtLowRate(_) => "slow_at_low_rate",
            Self::Falls { .. } => "throughput_falls",
            Self::Timeout { .. } => "round_timeout",
            Self::Prefill(_) => "ttft_below_synchronous",
            Self::Clamp { .. } => "context_clamp",
            Self::Disagree { .. } => "forms_disagree",
            Self::Unmatched { .. } => "forms_unmatched",
        }
    }

    /// How bad it is.
    pub fn weight(&self) -> Weight {
        match self {
            Self::Falls { .. }
            | Self::Prefill(_)
            | Self::NotStreamed(_)
            | Self::Unmatched { .. } => Weight::Warning,
            _ => Weight::Error,
        }
    }

    /// How sure its likely cause is.
    pub fn sure(&self) -> Sure {
        match self {
            Self::Zeros(_) | Self::NotStreamed(_) | Self::Missing(_) | Self::Unmatched { .. } => {
                Sure::Certain
            }
            Self::Clamp { context: Some(_), .. } => Sure::Certain,
            Self::Gaps { rows, moved } if *moved == rows.len() => Sure::Certain,
            Self::Falls { failed: false, .. }
            | Self::Little { failed: false, above: false, .. }
            | Self::Clamp { .. }
            | Self::Gaps { moved: 0, .. } => Sure::Possible,
            _ => Sure::Likely,
        }
    }

    /// The rows that it is about.
    pub fn rows(&self) -> Vec<Row> {
        match self {
            Self::Zeros(rows)
            | Self::NotStreamed(rows)
            | Self::Grid { rows, .. }
            | Self::Unmatched { rows, .. } => rows.clone(),
            Self::Missing(rows)
            | Self::AboveOffered(rows)
            | Self::SlowAtLowRate(rows)
            | Self::Prefill(rows)
            | Self::Little { rows, .. }
            | Self::Tokens(rows)
            | Self::Runaway { rows, .. }
            | Self::Gaps { rows, .. }
            | Self::Falls { rows, .. }
            | Self::Timeout { rows, .. }
            | Self::Clamp { rows, .. }
            | Self::Disagree { rows, .. } => rows.iter().map(|row| row.row.clone()).collect(),
        }
    }

    /// In words, as a finding on a run.
    pub(super) fn lint(&self, summary: &Summary, language: Language) -> Lint {
        let (what, cause) = self.words(language);
        let run = &summary.run;
        Lint {
            check: self.check(),
            weight: self.weight(),
            run: run.label.clone().unwrap_or_else(|| run.id.clone()),
            file: run.origin.as_ref().map(|origin| origin.file.clone()),
            rows: self.rows(),
            what,
            cause,
            sure: self.sure(),
        }
    }
}
