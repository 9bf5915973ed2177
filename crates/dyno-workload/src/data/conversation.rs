//! Conversations as files have them: `{role, content}` or `{from, value}`, in any of the names
//! that roles go by.

use serde_json::{Map, Value};

use super::fields::described;
use super::spec::Turns;
use crate::item::{Content, Message};
use crate::session;

/// Whether the responses of a conversation are sent, so that they have to be text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answers {
    /// They are.
    Sent,
    /// They only separate turns: a response may be a tool call, without any text.
    LeftOut,
}

/// Reads a list of messages. The error is what is wrong and what would fix it.
pub(super) fn messages(value: &Value, answers: Answers) -> Result<Vec<Message>, (String, String)> {
    let parsed;
    let list = match value {
        Value::Array(list) => list,
        // Tables of text keep lists as JSON.
        Value::String(text) => {
            parsed = serde_json::from_str::<Vec<Value>>(text).map_err(|_| {
                (
                    "is text, not a list of messages".to_string(),
                    "write prompt=FIELD for text".into(),
                )
            })?;
            &parsed
        }
        other => {
            let what = format!("is {}, not a list of messages", described(other));
            return Err((what, "name the field that holds them with messages=FIELD".into()));
        }
    };
    if list.is_empty() {
        return Err(("is an empty list of messages".into(), "remove the record".into()));
    }
    list.iter().enumerate().map(|(index, value)| message(index + 1, value, answers)).collect()
}

fn message(number: usize, value: &Value, answers: Answers) -> Result<Message, (String, String)> {
    const SHAPE: &str =
        "write messages as {\"role\": …, \"content\": …} or {\"from\": …, \"value\": …}";
    let object = match value {
        // A list of plain texts holds the user's turns.
        Value::String(text) => return Ok(Message::user(text.clone())),
        Value::Object(object) => object,
        other => {
            let what = format!("has {} as message {number}", described(other));
            return Err((what, SHAPE.into()));
        }
    };
    let part = |names: [&str; 2]| names.iter().find_map(|name| object.get(*name));
    let Some(role) = part(["role", "from"]).and_then(Value::as_str) else {
        return Err((format!("has a message {number} without a role"), SHAPE.into()));
    };
    let role = match role.to_ascii_lowercase().as_str() {
        "user" | "human" => "user",
        "assistant" | "gpt" | "chatgpt" | "bing" | "bard" | "model" | "bot" | "ai" => "assistant",
        "system" => "system",
        "developer" => "developer",
        "tool" | "function" | "observation" => "tool",
        _ => {
            let what = format!("has a message {number} of the unknown role {role:?}");
            return Err((what, "the roles are system, user and assistant".into()));
        }
    };
    let content = match part(["content", "value"]) {
        Some(Value::String(text)) => text.clone(),
        _ if role == "assistant" && answers == Answers::LeftOut => String::new(),
        Some(Value::Array(parts)) => text_of_parts(number, parts)?,
        other => {
            let found = other.map_or("no", described);
            return Err((format!("has a message {number} with {found} content"), SHAPE.into()));
        }
    };
    Ok(Message { role: role.into(), content })
}

fn text_of_parts(number: usize, parts: &[Value]) -> Result<String, (String, String)> {
    let text = |part: &Value| match part {
        Value::String(text) => Some(text.clone()),
        Value::Object(part) => part.get("text").and_then(Value::as_str).map(String::from),
        _ => None,
    };
    parts.iter().map(text).collect::<Option<String>>().ok_or_else(|| {
        (
            format!("has a message {number} with a part that is not text"),
            "write whole request bodies, one a line, and read them as lines:FILE".into(),
        )
    })
}

/// What of a conversation is sent. The error is what is wrong and what would fix it.
pub(super) fn prompt(messages: Vec<Message>, turns: Turns) -> Result<Content, (String, String)> {
    let is_user = |message: &Message| message.role == "user";
    let last = match turns {
        Turns::First => messages.iter().position(is_user),
        Turns::All => messages.iter().rposition(|message| message.role != "assistant"),
    };
    let Some(last) = last.filter(|_| messages.iter().any(is_user)) else {
        return Err(("has no user message".into(), "remove the record".into()));
    };
    let mut kept: Vec<Message> = messages.into_iter().take(last + 1).collect();
    if turns == Turns::First {
        // A response before any user message belongs to a conversation that was cut.
        kept.retain(|message| message.role != "assistant" && message.role != "tool");
    }
    if kept.iter().all(|message| message.content.trim().is_empty()) {
        return Err(("has only empty messages".into(), "remove the record".into()));
    }
    Ok(plain(kept))
}

/// A conversation to replay. The error is what is wrong and what would fix it.
pub(super) fn led(mut messages: Vec<Message>) -> Result<Content, (String, String)> {
    session::check(&messages).map_err(|why| (why.to_string(), "remove the record".to_string()))?;
    // The first message must be one that is sent: it may get a unique prefix.
    let asked = messages.iter().position(|message| !session::is_answer(message)).unwrap_or(0);
    messages.drain(..asked);
    Ok(Content::Messages(messages))
}

/// A single user message becomes plain text.
pub(super) fn plain(mut messages: Vec<Message>) -> Content {
    match messages.pop() {
        Some(only) if messages.is_empty() && only.role == "user" => Content::Text(only.content),
        Some(last) => {
            messages.push(last);
            Content::Messages(messages)
        }
        None => Content::Messages(messages),
    }
}

/// Whether an object is one message rather than a record.
pub(super) fn is_message(object: &Map<String, Value>) -> bool {
    let text = |name: &str| object.get(name).is_some_and(Value::is_string);
    (text("role") && object.contains_key("content"))
        || (text("from") && object.contains_key("value"))
}
