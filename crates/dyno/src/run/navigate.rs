//! From what was measured to the level that is measured next: a search is told of every level, and
//! its wish is made a level of the plan.

use super::course::Navigator;
use crate::resolve::level_name;
use dyno_core::course::{Search, Spacing};
use dyno_core::frame::Ending;
use dyno_core::plan::{Arrival, LevelPlan, Load, Plan};
use dyno_core::units::to_s;
use dyno_report::{LevelSummary, Verdict};
use dyno_search::ladder::Ladder;
use dyno_search::sweep::{self, Sweep};
use dyno_search::{Held, Kind, LevelWish, Measured, Next};

/// A search for the levels of a plan.
pub(crate) struct Searching<'a> {
    plan: &'a Plan,
    search: &'a Search,
}

impl<'a> Searching<'a> {
    /// The search that a plan asks for, if it does.
    pub(crate) fn of(plan: &'a Plan) -> Option<Self> {
        Some(Self { plan, search: plan.course.search.as_ref()? })
    }

    /// How arrivals are spaced at a rate.
    fn arrival(&self) -> Arrival {
        match self.search {
            Search::Sweep { arrival, .. } => *arrival,
            Search::Ladder { .. } => Arrival::Poisson,
        }
    }

    /// A level with this load that is otherwise like those of the plan.
    fn level(&self, load: Load) -> Option<LevelPlan> {
        let like = self.plan.levels.first()?;
        Some(LevelPlan { label: level_name(Some(self.search), &load), load, ..like.clone() })
    }

    fn wish(&self, wish: LevelWish) -> Option<LevelPlan> {
        self.level(match wish.kind {
            Kind::Rate => Load::Rate { rate: wish.load, arrival: self.arrival() },
            _ => Load::Concurrency { concurrency: wish.load.round().max(1.0) as u32 },
        })
    }

    /// A full server whose answers took so long that nothing was steady is measured once more, for
    /// long enough.
    fn longer(&self, so_far: &[&LevelSummary]) -> Option<LevelPlan> {
        let Search::Sweep { .. } = self.search else { return None };
        let is_full = |level: &&&LevelSummary| kind(self.search, level) == Kind::Throughput;
        let mut full = so_far.iter().filter(is_full);
        let (first, None) = (full.next()?, full.next()) else { return None };
        let latency = first.latency_ms.as_ref().and_then(|latency| latency.p50)?;
        let load = Load::Concurrency { concurrency: first.load.value as u32 };
        let mut again = self.level(load).filter(|_| first.steady.is_none())?;
        let enough = (WINDOWS * latency * 1e6) as u64;
        again.requests = None;
        again.duration_ns = Some(enough).filter(|time| Some(*time) > again.duration_ns);
        again.label += " (longer)";
        again.duration_ns.is_some().then_some(again)
    }
}

/// A steady window is there after fill, drain and two latencies; one more leaves it some room.
const WINDOWS: f64 = 5.0;

impl Navigator for Searching<'_> {
    fn next(&mut self, so_far: &[&LevelSummary]) -> Option<LevelPlan> {
        if let Some(longer) = self.longer(so_far) {
            return Some(longer);
        }
        // Of a level that was measured again, the last counts.
        let last = |level: &&&LevelSummary| {
            let of_that_kind =
                |other: &&&LevelSummary| kind(self.search, other) == Kind::Throughput;
            kind(self.search, level) != Kind::Throughput
                || so_far.iter().rev().find(of_that_kind).map(|l| l.index) == Some(level.index)
        };
        let measured: Vec<Measured> =
            so_far.iter().filter(last).map(|level| self.measured(level)).collect();
        let next = match self.search {
            Search::Sweep { points, spacing, .. } => {
                let spacing = match spacing {
                    Spacing::Bend => sweep::Spacing::Adaptive,
                    Spacing::Linear => sweep::Spacing::Linear,
                };
                let sweep =
                    Sweep { levels: *points as usize, in_flight: sweep::IN_FLIGHT, spacing };
                match sweep.next(&measured) {
                    Next::Level(wish) => Some(wish),
                    Next::Done(()) => None,
                }
            }
            Search::Ladder { most } => match (Ladder { most: *most }).next(&measured) {
                Next::Level(wish) => Some(wish),
                Next::Done(_) => None,
            },
        };
        self.wish(next?)
    }

    fn at_most(&self) -> Option<usize> {
        match self.search {
            Search::Sweep { points, .. } => Some(*points as usize),
            Search::Ladder { .. } => None,
        }
    }
}

impl Searching<'_> {
    fn measured(&self, level: &LevelSummary) -> Measured {
        let counts = &level.requests;
        let ended = counts.completed + counts.failed + counts.dropped;
        let whole = level.throughput.requests_per_s;
        let steady = level.steady.and_then(|steady| steady.throughput.requests_per_s);
        let time = self.plan.levels.first().and_then(|level| level.duration_ns).map(to_s);
        let arrived = time.filter(|_| level.ending == Some(Ending::Duration));
        Measured {
            kind: kind(self.search, level),
            load: level.load.value,
            arrived_rate: arrived.map(|time| counts.planned as f64 / time),
            completed_rate: steady.or(whole),
            steady: steady.is_some(),
            saturated: None,
            held: Held::Unsure,
            latency: level.latency_ms.as_ref().and_then(|latency| latency.p50),
            requests: ended,
            failed_share: match ended {
                0 => 1.0,
                _ => (counts.failed + counts.dropped) as f64 / ended as f64,
            },
            valid: level.verdict != Verdict::Invalid,
        }
    }
}

/// What the load of a level means to a search.
fn kind(search: &Search, level: &LevelSummary) -> Kind {
    match (search, level.load.kind.as_str(), level.load.value) {
        (_, "rate", _) => Kind::Rate,
        (Search::Sweep { .. }, _, 1.0) => Kind::Synchronous,
        (Search::Sweep { .. }, ..) => Kind::Throughput,
        _ => Kind::Concurrency,
    }
}
