//! The levels of recorded runs, request by request, or why they cannot be used.

use crate::hidden::reasons;
use crate::measured::Measured;
use crate::server::ServerFacts;
use crate::usable::{not_measured, of_run, told};
use crate::words::Message;
use dyno_analysis::{DirSource, FrameSource as _, for_each_record};
use dyno_fit::steps::{LevelRecords, LevelSteps, Refusal, is_checked, level_steps};
use dyno_fit::{Caches, Trial, Unfit, caches, trial};
use dyno_model::Language;
use dyno_model::frame::Frame;
use dyno_model::plan::LevelPlan;
use dyno_model::record::RequestRecord;
use dyno_model::server::ServerSample;
use dyno_record::RecordError;
use std::collections::BTreeMap;

/// The levels of several runs.
#[derive(Debug, Default)]
pub(crate) struct Trials {
    /// Those that can be sent again.
    pub(crate) usable: Vec<Trial>,
    /// What each of them was: the same load with the same lengths shows the same.
    pub(crate) loads: Vec<LevelPlan>,
    /// The engine's steps in those levels that show them.
    pub(crate) steps: Vec<LevelSteps>,
    /// The labels of usable levels without them, with the reasons.
    hidden: Vec<(String, String)>,
    /// The labels of levels that cannot be used, with the reasons.
    left_out: Vec<(String, String)>,
    /// Levels in which others used the server, with what the server said of that.
    foreign: Vec<(Trial, LevelPlan, String)>,
    /// The labels of levels in which that could not be checked.
    unchecked: Vec<String>,
    /// The labels of levels that several engines may have served, with the reasons.
    several: Vec<(String, String)>,
    /// What the runs say of the server beside their times.
    pub(crate) server: ServerFacts,
}

/// A level whose requests can be sent again.
#[derive(Debug, Clone)]
pub struct Recorded {
    /// What was to be sent.
    pub plan: LevelPlan,
    /// What was sent, and what came.
    pub trial: Trial,
    /// The engine's steps, if it shows them.
    pub steps: Option<LevelSteps>,
}

/// The levels of a run whose requests can be sent again; none without records.
pub fn recorded(run: &Measured) -> Result<Vec<Recorded>, RecordError> {
    let Some((dir, _)) = &run.records else { return Ok(Vec::new()) };
    let measured = run.summary.levels.iter();
    let measured = measured.filter(|level| not_measured(level, Language::English).is_empty());
    let labels: BTreeMap<u32, &str> =
        measured.map(|level| (level.index, level.label.as_str())).collect();
    let wanted = run.plans.iter().filter(|(index, _)| labels.contains_key(index));
    let wanted: BTreeMap<u32, &LevelPlan> = wanted.map(|(index, plan)| (*index, plan)).collect();
    let shared = run.begins_alike();
    let levels = read(&DirSource::open(dir)?, &wanted, shared).into_iter();
    let recorded = levels.filter_map(|(index, level)| {
        let label = (*labels.get(&index)?).to_owned();
        let plan = (*wanted.get(&index)?).clone();
        let trial = Trial { label, ..level.trial.ok()? };
        Some(Recorded { plan, trial, steps: level.steps.ok() })
    });
    Ok(recorded.collect())
}

/// A level that was read: its requests, and the steps that they show.
struct Level {
    trial: Result<Trial, Unfit>,
    steps: Result<LevelSteps, Vec<Refusal>>,
    caches: Caches,
    /// Whether requests of others would have been seen.
    checked: bool,
}

impl Level {
    /// Why the times of this level are not those of its own load: what the server said of others.
    fn foreign(&self, language: Language) -> Option<String> {
        let refusals = self.steps.as_ref().err()?;
        let foreign = refusals.iter().find(|one| matches!(one, Refusal::ForeignTraffic { .. }))?;
        Some(reasons(&[*foreign], language))
    }
}

impl Trials {
    /// Reads the records of these runs, a level at a time. Runs without records have no trials.
    pub(crate) fn of(runs: &[Measured], language: Language) -> Result<Self, RecordError> {
        let mut found = Self::default();
        for (number, run) in runs.iter().enumerate() {
            let number = (runs.len() > 1).then_some(number + 1);
            found.add(run, number, language)?;
        }
        Ok(found)
    }

    /// All levels, usable or not.
    pub(crate) fn count(&self) -> usize {
        self.usable.len() + self.left_out.len() + self.foreign.len()
    }

    /// Leaves out levels in which others used the server, if at least so many others remain. Else they are
    /// used, and it is told.
    pub(crate) fn leave_foreign_out(&mut self, fewest: usize) {
        let enough = self.usable.len() >= fewest;
        for (trial, plan, why) in std::mem::take(&mut self.foreign) {
            if enough {
                self.left_out.push((trial.label, why));
            } else {
                self.hidden.push((trial.label.clone(), why));
                self.usable.push(trial);
                self.loads.push(plan);
            }
        }
    }

    /// Which levels may have been served by several engines, with one note for each reason.
    pub(crate) fn several(&self, language: Language) -> Vec<String> {
        let pairs = self.several.iter().map(|(label, why)| (label.as_str(), why.as_str()));
        told(pairs, [Message::Several, Message::SeveralSeveral], language)
    }

    /// In which levels it could not be checked whether others used the server.
    pub(crate) fn unchecked(&self, language: Language) -> Option<String> {
        let names = self.unchecked.join(language.choose([", ", "、"]));
        let values = [self.unchecked.len().to_string(), names];
        (!self.unchecked.is_empty()).then(|| Message::Unchecked.with(language, &values))
    }

    /// Which levels are left out, with one note for each reason.
    pub(crate) fn notes(&self, language: Language) -> Vec<String> {
        let pairs = self.left_out.iter().map(|(label, why)| (label.as_str(), why.as_str()));
        told(pairs, [Message::LeftOut, Message::LeftOutSeveral], language)
    }

    /// Which levels do not show the engine's steps, with one note for each reason.
    pub(crate) fn hidden(&self, language: Language) -> Vec<String> {
        let pairs = self.hidden.iter().map(|(label, why)| (label.as_str(), why.as_str()));
        told(pairs, [Message::Hidden, Message::HiddenSeveral], language)
    }

    /// The same as pairs.
    pub(crate) fn left_out(&self) -> &[(String, String)] {
        &self.left_out
    }

    fn add(
        &mut self,
        run: &Measured,
        number: Option<usize>,
        language: Language,
    ) -> Result<(), RecordError> {
        let Some((dir, _)) = &run.records else { return Ok(()) };
        let mut wanted: BTreeMap<u32, &LevelPlan> = BTreeMap::new();
        let mut unusable: BTreeMap<u32, String> = BTreeMap::new();
        for level in &run.summary.levels {
            let why = not_measured(level, language);
            match run.plans.get(&level.index) {
                Some(plan) if why.is_empty() => drop(wanted.insert(level.index, plan)),
                Some(_) => drop(unusable.insert(level.index, why)),
                None => {
                    drop(unusable.insert(level.index, Message::NoLoad.text(language).to_owned()))
                }
            }
        }
        let mut levels = read(&DirSource::open(dir)?, &wanted, run.begins_alike());
        for level in &run.summary.levels {
            let label = of_run(&level.label, number, language);
            let found = levels.remove(&level.index);
            let foreign = found.as_ref().and_then(|level| level.foreign(language));
            match (found, wanted.get(&level.index)) {
                (Some(Level { trial: Ok(trial), .. }), Some(plan)) if foreign.is_some() => {
                    let why = foreign.unwrap_or_default();
                    self.foreign.push((Trial { label, ..trial }, (*plan).clone(), why));
                }
                (Some(Level { trial: Ok(trial), steps, caches, checked }), Some(plan)) => {
                    match steps {
                        Ok(steps) => self.steps.push(steps),
                        Err(why) => {
                            let several = several_engines(&why);
                            if !several.is_empty() {
                                self.several.push((label.clone(), reasons(&several, language)));
                            }
                            self.hidden.push((label.clone(), reasons(&why, language)));
                        }
                    }
                    if !checked && run.is_of_server() {
                        self.unchecked.push(label.clone());
                    }
                    self.server.add(caches);
                    self.usable.push(Trial { label, ..trial });
                    self.loads.push((*plan).clone());
                }
                (Some(Level { trial: Err(why), .. }), _) => {
                    self.left_out.push((label, refused(why, language)));
                }
                (None, _) | (_, None) => {
                    let why = unusable.remove(&level.index);
                    let none = || refused(Unfit::Few(0), language);
                    self.left_out.push((label, why.unwrap_or_else(none)));
                }
            }
        }
        Ok(())
    }
}

/// The wanted levels. They follow each other, so the records of one at a time are in memory.
fn read(
    source: &DirSource<'_>,
    wanted: &BTreeMap<u32, &LevelPlan>,
    shared: bool,
) -> BTreeMap<u32, Level> {
    let samples = samples(source);
    let mut levels = BTreeMap::new();
    let mut now: Option<u32> = None;
    let mut records: Vec<RequestRecord> = Vec::new();
    let mut slots = Slots::default();
    let mut end = |level: Option<u32>, records: &mut Vec<RequestRecord>| {
        if let Some((level, plan)) = level.and_then(|level| Some((level, wanted.get(&level)?))) {
            let recorded = LevelRecords { requests: records, samples: &samples, shared };
            let found = Level {
                trial: trial(plan, records),
                steps: level_steps(recorded),
                caches: caches(records, &samples),
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

/// The reasons that speak for several engines, each of which has a part of the load.
fn several_engines(why: &[Refusal]) -> Vec<Refusal> {
    let several = |one: &&Refusal| {
        use Refusal::{ArrivalsInGroups, MissingTraffic, SeveralAddresses};
        matches!(one, MissingTraffic { .. } | SeveralAddresses { .. } | ArrivalsInGroups { .. })
    };
    why.iter().filter(several).copied().collect()
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

/// Why a level cannot be sent again.
fn refused(refusal: Unfit, language: Language) -> String {
    match refusal {
        Unfit::Few(done) => Message::Few.with(language, &[done.to_string()]),
        Unfit::Failures { failed, all } => {
            Message::Failures.with(language, &[failed, all].map(|count| count.to_string()))
        }
        Unfit::NotStreamed => Message::NotStreamed.text(language).to_owned(),
        Unfit::NoInput => Message::NoInput.text(language).to_owned(),
        Unfit::HeldBack => Message::HeldBack.text(language).to_owned(),
        Unfit::SentAgain => Message::SentAgain.text(language).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::plan::Load;
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

    /// A run of three levels, so many of which others used.
    fn with_foreign(count: usize) -> Trials {
        let mut trials = Trials::default();
        for place in 0..3 {
            let label = format!("rate {place}");
            let trial = Trial { label, kind: dyno_fit::Kind::Open, requests: Vec::new() };
            let plan = LevelPlan::new(Load::Concurrency { concurrency: 1 });
            match place < count {
                true => trials.foreign.push((trial, plan, "others".to_owned())),
                false => {
                    trials.usable.push(trial);
                    trials.loads.push(plan);
                }
            }
        }
        trials
    }

    #[test]
    fn levels_that_others_used_are_left_out_where_enough_remain() {
        let mut one = with_foreign(1);
        assert_eq!(one.count(), 3);
        one.leave_foreign_out(2);
        assert_eq!((one.usable.len(), one.loads.len(), one.count()), (2, 2, 3));
        assert_eq!(one.notes(Language::English), ["left out: rate 0: others"]);
        let mut two = with_foreign(2);
        two.leave_foreign_out(2);
        assert_eq!((two.usable.len(), two.loads.len(), two.count()), (3, 3, 3));
        assert!(two.notes(Language::English).is_empty());
        assert!(two.hidden(Language::English)[0].ends_with("others"));
    }

    #[test]
    fn what_could_not_be_checked_is_told() {
        let mut trials = Trials::default();
        assert_eq!(trials.unchecked(Language::English), None);
        trials.unchecked = vec!["rate 1".to_owned(), "rate 2".to_owned()];
        let said = trials.unchecked(Language::English).unwrap();
        assert!(said.contains("during 2 levels (rate 1, rate 2)"), "{said}");
    }

    #[test]
    fn refusals_read_as_in_the_library() {
        for refusal in [
            Unfit::Few(3),
            Unfit::Failures { failed: 4, all: 90 },
            Unfit::NotStreamed,
            Unfit::NoInput,
            Unfit::HeldBack,
            Unfit::SentAgain,
        ] {
            let said = refused(refusal, Language::English);
            assert!(said.starts_with(&refusal.to_string()), "{said} / {refusal}");
            assert_ne!(refused(refusal, Language::Chinese), said);
        }
    }
}
