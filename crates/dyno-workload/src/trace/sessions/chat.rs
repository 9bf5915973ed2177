//! MLCommons' conversations: a record is a message of a conversation, in order.

use dyno_model::message;
use serde_json::{Map, Value};

use super::event::{Event, Refused};
use super::form::{Sink, id};
use crate::data::{At, DataError, correct_it, described};
use crate::trace::fields::{Field, tokens};
use crate::trace::row::Request;
use crate::trace::time::Unit;
use dyno_model::prompt::ChatMessage;

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

fn remove_the_conversation() -> message::Message {
    message!("remove the conversation", "请去掉该对话")
}

fn message(at: &At, object: &Map<String, Value>) -> Result<Option<Event>, DataError> {
    let text = |name: &str| match object.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.as_str())),
        Some(other) => {
            let what = message!(
                "the field {name:?} is {}, not text",
                "字段 {name:?} 是{}，不是文本",
                described(other)
            );
            Err(DataError::bad(at, what, correct_it()))
        }
    };
    match text("role")?.unwrap_or_default() {
        "user" => {}
        "assistant" | "system" => return Ok(None),
        role => {
            let what = message!(
                "the field \"role\" is {role:?}, the result of a tool that the server may not call \
                 this time",
                "字段 \"role\" 为 {role:?}，是工具的结果，而服务器这次未必调用该工具"
            );
            return Err(DataError::bad(at, what, remove_the_conversation()));
        }
    }
    let Some(content) = text("content")?.filter(|content| !content.trim().is_empty()) else {
        let what = message!("the field \"content\" is blank", "字段 \"content\" 为空");
        return Err(DataError::bad(at, what, remove_the_conversation()));
    };
    let system = text("system")?.filter(|system| !system.trim().is_empty());
    let system = system.map(|text| ChatMessage { role: "system".into(), content: text.into() });
    let gap = match object.get(DELAY) {
        None | Some(Value::Null) => None,
        Some(value) => Some(Field::Usual(DELAY).time(at, value, Unit::Seconds)?),
    };
    let limit = OUTPUTS.iter().find_map(|name| {
        object.get(*name).filter(|value| !value.is_null()).map(|value| (*name, value))
    });
    let output = limit.map_or(Ok(0), |(name, value)| tokens(at, name, value, 1))?;
    let request = Request { time: None, gap, end: None, input: 0, output };
    let said = system.into_iter().chain([ChatMessage::user(content)]).collect();
    Ok(Some(Event { said: Some(said), ..Event::of(at, request) }))
}
