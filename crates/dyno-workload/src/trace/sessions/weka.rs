//! WEKA's agent traces, as kv-cache-tester writes and AIPerf replays them: a JSON object is a session,
//! with its requests in order and the sessions of its subagents among them.

use dyno_model::message;
use serde_json::{Map, Value};

use super::event::Event;
use super::form::{Sink, id, remove_it};
use crate::data::{At, DataError, correct_it, described};
use crate::trace::fields::{Field, numbers, tokens};
use crate::trace::row::Request;
use crate::trace::time::Unit;

pub(super) const INPUT: &str = "in";
const REQUESTS: &str = "requests";

/// Whether this is a session of such a trace.
pub(super) fn is_session(object: &Map<String, Value>) -> bool {
    let first = object.get(REQUESTS).and_then(Value::as_array).and_then(|list| list.first());
    let first = first.and_then(Value::as_object);
    first.is_some_and(|first| {
        first.contains_key("t")
            && (first.contains_key(INPUT) && first.contains_key("out") || is_subagent(first))
    })
}

fn is_subagent(request: &Map<String, Value>) -> bool {
    request.get("type").and_then(Value::as_str) == Some("subagent")
}

/// Gives the requests of a session. Their clock starts with the session, so when it started is not
/// known. The pause before a request is its `think_time`; without that, the time since the request
/// before it, less that one's `api_time`.
pub(super) fn read(
    at: &At,
    object: &Map<String, Value>,
    take: &mut Sink<'_>,
) -> Result<(), DataError> {
    let list = object.get(REQUESTS).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let session = object.get("id").and_then(id).unwrap_or_else(|| at.to_string());
    for (place, request) in list.iter().enumerate() {
        let one = match request.as_object() {
            Some(request) if is_subagent(request) => {
                let what = message!(
                    "the field \"type\" is \"subagent\", with requests beside those of the session, and \
                     sessions do not branch",
                    "字段 \"type\" 为 \"subagent\"，其请求与会话并行，而会话没有分支"
                );
                Err(DataError::bad(at, what, remove_it()))
            }
            Some(request) => one(at, request),
            None => {
                let what =
                    message!("it is {}, not an object", "它是{}，不是对象", described(request));
                Err(DataError::bad(at, what, correct_it()))
            }
        };
        let one = one.map_err(|error| named(error, place).into());
        take(one.map(|one| Event { session: Some(session.clone()), common_clock: false, ..one }))?;
    }
    Ok(())
}

/// An error with the number of the request in its session.
fn named(error: DataError, place: usize) -> DataError {
    match error {
        DataError::Bad { at, what, fix } => {
            let what = message!("request {}: {what}", "第 {} 个请求：{what}", place + 1);
            DataError::Bad { at, what, fix }
        }
        other => other,
    }
}

fn one(at: &At, request: &Map<String, Value>) -> Result<Event, DataError> {
    let seconds = |name: &'static str| match request.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => Field::Usual(name).time(at, value, Unit::Seconds).map(Some),
    };
    let length = |name: &'static str, least| {
        let value = Field::Usual(name).needed(at, request, correct_it)?;
        tokens(at, name, value, least)
    };
    let start = seconds("t")?;
    let took = seconds("api_time")?;
    let mut ids = Vec::new();
    if let Some(list) = request.get("hash_ids") {
        numbers(at, "hash_ids", list, &mut ids)?;
    }
    let request = Request {
        time: start,
        gap: seconds("think_time")?,
        end: start.zip(took).map(|(start, took)| start.saturating_add(took)),
        input: length(INPUT, 1)?,
        output: length("out", 0)?,
    };
    Ok(Event { ids, ..Event::of(at, request) })
}
