//! How far a prediction is outside the range that its twin was fitted to.

use crate::workload::Typical;
use dyno_engine::twin::Twin;
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
        let load = match level.load {
            Load::Concurrency { concurrency } => {
                Some((Note::BeyondInFlight, f64::from(concurrency), range.in_flight))
            }
            Load::Burst { requests } => {
                Some((Note::BeyondInFlight, requests as f64, range.in_flight))
            }
            Load::Rate { .. } | Load::Ramp { .. } => {
                Some((Note::BeyondRate, level.load.value(), range.rate))
            }
            Load::Trace { .. } => None,
        };
        let lengths = typical.map(|typical| {
            [
                (Note::BeyondInput, f64::from(typical.input), range.input),
                (Note::BeyondOutput, f64::from(typical.output), range.output),
            ]
        });
        for (what, value, within) in load.into_iter().chain(lengths.into_iter().flatten()) {
            Beyond::add(&mut beyond, what, value, within);
        }
    }
    beyond.into_iter().map(|b| b.note(twin)).collect()
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
