//! Parts of wordings that are there or not, or stand in lists.

use crate::messages;
use dyno_model::{Language, Value};

messages! {
    /// A part of what is said.
    pub enum Phrase;

    SamplesOf: "{} has {} of {} needed", "{0} 需要 {2} 个，只有 {1} 个";
    InUse: ", {} in use", "，已用 {}";
    InBatch: ", while {} were in the batch", "，同时批次中有 {} 个";
    Against: "{}: {} against {}", "{}：{}，对照 {}";
    AndMore: "and {} more", "另有 {} 行";
    Reordered:
        "; put in the order of their latency, rows would take the places {} (an inference)",
        "；按延迟排序后，各行应为 {}（推断）";
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
