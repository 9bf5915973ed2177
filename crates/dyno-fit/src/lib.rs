//! Which twin behaves like a server that was measured. Takes tables and records, not files.
//!
//! There are two fits. [`fit`] takes a table of results: it searches for the engine with which the client of the
//! table would have measured the same (`replay` simulates that client). [`calibrate()`] takes the records of runs:
//! `trial` sends the requests of a level again, `steps` recovers the server's steps from its records, and `calibrate`
//! searches, and checks later whether a server still is what its twin says ([`check`]).
//!
//! In a fit to a table, discrete settings (the policy, the sequence cap, the token budget, the shape of the decode cost)
//! are tried one by one; the rest is found by minimising the squared errors of logarithms. Held-out
//! levels are never used.

mod calibrate;
mod choice;
mod dense;
mod error;
mod identify;
mod model;
mod parameters;
mod progress;
mod reference;
mod replay;
mod report;
mod search;
mod simplex;
mod space;
pub mod steps;
mod table;
mod terms;
mod trial;

pub use calibrate::{
    CalibrateOptions, Calibrated, CheckedLevel, ExplainedPart, Explanation, FitCheck, FitSettings,
    LeftOut, Missed, NextRun, Shift, Unknown, Without, calibrate, check,
};
pub use choice::FitCurve;
pub use error::{defects, nothing_varies, too_few};
pub use progress::{FitProgress, FitState};
pub use report::{FitCompared, Fitted, Report, verify};
pub use table::{FitTable, Offer, Role, TableEnd, TableLevel};
pub use terms::FitTerm;
pub use trial::{
    Figures, Quantity, SentRequest, Shared, Trial, TrialCaches, TrialChunk, TrialKind, TrialTime,
    Unfit, caches, rerun, sent_times, trial,
};

use dyno_engine::core::Policy;
use dyno_model::message::clauses;
use dyno_model::{Message, message};
use std::sync::Arc;

/// How to fit.
#[derive(Debug, Clone)]
pub struct FitOptions {
    /// Policies to try.
    pub policies: Vec<Policy>,
    /// Sequence caps to try if the cap is not known.
    pub max_seqs: Vec<u32>,
    /// Token budgets to try.
    pub token_budgets: Vec<u32>,
    /// Shapes of the decode cost to try, simple ones first.
    pub curves: Vec<FitCurve>,
    /// Whether to try a client that handles tokens one after another, one that takes no time, or both.
    pub fronts: Vec<bool>,
    /// Whether to try a KV pool that is too small for all that is in flight.
    pub pool: bool,
    /// Further terms to try on the best model without them; they take as long as all the rest.
    pub terms: Vec<FitTerm>,
    /// Prefill cost of a pair of tokens over that of a token; not identifiable from a table with one
    /// prompt length.
    pub attention_ratio: f64,
    /// Cost of a token of KV cache over that of a step; not identifiable from a table with one length.
    pub kv_ratio: f64,
    /// Threads to use.
    pub threads: usize,
    /// Counts what has been done.
    pub progress: Arc<FitProgress>,
}

impl Default for FitOptions {
    fn default() -> Self {
        Self {
            policies: vec![Policy::PrefillFirst, Policy::Chunked],
            max_seqs: vec![48, 64, 96, 128, 192, 256, 512],
            token_budgets: vec![512, 2048, 8192, 32_768],
            curves: vec![FitCurve::Straight, FitCurve::Rise, FitCurve::Knee],
            fronts: vec![false, true],
            pool: false,
            terms: Vec::new(),
            // One in six times the width of a model of some 70 billion parameters.
            attention_ratio: 2e-5,
            // Bytes of a token over bytes of the weights of such a model.
            kv_ratio: 2.3e-6,
            threads: 2,
            progress: Arc::default(),
        }
    }
}

/// Fits a twin's engine to a table.
pub fn fit(table: &FitTable, options: &FitOptions) -> Result<Fitted, Message> {
    let defects = defects(table);
    if !defects.is_empty() {
        return Err(message!("{}", "{}", clauses(&defects)));
    }
    let found = search::search(table, options).ok_or(message!(
        "no policy, sequence cap and token budget to try; give at least one of each",
        "没有可尝试的调度策略、序列数上限和 token 预算；每项至少给出一个",
    ))?;
    Ok(identify::judge(table, options, &found))
}
