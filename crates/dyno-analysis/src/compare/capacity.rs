//! The capacity of each side at the same SLO.

use super::matching::counted;
use crate::slo::judge;
use dyno_model::Decision;
use dyno_model::load::LoadKind;
use dyno_model::slo::Slo;
use dyno_model::summary::{LevelSummary, SearchSummary, Summary};
use serde::Serialize;

/// The capacity of each side at an SLO.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AtSlo {
    /// The SLO.
    pub slo: String,
    /// The capacity of each side, in their order.
    pub sides: Vec<Option<Held>>,
}

/// The loads between which the capacity of a side lies.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Held {
    /// `req/s` or `in flight`.
    pub unit: String,
    /// The highest load that meets the SLO; absent where none of those tried does.
    pub holds: Option<f64>,
    /// The lowest load above it that does not; absent where all of those tried do.
    pub does_not_hold: Option<f64>,
    /// Whether it was found by a search for this SLO, not among fixed levels.
    pub searched: bool,
}

pub(super) fn at(sides: &[&Summary], slo: &Slo) -> AtSlo {
    AtSlo { slo: slo.to_string(), sides: sides.iter().map(|side| held(side, slo)).collect() }
}

fn held(side: &Summary, slo: &Slo) -> Option<Held> {
    if let Some(found @ SearchSummary::Capacity { unit, holds, does_not_hold, .. }) = &side.search
        && side.run.slo.as_deref() == Some(slo.to_string().as_str())
    {
        let unit = unit.clone();
        // An inconclusive search does not mean that no load meets the SLO.
        let decided = found.outcome() != Some(Decision::Inconclusive);
        let does_not_hold = does_not_hold.filter(|_| decided);
        return Some(Held { unit, holds: *holds, does_not_hold, searched: true });
    }
    let rates = of_kind(side, LoadKind::Rate);
    let (unit, levels) = match rates.len() > 1 {
        true => ("req/s", rates),
        false => ("in flight", of_kind(side, LoadKind::Concurrency)),
    };
    let judged: Vec<(f64, bool)> = levels
        .into_iter()
        .filter_map(|(load, level)| Some((load, judge(level, slo).passed?)))
        .collect();
    let fails = judged.iter().find(|(_, passed)| !passed).map(|(load, _)| *load);
    let below = |load: f64| fails.is_none_or(|fails| load < fails);
    let holds = judged.iter().rfind(|(load, passed)| *passed && below(*load));
    let edge = Held {
        unit: unit.to_owned(),
        holds: holds.map(|(load, _)| *load),
        does_not_hold: fails,
        searched: false,
    };
    (!judged.is_empty()).then_some(edge)
}

fn of_kind<'a>(side: &'a Summary, kind: LoadKind) -> Vec<(f64, &'a LevelSummary)> {
    let of = |level: &'a LevelSummary| level.load.of(kind).map(|load| (load, level));
    let mut levels: Vec<_> = counted(side).filter_map(of).collect();
    levels.sort_by(|a, b| a.0.total_cmp(&b.0));
    levels
}
