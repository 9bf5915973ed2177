//! The tokens that every prompt shares, such as the first blocks of a chat template: what the server's
//! prefix cache has of a prompt that was never sent before. These hits are legitimate and do not count
//! against a run.

use crate::error::RunError;
use crate::metrics::Metrics;
use crate::target::OpenTarget;
use crate::tokenize;
use dyno_drive::StopSignal;
use dyno_model::Message;
use dyno_model::prompt::Item;
use dyno_wire::encode::Encoder;
use std::time::Duration;

/// How often, and at what interval, the server's counters are polled until they include the prompt.
const LOOKS: u32 = 5;
const APART: Duration = Duration::from_millis(100);

/// Sends a second prompt that differs from the first and from those of all other runs in its first
/// word. Absent where the server reports nothing, neither in usage nor in its counters.
pub(crate) fn measure(
    target: &mut OpenTarget,
    encoder: &Encoder,
    run: u64,
    stop: &StopSignal,
) -> Result<Option<u64>, RunError> {
    let item = Item::text(format!("{run:016x} is a number. Reply with the single word OK."));
    let record = tokenize::probe(&mut target.client, encoder, &item, stop)
        .map_err(|error| RunError::Interrupted(Message::of(error)))?;
    if record.cached.is_some() || !record.is_completed() {
        return Ok(record.cached);
    }
    let input = record.input.map(|count| count.tokens);
    Ok(target.metrics.as_mut().and_then(|metrics| counted(metrics, input, stop)))
}

/// By how much the hits have risen with the prompt since the server was first asked for its metrics.
/// Where more was looked up than one prompt, somebody else uses the server, and the hits cannot be
/// attributed to this prompt.
fn counted(metrics: &mut Metrics, input: Option<u64>, stop: &StopSignal) -> Option<u64> {
    let (queries, hits) = (metrics.first.prefix_queries?, metrics.first.prefix_hits?);
    for look in 0..LOOKS {
        if look > 0 {
            std::thread::sleep(APART);
        }
        let after = metrics.ask(stop).ok()?;
        let looked_up = after.prefix_queries?.checked_sub(queries)?;
        let hits = after.prefix_hits?.checked_sub(hits)?;
        if looked_up > 0 {
            return Some(hits).filter(|_| input.is_none_or(|input| looked_up <= input));
        }
    }
    None
}
