//! The levels of recorded runs, request by request, or why they cannot be used.

use crate::measured::MeasuredRun;
use crate::read::{RecordedLevel, read};
use crate::server::ServerFacts;
use crate::usable::{joined, left_out, names, no_load, not_measured, notes, of_run};
use dyno_analysis::DirSource;
use dyno_fit::steps::LevelSteps;
use dyno_fit::{Trial, Unfit};
use dyno_model::plan::LevelPlan;
use dyno_model::{Language, Message, message};
use dyno_record::RecordError;
use std::collections::BTreeMap;

/// The levels of several runs.
#[derive(Debug, Default)]
pub(crate) struct Trials {
    /// Those that can be sent again.
    pub(crate) usable: Vec<Trial>,
    /// What each of them was: the same load with the same lengths shows the same.
    pub(crate) loads: Vec<LevelPlan>,
    /// The engine's steps in each of them, where it shows them.
    pub(crate) steps: Vec<Option<LevelSteps>>,
    /// The labels of usable levels without them, with the reasons.
    hidden: Vec<(String, Message)>,
    /// The labels of levels that cannot be used, with the reasons.
    left_out: Vec<(String, Message)>,
    /// Levels in which others used the server, with what the server said of that.
    foreign: Vec<(Trial, LevelPlan, Message)>,
    /// The labels of levels in which that could not be checked.
    unchecked: Vec<String>,
    /// The labels of levels that several engines may have served, with the reasons.
    several: Vec<(String, Message)>,
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
pub fn recorded(run: &MeasuredRun) -> Result<Vec<Recorded>, RecordError> {
    let Some((dir, _)) = &run.records else { return Ok(Vec::new()) };
    let measured = run.summary.levels.iter();
    let measured = measured.filter(|level| not_measured(level).is_empty());
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

impl Trials {
    /// Reads the records of these runs, a level at a time. Runs without records have no trials.
    pub(crate) fn of(runs: &[MeasuredRun], language: Language) -> Result<Self, RecordError> {
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
                self.steps.push(None);
                self.loads.push(plan);
            }
        }
    }

    /// Which levels may have been served by several engines, with one note for each reason.
    pub(crate) fn several(&self) -> Vec<Message> {
        notes(pairs(&self.several), |labels, why| match labels {
            [label] => message!(
                "{label} is compared as if one engine had served it: {why}",
                "{label} 按单个引擎处理全部请求来比较：{why}"
            ),
            labels => message!(
                "{} levels ({}) are compared as if one engine had served them: {why}",
                "{} 个档位（{}）按单个引擎处理全部请求来比较：{why}",
                labels.len(),
                names(labels)
            ),
        })
    }

    /// In which levels it could not be checked whether others used the server.
    pub(crate) fn unchecked(&self) -> Option<Message> {
        let labels = names(&self.unchecked);
        match self.unchecked.len() {
            0 => None,
            1 => Some(message!(
                "could not be checked: whether others used the server during 1 level ({labels}); it does \
                 not report how many requests it has",
                "无法检查：1 个档位（{labels}）期间是否有其他人使用服务端；服务端不报告其请求数"
            )),
            count => Some(message!(
                "could not be checked: whether others used the server during {count} levels ({labels}); it \
                 does not report how many requests it has",
                "无法检查：{count} 个档位（{labels}）期间是否有其他人使用服务端；服务端不报告其请求数"
            )),
        }
    }

    /// Which levels are left out, with one note for each reason.
    pub(crate) fn notes(&self) -> Vec<Message> {
        notes(pairs(&self.left_out), left_out)
    }

    /// Which levels do not show the engine's steps, with one note for each reason.
    pub(crate) fn hidden(&self) -> Vec<Message> {
        notes(pairs(&self.hidden), |labels, why| match labels {
            [label] => message!(
                "steps of the engine are not visible in {label}, so only its distributions are used: {why}",
                "{label} 中看不到引擎的每一步，只使用其分布：{why}"
            ),
            labels => message!(
                "steps of the engine are not visible in {} levels ({}), so only their distributions are \
                 used: {why}",
                "{} 个档位（{}）中看不到引擎的每一步，只使用其分布：{why}",
                labels.len(),
                names(labels)
            ),
        })
    }

    /// The same as pairs.
    pub(crate) fn left_out(&self) -> &[(String, Message)] {
        &self.left_out
    }

    fn add(
        &mut self,
        run: &MeasuredRun,
        number: Option<usize>,
        language: Language,
    ) -> Result<(), RecordError> {
        let Some((dir, _)) = &run.records else { return Ok(()) };
        let mut wanted: BTreeMap<u32, &LevelPlan> = BTreeMap::new();
        let mut unusable: BTreeMap<u32, Message> = BTreeMap::new();
        for level in &run.summary.levels {
            let why = not_measured(level);
            match run.plans.get(&level.index) {
                Some(plan) if why.is_empty() => drop(wanted.insert(level.index, plan)),
                Some(_) => drop(unusable.insert(level.index, joined(why))),
                None => drop(unusable.insert(level.index, no_load())),
            }
        }
        let mut levels = read(&DirSource::open(dir)?, &wanted, run.begins_alike());
        for level in &run.summary.levels {
            let label = of_run(&level.label, number, language);
            let found = levels.remove(&level.index);
            let foreign = found.as_ref().and_then(RecordedLevel::foreign);
            let several = found.as_ref().and_then(RecordedLevel::several);
            match (found, wanted.get(&level.index), foreign) {
                (Some(RecordedLevel { trial: Ok(trial), .. }), Some(plan), Some(why)) => {
                    self.foreign.push((Trial { label, ..trial }, (*plan).clone(), why));
                }
                (
                    Some(RecordedLevel { trial: Ok(trial), steps, caches, checked }),
                    Some(plan),
                    None,
                ) => {
                    if let Err(why) = &steps {
                        self.hidden.push((label.clone(), joined(why)));
                    }
                    self.steps.push(steps.ok());
                    self.several.extend(several.map(|why| (label.clone(), why)));
                    if !checked && run.is_of_server() {
                        self.unchecked.push(label.clone());
                    }
                    self.server.add(caches);
                    self.usable.push(Trial { label, ..trial });
                    self.loads.push((*plan).clone());
                }
                (Some(RecordedLevel { trial: Err(why), .. }), ..) => {
                    self.left_out.push((label, Message::of(why)));
                }
                (None, ..) | (_, None, _) => {
                    let why = unusable.remove(&level.index);
                    let none = || Message::of(Unfit::Few(0));
                    self.left_out.push((label, why.unwrap_or_else(none)));
                }
            }
        }
        Ok(())
    }
}

fn pairs(all: &[(String, Message)]) -> impl Iterator<Item = (&str, &Message)> {
    all.iter().map(|(label, why)| (label.as_str(), why))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::plan::Load;

    /// A run of three levels, so many of which others used.
    fn with_foreign(count: usize) -> Trials {
        let mut trials = Trials::default();
        for place in 0..3 {
            let label = format!("rate {place}");
            let trial =
                Trial { label, kind: dyno_fit::TrialKind::Open, requests: Vec::new(), until: None };
            let plan = LevelPlan::new(Load::Concurrency { concurrency: 1 });
            match place < count {
                true => trials.foreign.push((trial, plan, Message::quoted("others"))),
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
        assert_eq!(one.notes()[0].to_string(), "left out: rate 0: others");
        let mut two = with_foreign(2);
        two.leave_foreign_out(2);
        assert_eq!((two.usable.len(), two.loads.len(), two.count()), (3, 3, 3));
        assert!(two.notes().is_empty());
        assert!(two.hidden()[0].to_string().ends_with("others"));
    }

    #[test]
    fn what_could_not_be_checked_is_told() {
        let mut trials = Trials::default();
        assert_eq!(trials.unchecked(), None);
        trials.unchecked = vec!["rate 1".to_owned(), "rate 2".to_owned()];
        let said = trials.unchecked().unwrap().to_string();
        assert!(said.contains("during 2 levels (rate 1, rate 2)"), "{said}");
    }
}
