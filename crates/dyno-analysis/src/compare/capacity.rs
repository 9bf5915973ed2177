//! How much each side holds at the same SLO.

use super::matching::counted;
use crate::slo::judge;
use dyno_model::Decision;
use dyno_model::load::LoadKind;
use dyno_model::slo::Slo;
use dyno_model::summary::{LevelSummary, SearchSummary, Summary};
use serde::Serialize;

/// What each side holds at an SLO.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AtSlo {
    /// The SLO.
    pub slo: String,
    /// What each side holds, in their order.
    pub sides: Vec<Option<Held>>,
}

/// The edge between the loads that a side holds and those that it does not.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Held {
    /// `req/s` or `in flight`.
    pub unit: String,
    /// The highest load that it holds; absent: none that was tried.
    pub holds: Option<f64>,
    /// The lowest load above it that it does not hold; absent: it held all that were tried.
    pub does_not_hold: Option<f64>,
    /// Found by a search for just this, and not among levels that were there anyway.
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
        // What failed is not what it holds nothing of.
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
