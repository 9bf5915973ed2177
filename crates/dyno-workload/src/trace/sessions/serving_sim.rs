//! LLMServingSim's agent sessions: a record has the requests of a session in order, each with how long
//! the tool runs that its response calls.

use dyno_model::message;
use serde_json::{Map, Value};

use super::event::Event;
use super::form::{Sink, id};
use crate::data::{At, DataError, correct_it, described};
use crate::trace::fields::{Field, tokens};
use crate::trace::row::Request;
use crate::trace::time::Unit;

pub(super) const INPUT: &str = "input_toks";
const REQUESTS: &str = "sub_requests";
const START: &str = "arrival_time_ns";
const TOOL: &str = "tool_duration_ns";

/// Whether this is a session.
pub(super) fn is_session(object: &Map<String, Value>) -> bool {
    let first = object.get(REQUESTS).and_then(Value::as_array).and_then(|list| list.first());
    first.and_then(Value::as_object).is_some_and(|first| first.contains_key(INPUT))
}

/// Gives the requests of a session. A file may have single requests beside sessions.
pub(super) fn read(
    at: &At,
    object: &Map<String, Value>,
    take: &mut Sink<'_>,
) -> Result<(), DataError> {
    let time = |object: &Map<String, Value>, name: &'static str| match object.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => Field::Usual(name).time(at, value, Unit::Nanoseconds).map(Some),
    };
    let start = time(object, START)?;
    let one = |request: &Map<String, Value>| -> Result<Request, DataError> {
        let length = |name: &'static str, least| {
            let value = Field::Usual(name).needed(at, request, correct_it)?;
            tokens(at, name, value, least)
        };
        Ok(Request {
            time: None,
            gap: None,
            end: None,
            input: length(INPUT, 1)?,
            output: length("output_toks", 0)?,
        })
    };
    let Some(list) = object.get(REQUESTS).and_then(Value::as_array) else {
        return take(Ok(Event { start, ..Event::of(at, one(object)?) }));
    };
    let session = object.get("session_id").and_then(id).unwrap_or_else(|| at.to_string());
    let mut tool = None;
    for (place, request) in list.iter().enumerate() {
        let Some(request) = request.as_object() else {
            let what = message!(
                "request {} is {}, not an object",
                "第 {} 个请求是{}，不是对象",
                place + 1,
                described(request)
            );
            return Err(DataError::bad(at, what, correct_it()));
        };
        let first = place == 0;
        let event = Event::of(at, one(request)?);
        take(Ok(Event {
            session: Some(session.clone()),
            start: start.filter(|_| first),
            gap: if first { None } else { Some(tool.unwrap_or(0)) },
            ..event
        }))?;
        tool = time(request, TOOL)?;
    }
    Ok(())
}
