//! MLCommons' conversations: a record is a message of a conversation, in order.

use serde_json::{Map, Value};

use super::event::{Event, Refused};
use super::form::{Sink, id};
use crate::data::{At, DataError, described};
use crate::trace::fields::{Field, tokens};
use crate::trace::row::Request;
use crate::trace::time::Unit;
use dyno_model::prompt::Message;

const SESSION: &str = "conversation_id";
const DELAY: &str = "delay_seconds";
const OUTPUTS: [&str; 2] = ["max_new_tokens", "max_completion_tokens"];

/// Whether this is such a message.
pub(super) fn is_message(object: &Map<String, Value>) -> bool {
    [SESSION, "turn", "role"].iter().all(|name| object.contains_key(*name))
}

/// Gives a message of the user's. Those of the assistant are left out: the server that is measured
/// gives its own. Without one of its messages a conversation makes no sense.
pub(super) fn read(
    at: &At,
    object: &Map<String, Value>,
    take: &mut Sink<'_>,
) -> Result<(), DataError> {
    let session = object.get(SESSION).and_then(id);
    match message(at, object) {
        Ok(None) => Ok(()),
        Ok(Some(event)) => take(Ok(Event { session, ..event })),
        Err(error) => take(Err(Refused { error, session })),
    }
}

fn message(at: &At, object: &Map<String, Value>) -> Result<Option<Event>, DataError> {
    let text = |name: &str| match object.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.as_str())),
        Some(other) => {
            let what = format!("the field {name:?} is {}, not text", described(other));
            Err(DataError::bad(at, what, "correct it"))
        }
    };
    match text("role")?.unwrap_or_default() {
        "user" => {}
        "assistant" | "system" => return Ok(None),
        role => {
            let what = format!(
                "the field \"role\" is {role:?}, the result of a tool that the server may not call \
                 this time"
            );
            return Err(DataError::bad(at, what, "remove the conversation"));
        }
    }
    let Some(content) = text("content")?.filter(|content| !content.trim().is_empty()) else {
        let what = "the field \"content\" is blank";
        return Err(DataError::bad(at, what, "remove the conversation"));
    };
    let system = text("system")?.filter(|system| !system.trim().is_empty());
    let system = system.map(|text| Message { role: "system".into(), content: text.into() });
    let gap = match object.get(DELAY) {
        None | Some(Value::Null) => None,
        Some(value) => Some(Field::Usual(DELAY).time(at, value, Unit::Seconds)?),
    };
    let limit = OUTPUTS.iter().find_map(|name| {
        object.get(*name).filter(|value| !value.is_null()).map(|value| (*name, value))
    });
    let output = limit.map_or(Ok(0), |(name, value)| tokens(at, name, value, 1))?;
    let request = Request { time: None, gap, end: None, input: 0, output };
    let said = system.into_iter().chain([Message::user(content)]).collect();
    Ok(Some(Event { said: Some(said), ..Event::of(at, request) }))
}
