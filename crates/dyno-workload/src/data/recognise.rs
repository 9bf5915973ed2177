//! Recognises the kind of a file and the meaning of its fields from its first records, or returns an
//! error with advice.

use std::fmt;

use serde_json::{Map, Value};

use super::conversation::is_message;
use super::error::DataError;
use super::fields::{
    FieldPath, MESSAGES, OUTPUTS, PROMPTS, SYSTEMS, count, described, listed, usual,
};
use super::layout::Layout;
use super::pick::{Pick, PromptIn, Taken};
use super::record::Record;
use super::source::Compression;
use super::spec::{DataSpec, Kind, Turns};

/// What a data set was recognised as, printed before it is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recognised {
    /// The file, or the built-in text.
    pub name: String,
    /// Its kind.
    pub kind: Kind,
    /// How its records follow each other, in words.
    pub layout: String,
    /// How it is compressed.
    pub compression: Option<Compression>,
    /// What is read from which field: a role, and the field's name.
    pub fields: Vec<(&'static str, String)>,
    /// A remark.
    pub note: Option<&'static str>,
}

impl fmt::Display for Recognised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}, {}", self.name, self.kind, self.layout)?;
        if let Some(compression) = self.compression {
            write!(f, " ({compression})")?;
        }
        for (role, field) in &self.fields {
            write!(f, ", {role} from {field}")?;
        }
        match self.note {
            Some(note) => write!(f, "; {note}"),
            None => Ok(()),
        }
    }
}

/// Fields that only a request to a server has.
const BODY_ONLY: [&str; 14] = [
    "model",
    "stream",
    "stream_options",
    "temperature",
    "top_p",
    "top_k",
    "stop",
    "tools",
    "tool_choice",
    "response_format",
    "frequency_penalty",
    "presence_penalty",
    "ignore_eos",
    "logprobs",
];

/// The kind and the pick of a file, from its first records.
pub(super) fn settle(
    spec: &DataSpec,
    layout: Layout,
    samples: &[Record],
) -> Result<(Kind, Pick), DataError> {
    let objects: Vec<&Map<String, Value>> =
        samples.iter().filter_map(|sample| sample.value.as_object()).collect();
    let kind = spec.kind.unwrap_or_else(|| kind_of(spec, layout, samples, &objects));
    if !kind.is_read() {
        return Ok((kind, Pick::bare()));
    }
    let turns = spec.turns.unwrap_or(match kind {
        Kind::ShareGpt => Turns::First,
        _ => Turns::All,
    });
    let mapped = spec.mapping.prompt.is_some()
        || spec.mapping.messages.is_some()
        || spec.mapping.system.is_some();
    let as_lines = kind == Kind::Lines && !mapped;
    let taken = match kind {
        Kind::Session => Taken::Led,
        _ if as_lines => Taken::Verbatim,
        _ => Taken::Prompt(turns),
    };
    if as_lines || objects.is_empty() {
        if mapped && let Some(sample) = samples.first() {
            let what =
                format!("the records have no fields: this one is {}", described(&sample.value));
            let fix = "leave prompt=, system= and messages= out".to_string();
            return Err(DataError::Broken { at: sample.at.clone(), what, fix });
        }
        let output = spec.mapping.output_tokens.clone();
        // Files that mix lists and objects hold conversations, too.
        let otherwise =
            (taken == Taken::Led).then(|| PromptIn::Messages(FieldPath::of("messages")));
        return Ok((kind, Pick { otherwise, output, taken, ..Pick::bare() }));
    }
    let prompt = prompt_in(spec, kind, samples, &objects)?;
    let otherwise = match &prompt {
        _ if mapped => None,
        PromptIn::Field(field) if field.as_str() == "prompt" => {
            Some(PromptIn::Messages(FieldPath::of("messages")))
        }
        PromptIn::Messages(field) if field.as_str() == "messages" => {
            Some(PromptIn::Field(FieldPath::of("prompt")))
        }
        _ => None,
    };
    let system = match &spec.mapping.system {
        Some(field) => Some(exists(samples, &objects, field, "system")?),
        None => usual(&objects, &SYSTEMS, Value::is_string),
    };
    let output = match &spec.mapping.output_tokens {
        Some(field) => Some(exists(samples, &objects, field, "output_tokens")?),
        None => usual(&objects, &OUTPUTS, |value| matches!(count(value), Ok(Some(_)))),
    };
    let prompt = Some(prompt);
    Ok((kind, Pick { prompt, otherwise, system, output, taken }))
}

fn kind_of(
    spec: &DataSpec,
    layout: Layout,
    samples: &[Record],
    objects: &[&Map<String, Value>],
) -> Kind {
    let any = |names: &[&str]| {
        objects.iter().any(|object| names.iter().all(|name| object.contains_key(*name)))
    };
    let is_trace = objects.iter().any(|object| crate::trace::is_record(object));
    match layout {
        _ if is_trace && spec.mapping.prompt.is_none() => Kind::Trace,
        Layout::TextLines => Kind::Lines,
        Layout::WholeText => Kind::Long,
        Layout::Csv { .. } => Kind::Csv,
        Layout::Parquet => Kind::Parquet,
        _ if spec.mapping.prompt.is_some() || spec.mapping.messages.is_some() => Kind::Json,
        _ if any(&["conversations"]) => Kind::ShareGpt,
        Layout::JsonLines if objects.is_empty() && samples.iter().all(holds_messages) => {
            Kind::Lines
        }
        Layout::JsonLines
            if (any(&["messages"]) || any(&["prompt"]))
                && BODY_ONLY.iter().any(|name| any(&[name])) =>
        {
            Kind::Lines
        }
        Layout::JsonLines if any(&["question"]) && !any(&["prompt"]) && !any(&["messages"]) => {
            Kind::OpenQa
        }
        _ => Kind::Json,
    }
}

fn holds_messages(record: &Record) -> bool {
    let first = record.value.as_array().and_then(|list| list.first());
    first.and_then(Value::as_object).is_some_and(is_message)
}

fn prompt_in(
    spec: &DataSpec,
    kind: Kind,
    samples: &[Record],
    objects: &[&Map<String, Value>],
) -> Result<PromptIn, DataError> {
    if let Some(field) = &spec.mapping.messages {
        return Ok(PromptIn::Messages(exists(samples, objects, field, "messages")?));
    }
    if let Some(field) = &spec.mapping.prompt {
        return Ok(PromptIn::Field(exists(samples, objects, field, "prompt")?));
    }
    let list = |value: &Value| value.is_array() || is_json_list(value);
    let found = match kind {
        Kind::OpenQa => usual(objects, &["question"], |_| true).map(PromptIn::Field),
        Kind::ShareGpt | Kind::Session => usual(objects, &MESSAGES, list).map(PromptIn::Messages),
        _ => {
            usual(objects, &MESSAGES, list).map(PromptIn::Messages).or_else(|| text_prompt(objects))
        }
    };
    found.ok_or_else(|| {
        let wanted = match kind {
            Kind::OpenQa => "no field is called question",
            Kind::ShareGpt | Kind::Session => "no list is called conversations or messages",
            _ => "no field has a usual name for prompts (prompt, question, instruction, input, …)",
        };
        let key = match kind {
            Kind::ShareGpt | Kind::Session => "messages",
            _ => "prompt",
        };
        missing(samples, wanted.into(), key)
    })
}

fn text_prompt(objects: &[&Map<String, Value>]) -> Option<PromptIn> {
    let usable = |value: &Value| value.is_string() || value.is_array();
    let prompt = usual(objects, &PROMPTS, usable)?;
    if prompt.as_str().eq_ignore_ascii_case("instruction")
        && let Some(input) = usual(objects, &["input"], Value::is_string)
    {
        return Some(PromptIn::Instruction { instruction: prompt, input });
    }
    Some(PromptIn::Field(prompt))
}

fn is_json_list(value: &Value) -> bool {
    let text = value.as_str().unwrap_or_default();
    text.trim_start().starts_with('[') && serde_json::from_str::<Vec<Value>>(text).is_ok()
}

fn exists(
    samples: &[Record],
    objects: &[&Map<String, Value>],
    field: &FieldPath,
    key: &str,
) -> Result<FieldPath, DataError> {
    match objects.iter().any(|object| field.find(object).is_some()) {
        true => Ok(field.clone()),
        false => Err(missing(samples, format!("there is no field {field}"), key)),
    }
}

fn missing(samples: &[Record], what: String, key: &str) -> DataError {
    let Some((sample, object)) =
        samples.iter().find_map(|sample| Some((sample, sample.value.as_object()?)))
    else {
        return DataError::NoRecords("the file".into());
    };
    DataError::Broken {
        at: sample.at.clone(),
        what: format!("{what}; {}", listed(object)),
        fix: format!("write {key}=FIELD for the one to use"),
    }
}

/// The fields of a pick, for the description.
pub(super) fn described_fields(pick: &Pick) -> Vec<(&'static str, String)> {
    let mut fields = Vec::new();
    match &pick.prompt {
        Some(PromptIn::Field(field)) => fields.push(("prompt", field.to_string())),
        Some(PromptIn::Messages(field)) => fields.push(("messages", field.to_string())),
        Some(PromptIn::Instruction { instruction, input }) => {
            fields.push(("prompt", format!("{instruction} and {input}")));
        }
        None => {}
    }
    fields.extend(pick.system.iter().map(|field| ("system", field.to_string())));
    fields.extend(pick.output.iter().map(|field| ("output tokens", field.to_string())));
    fields
}

/// A remark about a pick, for the description.
pub(super) fn note(kind: Kind, layout: Layout, pick: &Pick) -> Option<&'static str> {
    match (&pick.prompt, kind, pick.taken) {
        (None, Kind::Lines, _) if layout == Layout::JsonLines => {
            Some("message arrays and request bodies, sent as they are")
        }
        (_, _, Taken::Led) => Some("the user's turns, replayed with the server's own responses"),
        (Some(PromptIn::Messages(_)), _, Taken::Prompt(Turns::First)) => {
            Some("the first turn of each conversation (turns=all for all)")
        }
        (Some(PromptIn::Messages(_)), _, Taken::Prompt(Turns::All)) => {
            Some("whole conversations, without the final response")
        }
        _ => None,
    }
}
