//! OpenTelemetry's spans of generative AI, as OTLP's JSON has them and as Python's console exporter
//! prints them. Spans of anything else are passed over.

use dyno_model::message;
use serde_json::{Map, Value};

use super::event::Event;
use super::form::{Sink, id};
use crate::data::{At, DataError, correct_it};
use crate::trace::fields::{Field, tokens};
use crate::trace::row::Request;
use crate::trace::time::Unit;

pub(super) const INPUT: &str = "gen_ai.usage.input_tokens";
const OUTPUT: &str = "gen_ai.usage.output_tokens";
const OPERATION: &str = "gen_ai.operation.name";
const SESSION: &str = "gen_ai.conversation.id";
/// Operations that are a request to a model.
const GENERATES: [&str; 3] = ["chat", "text_completion", "generate_content"];

/// Whether this record has spans.
pub(super) fn is_record(object: &Map<String, Value>) -> bool {
    let alone = || {
        let times =
            ["startTimeUnixNano", "start_time"].iter().any(|name| object.contains_key(*name));
        times && attribute(object, OPERATION).is_some()
    };
    object.get("resourceSpans").is_some_and(Value::is_array) || alone()
}

/// Gives the requests among the spans of a record.
pub(super) fn read(
    at: &At,
    object: &Map<String, Value>,
    take: &mut Sink<'_>,
) -> Result<(), DataError> {
    let Some(resources) = object.get("resourceSpans") else { return span(at, object, take) };
    for scope in each(resources).flat_map(|resource| each(resource.get("scopeSpans"))) {
        for one in each(scope.get("spans")).filter_map(Value::as_object) {
            // A span without usage does not make those beside it unusable.
            if let Err(error) = span(at, one, take) {
                take(Err(error.into()))?;
            }
        }
    }
    Ok(())
}

fn each<'a>(list: impl Into<Option<&'a Value>>) -> impl Iterator<Item = &'a Value> {
    list.into().and_then(Value::as_array).map_or(&[][..], Vec::as_slice).iter()
}

/// An attribute of a span: in a list of keys and typed values, or in an object.
fn attribute<'a>(span: &'a Map<String, Value>, key: &str) -> Option<&'a Value> {
    match span.get("attributes")? {
        Value::Object(attributes) => attributes.get(key),
        Value::Array(list) => {
            let of_key = |one: &&Value| one.get("key").and_then(Value::as_str) == Some(key);
            let typed = list.iter().find(of_key)?.get("value")?.as_object()?;
            typed.values().next()
        }
        _ => None,
    }
}

fn span(at: &At, span: &Map<String, Value>, take: &mut Sink<'_>) -> Result<(), DataError> {
    let operation = attribute(span, OPERATION).and_then(Value::as_str).unwrap_or_default();
    if !GENERATES.contains(&operation) {
        return Ok(());
    }
    let named = span.get("name").and_then(Value::as_str).unwrap_or("?");
    let time = |nanos: &'static str, date: &'static str| match (span.get(nanos), span.get(date)) {
        (Some(value), _) => Field::Usual(nanos).time(at, value, Unit::Nanoseconds),
        (None, Some(value)) => Field::Usual(date).time(at, value, Unit::Date),
        (None, None) => {
            let what = message!(
                "the span {named:?} has no field {nanos:?}",
                "span {named:?} 没有字段 {nanos:?}"
            );
            Err(DataError::bad(at, what, correct_it()))
        }
    };
    let length = |key: &str, least| match attribute(span, key) {
        Some(value) => tokens(at, key, value, least),
        None => {
            let what = message!(
                "the span {named:?} has no attribute {key:?}",
                "span {named:?} 没有属性 {key:?}"
            );
            let fix = message!("record it with its usage", "请在录制时包含用量");
            Err(DataError::bad(at, what, fix))
        }
    };
    let request = Request {
        time: Some(time("startTimeUnixNano", "start_time")?),
        gap: None,
        end: Some(time("endTimeUnixNano", "end_time")?),
        input: length(INPUT, 1)?,
        output: length(OUTPUT, 0)?,
    };
    let context = span.get("context").and_then(|context| context.get("trace_id"));
    let trace = span.get("traceId").or(span.get("trace_id")).or(context);
    let session = attribute(span, SESSION).or(trace).and_then(id);
    take(Ok(Event { session, ..Event::of(at, request) }))
}
