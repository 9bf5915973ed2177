//! Twins in the place of servers. [`Predicted`] is a transport for the drivers of a real run, behind
//! which an engine answers in virtual time. [`fit`] looks for the engine under which the client that
//! made a measured table would have measured the same.
//!
//! What can be counted on fingers (the policy, the cap on sequences, the token budget, whether
//! the cost of decoding bends) is tried out; the rest is found by descent over the squared errors
//! of logarithms. Levels that are held out are never looked at.

mod choice;
mod error;
mod identify;
mod model;
mod parameters;
mod predicted;
mod prompts;
mod reference;
mod replay;
mod report;
mod search;
mod simplex;
mod space;
mod table;

pub use choice::Curve;
pub use error::{Defect, FitError, defects};
pub use predicted::{Manner, Predicted};
pub use prompts::{Asked, Prompts};
pub use report::{Compared, Fitted, Report, verify};
pub use table::{End, Level, Offer, Role, Table};

use dyno_engine::core::Policy;

/// How to fit.
#[derive(Debug, Clone, PartialEq)]
pub struct FitOptions {
    /// Policies to try.
    pub policies: Vec<Policy>,
    /// Caps on sequences to try, where it is not known.
    pub max_seqs: Vec<u32>,
    /// Token budgets to try.
    pub token_budgets: Vec<u32>,
    /// Curves of the cost of decoding to try, simple ones first.
    pub curves: Vec<Curve>,
    /// Whether to try a client's side that handles tokens one after another, and none.
    pub fronts: Vec<bool>,
    /// Whether to try a KV pool that is too small for all that is in flight.
    pub pool: bool,
    /// What a pair of tokens costs in prefill, over what a token does; where lengths do not vary,
    /// a table cannot tell the two apart.
    pub attention_ratio: f64,
    /// What a token to look back on costs, over what a step does; where lengths do not vary, a
    /// table cannot tell it from the cost of a sequence.
    pub kv_ratio: f64,
    /// Threads to use.
    pub threads: usize,
}

impl Default for FitOptions {
    fn default() -> Self {
        Self {
            policies: vec![Policy::PrefillFirst, Policy::Chunked],
            max_seqs: vec![48, 64, 96, 128, 192, 256, 512],
            token_budgets: vec![512, 2048, 8192, 32_768],
            curves: vec![Curve::Straight, Curve::Rise, Curve::Knee],
            fronts: vec![false, true],
            pool: false,
            // One in six times the width of a model of some 70 billion parameters.
            attention_ratio: 2e-5,
            // Bytes of a token over bytes of the weights of such a model.
            kv_ratio: 2.3e-6,
            threads: 2,
        }
    }
}

/// Fits a twin's engine to a table.
pub fn fit(table: &Table, options: &FitOptions) -> Result<Fitted, FitError> {
    let defects = defects(table);
    if !defects.is_empty() {
        return Err(FitError::Defects(defects));
    }
    let found = search::search(table, options).ok_or(FitError::NothingToTry)?;
    Ok(identify::judge(table, options, &found))
}
