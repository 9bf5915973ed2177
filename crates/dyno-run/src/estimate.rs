//! Estimates the duration of the remaining levels from those measured so far. Levels bounded by time
//! need no estimate. For the others, the cost of a request is taken to be proportional to its tokens,
//! with input tokens weighted relative to output tokens as the first level showed. Requests that
//! generate nothing cost something between a constant and their input.

use dyno_model::plan::{LevelPlan, Load};
use dyno_model::units::to_s;
use dyno_workload::random::lengths::Lengths;
use std::time::Duration;

/// What an estimate needs to know of a level.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct LevelProgress {
    /// Completed requests.
    pub(crate) completed: u64,
    /// The shortest TTFT, in seconds.
    pub(crate) shortest_ttft: Option<f64>,
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
    /// The cost of an input token, in output tokens.
    weight: f64,
}

/// The work of a level.
#[derive(Debug, Clone, Copy)]
struct Work {
    requests: f64,
    input: f64,
    output: f64,
    /// Nothing is generated: the input is all the work.
    embeds: bool,
}

impl Work {
    fn of(level: &LevelPlan, requests: f64) -> Self {
        let mean = |text: &str| text.parse::<Lengths>().map_or(1.0, |lengths| lengths.mean());
        let texts = level.inputs.map_or(1.0, f64::from);
        let input = texts * mean(&level.input_tokens.0);
        let embeds = level.inputs.is_some();
        Self { requests, input, output: mean(&level.output_tokens.0), embeds }
    }

    /// In output tokens; of what embeds, in a unit of its own.
    fn tokens(&self, weight: f64) -> f64 {
        match self.embeds {
            // A batch is computed at once while the server has room, and text by text when it is full.
            true => self.requests * self.input.sqrt(),
            false => self.requests * (weight * self.input + self.output),
        }
    }

    /// How different requests are in their length.
    fn far(&self, other: &Self) -> f64 {
        (self.input / other.input).ln().abs()
    }
}

/// Estimates durations from measured levels.
#[derive(Debug, Default)]
pub(crate) struct RunEstimate {
    known: Vec<(Load, Known)>,
}

impl RunEstimate {
    /// Nothing has been measured.
    pub(crate) fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// The duration of a level and the remaining ones, from its first response; `None` where time
    /// bounds all of them.
    pub(crate) fn from_first_response(
        level: &LevelPlan,
        first: &LevelProgress,
        to_come: &[LevelPlan],
    ) -> Option<Duration> {
        let mut guess = Self::default();
        guess.learn(level, first);
        guess.of(std::iter::once(level).chain(to_come)).filter(|_| has_unknown_duration(to_come))
    }

    /// Adds a measured level, and returns a new estimate for the remaining ones if this was the first
    /// level with its load (and its input, where that is all the work).
    pub(crate) fn news(
        &mut self,
        level: &LevelPlan,
        progress: &LevelProgress,
        to_come: &[LevelPlan],
    ) -> Option<Duration> {
        let same = |(load, known): &(Load, Known)| {
            *load == level.load
                && (!known.work.embeds || known.work.far(&Work::of(level, 1.0)) == 0.0)
        };
        let is_news = !self.known.iter().any(same);
        self.learn(level, progress);
        self.of(to_come.iter()).filter(|_| is_news && has_unknown_duration(to_come))
    }

    /// Adds a measured level.
    fn learn(&mut self, level: &LevelPlan, progress: &LevelProgress) {
        if progress.completed == 0 {
            return;
        }
        let work = Work::of(level, progress.completed as f64);
        let (seconds, tokens) = progress.decoding;
        let weight = match (progress.shortest_ttft, seconds > 0.0 && tokens > 0.0) {
            // A step decodes one token of each request in flight; a prompt is prefilled alone.
            (Some(shortest_ttft), true) => {
                shortest_ttft / work.input * at_once(&level.load) / (seconds / tokens)
            }
            _ => 0.0,
        };
        let known = Known { load: level.load.value(), work, seconds: progress.seconds, weight };
        self.known.push((level.load, known));
    }

    /// The duration of these levels; `None` while nothing was measured.
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

    /// Scales the level with the nearest load and, among these, the nearest input. Throughput is taken to grow with the square root of the
    /// load: between an idle server, where it is proportional, and a full one, where it is constant.
    fn counted(&self, level: &LevelPlan, requests: f64) -> Option<f64> {
        let load = level.load.value();
        let alike = self.known.iter().filter(|(known, _)| known.kind() == level.load.kind());
        let work = Work::of(level, requests);
        let far = |known: &Known| (known.load / load).ln().abs();
        let (_, known) = alike.min_by(|(_, a), (_, b)| {
            far(a).total_cmp(&far(b)).then(a.work.far(&work).total_cmp(&b.work.far(&work)))
        })?;
        let ratio = work.tokens(known.weight) / known.work.tokens(known.weight);
        Some(known.seconds * ratio * (known.load / load).sqrt())
    }
}

/// Whether some level is bounded by its requests alone, so that its duration is unknown.
fn has_unknown_duration(levels: &[LevelPlan]) -> bool {
    levels.iter().any(|level| level.duration_ns.is_none())
}

/// Requests decoded in the same step.
fn at_once(load: &Load) -> f64 {
    match load {
        Load::Concurrency { .. } | Load::Burst { .. } => load.value(),
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::plan::LengthSpec;

    /// A level of 40 requests, 4 at a time, each with so many texts; none: it generates 64 tokens.
    fn level(inputs: Option<u32>) -> LevelPlan {
        LevelPlan {
            label: String::new(),
            load: Load::Concurrency { concurrency: 4 },
            requests: Some(40),
            duration_ns: None,
            warmup: None,
            drain_ns: 0,
            input_tokens: LengthSpec::fixed(32),
            output_tokens: LengthSpec::fixed(64),
            capacity: None,
            extrapolated: false,
            repeat: None,
            until: None,
            soak: false,
            max_concurrency: None,
            inputs,
            once: false,
        }
    }

    /// The estimate for levels after one that took a second.
    fn after_a_second(first: Option<u32>, rest: &[Option<u32>]) -> (RunEstimate, Option<Duration>) {
        let progress = LevelProgress { completed: 40, seconds: 1.0, ..LevelProgress::default() };
        let rest: Vec<LevelPlan> = rest.iter().copied().map(level).collect();
        let mut estimate = RunEstimate::default();
        let left = estimate.news(&level(first), &progress, &rest);
        (estimate, left)
    }

    #[test]
    fn more_texts_take_longer_but_not_so_many_times_as_long() {
        let (mut estimate, left) = after_a_second(Some(1), &[Some(16), Some(64)]);
        assert_eq!(left, Some(Duration::from_secs(4 + 8)));
        // The nearest level is the one to scale: it took more than expected.
        let progress = LevelProgress { completed: 40, seconds: 10.0, ..LevelProgress::default() };
        let left = estimate.news(&level(Some(16)), &progress, &[level(Some(64))]);
        assert_eq!(left, Some(Duration::from_secs(20)));
    }

    #[test]
    fn a_known_load_is_no_news() {
        let (mut estimate, left) = after_a_second(None, &[None]);
        assert_eq!(left, Some(Duration::from_secs(1)));
        let progress = LevelProgress { completed: 40, seconds: 1.0, ..LevelProgress::default() };
        assert_eq!(estimate.news(&level(None), &progress, &[level(None)]), None);
    }
}
