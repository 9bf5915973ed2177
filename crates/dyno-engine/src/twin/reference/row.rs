//! A row of a published table: a load, its measurements, and whether they are usable.

use dyno_model::{Message, message};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What the level of a row says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReferenceLoad {
    /// One request at a time.
    Synchronous,
    /// Requests a second that were offered.
    Rate,
    /// As many requests as the client may have in flight.
    Throughput,
    /// Requests in flight.
    Concurrency,
    /// Requests sent at once.
    Burst,
    /// Nothing: the row is known by its lengths.
    Cell,
}

impl ReferenceLoad {
    fn has_level(self) -> bool {
        matches!(self, Self::Rate | Self::Concurrency | Self::Burst)
    }
}

/// A metric of a row. Times are those of the client; means are over the successful requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReferenceValue {
    /// Requests that should have been sent.
    Expected,
    /// Requests that succeeded or failed.
    Total,
    /// Requests that succeeded.
    Succeeded,
    /// Requests that failed.
    Failed,
    /// From the first request to the end of the last.
    DurationS,
    /// Requests that succeeded, a second.
    CompletedRate,
    /// Tokens of responses, a second.
    OutputTokensPerS,
    /// Tokens of prompts and responses, a second.
    TotalTokensPerS,
    /// Request latency, mean.
    LatencyS,
    /// Request latency, 50th percentile. The others are named alike.
    P50S,
    /// Request latency.
    P66S,
    /// Request latency.
    P75S,
    /// Request latency.
    P80S,
    /// Request latency.
    P90S,
    /// Request latency.
    P95S,
    /// Request latency.
    P98S,
    /// Request latency.
    P99S,
    /// Time to the first chunk of the stream, mean.
    TtftMs,
    /// Time to the first chunk of the stream, median.
    TtftP50Ms,
    /// Time to the first chunk of the stream, 99th percentile.
    TtftP99Ms,
    /// Time per output token after the first, the mean over requests of each one's mean.
    TpotMs,
    /// Time per output token after the first, median over requests.
    TpotP50Ms,
    /// Time per output token after the first, 99th percentile over requests.
    TpotP99Ms,
    /// Time between chunks of a stream, the mean over all of them.
    ItlMs,
    /// Time between chunks of a stream, median.
    ItlP50Ms,
    /// Time between chunks of a stream, 99th percentile.
    ItlP99Ms,
    /// Request latency over prompt and output tokens.
    LatencyPerTokenMs,
    /// Request latency over tokens of the response.
    LatencyPerOutputTokenMs,
    /// Tokens of a prompt, mean.
    InputTokens,
    /// Tokens of a response, mean.
    OutputTokens,
    /// Tokens of all prompts.
    TotalInputTokens,
    /// Tokens of all responses.
    TotalOutputTokens,
}

impl ReferenceValue {
    /// Its name in files.
    pub fn name(self) -> String {
        let name = serde_json::to_value(self).ok();
        name.and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default()
    }
}

/// Inferred corrections of a row.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct Repaired {
    /// The level.
    pub value: Option<f64>,
    /// The values.
    #[serde(flatten)]
    pub metrics: BTreeMap<ReferenceValue, f64>,
}

/// A row: a load and its values, as published.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct ReferenceRow {
    /// What `value` means.
    pub load: ReferenceLoad,
    /// The level, as published; [`level`](Self::level) is the one to simulate.
    pub value: Option<f64>,
    /// The values, as published; [`get`](Self::get) is the one to compare with.
    #[serde(flatten)]
    pub metrics: BTreeMap<ReferenceValue, f64>,
    /// Which checks the row fails, with the values.
    pub suspect: Option<String>,
    /// Values that say nothing about the system.
    #[serde(default)]
    pub unreliable: Vec<ReferenceValue>,
    /// Corrected values.
    #[serde(default)]
    pub repaired: Repaired,
    /// Why the row cannot be used.
    pub left_out: Option<String>,
    /// Whether a twin is fitted to the row or judged by it; absent if it is left out.
    pub fitted: Option<bool>,
}

impl ReferenceRow {
    /// The level to simulate: repaired if necessary.
    pub fn level(&self) -> Option<f64> {
        self.repaired.value.or(self.value)
    }

    /// The value to compare with: repaired if necessary, absent if unreliable.
    pub fn get(&self, figure: ReferenceValue) -> Option<f64> {
        let repaired = self.repaired.metrics.get(&figure);
        let published = || self.metrics.get(&figure).filter(|_| !self.unreliable.contains(&figure));
        repaired.or_else(published).copied()
    }

    /// A mean over requests, or a total divided by their number.
    pub(super) fn each(&self, mean: ReferenceValue, total: ReferenceValue) -> Option<f64> {
        let divided = || Some(self.get(total)? / self.get(ReferenceValue::Succeeded)?);
        self.get(mean).or_else(divided)
    }

    pub(super) fn check(&self) -> Result<(), Message> {
        if self.load.has_level() != self.value.is_some() {
            let load = self.load;
            return Err(match load.has_level() {
                true => message!(
                    "a row of load {load:?} needs `value`",
                    "load 为 {load:?} 的行需要 `value`"
                ),
                false => message!(
                    "a row of load {load:?} has no `value`",
                    "load 为 {load:?} 的行没有 `value`"
                ),
            });
        }
        if self.fitted.is_some() == self.left_out.is_some() {
            return Err(message!(
                "give either `fitted` or `left_out`",
                "`fitted` 和 `left_out` 请二选一"
            ));
        }
        let levels = [self.value, self.repaired.value].into_iter().flatten();
        if let Some(level) = levels.into_iter().find(|level| !positive(*level)) {
            return Err(message!("the level {level} is not above 0", "档位 {level} 不大于 0"));
        }
        for (figure, value) in self.metrics.iter().chain(&self.repaired.metrics) {
            let none_failed = *figure == ReferenceValue::Failed && *value == 0.0;
            if !positive(*value) && !none_failed {
                return Err(message!(
                    "{figure:?} is {value}; leave out what was not measured",
                    "{figure:?} 为 {value}；请去掉没有测量的数值"
                ));
            }
        }
        if let Some(figure) = self.unreliable.iter().find(|f| !self.metrics.contains_key(f)) {
            return Err(message!(
                "{figure:?} is listed as unreliable but missing",
                "{figure:?} 被列为不可靠，但没有这一项"
            ));
        }
        let doubted = !self.unreliable.is_empty() || self.repaired != Repaired::default();
        if doubted && self.suspect.is_none() {
            return Err(message!(
                "say in `suspect` why values are unreliable or repaired",
                "请在 `suspect` 中说明数值不可靠或被修正的原因"
            ));
        }
        Ok(())
    }
}

fn positive(value: f64) -> bool {
    value.is_finite() && value > 0.0
}
