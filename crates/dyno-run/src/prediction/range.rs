//! How far a prediction is outside the range that its twin was fitted to.

use crate::workload::Typical;
use dyno_engine::twin::Twin;
use dyno_engine::twin::profile::TwinRange;
use dyno_model::Diagnostic;
use dyno_model::plan::{LevelPlan, Load};
use dyno_words::Note;

/// Notes on levels outside the twin's range: one for each quantity.
pub(super) fn notes(
    twin: &Twin,
    levels: &[LevelPlan],
    typical: &[Option<Typical>],
) -> Vec<Diagnostic> {
    let Some(range) = &twin.range else {
        return vec![Note::TwinMadeUp.with(vec![twin.name.clone()])];
    };
    let mut beyond: Vec<Beyond> = Vec::new();
    for (level, typical) in levels.iter().zip(typical) {
        for (what, value, within) in compared(range, level, *typical) {
            Beyond::add(&mut beyond, what, value, within);
        }
    }
    beyond.into_iter().map(|b| b.note(twin)).collect()
}

/// Whether a level is so far outside the twin's range that nothing says how accurate a prediction is. A lower load than
/// any that was fitted is not.
pub(super) fn is_far(twin: &Twin, level: &LevelPlan, typical: Option<Typical>) -> bool {
    let Some(range) = &twin.range else { return false };
    compared(range, level, typical).into_iter().any(|(what, value, [least, most])| {
        let is_load = matches!(what, Note::BeyondInFlight | Note::BeyondRate);
        value > FAR * most || (!is_load && value < least / FAR)
    })
}

/// The load and the lengths of a level, each with the range that the twin was fitted to.
fn compared(
    range: &TwinRange,
    level: &LevelPlan,
    typical: Option<Typical>,
) -> Vec<(Note, f64, [f64; 2])> {
    let mut all = Vec::new();
    match level.load {
        Load::Concurrency { concurrency } => {
            all.push((Note::BeyondInFlight, f64::from(concurrency), range.in_flight));
        }
        Load::Burst { requests } => {
            all.push((Note::BeyondInFlight, requests as f64, range.in_flight));
        }
        Load::Rate { .. } | Load::Ramp { .. } => {
            all.push((Note::BeyondRate, level.load.value(), range.rate));
        }
        Load::Trace { .. } => {}
    }
    if let Some(Typical { input, output }) = typical {
        all.push((Note::BeyondInput, f64::from(input), range.input));
        all.push((Note::BeyondOutput, f64::from(output), range.output));
    }
    all
}

/// The largest distance of a quantity from the twin's range.
struct Beyond {
    what: Note,
    value: f64,
    within: [f64; 2],
    times: f64,
}

/// Tolerated distance: rounding, and means over a table.
const ALLOWED: f64 = 1.1;
/// The distance from which on nothing is known of accuracy. Prompts a third longer than any that was fitted are predicted as
/// well as intervals say (`cargo study twins study`); eight times as long, far worse.
const FAR: f64 = 2.0;

impl Beyond {
    fn add(known: &mut Vec<Self>, what: Note, value: f64, within: [f64; 2]) {
        let [least, most] = within;
        let times = if value > most { value / most } else { least / value.max(f64::MIN_POSITIVE) };
        if times <= ALLOWED {
            return;
        }
        match known.iter_mut().find(|other| other.what == what) {
            Some(other) if other.times >= times => {}
            Some(other) => *other = Self { what, value, within, times },
            None => known.push(Self { what, value, within, times }),
        }
    }

    fn note(&self, twin: &Twin) -> Diagnostic {
        let Self { what, value, within, times } = self;
        let [least, most] = within.map(tidy);
        what.with(vec![tidy(*value), format!("{times:.1}"), least, most, twin.name.clone()])
    }
}

fn tidy(value: f64) -> String {
    if value >= 100.0 {
        format!("{value:.0}")
    } else {
        format!("{:.3}", value).trim_end_matches('0').trim_end_matches('.').to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::plan::Arrival;

    #[test]
    fn lengths_and_loads_twice_as_large_are_still_known_and_light_loads_always() {
        let mut twin = Twin::load(Twin::default_name()).unwrap();
        let range = TwinRange {
            in_flight: [1.0, 32.0],
            rate: [2.0, 10.0],
            input: [100.0, 400.0],
            output: [64.0, 64.0],
        };
        let far = |twin: &Twin, load: Load, input, output| {
            is_far(twin, &LevelPlan::new(load), Some(Typical { input, output }))
        };
        let some = Load::Concurrency { concurrency: 8 };
        assert!(!far(&twin, some, 9_000, 9_000), "a twin that was not fitted has no range");
        twin.range = Some(range);
        for (input, output, is_far) in
            [(200, 64, false), (800, 128, false), (50, 32, false), (801, 64, true), (49, 64, true)]
        {
            assert_eq!(far(&twin, some, input, output), is_far, "{input} {output}");
        }
        assert!(far(&twin, some, 200, 129) && far(&twin, some, 200, 31));
        assert!(far(&twin, Load::Concurrency { concurrency: 65 }, 200, 64));
        assert!(!far(&twin, Load::Concurrency { concurrency: 64 }, 200, 64));
        let rate = |rate| Load::Rate { rate, arrival: Arrival::Poisson };
        assert!(far(&twin, rate(21.0), 200, 64) && !far(&twin, rate(0.1), 200, 64));
    }
}
