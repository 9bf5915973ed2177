//! Whether the field that fixes the output length is obeyed.
//!
//! A response of the requested length does not show it: the model may have had that much to say. A
//! response that ended by itself before that shows that the field is not obeyed. And where the model
//! ends the same response by itself without the field, but not with it, the field is obeyed.

use super::PreflightError;
use super::probe::{Probe, TOKENS};
use crate::dialect::{Does, FinishKind, Optional};
use dyno_model::outcome::Outcome;
use dyno_model::record::{RequestRecord, TokenSource};

/// How long the model may go on without the field. Models that think take longer, and the preflight
/// would, too.
const NATURAL: u32 = 64;

/// Whether the output length is forced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Force {
    /// No field does it.
    No,
    /// A field is accepted, and nothing shows that it is not obeyed.
    Unproven,
    /// A field is obeyed, which was seen.
    Yes,
}

impl Probe<'_> {
    /// Finds a field that is obeyed. Also returns the response to the first accepted request.
    pub(super) fn find_force(&mut self) -> Result<(RequestRecord, Force), PreflightError> {
        let mut record = self.accepted(TOKENS)?;
        while let Some(field) = self.sent(Does::FixLength) {
            match reached(&record, TOKENS) {
                None => return Ok((record, Force::Unproven)),
                Some(false) => {
                    let has_other = self.alternative(field).is_some();
                    self.disobeyed(field);
                    if has_other {
                        record = self.accepted(TOKENS)?;
                    }
                }
                Some(true) if self.may_end_early() => return Ok((record, Force::Unproven)),
                Some(true) => {
                    let force = self.compare(field)?;
                    return Ok((record, force));
                }
            }
        }
        Ok((record, Force::No))
    }

    /// Compares a response with what the model says without the field.
    fn compare(&mut self, field: &'static Optional) -> Result<Force, PreflightError> {
        let with = self.shape.fields.clone();
        self.shape.fields.retain(|name| *name != field.name);
        let without = self.accepted(NATURAL)?;
        self.shape.fields = with;
        let Some(natural) = ended_by_itself(&without) else { return Ok(Force::Unproven) };
        if natural < u64::from(TOKENS) {
            return Ok(Force::Yes);
        }
        // Twice as long as by itself: it does not get there by chance.
        let long = natural as u32 * 2;
        let record = self.accepted(long)?;
        match reached(&record, long) {
            Some(true) => Ok(Force::Yes),
            Some(false) => {
                self.disobeyed(field);
                Ok(Force::No)
            }
            None => Ok(Force::Unproven),
        }
    }

    fn disobeyed(&mut self, field: &'static Optional) {
        self.leave_out(field, "accepted, but not obeyed");
        self.ignored.push(field);
    }

    /// The user allows responses to end early.
    fn may_end_early(&self) -> bool {
        let mut shape = self.shape.clone();
        shape.forced = true;
        !shape.fixes_length(self.about)
    }
}

/// Whether a response has the requested length; unknown if it failed.
fn reached(record: &RequestRecord, wanted: u32) -> Option<bool> {
    (record.outcome == Outcome::Completed).then(|| tokens(record) >= u64::from(wanted))
}

fn tokens(record: &RequestRecord) -> u64 {
    record.output.map_or(0, |count| match count.source {
        // An event can carry several tokens, and a finish event none.
        TokenSource::Events => count.tokens + 1,
        _ => count.tokens,
    })
}

/// How long a response was, if the model ended it.
fn ended_by_itself(record: &RequestRecord) -> Option<u64> {
    let reason = record.finish_reason.as_deref().map(FinishKind::of);
    let ended = record.outcome == Outcome::Completed && reason == Some(FinishKind::Stop);
    ended.then(|| tokens(record)).filter(|tokens| *tokens < u64::from(NATURAL))
}
