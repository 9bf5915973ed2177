//! Summaries made for the tests, and random numbers.

use dyno_analysis::lint::{Lint, lint};
use dyno_model::load::LoadKind;
use dyno_model::metric::{PerTime, Time};
use dyno_model::summary::{Distribution, LoadSummary, Origin, RunSummary, Tokens};
use dyno_model::{Language, LevelSummary, Severity, Summary, Verdict};

/// Results of a tool.
pub(crate) fn of(tool: &str, levels: Vec<LevelSummary>) -> Summary {
    in_form(tool, "json", levels)
}

/// Results of a tool in one of its forms.
pub(crate) fn in_form(tool: &str, form: &str, levels: Vec<LevelSummary>) -> Summary {
    let origin = Origin {
        tool: tool.to_owned(),
        form: form.to_owned(),
        version: None,
        file: "results".to_owned(),
        line: Some(1),
        headings: vec!["results".to_owned()],
        recognised: None,
    };
    Summary {
        schema: "dyno.summary/1".to_owned(),
        run: RunSummary { id: "made".to_owned(), origin: Some(origin), ..RunSummary::default() },
        levels,
        repeats: Vec::new(),
        search: None,
        notes: Vec::new(),
    }
}

/// A level of which only the load is known.
pub(crate) fn level(kind: LoadKind, value: f64) -> LevelSummary {
    LevelSummary {
        label: format!("{kind} {value}"),
        load: LoadSummary { kind, value: Some(value) },
        verdict: Verdict::Unjudged,
        ..LevelSummary::default()
    }
}

/// Its requests per second.
pub(crate) const PER_S: f64 = 100.0 / 48.617;

/// A level whose every value follows from the others: 100 requests of 101 tokens in 48.6 s, 4 in flight.
pub(crate) fn consistent() -> LevelSummary {
    let mut made = level(LoadKind::Concurrency, 4.0);
    made.requests.planned = Some(100);
    made.requests.completed = Some(100);
    made.requests.failed = Some(0);
    made.duration_s = Some(48.617);
    made.throughput.requests_per_s = Some(PER_S);
    made.throughput.output_tokens_per_s = Some(101.0 * PER_S);
    made.output_tokens = Some(Tokens { total: Some(10_100), mean: 101.0 });
    made.times = PerTime::new(|time| {
        let mean = match time {
            Time::Latency => 1_924.3,
            Time::Ttft => 124.3,
            Time::Tpot | Time::ChunkGap => 18.0,
            _ => return None,
        };
        Some(mean_of(mean))
    });
    made
}

/// A distribution of which only the mean is known.
pub(crate) fn mean_of(mean: f64) -> Distribution {
    Distribution { mean: Some(mean), ..Distribution::default() }
}

/// The codes of its findings of a severity.
pub(crate) fn codes(summary: &Summary, severity: Severity) -> Vec<String> {
    found(&[summary], severity).into_iter().map(|finding| finding.check).collect()
}

/// All findings of a severity.
pub(crate) fn found(summaries: &[&Summary], severity: Severity) -> Vec<Lint> {
    let all = lint(summaries, Language::English);
    all.into_iter().filter(|finding| finding.weight == severity).collect()
}

/// Asserts that nothing is found in it, neither error nor warning.
pub(crate) fn assert_clean(summary: &Summary) {
    let all = lint(&[summary], Language::English);
    assert!(all.is_empty(), "{all:#?}");
}

/// Random numbers, the same in every run.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// Between 0 and 1.
    pub(crate) fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (((z ^ (z >> 31)) >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// With mean 1.
    pub(crate) fn exponential(&mut self) -> f64 {
        -self.unit().ln()
    }

    /// With mean 0 and deviation 1.
    pub(crate) fn normal(&mut self) -> f64 {
        (-2.0 * self.unit().ln()).sqrt() * (std::f64::consts::TAU * self.unit()).cos()
    }
}

/// With so many decimals.
pub(crate) fn printed(value: f64, decimals: i32) -> Option<f64> {
    let unit = 10_f64.powi(decimals);
    Some((value * unit).round() / unit)
}
