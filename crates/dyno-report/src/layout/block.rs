//! The block that vLLM's and SGLang's benchmarks print: a name in forty columns, a value in ten,
//! and headings centred in fifty.

use super::cells::{fixed, whole};
use dyno_model::load::LoadKind;
use dyno_model::summary::{Distribution, LevelSummary};

const BLOCK: usize = 50;

/// A statistic, with the name of its row.
pub(super) type Statistic = (&'static str, fn(&Distribution) -> Option<f64>);

pub(super) const MEAN: Statistic = ("Mean", |d| d.mean);
pub(super) const MEDIAN: Statistic = ("Median", |d| d.p50);
pub(super) const P90: Statistic = ("P90", |d| d.p90);
pub(super) const P95: Statistic = ("P95", |d| d.p95);
pub(super) const P99: Statistic = ("P99", |d| d.p99);
pub(super) const MAX: Statistic = ("Max", |d| d.max);

/// A block, line by line.
#[derive(Debug)]
pub(super) struct Block(String);

impl Block {
    pub(super) fn new() -> Self {
        Self(format!("{:=^BLOCK$}\n", " Serving Benchmark Result "))
    }

    pub(super) fn text(&mut self, name: &str, value: &str) {
        self.0.push_str(&format!("{name:<40} {value:<10}\n"));
    }

    pub(super) fn count(&mut self, name: &str, value: Option<u64>) {
        self.text(name, &whole(value));
    }

    pub(super) fn number(&mut self, name: &str, value: Option<f64>) {
        self.text(name, &fixed(value, 2));
    }

    /// A section: a heading, then statistics of one metric.
    pub(super) fn part(
        &mut self,
        heading: &str,
        name: &str,
        of: &Option<Distribution>,
        statistics: &[Statistic],
    ) {
        self.0.push_str(&format!("{heading:-^BLOCK$}\n"));
        for (statistic, value) in statistics {
            let value = of.as_ref().and_then(value);
            self.number(&format!("{statistic} {name} (ms):"), value);
        }
    }

    pub(super) fn finish(self) -> String {
        format!("{}{:=^BLOCK$}\n", self.0, "")
    }
}

/// The concurrency of a closed loop, or the cap of an open one.
pub(super) fn max_concurrency(level: &LevelSummary) -> Option<u64> {
    let slots = level.load.value.filter(|_| level.load.kind == LoadKind::Concurrency);
    let cap = level.client_wait.map(|wait| u64::from(wait.max_concurrency));
    slots.map(|slots| slots as u64).or(cap)
}

/// The rate of an open loop with a fixed rate.
pub(super) fn rate(level: &LevelSummary) -> Option<f64> {
    level.load.value.filter(|_| level.load.kind == LoadKind::Rate)
}

/// Tokens over all completed requests.
pub(super) fn tokens(level: &LevelSummary) -> [Option<u64>; 2] {
    [level.input_tokens, level.output_tokens].map(|tokens| tokens.and_then(|t| t.total))
}

/// Blocks with an empty line between them; where there are several, each under its level's name.
pub(super) fn blocks(levels: &[LevelSummary], block: impl Fn(&LevelSummary) -> String) -> String {
    let several = levels.len() > 1;
    let texts = levels.iter().map(|level| {
        let name = if several { super::plain(&level.label) + "\n" } else { String::new() };
        name + &block(level)
    });
    texts.collect::<Vec<_>>().join("\n")
}
