//! How long the levels of a plan take before anything is known of the server: what is sent, warm-up and pauses.
//! Draining is not part of it.

use super::Around;
use dyno_model::level_schedule::Search;
use dyno_model::plan::{LevelPlan, Load, Plan, Warmup};
use dyno_model::{Nanos, SEC};

/// The longest time that a run can take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bound {
    pub(super) time: Nanos,
    /// The time of all warm-ups is known, and part of it.
    pub(super) warm_up_known: bool,
}

/// The longest time of all levels that are left, where each is bounded by time.
pub(super) fn bound(plan: &Plan, around: &Around) -> Option<Bound> {
    let left = || left(plan, around);
    let sending: Option<Nanos> = left().map(lasts).sum();
    let warm_up_known = left().all(|level| warm_up(level).is_some());
    let warm_up: Nanos = left().filter_map(warm_up).sum();
    let time = sending?.saturating_add(warm_up);
    Some(Bound { time: on_all(time, left().count() as u64, plan, around), warm_up_known })
}

/// About how long the levels that are left take, where that does not depend on the server.
pub(super) fn expected(plan: &Plan, around: &Around) -> Option<Nanos> {
    let sending = |level: &LevelPlan| {
        let by_count = match (level.load, level.requests) {
            (Load::Rate { rate, .. }, Some(requests)) => Some(at_rate(requests, rate)),
            (Load::Trace { .. }, _) => around.data.lasts,
            _ => None,
        };
        let time = lasts(level).into_iter().chain(by_count).min()?;
        time.checked_add(warm_up(level)?)
    };
    let known: Nanos = left(plan, around).map(sending).sum::<Option<Nanos>>()?;
    let count = left(plan, around).count() as u64;
    let (more, time) = match plan.course.search {
        None => (0, known),
        Some(Search::Sweep { points, .. }) => {
            // The levels to come are as long as the last of the first ones.
            let more = (points as usize).saturating_sub(plan.levels.len()) as u64;
            let each = sending(plan.levels.last()?)?;
            (more, known.checked_add(more.checked_mul(each)?)?)
        }
        Some(_) => return None,
    };
    Some(on_all(time, count + more, plan, around))
}

/// The levels that are not finished.
fn left<'a>(plan: &'a Plan, around: &'a Around) -> impl Iterator<Item = &'a LevelPlan> {
    let left = (0_u32..).zip(&plan.levels).filter(|(index, _)| !around.finished.contains(index));
    left.map(|(_, level)| level)
}

/// The time of so many levels on both servers where there are two, with the pauses between.
fn on_all(time: Nanos, levels: u64, plan: &Plan, around: &Around) -> Nanos {
    let sides = if around.versus { 2 } else { 1 };
    let pauses = plan.course.cooldown_ns.saturating_mul(levels.saturating_sub(1));
    time.saturating_add(pauses).saturating_mul(sides)
}

/// How long a level sends at most, without its warm-up.
fn lasts(level: &LevelPlan) -> Option<Nanos> {
    level.duration_ns.or_else(|| level.load.ramp().map(|ramp| ramp.over_ns))
}

/// How long a warm-up takes; unknown where that depends on the server.
pub(super) fn warm_up(level: &LevelPlan) -> Option<Nanos> {
    match (level.warmup, level.load) {
        (None, _) => Some(0),
        (Some(Warmup::Duration(time)), _) => Some(time),
        (Some(Warmup::Requests(requests)), Load::Rate { rate, .. }) => {
            Some(at_rate(requests, rate))
        }
        (Some(Warmup::Requests(_)), _) => None,
    }
}

fn at_rate(requests: u64, rate: f64) -> Nanos {
    (requests as f64 / rate * SEC as f64) as Nanos
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::plan::{Arrival, Target};

    fn timed(load: Load, seconds: u64) -> LevelPlan {
        LevelPlan { duration_ns: Some(seconds * SEC), ..LevelPlan::new(load) }
    }

    fn plan(levels: Vec<LevelPlan>) -> Plan {
        Plan { levels, ..Plan::new(Target::at("http://gpu:8000")) }
    }

    fn seconds(plan: &Plan, around: &Around) -> Option<(u64, bool)> {
        bound(plan, around).map(|bound| (bound.time / SEC, bound.warm_up_known))
    }

    const CLOSED: Load = Load::Concurrency { concurrency: 4 };

    /// B6: the examples of a run that took longer than "at most".
    #[test]
    fn at_most_has_warm_up_pauses_and_the_second_server() {
        let alone = Around::default();
        let rate = Load::Rate { rate: 2.5, arrival: Arrival::Poisson };
        let warm = |warmup, load| LevelPlan { warmup: Some(warmup), ..timed(load, 60) };
        let slow = plan(vec![warm(Warmup::Duration(600 * SEC), rate)]);
        assert_eq!(seconds(&slow, &alone), Some((660, true)));
        let counted = plan(vec![warm(Warmup::Requests(50), rate)]);
        assert_eq!(seconds(&counted, &alone), Some((80, true)));
        let unknown = plan(vec![warm(Warmup::Requests(50), CLOSED)]);
        assert_eq!(seconds(&unknown, &alone), Some((60, false)));
        let mut pauses = plan(vec![timed(CLOSED, 60); 3]);
        pauses.course.cooldown_ns = 60 * SEC;
        assert_eq!(seconds(&pauses, &alone), Some((300, true)));
        let both = Around { versus: true, ..Around::default() };
        assert_eq!(seconds(&plan(vec![timed(CLOSED, 30); 12]), &both), Some((720, true)));
        // What is finished takes no more time.
        let resumed = Around { finished: vec![0, 2], ..Around::default() };
        assert_eq!(seconds(&pauses, &resumed), Some((60, true)));
        assert_eq!(bound(&plan(vec![LevelPlan::closed_loop(1, 5)]), &alone), None);
    }

    /// B6: a trace is as long as its schedule.
    #[test]
    fn a_trace_has_its_own_time() {
        let trace = plan(vec![LevelPlan::new(Load::Trace { speed: 2.0 })]);
        assert_eq!(expected(&trace, &Around::default()), None);
        let data = crate::plan::Data { lasts: Some(332 * SEC), ..Default::default() };
        let around = Around { data, ..Around::default() };
        assert_eq!(expected(&trace, &around), Some(332 * SEC));
    }
}
