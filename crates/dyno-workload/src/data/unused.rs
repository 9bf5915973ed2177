//! Fields of the records that are not sent: which they are, and which of them were probably meant to
//! be part of the prompt.

use serde_json::{Map, Value};

use dyno_words::escape::escape;

use super::pick::Pick;
use super::record::Record;
use dyno_model::prompt::{ChatMessage, Content};

/// A field that is not sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnusedFields {
    /// Its name, or its path.
    pub field: String,
    /// A value, escaped and cut.
    pub example: String,
    /// Mean characters of text in it, of the first records.
    pub chars: u64,
    /// Whether it is text, rather than a list or an object.
    pub is_text: bool,
    /// Whether it is longer than the prompts and not a response, so that it was probably meant to be
    /// part of them.
    pub overlooked: bool,
}

/// Characters of an example.
const EXAMPLE: usize = 80;
/// Mean characters below which a field is not worth a warning.
const LONG: u64 = 200;

/// Words in the names of fields that hold what a model should respond, or how it is judged.
const OF_RESPONSES: [&str; 49] = [
    "analysis",
    "answer",
    "answers",
    "chosen",
    "code",
    "completion",
    "completions",
    "conversation",
    "critique",
    "expected",
    "explanation",
    "feedback",
    "generated",
    "generation",
    "generations",
    "gold",
    "golden",
    "gpt",
    "highlights",
    "hint",
    "hints",
    "label",
    "labels",
    "new",
    "output",
    "outputs",
    "patch",
    "rationale",
    "reasoning",
    "reference",
    "references",
    "rejected",
    "reply",
    "response",
    "responses",
    "result",
    "results",
    "solution",
    "solutions",
    "summary",
    "target",
    "targets",
    "test",
    "tests",
    "think",
    "thought",
    "translation",
    "truth",
    "usage",
];

/// The fields of the first records that are not sent, and the mean characters of their prompts.
pub(super) fn unused(pick: &Pick, samples: &[Record]) -> (Vec<UnusedFields>, u64) {
    let objects: Vec<(&Record, &Map<String, Value>)> =
        samples.iter().filter_map(|sample| Some((sample, sample.value.as_object()?))).collect();
    // Without a prompt field, objects are whole request bodies, and sent with all they have.
    if pick.prompt.is_none() || objects.is_empty() {
        return (Vec::new(), 0);
    }
    let used: Vec<&str> = pick.fields().iter().map(|field| field.as_str()).collect();
    let prompts = objects.iter().map(|(sample, _)| prompt_length(pick, sample));
    let prompt = prompts.sum::<u64>() / objects.len() as u64;
    let mut found: Vec<Found> = Vec::new();
    for (sample, object) in &objects {
        collect(&used, "", object, &mut |path, value| {
            let place = found.iter().position(|known| known.path == path).unwrap_or_else(|| {
                found.push(Found { path: path.to_owned(), ..Found::default() });
                found.len() - 1
            });
            found[place].add(pick, sample, object, value);
        });
    }
    let unused = found.into_iter().map(|field| field.described(objects.len() as u64, prompt));
    (unused.collect(), prompt)
}

/// Passes on every field that is not used, and of an object that is used in part, what is not.
fn collect<'a>(
    used: &[&str],
    before: &str,
    object: &'a Map<String, Value>,
    pass: &mut impl FnMut(&str, &'a Value),
) {
    for (name, value) in object {
        let path = format!("{before}{name}");
        let within = format!("{path}.");
        match value {
            _ if used.contains(&path.as_str()) => {}
            Value::Object(inner) if used.iter().any(|used| used.starts_with(&within)) => {
                collect(used, &within, inner, pass);
            }
            _ if used.iter().any(|used| used.starts_with(&within)) => {}
            value => pass(&path, value),
        }
    }
}

/// What is known of an unused field.
#[derive(Default)]
struct Found<'a> {
    path: String,
    example: Option<&'a Value>,
    chars: u64,
    /// Records in which it is a copy of the prompt and its response.
    copies: u64,
    records: u64,
}

impl<'a> Found<'a> {
    fn add(&mut self, pick: &Pick, sample: &Record, object: &Map<String, Value>, value: &'a Value) {
        let chars = prose(value);
        if self.example.is_none_or(is_blank) {
            self.example = Some(value);
        }
        self.records += 1;
        self.chars += chars;
        if chars >= LONG {
            self.copies += u64::from(is_copy(pick, sample, object, value));
        }
    }

    fn described(self, records: u64, prompt: u64) -> UnusedFields {
        let chars = self.chars / records;
        let is_copied = self.copies * 2 > self.records;
        let example = self.example.map_or_else(String::new, |value| match value {
            Value::String(text) => escape(text, EXAMPLE),
            other => escape(&other.to_string(), EXAMPLE),
        });
        UnusedFields {
            overlooked: chars >= LONG && chars > prompt && !is_response(&self.path) && !is_copied,
            is_text: self.example.is_some_and(Value::is_string),
            field: self.path,
            example,
            chars,
        }
    }
}

fn is_blank(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(object) => object.is_empty(),
        _ => false,
    }
}

/// Whether a field holds a response or how it is judged, by its name.
fn is_response(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| OF_RESPONSES.contains(&word))
}

/// Characters of text for people: addresses, hashes and encoded data are none.
fn prose(value: &Value) -> u64 {
    match value {
        Value::String(text) if text.is_ascii() && !text.trim().contains(' ') => 0,
        Value::String(text) => text.chars().count() as u64,
        Value::Array(list) => list.iter().map(prose).sum(),
        Value::Object(object) => object.values().map(prose).sum(),
        _ => 0,
    }
}

fn prompt_length(pick: &Pick, sample: &Record) -> u64 {
    let length = |text: &str| text.chars().count() as u64;
    match pick.item(sample.clone()).map(|item| item.content) {
        Ok(Content::Text(text)) => length(&text),
        Ok(Content::Messages(messages)) => messages.iter().map(|m| length(&m.content)).sum(),
        Ok(Content::Texts(texts)) => texts.all().map(|text| length(text)).sum(),
        Ok(Content::Recorded(prompt)) => length(&prompt.text()),
        Ok(Content::Body(_)) | Err(_) => 0,
    }
}

/// Whether a text is the prompt and its response together, as sets for training have them.
fn is_copy(pick: &Pick, sample: &Record, object: &Map<String, Value>, value: &Value) -> bool {
    let Some(text) = value.as_str() else { return false };
    let holds = |part: &str| !part.trim().is_empty() && text.contains(part.trim());
    if let Ok(messages) = pick.messages(sample) {
        let last = |role: &str| messages.iter().rev().find(|message| message.role == role);
        let held = |message: Option<&ChatMessage>| message.is_some_and(|m| holds(&m.content));
        return held(last("user")) && held(last("assistant"));
    }
    let of_prompt = pick.fields();
    let mut asked = of_prompt.iter().filter_map(|field| field.find(object)?.as_str());
    let answered =
        |(name, value): (&String, &Value)| is_response(name) && value.as_str().is_some_and(holds);
    asked.any(holds) && object.iter().any(answered)
}
