//! The figures that are compared.

use dyno_model::load::LoadKind;
use dyno_model::summary::{Distribution, LevelSummary};
use dyno_stats::compare::{Better, Figure};
use dyno_stats::stability::Statistic;
use serde::Serialize;

/// A figure of a level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Completed requests per second.
    RequestsPerS,
    /// Output tokens per second.
    OutputTokensPerS,
    /// Mean time to the first token.
    TtftMean,
    /// 99th percentile of it.
    TtftP99,
    /// Mean time between tokens: ITL, TPOT where there is none, or what stands for it.
    TokenTime,
    /// Mean latency.
    LatencyMean,
    /// 99th percentile of it.
    LatencyP99,
    /// Share of the requests that failed.
    Failures,
}

impl Metric {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::RequestsPerS,
        Self::OutputTokensPerS,
        Self::TtftMean,
        Self::TtftP99,
        Self::TokenTime,
        Self::LatencyMean,
        Self::LatencyP99,
        Self::Failures,
    ];

    /// Its name on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::RequestsPerS => "requests_per_s",
            Self::OutputTokensPerS => "output_tokens_per_s",
            Self::TtftMean => "ttft_mean",
            Self::TtftP99 => "ttft_p99",
            Self::TokenTime => "token_time",
            Self::LatencyMean => "latency_mean",
            Self::LatencyP99 => "latency_p99",
            Self::Failures => "failures",
        }
    }

    /// The metric of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|metric| metric.name() == name)
    }

    /// Which way it is better.
    pub fn better(self) -> Better {
        match self {
            Self::RequestsPerS | Self::OutputTokensPerS => Better::Higher,
            _ => Better::Lower,
        }
    }

    /// What it is of its samples.
    pub(super) fn statistic(self) -> Statistic {
        match self {
            Self::TtftP99 | Self::LatencyP99 => Statistic::P99,
            _ => Statistic::Mean,
        }
    }

    /// It is a time, in milliseconds.
    pub fn is_time(self) -> bool {
        !matches!(self, Self::RequestsPerS | Self::OutputTokensPerS | Self::Failures)
    }

    /// Its value at a level, with its interval where there is one; shares of failures are between 0
    /// and 1.
    pub(super) fn of(self, level: &LevelSummary) -> Option<Figure> {
        let plain = |value: Option<f64>| value.map(|value| Figure { value, interval: None });
        let latency = || figure(&level.latency_ms, |d| d.mean, |d| d.ci95.mean);
        let work = level.steady.map_or(level.throughput, |steady| steady.throughput);
        match self {
            Self::RequestsPerS => rate(level, work.requests_per_s, latency()),
            Self::OutputTokensPerS => rate(level, work.output_tokens_per_s, latency()),
            Self::TtftMean => first_token(level, |d| d.mean, |d| d.ci95.mean),
            Self::TtftP99 => first_token(level, |d| d.p99, |d| d.ci95.p99),
            Self::TokenTime => {
                level.token_time().and_then(|d| told(d, |d| d.mean, |d| d.ci95.mean))
            }
            Self::LatencyMean => latency(),
            Self::LatencyP99 => figure(&level.latency_ms, |d| d.p99, |d| d.ci95.p99),
            Self::Failures => plain(level.requests.failure_share()),
        }
    }
}

fn figure(
    figures: &Option<Distribution>,
    value: fn(&Distribution) -> Option<f64>,
    interval: fn(&Distribution) -> Option<[f64; 2]>,
) -> Option<Figure> {
    told(figures.as_ref()?, value, interval)
}

fn told(
    figures: &Distribution,
    value: fn(&Distribution) -> Option<f64>,
    interval: fn(&Distribution) -> Option<[f64; 2]>,
) -> Option<Figure> {
    Some(Figure { value: value(figures)?, interval: interval(figures) })
}

/// Of streams only.
fn first_token(
    level: &LevelSummary,
    value: fn(&Distribution) -> Option<f64>,
    interval: fn(&Distribution) -> Option<[f64; 2]>,
) -> Option<Figure> {
    figure(&level.ttft_ms, value, interval).filter(|_| !level.is_whole())
}

/// A rate has no samples of its own. In a closed loop it is slots over latency, and varies as that
/// does; an open loop completes what is offered.
fn rate(level: &LevelSummary, rate: Option<f64>, latency: Option<Figure>) -> Option<Figure> {
    let rate = rate?;
    match latency.filter(|_| level.load.kind == LoadKind::Concurrency) {
        Some(latency) => Some(Figure::by_latency(rate, latency)),
        None => Some(Figure { value: rate, interval: None }),
    }
}
