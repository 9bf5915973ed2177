//! Parts of wordings that are there or not, or stand in lists.

use crate::{messages, wordings};
use dyno_model::{Language, Value};

messages! {
    /// A part of what is said.
    pub enum Phrase;

    Measured: "{} {}–{} {}", "{} {}–{} {}";
    InUse: ", {} in use", "，已用 {}";
    InBatch: ", while {} were in the batch", "，同时批次中有 {} 个";
    Against: "{}: {} against {}", "{}：{}，对照 {}";
    AndMore: "and {} more", "另有 {} 行";
    Reordered:
        "; put in the order of their latency, rows would take the places {} (an inference)",
        "；按延迟排序后，各行应为 {}（推断）";
    MeanTtft: "the mean TTFT in ms", "平均 TTFT（ms）";
    MeanLatency: "the mean latency in ms", "平均请求延迟（ms）";
    MeanTpot: "the mean TPOT in ms", "平均 TPOT（ms）";
    MeanChunkGap: "the mean chunk gap in ms", "平均数据块间隔（ms）";
    OutputPerSecond: "output tokens per second", "每秒输出 token 数";
    CompletedRequests: "the completed requests", "完成的请求数";
}

wordings! {
    /// Before what is said: what of the whole it is about.
    pub enum Place;

    Named: Note "", ["{}: {}", "{}：{}"], ["{2}", "{2}"];
    Line: Note "", ["line {}: {}", "第 {} 行：{}"], ["{2}", "{2}"];
}

impl Phrase {
    /// As a value of a diagnostic, in every language.
    pub fn value(self, values: impl IntoIterator<Item = Value>) -> Value {
        let values: Vec<Value> = values.into_iter().collect();
        Value::Worded([Language::English, Language::Chinese].map(|language| {
            let texts: Vec<&str> = values.iter().map(|value| value.text(language)).collect();
            self.with(language, &texts)
        }))
    }
}

/// Values as one, with what stands between them in each language; nothing gives an empty text.
pub fn list(each: impl IntoIterator<Item = Value>, between: [&str; 2]) -> Value {
    let each: Vec<Value> = each.into_iter().collect();
    Value::Worded([Language::English, Language::Chinese].map(|language| {
        let texts: Vec<&str> = each.iter().map(|value| value.text(language)).collect();
        texts.join(language.choose(between))
    }))
}
