//! TraceLab's rounds of coding agents: a record is a request, with the times at which its input and
//! its response were seen.

use dyno_model::message;
use serde_json::{Map, Value};

use super::event::Event;
use super::form::{Sink, id};
use crate::data::{At, DataError, remove_the_record};
use crate::trace::fields::{Field, tokens};
use crate::trace::row::Request;
use crate::trace::time::Unit;

pub(super) const INPUT: &str = "input_tokens_total";
const OUTPUT: &str = "output_tokens";
const EVENTS: &str = "timing_events";
const KEPT: &str = "prefix_tokens";
const TIME: &str = "timestamp";
/// What a request waits for, and what its response consists of.
const BEFORE: [&str; 2] = ["user_message", "tool_result"];
const AFTER: [&str; 3] = ["reasoning", "text", "tool_call"];

/// Whether this is a round.
pub(super) fn is_round(object: &Map<String, Value>) -> bool {
    ["session_id", "round_index", INPUT, EVENTS].iter().all(|name| object.contains_key(*name))
}

/// Gives a round. It was sent when the last of its input was there, and its response was complete with
/// the last event of it.
pub(super) fn read(
    at: &At,
    object: &Map<String, Value>,
    take: &mut Sink<'_>,
) -> Result<(), DataError> {
    let (mut sent, mut first_out, mut last_out) = (None::<u64>, None::<u64>, None::<u64>);
    for event in object.get(EVENTS).and_then(Value::as_array).map_or(&[][..], Vec::as_slice) {
        let kind = event.get("event_type").and_then(Value::as_str).unwrap_or_default();
        let Some(time) = event.get(TIME).filter(|time| !time.is_null()) else { continue };
        let read = |time| Field::Usual(TIME).time(at, time, Unit::Date);
        if BEFORE.contains(&kind) {
            sent = sent.max(Some(read(time)?));
        } else if AFTER.contains(&kind) {
            let time = read(time)?;
            first_out = Some(first_out.map_or(time, |first| first.min(time)));
            last_out = last_out.max(Some(time));
        }
    }
    let Some(start) = sent.or(first_out) else {
        let what = message!(
            "the field {EVENTS:?} has no time of a message, a result or a response",
            "字段 {EVENTS:?} 中没有消息、结果或响应的时间"
        );
        return Err(DataError::bad(at, what, remove_the_record()));
    };
    let length = |name: &'static str, least| {
        let value = Field::Usual(name)
            .needed(at, object, || message!("TraceLab rows have it", "TraceLab 的行都有它"))?;
        tokens(at, name, value, least)
    };
    let request = Request {
        time: Some(start),
        gap: None,
        end: last_out.map(|end| end.max(start)),
        input: length(INPUT, 1)?,
        output: length(OUTPUT, 0)?,
    };
    let kept = object.get(KEPT).and_then(Value::as_u64).and_then(|kept| u32::try_from(kept).ok());
    let session = object.get("session_id").and_then(id);
    take(Ok(Event { session, kept, ..Event::of(at, request) }))
}
