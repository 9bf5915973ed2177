//! Parts of wordings: optional ones, and the entries of lists.

use crate::{messages, wordings};
use dyno_model::{DiagnosticValue, Language};

messages! {
    /// A part of a wording.
    pub enum Phrase;

    Measured: "{} {}–{} {}", "{} {}–{} {}";
    MoreRequests: "more requests or a longer --duration", "更多请求或更长的 --duration";
    NeedsMore: "{} (about {} more requests, {} s)", "{}（约再需 {} 个请求，{} s）";
    AndMoreLevels: "{} more", "另有 {} 个档位";
    InUse: ", {} in use", "，已用 {}";
    InBatch: ", with {} in the batch", "，同时批次中有 {} 个";
    Against: "{}: {} vs {}", "{}：{}，对照 {}";
    AndMore: "and {} more", "另有 {} 行";
    Agent: "agent {}", "压测端 {}";
    AgentAndMore: "agent {} (and {} more)", "压测端 {}（另有 {} 个）";
    Reordered:
        "; sorted by latency, the rows would be in the places {} (inferred)",
        "；按时延排序后，各行应为 {}（推断）";
    MeanTtft: "the mean TTFT in ms", "平均 TTFT（ms）";
    MeanLatency: "the mean latency in ms", "平均端到端时延（ms）";
    MeanTpot: "the mean TPOT in ms", "平均 TPOT（ms）";
    MeanChunkGap: "the mean chunk gap in ms", "平均数据块间隔（ms）";
    OutputPerSecond: "output tokens per second", "每秒输出 token 数";
    CompletedRequests: "the completed requests", "成功的请求数";
}

wordings! {
    /// A prefix that says which part of the input a wording is about.
    pub enum Place;

    Named: Note "", ["{}: {}", "{}：{}"], ["{2}", "{2}"];
    Line: Note "", ["line {}: {}", "第 {} 行：{}"], ["{2}", "{2}"];
}

impl Phrase {
    /// As a value of a diagnostic, in every language.
    pub fn value(self, values: impl IntoIterator<Item = DiagnosticValue>) -> DiagnosticValue {
        let values: Vec<DiagnosticValue> = values.into_iter().collect();
        DiagnosticValue::new([Language::English, Language::Chinese].map(|language| {
            let texts: Vec<_> = values.iter().map(|value| value.text(language)).collect();
            self.with(language, &texts)
        }))
    }
}

/// Joins values into one, with a separator for each language; no values give an empty text.
pub fn list(
    each: impl IntoIterator<Item = DiagnosticValue>,
    between: [&str; 2],
) -> DiagnosticValue {
    let each: Vec<DiagnosticValue> = each.into_iter().collect();
    DiagnosticValue::new([Language::English, Language::Chinese].map(|language| {
        let texts: Vec<_> = each.iter().map(|value| value.text(language)).collect();
        texts.join(language.choose(between))
    }))
}
