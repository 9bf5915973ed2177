//! Dynamo's request traces (`dynamo.request.trace.v1`): a record for each request that has ended, with
//! its agent session where the client named one, and records of tools in between.

use dyno_model::message;
use serde_json::{Map, Value};

use super::fields::{Field, find, numbers};
use super::row::Request;
use super::time::Unit;
use crate::data::{At, DataError, FieldPath, listed};

const SCHEMA: &str = "dynamo.request.trace.";

/// A request of such a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DynamoRequest {
    pub(super) request: Request,
    pub(super) session: Option<String>,
    pub(super) parent: Option<String>,
}

/// The record itself, which some sinks put into an envelope.
fn unwrapped(object: &Map<String, Value>) -> &Map<String, Value> {
    object.get("event").and_then(Value::as_object).unwrap_or(object)
}

/// Whether this is a record of such a trace.
pub(super) fn is_record(object: &Map<String, Value>) -> bool {
    let schema = unwrapped(object).get("schema").and_then(Value::as_str);
    schema.is_some_and(|schema| schema.starts_with(SCHEMA))
}

/// The session of a record, where it has one.
pub(super) fn session(object: &Map<String, Value>) -> Option<&str> {
    let context = unwrapped(object).get("agent_context")?.as_object()?;
    context.get("session_id")?.as_str().filter(|id| !id.is_empty())
}

/// Whether this record is a request, rather than a tool's or a payload's.
pub(super) fn is_request(object: &Map<String, Value>) -> bool {
    unwrapped(object).get("event_type").and_then(Value::as_str) == Some("request_end")
}

fn field(path: &'static str) -> Option<Field> {
    FieldPath::new(path).map(|path| Field::Mapped { key: "", path })
}

/// Reads a record, with its hash ids; nothing if it is not a request.
pub(super) fn request(
    at: &At,
    object: &Map<String, Value>,
    ids: &mut Vec<u64>,
) -> Result<Option<DynamoRequest>, DataError> {
    let record = unwrapped(object);
    if !is_request(object) {
        return Ok(None);
    }
    let value = |path: &'static str| field(path).and_then(|field| field.find(record));
    let needed = |path: &'static str| {
        value(path).filter(|value| !value.is_null()).ok_or_else(|| {
            let there = listed(record);
            let what =
                message!("there is no field {path:?}; {there}", "没有字段 {path:?}；{there}");
            let fix =
                message!("record requests with replay metadata", "请在录制请求时包含回放元数据");
            DataError::bad(at, what, fix)
        })
    };
    let tokens = |path: &'static str, least| super::fields::tokens(at, path, needed(path)?, least);
    let time =
        |path: &'static str, value: &Value| Field::Usual(path).time(at, value, Unit::Milliseconds);
    const RECEIVED: &str = "request.request_received_ms";
    let received = time(RECEIVED, needed(RECEIVED)?)?;
    const ENDED: &str = "event_time_unix_ms";
    const TOOK: &str = "request.total_time_ms";
    let end = match (value(ENDED), value(TOOK)) {
        (Some(ended), _) if !ended.is_null() => Some(time(ENDED, ended)?),
        (_, Some(took)) if !took.is_null() => Some(received.saturating_add(time(TOOK, took)?)),
        _ => None,
    };
    ids.clear();
    const HASHES: &str = "request.replay.input_sequence_hashes";
    if let Some(list) = value(HASHES) {
        numbers(at, HASHES, list, ids)?;
    }
    let context = |name: &str| {
        let context = find(record, "agent_context")?.as_object()?;
        context.get(name)?.as_str().filter(|id| !id.is_empty()).map(str::to_owned)
    };
    Ok(Some(DynamoRequest {
        request: Request {
            time: Some(received),
            gap: None,
            end,
            input: tokens("request.replay.input_length", 1)?,
            output: tokens("request.output_tokens", 0)?,
        },
        session: context("session_id"),
        parent: context("parent_session_id"),
    }))
}

/// Tokens that the hash ids of this trace stand for.
pub(super) fn block(object: &Map<String, Value>) -> Option<u32> {
    let size = field("request.replay.trace_block_size")?.find(unwrapped(object))?.as_u64()?;
    u32::try_from(size).ok().filter(|size| *size > 0)
}
