//! The forms in which sessions are recorded: which one a record is of, and its requests in turn.

use dyno_model::{Message, message};
use serde_json::{Map, Value};

use super::event::{Event, Refused};
use super::{chat, serving_sim, spans, trace_lab, weka};
use crate::data::{At, DataError};
use crate::trace::dynamo;
use crate::trace::fields::{Field, find, object};
use crate::trace::format::{Fields, TraceFormat};
use crate::trace::row::{self, Recorded};
use crate::trace::time::Unit;

/// The form of a file of sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::trace) enum SessionForm {
    /// WEKA's agent traces: a record is a session.
    Weka,
    /// LLMServingSim's agent sessions: a record is a session.
    ServingSim,
    /// TraceLab's: a record is a request.
    TraceLab,
    /// Dynamo's request traces with sessions.
    Dynamo,
    /// OpenTelemetry's spans of generative AI.
    Spans,
    /// MLCommons': a record is a message.
    Chat,
    /// Rows that name their session: Mooncake's with `session_id`, or as the user mapped them.
    Rows(Box<Fields>),
}

/// What the requests of a record are given to, or why one of them cannot be replayed.
pub(in crate::trace) type Sink<'a> =
    dyn FnMut(Result<Event, Refused>) -> Result<(), DataError> + 'a;

impl SessionForm {
    /// The form of which this is a record.
    pub(in crate::trace) fn of(object: &Map<String, Value>) -> Option<Self> {
        if dynamo::is_record(object) {
            let named = dynamo::is_request(object) && dynamo::session(object).is_some();
            return named.then_some(Self::Dynamo);
        }
        let has = |name: &str| find(object, name).is_some();
        let rows = ["session_id", "input_length", "output_length"].iter().all(|name| has(name));
        match object {
            _ if weka::is_session(object) => Some(Self::Weka),
            _ if serving_sim::is_session(object) => Some(Self::ServingSim),
            _ if trace_lab::is_round(object) => Some(Self::TraceLab),
            _ if spans::is_record(object) => Some(Self::Spans),
            _ if chat::is_message(object) => Some(Self::Chat),
            _ if rows && !has("chat_id") => Some(Self::Rows(Box::new(mooncake(object)))),
            _ => None,
        }
    }

    /// Its name.
    pub(in crate::trace) fn name(&self) -> &'static str {
        match self {
            Self::Weka => "WEKA",
            Self::ServingSim => "LLMServingSim",
            Self::TraceLab => "TraceLab",
            Self::Dynamo => "Dynamo",
            Self::Spans => "OpenTelemetry",
            Self::Chat => "MLCommons",
            Self::Rows(fields) => fields.format.name(),
        }
    }

    /// What a file of it is called.
    pub(super) fn said(&self) -> Message {
        match self {
            Self::Rows(fields) if fields.format == TraceFormat::Mapped => {
                message!("mapped sessions", "按指定字段读取的会话")
            }
            form => message!("{} sessions", "{} 会话", form.name()),
        }
    }

    /// The field of a request's input tokens, for messages.
    pub(super) fn input(&self) -> &str {
        match self {
            Self::Weka => weka::INPUT,
            Self::ServingSim => serving_sim::INPUT,
            Self::TraceLab => trace_lab::INPUT,
            Self::Dynamo => "request.replay.input_length",
            Self::Spans => spans::INPUT,
            Self::Chat => "content",
            Self::Rows(fields) => fields.input.name(),
        }
    }

    /// Whether ids mean the same in all sessions.
    pub(super) fn shares_ids(&self) -> bool {
        matches!(self, Self::Dynamo | Self::Rows(_))
    }

    /// Whether it has the text of the messages, rather than their lengths.
    pub(in crate::trace) fn is_text(&self) -> bool {
        *self == Self::Chat
    }

    /// Reads a record and gives its requests to `take`.
    pub(super) fn read(
        &self,
        at: &At,
        value: &Value,
        take: &mut Sink<'_>,
    ) -> Result<(), DataError> {
        let object = object(at, value)?;
        match self {
            Self::Weka => weka::read(at, object, take),
            Self::ServingSim => serving_sim::read(at, object, take),
            Self::TraceLab => trace_lab::read(at, object, take),
            Self::Dynamo => of_dynamo(at, object, take),
            Self::Spans => spans::read(at, object, take),
            Self::Chat => chat::read(at, object, take),
            Self::Rows(fields) => of_row(fields, at, object, take),
        }
    }
}

/// Mooncake's rows with sessions, as AIPerf and Dynamo replay them: a row has its time or, from the
/// second on, the delay after the response before it, in milliseconds.
fn mooncake(object: &Map<String, Value>) -> Fields {
    let delay = if find(object, "delay_ms").is_some() { "delay_ms" } else { "delay" };
    Fields {
        format: TraceFormat::Mooncake,
        unit: Unit::Milliseconds,
        time: Some(Field::Usual("timestamp")),
        gap: Some(Field::Usual(delay)),
        end: None,
        input: Field::Usual("input_length"),
        output: Field::Usual("output_length"),
        session: Some(Field::Usual("session_id")),
        ids: Some(Field::Usual("hash_ids")),
    }
}

fn of_row(
    fields: &Fields,
    at: &At,
    object: &Map<String, Value>,
    take: &mut Sink<'_>,
) -> Result<(), DataError> {
    // Dynamo's Mooncake files with dependencies begin with a record about the file.
    let schema = object.get("schema").and_then(Value::as_str);
    if schema.is_some_and(|schema| schema.starts_with("dynamo.")) {
        return Ok(());
    }
    let mut ids = Vec::new();
    let mut object = object;
    let both;
    // Dynamo writes either name; the first record need not have any.
    if let Some(Field::Usual("delay")) = &fields.gap
        && find(object, "delay").is_none()
        && let Some(delay) = find(object, "delay_ms")
    {
        let mut with = object.clone();
        with.insert("delay".into(), delay.clone());
        both = with;
        object = &both;
    }
    let Recorded::Request(request) = row::one(fields, at, object, &mut ids)? else {
        return Ok(());
    };
    for wait in ["wait_for", "branches", "dependencies"] {
        if find(object, wait).is_some_and(|value| !is_blank(value)) {
            let what = message!(
                "the field {wait:?} makes the request wait for others than the one before it, which \
                 a session cannot do",
                "字段 {wait:?} 使请求等待前一个以外的请求，会话做不到"
            );
            return Err(DataError::bad(at, what, remove_it()));
        }
    }
    let session = fields.session.as_ref().and_then(|field| field.find(object)).and_then(id);
    take(Ok(Event { session, ids, ..Event::of(at, request) }))
}

pub(super) fn remove_it() -> Message {
    message!("remove it", "请去掉")
}

fn is_blank(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(list) => list.is_empty(),
        Value::String(text) => text.trim().is_empty(),
        _ => false,
    }
}

/// The name of a session.
pub(super) fn id(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if text.trim().is_empty() => None,
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn of_dynamo(at: &At, object: &Map<String, Value>, take: &mut Sink<'_>) -> Result<(), DataError> {
    let mut ids = Vec::new();
    let Some(dynamo) = dynamo::request(at, object, &mut ids)? else { return Ok(()) };
    if let Some(parent) = dynamo.parent {
        let what = message!(
            "the field \"agent_context.parent_session_id\" makes the session a part of {parent:?}, \
             and sessions do not branch",
            "字段 \"agent_context.parent_session_id\" 表明该会话属于 {parent:?}，而会话没有分支"
        );
        let fix = message!("remove the requests of subagents", "请去掉子代理的请求");
        return Err(DataError::bad(at, what, fix));
    }
    if dynamo.session.is_none() {
        let what = message!(
            "there is no field \"agent_context.session_id\", which other requests have",
            "没有字段 \"agent_context.session_id\"，而其他请求有"
        );
        let fix =
            message!("record all requests with it, or none", "请让所有请求都带有它，或都不带");
        return Err(DataError::bad(at, what, fix));
    }
    take(Ok(Event { session: dynamo.session, ids, ..Event::of(at, dynamo.request) }))
}
