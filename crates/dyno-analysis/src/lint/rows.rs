//! The levels of a run as the checks read them: a few metrics each, and what the tool that measured them
//! means by them.

use dyno_model::Verdict;
use dyno_model::diagnostic::CatalogueRow;
use dyno_model::load::LoadKind;
use dyno_model::metric::Time;
use dyno_model::summary::{Distribution, LevelSummary, Origin, Summary};

/// The rows of a run.
pub(super) struct LintRows<'a> {
    pub(super) summary: &'a Summary,
    pub(super) rows: Vec<LintedLevel<'a>>,
}

/// A level and the values that checks use.
#[derive(Clone, Copy)]
pub(super) struct LintedLevel<'a>(pub(super) &'a LevelSummary);

/// Tools whose requests/s and tokens/s are the completed requests and their tokens, divided by the
/// duration that they report. guidellm counts within a window of its own, and GenAI-Perf takes the two
/// from different lists of requests; what others do is not known here.
const BY_DURATION: [&str; 5] = ["vllm", "sglang", "lmdeploy", "evalscope", "aiperf"];

/// Forms whose program prints two decimals: more of them are not from it.
const TWO_DECIMALS: [(&str, &str); 5] = [
    ("vllm", "block"),
    ("sglang", "block"),
    ("guidellm", "table"),
    ("aiperf", "csv"),
    ("genai-perf", "csv"),
];

/// Tolerance of what is computed from TPOT.
const TPOT_SLACK: f64 = 0.05;
/// The most that lengths of responses are taken to vary: their standard deviation by their mean.
const LENGTHS_VARY: f64 = 2.0;
/// Assumed of TPOT where the file does not show how it varies.
const TPOT_VARIES: f64 = 0.5;

impl<'a> LintRows<'a> {
    /// Whether it is checked. Ramps, traces and conversations follow none of the identities; invalid
    /// levels have been reported as such.
    pub(super) fn of(summary: &'a Summary) -> Self {
        let counts = |level: &&LevelSummary| {
            let kind = level.load.kind;
            level.verdict != Verdict::Invalid
                && !matches!(kind, LoadKind::Ramp | LoadKind::Trace)
                && !level.has_turns()
        };
        Self { summary, rows: summary.levels.iter().filter(counts).map(LintedLevel).collect() }
    }

    /// Measured by another tool.
    pub(super) fn imported(&self) -> bool {
        self.summary.run.origin.is_some()
    }

    /// The tool that measured it; nothing for Dyno.
    pub(super) fn tool(&self) -> Option<&str> {
        self.summary.run.origin.as_ref().map(|origin| origin.tool.as_str())
    }

    /// The last digit that its form can have.
    pub(super) fn finest_digit(&self) -> f64 {
        let form = |origin: &Origin| TWO_DECIMALS.contains(&(&origin.tool, &origin.form));
        if self.summary.run.origin.as_ref().is_some_and(form) { 0.01 } else { 0.0 }
    }

    /// Whether throughput is what completed, divided by the reported duration.
    pub(super) fn by_duration(&self) -> bool {
        self.tool().is_none_or(|tool| BY_DURATION.contains(&tool))
    }

    /// Levels of one kind of load with their loads, by load, without rows of zeros.
    pub(super) fn by_load(&self, kind: LoadKind) -> Vec<(f64, LintedLevel<'a>)> {
        let of = |level: &LintedLevel<'a>| {
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

impl LintedLevel<'_> {
    pub(super) fn row(&self) -> CatalogueRow {
        let reported = self.0.reported.as_ref();
        let line = reported.and_then(|reported| reported.line);
        let file = reported.and_then(|reported| reported.file.clone());
        CatalogueRow { label: self.0.label.clone(), line, file }
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

    /// Input and output tokens per second.
    pub(super) fn total_per_s(&self) -> Option<f64> {
        positive(self.0.throughput.total_tokens_per_s)
    }

    pub(super) fn duration_s(&self) -> Option<f64> {
        positive(self.0.duration_s)
    }

    /// Completed requests; nothing where the file does not state them.
    pub(super) fn completed(&self) -> Option<f64> {
        positive(self.0.requests.completed.map(|count| count as f64))
    }

    /// Completed requests as stated, or by rate and duration.
    pub(super) fn about_completed(&self) -> Option<f64> {
        self.completed().or_else(|| Some(self.per_s()? * self.duration_s()?))
    }

    /// The mean latency of all completed requests.
    pub(super) fn latency(&self) -> Option<f64> {
        mean(&self.0.times[Time::Latency]).filter(|_| self.is_of_all(Time::Latency))
    }

    /// Whether a time is known of every completed request, as far as its samples are counted: empty
    /// responses may lack it.
    pub(super) fn is_of_all(&self, time: Time) -> bool {
        let samples = self.0.times[time].as_ref().and_then(|time| time.count);
        samples.zip(self.0.requests.completed).is_none_or(|(samples, all)| samples == all)
    }

    pub(super) fn ttft(&self) -> Option<f64> {
        mean(&self.0.times[Time::Ttft])
    }

    pub(super) fn tpot(&self) -> Option<f64> {
        mean(&self.0.times[Time::Tpot])
    }

    /// By what share TPOT times the output tokens may differ from the time that they took: TPOT is a mean
    /// over requests, so they differ by the covariance of speed and length, which is at most the product
    /// of their deviations. With one length there is none.
    pub(super) fn covariance(&self) -> f64 {
        let tpot = self.0.times[Time::Tpot].as_ref();
        let varies = tpot.and_then(|tpot| {
            let by_tail = || Some((tpot.p99? - tpot.p50?).abs());
            Some(tpot.std.or_else(by_tail)? / positive(tpot.mean)?)
        });
        let lengths = if self.0.output_length.is_some() { 0.1 } else { LENGTHS_VARY };
        TPOT_SLACK + lengths * varies.unwrap_or(TPOT_VARIES)
    }

    /// The mean latency, or else what TTFT and TPOT make of it; and by what share that may be too long.
    pub(super) fn about_latency(&self) -> Option<(f64, f64)> {
        let by_tokens = || {
            let decode = self.tpot()? * (self.output_tokens()? - 1.0).max(0.0);
            let latency = self.ttft()? + decode;
            let off = self.covariance() * decode / latency;
            (off < 1.0).then(|| (latency, off / (1.0 - off)))
        };
        self.latency().map(|latency| (latency, 0.0)).or_else(by_tokens)
    }

    /// Time between tokens.
    pub(super) fn itl(&self) -> Option<f64> {
        mean(&self.0.times[Time::Itl])
    }

    /// Time between output events, each of which may carry several tokens.
    pub(super) fn chunk_gap(&self) -> Option<f64> {
        mean(&self.0.times[Time::ChunkGap])
    }

    /// Output tokens of a request, as counted.
    pub(super) fn output_tokens(&self) -> Option<f64> {
        positive(self.0.output_tokens.map(|tokens| tokens.mean))
    }

    /// Input tokens of a request, as counted.
    pub(super) fn input_tokens(&self) -> Option<f64> {
        positive(self.0.input_tokens.map(|tokens| tokens.mean))
    }

    /// The output tokens, or as requested of every request.
    pub(super) fn output_length(&self) -> Option<f64> {
        self.output_tokens().or(self.0.output_length.map(f64::from))
    }

    /// The share of requests that a window of this length cuts at each end: their latencies count as a
    /// whole, their tokens in part.
    pub(super) fn window_edges(&self) -> f64 {
        let share = self.latency().zip(self.duration_s()).map(|(ms, s)| ms / 1e3 / s);
        share.unwrap_or_default().min(1.0)
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

    /// Whether TTFT equals the latency although there is more than one token: nothing was streamed.
    pub(super) fn is_whole(&self) -> bool {
        self.0.is_whole() && self.output_length().is_none_or(|tokens| tokens > 1.0)
    }
}
