//! What a level that was too short needs: the option that ended it, with a value that is enough. Another
//! option would change nothing, because whichever is reached first ends a level.

use super::gather::Gathered;
use dyno_model::Value;
use dyno_model::frame::Ending;
use dyno_model::plan::{LevelPlan, Load};
use dyno_model::units::to_s;
use dyno_words::Phrase;

/// More than enough, so that the next run is not too short by a hair.
const ROOM: f64 = 1.25;
/// Requests of each slot that leave a steady window, whatever their latencies.
const ROUNDS: u64 = 4;

/// The option for a level that lasts `times` as long. In a closed loop, a multiple of its slots: it fits other levels
/// of the run as well, whatever their concurrency.
pub(super) fn longer(plan: &LevelPlan, level: &Gathered, times: f64) -> Value {
    let times = if times.is_finite() { times.max(1.0) } else { 1.0 };
    let duration = plan.duration_ns.or(level.span.duration()).unwrap_or(0);
    let seconds = (to_s(duration) * times).ceil();
    let ending = level.end.as_ref().map(|end| end.ending);
    let option = match (ending, plan.load) {
        (Some(Ending::Requests), Load::Concurrency { concurrency }) => {
            let rounds = issued(level) / f64::from(concurrency.max(1)) * times;
            format!("--requests {}x", rounded(rounds).max(ROUNDS))
        }
        (Some(Ending::Requests), _) => format!("--requests {}", rounded(issued(level) * times)),
        (Some(Ending::Duration), _) if plan.until.is_some() => format!("--max-duration {seconds}s"),
        (Some(Ending::Duration), _) => format!("--duration {seconds}s"),
        (Some(Ending::Stable), _) => format!("--min-duration {seconds}s"),
        _ => return Phrase::MoreRequests.value(Vec::new()),
    };
    Value::from(option)
}

/// How many times as long a level must be for a steady window: `has` nanoseconds were steady, `needed` are needed, and
/// requests were sent for `sending`.
pub(super) fn for_window([has, needed, sending]: [f64; 3]) -> f64 {
    (sending + ROOM * (needed - has)) / sending
}

fn issued(level: &Gathered) -> f64 {
    level.end.as_ref().map_or(0, |end| end.issued) as f64
}

/// Two digits, upwards.
fn rounded(requests: f64) -> u64 {
    let unit = 10_f64.powf(requests.max(1.0).log10().floor() - 1.0).max(1.0);
    ((requests / unit).ceil() * unit) as u64
}

#[cfg(test)]
mod tests {
    use super::rounded;

    #[test]
    fn numbers_to_type_are_short() {
        assert_eq!([0.0, 3.2, 17.0, 231.0, 1801.0].map(rounded), [0, 4, 17, 240, 1900]);
    }
}
