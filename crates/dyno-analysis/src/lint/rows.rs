//! The levels of a run as the checks read them: a few metrics each, and by how much printing rounded
//! them.

use dyno_model::Verdict;
use dyno_model::diagnostic::Row;
use dyno_model::load::LoadKind;
use dyno_model::metric::Time;
use dyno_model::summary::{Distribution, LevelSummary, Summary};

/// The rows of a run.
pub(super) struct Rows<'a> {
    pub(super) summary: &'a Summary,
    pub(super) rows: Vec<Level<'a>>,
}

/// A level and the values that checks use.
#[derive(Clone, Copy)]
pub(super) struct Level<'a>(pub(super) &'a LevelSummary);

impl<'a> Rows<'a> {
    /// Whether it is checked. Ramps, traces and conversations follow none of the identities; invalid
    /// levels have been reported as such.
    pub(super) fn of(summary: &'a Summary) -> Self {
        let counts = |level: &&LevelSummary| {
            let kind = level.load.kind;
            level.verdict != Verdict::Invalid
                && !matches!(kind, LoadKind::Ramp | LoadKind::Trace)
                && level.sessions.is_none()
        };
        Self { summary, rows: summary.levels.iter().filter(counts).map(Level).collect() }
    }

    /// Measured by another tool, whose printed values are rounded.
    pub(super) fn imported(&self) -> bool {
        self.summary.run.origin.is_some()
    }

    /// Levels of one kind of load with their loads, by load, without rows of zeros.
    pub(super) fn by_load(&self, kind: LoadKind) -> Vec<(f64, Level<'a>)> {
        let of = |level: &Level<'a>| {
            (level.0.load.kind == kind && !level.is_zero())
                .then_some(level.0.load.value)
                .flatten()
                .map(|load| (load, *level))
        };
        let mut found: Vec<_> = self.rows.iter().filter_map(of).collect();
        found.sort_by(|a, b| a.0.total_cmp(&b.0));
        found
    }
}

fn positive(value: Option<f64>) -> Option<f64> {
    value.filter(|value| *value > 0.0)
}

fn mean(figure: &Option<Distribution>) -> Option<f64> {
    positive(figure.as_ref()?.mean)
}

impl Level<'_> {
    pub(super) fn row(&self) -> Row {
        let line = self.0.reported.as_ref().and_then(|reported| reported.line);
        Row { label: self.0.label.clone(), line }
    }

    /// Completed requests per second over the whole level.
    pub(super) fn per_s(&self) -> Option<f64> {
        positive(self.0.throughput.requests_per_s)
    }

    /// The same over the steady window, where there is one: without ramp-up and drain.
    pub(super) fn steady_per_s(&self) -> Option<f64> {
        let steady = self.0.steady.and_then(|steady| steady.throughput.requests_per_s);
        positive(steady).or_else(|| self.per_s())
    }

    pub(super) fn tokens_per_s(&self) -> Option<f64> {
        positive(self.0.throughput.output_tokens_per_s)
    }

    pub(super) fn latency(&self) -> Option<f64> {
        mean(&self.0.times[Time::Latency])
    }

    pub(super) fn ttft(&self) -> Option<f64> {
        mean(&self.0.times[Time::Ttft])
    }

    /// Time between tokens, or between output events where a tool reports no other.
    pub(super) fn itl(&self) -> Option<f64> {
        mean(&self.0.times[Time::Itl]).or_else(|| mean(&self.0.times[Time::ChunkGap]))
    }

    /// The longest latency, or its p99.
    pub(super) fn slowest_ms(&self) -> Option<f64> {
        let latency = self.0.times[Time::Latency].as_ref()?;
        positive(latency.max.or(latency.p99))
    }

    pub(super) fn failed(&self) -> u64 {
        self.0.requests.bad().unwrap_or_default()
    }

    /// Whether every reported value is 0.
    pub(super) fn is_zero(&self) -> bool {
        let done = &self.0.throughput;
        let latency = self.0.times[Time::Latency].as_ref().and_then(|latency| latency.mean);
        let told = [done.requests_per_s, done.output_tokens_per_s, latency];
        let reported = self.0.reported.as_ref().map(|reported| &reported.figures);
        let zeros = |figures: &std::collections::BTreeMap<String, f64>| {
            figures.len() > 1 && figures.values().all(|figure| *figure == 0.0)
        };
        reported.is_some_and(zeros)
            || (told.iter().flatten().count() > 1 && told.iter().flatten().all(|f| *f == 0.0))
    }

    /// Whether TTFT equals the latency, so that nothing was streamed.
    pub(super) fn is_whole(&self) -> bool {
        self.0.is_whole()
    }

    /// By how much rounding to hundredths may have changed the product of rate and latency.
    pub(super) fn rounding(&self) -> f64 {
        let of = |value: Option<f64>, half: f64| value.map_or(0.0, |value| half / value);
        of(self.per_s(), 0.005) + of(self.latency(), 5.0)
    }
}
