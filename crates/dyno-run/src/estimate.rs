//! How long the levels to come will take, by those that have been measured. Time bounds some; of
//! the others, requests of other lengths are taken to cost in proportion to their tokens, where a
//! token of a prompt costs as much less than one of an answer as the first level showed.

use dyno_model::plan::{LevelPlan, Load};
use dyno_model::units::to_s;
use dyno_workload::lengths::Lengths;
use std::time::Duration;

/// What was seen of a level besides its time.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Glance {
    /// Requests that were answered.
    pub(crate) completed: u64,
    /// The soonest first token, in seconds.
    pub(crate) soonest: Option<f64>,
    /// The sum of seconds from first to last tokens, and of the tokens between.
    pub(crate) decoding: (f64, f64),
    /// Seconds from the first request to the end.
    pub(crate) seconds: f64,
}

/// A level that was measured.
#[derive(Debug, Clone, Copy)]
struct Known {
    load: f64,
    work: Work,
    seconds: f64,
    /// What a token of a prompt costs in tokens of answers.
    weight: f64,
}

/// What a level asks for.
#[derive(Debug, Clone, Copy)]
struct Work {
    requests: f64,
    input: f64,
    output: f64,
}

impl Work {
    fn of(level: &LevelPlan, requests: f64) -> Self {
        let mean = |text: &str| text.parse::<Lengths>().map_or(1.0, |lengths| lengths.mean());
        Self { requests, input: mean(&level.input_tokens.0), output: mean(&level.output_tokens.0) }
    }

    /// In tokens of answers.
    fn tokens(&self, weight: f64) -> f64 {
        self.requests * (weight * self.input + self.output)
    }
}

/// Learns from levels how long others take.
#[derive(Debug, Default)]
pub(crate) struct Estimate {
    known: Vec<(Load, Known)>,
}

impl Estimate {
    /// Nothing has been measured.
    pub(crate) fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// How long a level and those to come will take, by the first answer in it; nothing where time
    /// bounds all that come.
    pub(crate) fn by_first_answer(
        level: &LevelPlan,
        first: &Glance,
        to_come: &[LevelPlan],
    ) -> Option<Duration> {
        let mut guess = Self::default();
        guess.learn(level, first);
        guess.of(std::iter::once(level).chain(to_come)).filter(|_| is_open(to_come))
    }

    /// Learns from a level, and says how long those to come will take if that is news: this was the
    /// first level with its load.
    pub(crate) fn news(
        &mut self,
        level: &LevelPlan,
        glance: &Glance,
        to_come: &[LevelPlan],
    ) -> Option<Duration> {
        let is_news = !self.known.iter().any(|(known, _)| *known == level.load);
        self.learn(level, glance);
        self.of(to_come.iter()).filter(|_| is_news && is_open(to_come))
    }

    /// A level took so long.
    fn learn(&mut self, level: &LevelPlan, glance: &Glance) {
        if glance.completed == 0 {
            return;
        }
        let work = Work::of(level, glance.completed as f64);
        let (seconds, tokens) = glance.decoding;
        let weight = match (glance.soonest, seconds > 0.0 && tokens > 0.0) {
            // A step decodes one token of each that is in flight; a prompt has its step alone.
            (Some(soonest), true) => {
                soonest / work.input * at_once(&level.load) / (seconds / tokens)
            }
            _ => 0.0,
        };
        let known = Known { load: level.load.value(), work, seconds: glance.seconds, weight };
        self.known.push((level.load, known));
    }

    /// How long these levels will take; nothing while there is nothing to go by.
    fn of<'a>(&self, levels: impl Iterator<Item = &'a LevelPlan>) -> Option<Duration> {
        let seconds = levels.map(|level| self.level(level)).sum::<Option<f64>>()?;
        Duration::try_from_secs_f64(seconds).ok()
    }

    fn level(&self, level: &LevelPlan) -> Option<f64> {
        let by_time = level.duration_ns.map(to_s);
        let by_count = match (level.load, level.requests) {
            (Load::Rate { rate, .. }, Some(requests)) => Some(requests as f64 / rate),
            (_, Some(requests)) => self.counted(level, requests as f64),
            (_, None) => None,
        };
        match (by_time, by_count) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    /// By the level whose load is nearest. At another load, throughput is taken to grow with half
    /// the power of it: somewhere between a server that is idle and one that is full.
    fn counted(&self, level: &LevelPlan, requests: f64) -> Option<f64> {
        let load = level.load.value();
        let alike = self.known.iter().filter(|(known, _)| known.kind() == level.load.kind());
        let far = |known: &Known| (known.load / load).ln().abs();
        let (_, known) = alike.min_by(|(_, a), (_, b)| far(a).total_cmp(&far(b)))?;
        let work = Work::of(level, requests);
        let ratio = work.tokens(known.weight) / known.work.tokens(known.weight);
        Some(known.seconds * ratio * (known.load / load).sqrt())
    }
}

/// How long it takes is not in the plan: some level is bounded by its requests alone.
fn is_open(levels: &[LevelPlan]) -> bool {
    levels.iter().any(|level| level.duration_ns.is_none())
}

/// Requests that share a step.
fn at_once(load: &Load) -> f64 {
    match load {
        Load::Concurrency { .. } | Load::Burst { .. } => load.value(),
        _ => 1.0,
    }
}
