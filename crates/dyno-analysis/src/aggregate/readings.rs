//! The two readings of a run: the plans of its levels, what is gathered of each, and which of its records
//! count. A level that was restarted by a resumed run counts from its last start.

use super::gather::Gathered;
use super::server::ServerWatch;
use crate::source::FrameSource;
use dyno_model::frame::{Ending, Frame};
use dyno_model::level_schedule::Search;
use dyno_model::plan::{LevelPlan, Load, Plan};
use dyno_model::record::RequestRecord;
use std::collections::BTreeMap;

/// The result of the first reading.
#[derive(Debug, Default)]
pub(super) struct FirstReading {
    /// What was gathered of each level, by its index.
    pub(super) levels: BTreeMap<u32, Gathered>,
    /// Levels that were chosen during the run, by their index.
    chosen: BTreeMap<u32, LevelPlan>,
    /// How often each level was started.
    begun: BTreeMap<u32, u32>,
    /// Server metrics.
    pub(super) watch: ServerWatch,
    /// Why the run ended.
    pub(super) ending: Option<Ending>,
}

impl FirstReading {
    pub(super) fn of(source: &dyn FrameSource) -> Self {
        let mut first = Self::default();
        for frame in source.frames() {
            first.watch.see(&frame);
            match frame {
                Frame::LevelChosen(chosen) => {
                    first.chosen.insert(chosen.level, chosen.plan);
                }
                Frame::LevelStart(start) => {
                    *first.begun.entry(start.level).or_default() += 1;
                    let started = Some(start.started);
                    first.levels.insert(start.level, Gathered { started, ..Gathered::default() });
                }
                Frame::Request(record) => {
                    first.levels.entry(record.level).or_default().add(&record);
                }
                Frame::LevelEnd(end) => {
                    let level = first.levels.entry(end.level).or_default();
                    level.end = Some(end);
                }
                Frame::RunEnd(end) => first.ending = Some(end.ending),
                Frame::Server(_) => {}
            }
        }
        first.watch.sort();
        first
    }

    /// The plan of a level.
    pub(super) fn plan_of<'a>(&'a self, plan: &'a Plan, level: u32) -> Option<&'a LevelPlan> {
        plan.levels.get(level as usize).or_else(|| self.chosen.get(&level))
    }

    /// Levels in the plan, and those that were chosen.
    pub(super) fn planned(&self, plan: &Plan) -> u64 {
        (plan.levels.len() + self.chosen.len()) as u64
    }

    /// Levels that were started more than once.
    pub(super) fn begun_again(&self) -> Vec<u32> {
        self.begun.iter().filter(|(_, times)| **times > 1).map(|(level, _)| *level).collect()
    }

    /// Second reading: the records that count.
    pub(super) fn again(&self, source: &dyn FrameSource, take: impl FnMut(&RequestRecord)) {
        records_that_count(&self.begun, source, take);
    }
}

/// The records that count, for callers that need nothing else.
pub fn for_each_record(source: &dyn FrameSource, mut take: impl FnMut(&RequestRecord)) {
    for_each_record_since(source, |record, _| take(record));
}

/// The same, each with the start time of its level.
pub(crate) fn for_each_record_since(
    source: &dyn FrameSource,
    mut take: impl FnMut(&RequestRecord, u64),
) {
    let (mut begun, mut started) = (BTreeMap::new(), BTreeMap::new());
    for frame in source.frames() {
        if let Frame::LevelStart(start) = frame {
            *begun.entry(start.level).or_default() += 1;
            started.insert(start.level, start.started);
        }
    }
    records_that_count(&begun, source, |record| {
        take(record, started.get(&record.level).copied().unwrap_or(record.intended));
    });
}

/// The records after the last start of their level, given the number of starts.
fn records_that_count(
    begun: &BTreeMap<u32, u32>,
    source: &dyn FrameSource,
    mut take: impl FnMut(&RequestRecord),
) {
    let mut left = begun.clone();
    for frame in source.frames() {
        match frame {
            Frame::LevelStart(start) => {
                if let Some(left) = left.get_mut(&start.level) {
                    *left = left.saturating_sub(1);
                }
            }
            Frame::Request(record) if left.get(&record.level).is_none_or(|n| *n == 0) => {
                take(&record);
            }
            _ => {}
        }
    }
}

/// The plan of each level of a run, by its index: those of the plan, and those that were chosen during
/// the run.
pub fn level_plans(plan: &Plan, source: &dyn FrameSource) -> BTreeMap<u32, LevelPlan> {
    let mut plans: BTreeMap<u32, LevelPlan> = (0..).zip(plan.levels.iter().cloned()).collect();
    for frame in source.frames() {
        if let Frame::LevelChosen(chosen) = frame {
            plans.insert(chosen.level, chosen.plan);
        }
    }
    plans
}

/// The place of a search's level in tables: synchronous first, then by load, throughput last.
pub(super) fn place(search: &Search, load: &Load) -> (u8, f64) {
    match (search, load) {
        (Search::Sweep { .. }, Load::Concurrency { concurrency: 1 }) => (0, 0.0),
        (Search::Sweep { .. }, Load::Concurrency { .. }) => (2, load.value()),
        _ => (1, load.value()),
    }
}
