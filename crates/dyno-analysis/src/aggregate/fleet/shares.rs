//! Whether each agent sent its part of the load. Bounded by a count, parts are exact, and a missing request
//! is a finding of its own. Bounded by time, an open loop shares its arrivals, whatever the server does. A
//! closed loop shares its slots: where responses are slower for one agent, it sends fewer requests and
//! still keeps its part of them in flight, so that time in flight is compared, and not requests.

use super::slots;
use dyno_model::Diagnostic;
use dyno_model::fleet::AgentEnd;
use dyno_model::frame::Ending;
use dyno_model::plan::{Arrival, Load};
use dyno_model::record::RequestRecord;
use dyno_stats::share_p;
use dyno_words::FleetFinding;
use dyno_words::number::percent;

/// Deviations up to this share of the part are of no consequence.
const MATTERS: f64 = 0.05;
/// The chance, over all agents of a level, that random arrivals alone deviate so far.
const BY_CHANCE: f64 = 0.001;
/// Arrivals dealt in turn differ by one, and by another where agents stop at times that differ a little.
const IN_TURN: f64 = 2.0;

/// The time that the slots of an agent had a request, within a window.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SlotTime {
    window: Option<(u64, u64)>,
    pub(super) ns: u128,
}

impl SlotTime {
    /// Between two times, where they are known.
    pub(super) fn within(window: Option<(u64, u64)>) -> Self {
        Self { window, ns: 0 }
    }

    /// A request has its slot from when it is picked up: connecting is not the agent's idleness.
    pub(super) fn add(&mut self, record: &RequestRecord) {
        let (Some((from, to)), Some(dispatched)) = (self.window, record.dispatched) else { return };
        let (start, end) = (dispatched.max(from), record.end.min(to));
        self.ns += u128::from(end.saturating_sub(start));
    }
}

/// The part of each agent.
pub(super) fn expected(load: Load, agents: &[AgentEnd]) -> Vec<Option<f64>> {
    let count = agents.len() as u32;
    let parts: Vec<f64> = match (load, counted(agents)) {
        (_, Some(planned)) => planned.iter().map(|planned| *planned as f64).collect(),
        (Load::Concurrency { concurrency }, None) => {
            agents.iter().map(|end| f64::from(slots(concurrency, end.agent, count))).collect()
        }
        _ => vec![1.0; agents.len()],
    };
    let all: f64 = parts.iter().sum();
    parts.into_iter().map(|part| (all > 0.0).then(|| part / all)).collect()
}

/// What was asked of each, where a count ended every part.
fn counted(agents: &[AgentEnd]) -> Option<Vec<u64>> {
    let whole = |end: &AgentEnd| end.planned.filter(|_| end.ending == Some(Ending::Requests));
    agents.iter().map(whole).collect()
}

/// The agents that did not send their part, each with what is to be said of it.
pub(super) fn uneven(
    load: Load,
    agents: &[AgentEnd],
    expected: &[Option<f64>],
    slot_times: &[SlotTime],
) -> Vec<Option<Diagnostic>> {
    let nothing = || vec![None; agents.len()];
    let over = |end: &AgentEnd| end.lost.is_none() && end.ending.is_some_and(Ending::carried_out);
    if agents.len() < 2 || !agents.iter().all(over) || counted(agents).is_some() {
        return nothing();
    }
    let closed = matches!(load, Load::Concurrency { .. });
    let done = agents.iter().any(|end| end.ending == Some(Ending::Requests));
    let paused = agents.iter().any(|end| end.client.pauses > 0);
    if closed && (done || paused) {
        return nothing();
    }
    let amounts: Vec<f64> = match closed {
        true => slot_times.iter().map(|time| time.ns as f64).collect(),
        false => agents.iter().map(|end| end.issued as f64).collect(),
    };
    let all: f64 = amounts.iter().sum();
    if all == 0.0 {
        return nothing();
    }
    let usual = usual(&amounts, expected);
    let judge = |(amount, expected): (&f64, &Option<f64>)| {
        let expected = expected.filter(|expected| *expected > 0.0)?;
        let share = amount / all;
        let far = (amount / expected - usual).abs() > MATTERS * usual;
        let explained = match load {
            Load::Concurrency { .. } => false,
            _ if is_drawn(load) => {
                share_p(*amount, all, expected) > BY_CHANCE / agents.len() as f64
            }
            _ => (amount - usual * expected).abs() <= IN_TURN,
        };
        let what = if closed { FleetFinding::SlotsUneven } else { FleetFinding::SharesUneven };
        (far && !explained).then(|| what.with([share, expected].map(percent)))
    };
    amounts.iter().zip(expected).map(judge).collect()
}

/// Whether arrivals are dealt to agents at random: those of a Poisson process. All others are dealt in turn.
fn is_drawn(load: Load) -> bool {
    matches!(
        load,
        Load::Rate { arrival: Arrival::Poisson, .. } | Load::Ramp { arrival: Arrival::Poisson, .. }
    )
}

/// What an agent of the fleet has for each unit of its part: the median of all, so that one that has too
/// little does not make the others look as if they had too much; of two, the larger.
fn usual(amounts: &[f64], expected: &[Option<f64>]) -> f64 {
    let each = amounts.iter().zip(expected);
    let mut each: Vec<f64> = each
        .filter_map(|(amount, part)| part.filter(|part| *part > 0.0).map(|part| amount / part))
        .collect();
    each.sort_by(f64::total_cmp);
    each.get(each.len() / 2).copied().unwrap_or_default()
}
