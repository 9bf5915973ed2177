//! SLOs, such as `ttft.p99<500ms and errors<1%`, and stop conditions, such as `errors>5%`. Saved as
//! canonical text. [`term`] defines a term; `parse` and `bound` read one.

mod bound;
mod parse;
pub mod term;

pub use crate::metric::{Metric, Statistic, Unit};
pub use term::{Bound, Operator, Term};

use crate::message::Message;
use crate::metric::Place;
use crate::text_form::saved_as_text;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The metrics that can be bounded, in the order in which messages list them.
pub fn metrics() -> Vec<Metric> {
    Place::Slo.metrics().into_iter().map(|column| column.metric).collect()
}

/// A service level objective: all of its terms have to hold. It has at least one, and none twice.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Slo {
    terms: Vec<Term>,
}

impl Slo {
    /// Its terms, in the order in which they were written.
    pub fn terms(&self) -> &[Term] {
        &self.terms
    }
}

impl FromStr for Slo {
    type Err = Message;

    fn from_str(text: &str) -> Result<Self, Message> {
        Ok(Self { terms: parse::slo(text)? })
    }
}

impl fmt::Display for Slo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, term) in self.terms.iter().enumerate() {
            let between = if i == 0 { "" } else { " and " };
            write!(f, "{between}{term}")?;
        }
        Ok(())
    }
}

saved_as_text!(Slo);

/// When to stop running levels.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Condition {
    /// A metric is above a bound.
    Above(Term),
    /// The server does not keep up with the offered load.
    Saturated,
}

const SATURATED: &str = "saturated";

impl FromStr for Condition {
    type Err = Message;

    fn from_str(text: &str) -> Result<Self, Message> {
        if text.trim().eq_ignore_ascii_case(SATURATED) {
            return Ok(Self::Saturated);
        }
        parse::condition(text).map(Self::Above)
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Above(term) => term.fmt(f),
            Self::Saturated => f.write_str(SATURATED),
        }
    }
}

saved_as_text!(Condition);
