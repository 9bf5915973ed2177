//! Fields by name or path, and the names under which people keep their prompts.

use std::fmt;

use dyno_model::{Message, message};
use serde_json::{Map, Value};

/// The name of a field, or a path into nested ones: `request.messages.0.content`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldPath(String);

impl FieldPath {
    /// A path, unless it is empty.
    pub fn new(path: &str) -> Option<Self> {
        (!path.is_empty()).then(|| Self(path.into()))
    }

    /// A field with a well-known name.
    pub(super) fn of(name: &str) -> Self {
        Self(name.into())
    }

    /// A field within this one.
    pub(super) fn within(&self, name: &str) -> Self {
        Self(format!("{}.{name}", self.0))
    }

    /// As it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The value there. A field whose own name has dots goes before a path.
    pub fn find<'a>(&self, object: &'a Map<String, Value>) -> Option<&'a Value> {
        if let Some(value) = object.get(&self.0) {
            return Some(value);
        }
        let (first, rest) = self.0.split_once('.')?;
        rest.split('.').try_fold(object.get(first)?, |value, part| match value {
            Value::Object(object) => object.get(part),
            Value::Array(list) => list.get(part.parse::<usize>().ok()?),
            _ => None,
        })
    }

    /// The outermost field that the path begins with, among those that exist.
    #[cfg(feature = "parquet")]
    pub(super) fn root<'a>(&'a self, names: &[String]) -> &'a str {
        if names.contains(&self.0) {
            return &self.0;
        }
        self.0.split_once('.').map_or(&self.0, |(first, _)| first)
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

/// Names of whole conversations.
pub(super) const MESSAGES: [&str; 5] =
    ["messages", "conversations", "conversation", "turns", "conversation_a"];
/// Names of prompts, the likeliest first. Some go with fields beside them: see `prompt_in.rs`.
pub(super) const PROMPTS: [&str; 12] = [
    "prompt",
    "question",
    "query",
    "instruction",
    "input",
    "text",
    "content",
    "user_input",
    "problem",
    "question_content",
    "problem_statement",
    "text_input",
];
/// Names of system messages.
pub(super) const SYSTEMS: [&str; 2] = ["system", "system_prompt"];
/// Names of output lengths.
pub(super) const OUTPUTS: [&str; 10] = [
    "output_tokens",
    "max_tokens",
    "max_completion_tokens",
    "completion_tokens",
    "max_new_tokens",
    "output_length",
    "output_len",
    "expected_output_len",
    "output_tokens_count",
    "max_output_tokens",
];

/// Names of lengths in recorded traces that are tables.
pub(super) const TRACES: [&str; 5] =
    ["input_length", "ContextTokens", "Request tokens", "num_prefill_tokens", "input_toks"];

/// The first of `names` that is a field of one of the objects, as the object spells it.
pub(super) fn usual(
    objects: &[&Map<String, Value>],
    names: &[&str],
    fits: impl Fn(&Value) -> bool,
) -> Option<FieldPath> {
    names.iter().find_map(|name| {
        objects.iter().find_map(|object| {
            let spelled = object.keys().find(|key| key.trim().eq_ignore_ascii_case(name))?;
            fits(object.get(spelled)?).then(|| FieldPath(spelled.clone()))
        })
    })
}

/// Objects within objects whose fields are named in a message.
const DEEPEST_LISTED: usize = 3;

/// Adds the fields of an object, those of objects within it by their paths.
fn add_paths(object: &Map<String, Value>, before: &str, depth: usize, paths: &mut Vec<String>) {
    for (name, value) in object {
        let path = format!("{before}{name}");
        match value {
            Value::Object(inner) if !inner.is_empty() && depth < DEEPEST_LISTED => {
                add_paths(inner, &format!("{path}."), depth + 1, paths);
            }
            _ => paths.push(path),
        }
    }
}

/// The fields of an object, for a message.
pub(crate) fn listed(object: &Map<String, Value>) -> Message {
    let mut names = Vec::new();
    add_paths(object, "", 1, &mut names);
    if names.is_empty() {
        return message!("there are none", "没有任何字段");
    }
    names.sort_unstable();
    let more = names.len().saturating_sub(20);
    names.truncate(20);
    let names = names.join(", ");
    match more {
        0 => message!("the fields are {names}", "字段有 {names}"),
        more => {
            message!("the fields are {names} and {more} more", "字段有 {names}，另有 {more} 个")
        }
    }
}

/// What kind of value it is, for a message.
pub(crate) fn described(value: &Value) -> Message {
    match value {
        Value::Null => message!("null", " null"),
        Value::Bool(_) => message!("true or false", "布尔值"),
        Value::Number(_) => message!("a number", "数字"),
        Value::String(_) => message!("text", "文本"),
        Value::Array(_) => message!("a list", "列表"),
        Value::Object(_) => message!("an object", "对象"),
    }
}

/// A count of tokens: a whole number of at least 1, also as text. `Ok(None)` where it is blank.
pub(super) fn count(value: &Value) -> Result<Option<u32>, Message> {
    whole(value, 1)
}

/// A whole number of at least `least`, also as text. `Ok(None)` where it is blank.
pub(crate) fn whole(value: &Value, least: u32) -> Result<Option<u32>, Message> {
    let number = match value {
        Value::Null => return Ok(None),
        Value::String(text) if text.trim().is_empty() => return Ok(None),
        Value::String(text) => text.trim().parse::<f64>().ok(),
        Value::Number(number) => number.as_f64(),
        _ => None,
    };
    match number {
        Some(number)
            if number.fract() == 0.0
                && (f64::from(least)..=f64::from(u32::MAX)).contains(&number) =>
        {
            Ok(Some(number as u32))
        }
        Some(number) if number > f64::from(u32::MAX) => {
            let written =
                value.as_str().map_or_else(|| value.to_string(), |text| text.trim().into());
            Err(message!(
                "is {written}, too large for a number of tokens",
                "为 {written}，作为 token 数过大"
            ))
        }
        Some(number) => Err(message!(
            "is {number}, not a whole number of at least {least}",
            "为 {number}，不是至少为 {least} 的整数"
        )),
        None => {
            Err(message!("is {}, not a number of tokens", "是{}，不是 token 数", described(value)))
        }
    }
}
