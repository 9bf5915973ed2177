//! The records of a run, level by level: what was sent again, and what the server said meanwhile.

use crate::usable::joined;
use dyno_analysis::{DirSource, FrameSource as _, for_each_record};
use dyno_fit::steps::{LevelRecords, LevelSteps, Refusal, is_checked, level_steps};
use dyno_fit::{Trial, TrialCaches, TrialKind, Unfit, caches, trial};
use dyno_model::Message;
use dyno_model::frame::Frame;
use dyno_model::plan::LevelPlan;
use dyno_model::record::RequestRecord;
use dyno_model::server::ServerSample;
use std::collections::BTreeMap;

/// A level that was read: its requests, and the steps that they show.
pub(crate) struct RecordedLevel {
    pub(crate) trial: Result<Trial, Unfit>,
    pub(crate) steps: Result<LevelSteps, Vec<Refusal>>,
    pub(crate) caches: TrialCaches,
    /// Whether requests of others would have been seen.
    pub(crate) checked: bool,
}

impl RecordedLevel {
    /// Why the times of this level are not those of what would be sent again: others used the server, or an
    /// unknown part of the prompts was not computed. (Conversations are sent again with what they repeat.)
    pub(crate) fn foreign(&self) -> Option<Message> {
        let talks = self.trial.as_ref().is_ok_and(|trial| trial.kind == TrialKind::Sessions);
        let refusals = self.steps.as_ref().err()?;
        let foreign = refusals.iter().find(|one| match one {
            Refusal::ForeignTraffic { .. } => true,
            Refusal::CachedUnknown { .. } => !talks,
            _ => false,
        });
        foreign.map(Message::of)
    }

    /// The reasons that speak for several engines, each of which has a part of the load; nothing if none does.
    pub(crate) fn several(&self) -> Option<Message> {
        let several = |one: &&Refusal| {
            use Refusal::{ArrivalsInGroups, MissingTraffic, SeveralAddresses};
            matches!(one, MissingTraffic { .. } | SeveralAddresses { .. } | ArrivalsInGroups { .. })
        };
        let refusals = self.steps.as_ref().err().into_iter().flatten();
        let several: Vec<&Refusal> = refusals.filter(several).collect();
        (!several.is_empty()).then(|| joined(several))
    }
}

/// The wanted levels. They follow each other, so the records of one at a time are in memory.
pub(crate) fn read(
    source: &DirSource<'_>,
    wanted: &BTreeMap<u32, &LevelPlan>,
    shared: bool,
) -> BTreeMap<u32, RecordedLevel> {
    let samples = samples(source);
    let mut levels = BTreeMap::new();
    let mut now: Option<u32> = None;
    let mut records: Vec<RequestRecord> = Vec::new();
    let mut slots = Slots::default();
    let mut end = |level: Option<u32>, records: &mut Vec<RequestRecord>| {
        if let Some((level, plan)) = level.and_then(|level| Some((level, wanted.get(&level)?))) {
            let recorded = LevelRecords { requests: records, samples: &samples, shared };
            let found = RecordedLevel {
                trial: trial(plan, records),
                steps: level_steps(recorded),
                caches: caches(records, &samples, shared),
                checked: is_checked(records, &samples),
            };
            levels.insert(level, found);
        }
        records.clear();
    };
    for_each_record(source, |record| {
        if now != Some(record.level) {
            end(now.replace(record.level), &mut records);
            slots = Slots::default();
        }
        if wanted.contains_key(&record.level) {
            let slot = slots.number(record);
            records.push(RequestRecord { slot, ..record.clone() });
        }
    });
    end(now, &mut records);
    levels
}

/// The server metrics of a run.
fn samples(source: &DirSource<'_>) -> Vec<ServerSample> {
    let sample = |frame| match frame {
        Frame::Server(sample) => Some(sample),
        _ => None,
    };
    source.frames().filter_map(sample).collect()
}

/// The slots of closed loops, over all agents: each counts its own from 0.
#[derive(Default)]
struct Slots(BTreeMap<(Option<u32>, u32), u32>);

impl Slots {
    fn number(&mut self, record: &RequestRecord) -> u32 {
        let next = self.0.len() as u32;
        *self.0.entry((record.agent, record.slot)).or_insert(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::record::Phase;

    #[test]
    fn agents_have_slots_of_their_own() {
        let record = |agent: u32, slot: u32| RequestRecord {
            agent: Some(agent),
            ..RequestRecord::new(0, 0, slot, Phase::Measured, 0)
        };
        let mut slots = Slots::default();
        let all = [record(1, 0), record(2, 0), record(1, 1), record(1, 0), record(2, 0)];
        assert_eq!(all.map(|record| slots.number(&record)), [0, 1, 2, 0, 1]);
    }
}
