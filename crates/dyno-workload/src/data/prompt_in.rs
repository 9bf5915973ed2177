//! Where the prompt of a record is: in one field, in several that belong together, or in a list of
//! messages. How fields that belong together are joined is decided here and nowhere else.

use std::fmt;

use dyno_model::message;
use serde_json::{Map, Value};

use super::at::At;
use super::error::DataError;
use super::fields::{FieldPath, PROMPTS, described, listed, usual};

/// Where the prompt of a record is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PromptIn {
    /// In a field: text, or messages.
    Field(FieldPath),
    /// In several fields.
    Joined(Joined),
    /// In a list of messages.
    Messages(FieldPath),
    /// In a list of texts, of the user and of the assistant by turns.
    Alternating(FieldPath),
}

/// Fields that make one prompt together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Joined {
    /// The one that every record has.
    main: FieldPath,
    /// All of them, in the order in which they are sent.
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    /// Text, separated from other text by an empty line.
    Text(FieldPath),
    /// One choice of a question, on its own line after its letter.
    Choice(char, FieldPath),
    /// All choices of a question.
    Choices(FieldPath),
}

/// Names of the text that a question is about.
const CONTEXTS: [&str; 7] =
    ["context", "contexts", "passage", "passages", "article", "document", "documents"];
/// What precedes the letter in the names of fields with one choice each.
const CHOICE_PREFIXES: [&str; 3] = ["", "choice_", "option_"];

impl PromptIn {
    /// The first field with a usual name for a prompt, and those that belong to it.
    pub(super) fn usual(objects: &[&Map<String, Value>]) -> Option<Self> {
        let usable = |value: &Value| value.is_string() || value.is_array();
        let main = usual(objects, &PROMPTS, usable)?;
        Some(Self::with_companions(main, objects))
    }

    /// A field, and those that belong to it by their names.
    pub(super) fn with_companions(main: FieldPath, objects: &[&Map<String, Value>]) -> Self {
        let is_list = |object: &&Map<String, Value>| main.find(object).is_some_and(Value::is_array);
        if objects.iter().any(is_list) {
            return Self::Field(main);
        }
        let text = |names: &[&str]| {
            usual(objects, names, is_text).filter(|field| *field != main).map(Part::Text)
        };
        let (mut before, mut after) = (Vec::new(), Vec::new());
        match main.as_str().trim().to_ascii_lowercase().as_str() {
            "instruction" => {
                after.extend(text(&["input"]));
                after.extend(text(&CONTEXTS));
            }
            "question" | "query" | "input" | "problem" | "user_input" => {
                before.extend(text(&CONTEXTS));
                after.extend(choices(objects));
            }
            "question_content" => after.extend(text(&["starter_code"])),
            _ => {}
        }
        Self::joined(before, main, after)
    }

    /// A field with another before it.
    pub(super) fn with_context(context: FieldPath, main: FieldPath) -> Self {
        Self::joined(vec![Part::Text(context)], main, Vec::new())
    }

    fn joined(mut parts: Vec<Part>, main: FieldPath, after: Vec<Part>) -> Self {
        if parts.is_empty() && after.is_empty() {
            return Self::Field(main);
        }
        parts.push(Part::Text(main.clone()));
        parts.extend(after);
        Self::Joined(Joined { main, parts })
    }

    /// The fields it is in.
    pub(super) fn fields(&self) -> Vec<&FieldPath> {
        match self {
            Self::Field(field) | Self::Messages(field) | Self::Alternating(field) => vec![field],
            Self::Joined(joined) => joined.parts.iter().map(Part::field).collect(),
        }
    }
}

impl fmt::Display for PromptIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self.fields().iter().map(ToString::to_string).collect();
        f.write_str(&names.join(" + "))
    }
}

impl Part {
    fn field(&self) -> &FieldPath {
        match self {
            Self::Text(field) | Self::Choice(_, field) | Self::Choices(field) => field,
        }
    }
}

impl Joined {
    /// The prompt. Blank parts are left out; that all are blank is for the caller to find.
    pub(super) fn text(&self, at: &At, object: &Map<String, Value>) -> Result<String, DataError> {
        let mut text = String::new();
        let mut add = |between: &str, part: &str| {
            if !part.trim().is_empty() {
                let between = if text.is_empty() { "" } else { between };
                text.extend([between, part]);
            }
        };
        present(at, object, &self.main)?;
        for part in &self.parts {
            let field = part.field();
            let value = match field.find(object) {
                None | Some(Value::Null) => continue,
                Some(value) => value,
            };
            match part {
                Part::Text(_) => add("\n\n", &text_of(at, field, value)?),
                Part::Choice(letter, _) => add("\n", &format!("{letter}. {}", line_of(value))),
                Part::Choices(_) => {
                    labelled(value).iter().for_each(|(label, choice)| {
                        add("\n", &format!("{label}. {choice}"));
                    });
                }
            }
        }
        Ok(text)
    }
}

/// Text, or several texts.
fn is_text(value: &Value) -> bool {
    match value {
        Value::String(_) => true,
        Value::Array(list) => !list.is_empty() && list.iter().all(Value::is_string),
        _ => false,
    }
}

fn text_of(at: &At, field: &FieldPath, value: &Value) -> Result<String, DataError> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Array(list) if list.iter().all(Value::is_string) => {
            let texts: Vec<&str> = list.iter().filter_map(Value::as_str).collect();
            Ok(texts.join("\n\n"))
        }
        other => Err(not_text(at, field, other)),
    }
}

/// The choices of a question: in a field each, or all in one.
fn choices(objects: &[&Map<String, Value>]) -> Vec<Part> {
    for prefix in CHOICE_PREFIXES {
        let named = |letter: char| FieldPath::of(&format!("{prefix}{letter}"));
        let has = |letter: &char| {
            let field = named(*letter);
            objects.iter().any(|object| field.find(object).is_some_and(is_choice))
        };
        let letters: Vec<char> = ('A'..='J').take_while(has).collect();
        if letters.len() > 1 {
            return letters.iter().map(|letter| Part::Choice(*letter, named(*letter))).collect();
        }
    }
    let listed = usual(objects, &["choices", "options"], |value| labelled(value).len() > 1);
    listed.map(Part::Choices).into_iter().collect()
}

fn is_choice(value: &Value) -> bool {
    matches!(value, Value::String(_) | Value::Number(_))
}

fn line_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Choices with their labels: `["…", "…"]`, `{"A": "…"}` or `{"label": […], "text": […]}`.
fn labelled(value: &Value) -> Vec<(String, String)> {
    let letters = ('A'..='Z').map(String::from);
    let texts = |list: &[Value]| -> Vec<String> {
        list.iter().filter(|value| is_choice(value)).map(line_of).collect()
    };
    match value {
        Value::Array(list) => letters.zip(texts(list)).collect(),
        Value::Object(object) => match (object.get("label"), object.get("text")) {
            (Some(Value::Array(labels)), Some(Value::Array(list))) => {
                texts(labels).into_iter().zip(texts(list)).collect()
            }
            _ => {
                let choices = object.iter().filter(|(_, value)| is_choice(value));
                choices.map(|(label, value)| (label.clone(), line_of(value))).collect()
            }
        },
        _ => Vec::new(),
    }
}

/// The value of a field that a record must have.
pub(super) fn present<'a>(
    at: &At,
    object: &'a Map<String, Value>,
    field: &FieldPath,
) -> Result<&'a Value, DataError> {
    match field.find(object) {
        Some(Value::Null) => {
            let what = message!("the field {field} is null", "字段 {field} 为 null");
            Err(DataError::bad(at, what, message!("fill it in", "请填写")))
        }
        Some(value) => Ok(value),
        None => Err(DataError::bad(
            at,
            message!("there is no field {field}; {}", "没有字段 {field}；{}", listed(object)),
            message!(
                "write prompt=FIELD for the one that holds the prompt",
                "请用 prompt=FIELD 指定提示词所在的字段"
            ),
        )),
    }
}

/// The text of a field that a record must have.
pub(super) fn text_in<'a>(
    at: &At,
    object: &'a Map<String, Value>,
    field: &FieldPath,
) -> Result<&'a str, DataError> {
    let value = present(at, object, field)?;
    value.as_str().ok_or_else(|| not_text(at, field, value))
}

fn not_text(at: &At, field: &FieldPath, value: &Value) -> DataError {
    let what = message!(
        "the field {field} is {}, not text",
        "字段 {field} 是{}，不是文本",
        described(value)
    );
    let fix = message!("correct it, or name another field", "请更正，或指定其他字段");
    DataError::bad(at, what, fix)
}
