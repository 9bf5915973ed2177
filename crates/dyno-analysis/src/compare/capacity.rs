//! The capacity of each side at the same SLO.

use super::matching::counted;
use crate::slo::{completed_share, judge, overloaded};
use dyno_model::Decision;
use dyno_model::load::LoadKind;
use dyno_model::slo::Slo;
use dyno_model::summary::{LevelSummary, SearchSummary, Summary, round6};
use serde::Serialize;

/// The capacity of each side at an SLO.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AtSlo {
    /// The SLO.
    pub slo: String,
    /// The capacity of each side, in their order.
    pub sides: Vec<Option<HeldCapacity>>,
}

/// The loads between which the capacity of a side lies.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HeldCapacity {
    /// `req/s` or `in flight`.
    pub unit: String,
    /// The load is of trees: a request in flight is an agent at work, and the rate that of new trees.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub trees: bool,
    /// The highest load that meets the SLO; absent where none of those tried does.
    pub holds: Option<f64>,
    /// The lowest load above it that does not; absent where all of those tried do.
    pub does_not_hold: Option<f64>,
    /// Whether it was found by a search for this SLO, not among fixed levels.
    pub searched: bool,
    /// The probability that it lies between them, of a search.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// Other tools' levels that meet the SLO but completed far less than was offered: they are left
    /// out, since nobody has a capacity that is not served.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_served: Vec<NotServed>,
}

/// A level that completed far less than was offered.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct NotServed {
    /// The offered rate.
    pub offered: f64,
    /// Completed requests per second.
    pub completed: f64,
}

pub(super) fn at(sides: &[&Summary], slo: &Slo) -> AtSlo {
    AtSlo { slo: slo.to_string(), sides: sides.iter().map(|side| held(side, slo)).collect() }
}

fn held(side: &Summary, slo: &Slo) -> Option<HeldCapacity> {
    if let Some(found @ SearchSummary::Capacity { unit, holds, does_not_hold, confidence, .. }) =
        &side.search
        && side.run.slo.as_deref() == Some(slo.to_string().as_str())
    {
        // An inconclusive search does not mean that no load meets the SLO.
        let decided = found.outcome() != Some(Decision::Inconclusive);
        return Some(HeldCapacity {
            trees: side.has_trees(),
            unit: unit.clone(),
            holds: *holds,
            does_not_hold: does_not_hold.filter(|_| decided),
            searched: true,
            confidence: *confidence,
            not_served: Vec::new(),
        });
    }
    let rates = of_kind(side, LoadKind::Rate);
    let (unit, levels) = match rates.len() > 1 {
        true => ("req/s", rates),
        false => ("in flight", of_kind(side, LoadKind::Concurrency)),
    };
    let mut judged: Vec<(f64, bool)> = Vec::new();
    let mut not_served = Vec::new();
    for (load, level) in levels {
        match (judge(level, slo).passed, overloaded(side, level)) {
            // A queue that grows breaks any SLO in time.
            (Some(true), true) if side.run.origin.is_none() => judged.push((load, false)),
            (Some(true), true) => not_served.extend(
                completed_share(level)
                    .map(|share| NotServed { offered: load, completed: round6(share * load) }),
            ),
            (Some(passed), _) => judged.push((load, passed)),
            (None, _) => {}
        }
    }
    let fails = judged.iter().find(|(_, passed)| !passed).map(|(load, _)| *load);
    let below = |load: f64| fails.is_none_or(|fails| load < fails);
    let holds = judged.iter().rfind(|(load, passed)| *passed && below(*load));
    let edge = HeldCapacity {
        trees: side.has_trees(),
        unit: unit.to_owned(),
        holds: holds.map(|(load, _)| *load),
        does_not_hold: fails,
        searched: false,
        confidence: None,
        not_served,
    };
    (!judged.is_empty() || !edge.not_served.is_empty()).then_some(edge)
}

fn of_kind<'a>(side: &'a Summary, kind: LoadKind) -> Vec<(f64, &'a LevelSummary)> {
    let of = |level: &'a LevelSummary| level.load.of(kind).map(|load| (load, level));
    let mut levels: Vec<_> = counted(side).filter_map(of).collect();
    levels.sort_by(|a, b| a.0.total_cmp(&b.0));
    levels
}
