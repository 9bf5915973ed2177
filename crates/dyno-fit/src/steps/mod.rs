//! The steps of a server's engine, recovered from the records of a run: which tokens were produced
//! together, what each step had to do and when it ended, and what it cost. Takes records, not files.
//!
//! A decoding sequence gets one token in each step. So one number per request, the step of its first
//! token, places all its tokens (`offsets.rs`). A step ends when its earliest token arrives: the
//! server's front end only delays. Where this cannot be done, a [`Refusal`] says why.

mod ahead;
mod costs;
mod front_end;
mod linear;
mod offsets;
mod refusal;
mod regression;
mod served;
#[cfg(test)]
mod simulated;
mod stream;
#[cfg(test)]
mod tests;
mod traffic;
mod usable;
mod windows;

pub use ahead::{Ahead, Planning};
pub use costs::{Coefficient, KnownCosts, LaunchBound, StepCosts, Term, step_costs};
pub use front_end::FittedFrontEnd;
pub use offsets::Placed;
pub use refusal::Refusal;
pub use served::{PrefillSteps, ServedStep};
pub use traffic::is_checked;

use dyno_model::record::RequestRecord;
use dyno_model::server::ServerSample;
use served::Steps;

/// What was recorded of a level.
#[derive(Debug, Clone, Copy)]
pub struct LevelRecords<'a> {
    /// Its requests, warm-up included, in any order.
    pub requests: &'a [RequestRecord],
    /// The server metrics of the run; those outside of the level are ignored.
    pub samples: &'a [ServerSample],
    /// Whether prompts begin alike on purpose.
    pub shared: bool,
}

/// The steps of an engine during a level.
#[derive(Debug, Clone)]
pub struct LevelSteps {
    /// The requests that were placed, by the time of their first token.
    pub placed: Vec<Placed>,
    /// The steps that gave a token, in order.
    pub steps: Vec<ServedStep>,
    /// Whether prompts are prefilled in the steps that decode.
    pub prefills: PrefillSteps,
    /// The server's front end; absent where no step has enough tokens to tell.
    pub front_end: Option<FittedFrontEnd>,
    /// Whether steps are planned ahead; absent where no first token is far enough from others.
    pub ahead: Option<Ahead>,
    /// The most requests that were in flight at once.
    pub most_in_flight: u32,
}

/// The steps of a level, or every reason why they cannot be recovered.
pub fn level_steps(level: LevelRecords<'_>) -> Result<LevelSteps, Vec<Refusal>> {
    let refusals = usable::refusals(level);
    if !refusals.is_empty() {
        return Err(refusals);
    }
    let streams = stream::streams(level.requests);
    let typical = stream::typical_step(&streams);
    let solved = offsets::solve(&streams, typical);
    let Steps { steps, firsts, prefills } = Steps::of(&streams, &solved, typical);
    let front_end = front_end::front_end(&steps);
    if let Some(refusal) = usable::hidden(&solved, &steps, front_end.as_ref()) {
        return Err(vec![refusal]);
    }
    let ahead = ahead::ahead(&steps);
    let placed = solved.placed(&streams, &firsts);
    let most_in_flight = traffic::most_in_flight(level.requests);
    Ok(LevelSteps { placed, steps, prefills, front_end, ahead, most_in_flight })
}
