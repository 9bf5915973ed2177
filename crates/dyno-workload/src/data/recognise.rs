//! Recognises the kind of a file and the meaning of its fields from its first records, or returns an
//! error with advice.

use dyno_model::{Message, message};
use serde_json::{Map, Value};

use super::conversation::is_message;
use super::error::DataError;
use super::fields::{
    FieldPath, MESSAGES, OUTPUTS, PROMPTS, SYSTEMS, count, described, listed, usual,
};
use super::layout::DataLayout;
use super::pick::{Pick, Taken};
use super::prompt_in::PromptIn;
use super::record::Record;
use super::requests;
use super::spec::{DataKind, DataSpec, Turns};
use super::texts;

/// The kind and the pick of a file, from its first records.
pub(super) fn settle(
    spec: &DataSpec,
    layout: DataLayout,
    samples: &[Record],
) -> Result<(DataKind, Pick), DataError> {
    let objects: Vec<&Map<String, Value>> =
        samples.iter().filter_map(|sample| sample.value.as_object()).collect();
    let kind = spec.kind.unwrap_or_else(|| kind_of(spec, layout, samples, &objects));
    if !kind.is_read() {
        return Ok((kind, Pick::bare()));
    }
    let turns = spec.turns.unwrap_or(match kind {
        DataKind::ShareGpt => Turns::First,
        _ => Turns::All,
    });
    let mapped = spec.mapping.prompt.is_some()
        || spec.mapping.context.is_some()
        || spec.mapping.messages.is_some()
        || spec.mapping.system.is_some();
    if spec.texts && !mapped && samples.iter().any(texts::holds) {
        return Ok((kind, Pick { taken: Taken::Texts, ..Pick::bare() }));
    }
    let as_lines = kind == DataKind::Lines && !mapped;
    let taken = match kind {
        DataKind::Session => Taken::Led,
        _ if as_lines => Taken::Verbatim,
        _ => Taken::Prompt(turns),
    };
    if as_lines || objects.is_empty() {
        if mapped && let Some(sample) = samples.first() {
            let what = message!(
                "the records have no fields: this one is {}",
                "记录没有字段：这一条是{}",
                described(&sample.value)
            );
            let fix = message!(
                "leave prompt=, context=, system= and messages= out",
                "请去掉 prompt=、context=、system= 和 messages="
            );
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
        None => usual(&objects, &SYSTEMS, Value::is_string)
            .or_else(|| logged(&objects, |path| path.within("system"), Value::is_string)),
    };
    let is_count = |value: &Value| matches!(count(value), Ok(Some(_)));
    let output = match &spec.mapping.output_tokens {
        Some(field) => Some(exists(samples, &objects, field, "output_tokens")?),
        None => requests::length_of(&objects).or_else(|| usual(&objects, &OUTPUTS, is_count)),
    };
    let prompt = Some(prompt);
    Ok((kind, Pick { prompt, otherwise, system, output, taken }))
}

fn kind_of(
    spec: &DataSpec,
    layout: DataLayout,
    samples: &[Record],
    objects: &[&Map<String, Value>],
) -> DataKind {
    let any = |names: &[&str]| {
        objects.iter().any(|object| names.iter().all(|name| object.contains_key(*name)))
    };
    let is_trace = objects.iter().any(|object| crate::trace::is_record(object));
    match layout {
        _ if is_trace && spec.mapping.prompt.is_none() => DataKind::Trace,
        DataLayout::TextLines => DataKind::Lines,
        DataLayout::WholeText => DataKind::Long,
        DataLayout::Csv(_) => DataKind::Csv,
        DataLayout::Parquet => DataKind::Parquet,
        _ if spec.mapping.prompt.is_some() || spec.mapping.messages.is_some() => DataKind::Json,
        _ if any(&["conversations"]) => DataKind::ShareGpt,
        DataLayout::JsonLines { .. }
            if objects.is_empty() && samples.iter().all(holds_messages) =>
        {
            DataKind::Lines
        }
        DataLayout::JsonLines { .. } if requests::are_bodies(objects) => DataKind::Lines,
        DataLayout::JsonLines { .. }
            if any(&["question"])
                && !any(&["prompt"])
                && !any(&["messages"])
                && is_short(objects) =>
        {
            DataKind::OpenQa
        }
        _ => DataKind::Json,
    }
}

/// Whether questions stand alone, without choices or a text that they are about.
fn is_short(objects: &[&Map<String, Value>]) -> bool {
    let question = usual(objects, &["question"], Value::is_string);
    question.is_some_and(|field| {
        matches!(PromptIn::with_companions(field, objects), PromptIn::Field(_))
    })
}

fn holds_messages(record: &Record) -> bool {
    let first = record.value.as_array().and_then(|list| list.first());
    first.and_then(Value::as_object).is_some_and(is_message)
}

fn prompt_in(
    spec: &DataSpec,
    kind: DataKind,
    samples: &[Record],
    objects: &[&Map<String, Value>],
) -> Result<PromptIn, DataError> {
    if let Some(field) = &spec.mapping.messages {
        return Ok(PromptIn::Messages(exists(samples, objects, field, "messages")?));
    }
    let context = match &spec.mapping.context {
        Some(field) => Some(exists(samples, objects, field, "context")?),
        None => None,
    };
    if let Some(field) = &spec.mapping.prompt {
        let field = exists(samples, objects, field, "prompt")?;
        return Ok(match context {
            Some(context) => PromptIn::with_context(context, field),
            None => PromptIn::Field(field),
        });
    }
    let list = |value: &Value| value.is_array() || is_json_list(value);
    let messages = || {
        usual(objects, &MESSAGES, list)
            .or_else(|| logged(objects, |path| path.within("messages"), list))
            .map(PromptIn::Messages)
            .or_else(|| usual(objects, &["data"], is_texts).map(PromptIn::Alternating))
    };
    let text = || {
        let asked = |value: &Value| value.is_string() || value.is_array();
        let within = ["prompt", "input"].iter();
        let mut within = within.filter_map(|name| logged(objects, |path| path.within(name), asked));
        within.next().map(PromptIn::Field).or_else(|| PromptIn::usual(objects))
    };
    let found = match (kind, context) {
        (_, Some(context)) => usual(objects, &PROMPTS, Value::is_string)
            .filter(|field| *field != context)
            .map(|field| PromptIn::with_context(context, field)),
        (DataKind::OpenQa, None) => usual(objects, &["question"], |_| true)
            .map(|field| PromptIn::with_companions(field, objects)),
        (DataKind::ShareGpt, None) => messages(),
        (DataKind::Session, None) => {
            messages().or_else(|| usual(objects, &PROMPTS, is_turns).map(PromptIn::Messages))
        }
        _ => messages().or_else(text),
    };
    found.ok_or_else(|| {
        let wanted = match kind {
            DataKind::OpenQa => message!("no field is called question", "没有名为 question 的字段"),
            DataKind::ShareGpt | DataKind::Session => message!(
                "no list is called conversations or messages",
                "没有名为 conversations 或 messages 的列表"
            ),
            _ => message!(
                "no field has a usual name for prompts (prompt, question, instruction, input, …)",
                "没有常用的提示词字段名（prompt、question、instruction、input…）"
            ),
        };
        let key = match kind {
            DataKind::ShareGpt | DataKind::Session => "messages",
            _ => "prompt",
        };
        missing(samples, wanted, key)
    })
}

/// A field of the requests within the records of a batch file or a log.
fn logged(
    objects: &[&Map<String, Value>],
    field: impl Fn(&FieldPath) -> FieldPath,
    fits: impl Fn(&Value) -> bool,
) -> Option<FieldPath> {
    objects.iter().find_map(|object| {
        let (path, _) = requests::request_of(object)?;
        let field = field(&path);
        field.find(object).is_some_and(&fits).then_some(field)
    })
}

/// A list of lists: the messages of each turn.
fn is_turns(value: &Value) -> bool {
    value.as_array().is_some_and(|list| !list.is_empty() && list.iter().all(Value::is_array))
}

fn is_texts(value: &Value) -> bool {
    value.as_array().is_some_and(|list| !list.is_empty() && list.iter().all(Value::is_string))
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
        false => {
            let what = message!("there is no field {field}", "没有字段 {field}");
            Err(missing(samples, what, key))
        }
    }
}

fn missing(samples: &[Record], what: Message, key: &str) -> DataError {
    let Some((sample, object)) =
        samples.iter().find_map(|sample| Some((sample, sample.value.as_object()?)))
    else {
        return DataError::NoRecords(message!("the file", "该文件"));
    };
    DataError::Broken {
        at: sample.at.clone(),
        what: message!("{what}; {}", "{what}；{}", listed(object)),
        fix: message!("write {key}=FIELD for the one to use", "请用 {key}=FIELD 指定要用的字段"),
    }
}
