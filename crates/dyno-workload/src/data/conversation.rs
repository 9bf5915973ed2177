//! Conversations as files have them: `{role, content}` or `{from, value}`, a question with its answer,
//! plain texts, and lists of these; in any of the names that roles go by.

use dyno_model::message;
use serde_json::{Map, Value};

use super::error::remove_the_record;
use super::fields::described;
use super::spec::Turns;
use crate::session;
use dyno_model::prompt::{ChatMessage, Content};

/// How much of a conversation is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Needed {
    /// Up to the first user message. What follows may be anything.
    FirstTurn,
    /// All of it, so that responses have to be text.
    All,
    /// All of it, but responses only separate turns: one may be a tool call, without any text.
    UserSide,
}

/// What is wrong, and what would fix it.
pub(super) type Wrong = (message::Message, message::Message);

fn shape() -> message::Message {
    message!(
        "write messages as {{\"role\": …, \"content\": …}} or {{\"from\": …, \"value\": …}}",
        "消息请写成 {{\"role\": …, \"content\": …}} 或 {{\"from\": …, \"value\": …}}"
    )
}

/// Reads a list of messages.
pub(super) fn messages(value: &Value, needed: Needed) -> Result<Vec<ChatMessage>, Wrong> {
    let parsed;
    let list = match value {
        Value::Array(list) => list,
        // Tables of text keep lists as JSON.
        Value::String(text) => {
            parsed = serde_json::from_str::<Vec<Value>>(text).map_err(|_| {
                (
                    message!("is text, not a list of messages", "是文本，不是消息列表"),
                    message!("write prompt=FIELD for text", "文本请写 prompt=FIELD"),
                )
            })?;
            &parsed
        }
        other => {
            let what =
                message!("is {}, not a list of messages", "是{}，不是消息列表", described(other));
            let fix = message!(
                "name the field that holds them with messages=FIELD",
                "请用 messages=FIELD 指定消息所在的字段"
            );
            return Err((what, fix));
        }
    };
    let mut messages = Vec::new();
    for (index, value) in list.iter().enumerate() {
        add(&mut messages, index + 1, value, needed)?;
        if needed == Needed::FirstTurn && messages.iter().any(is_user) {
            break;
        }
    }
    match messages.is_empty() {
        true => {
            Err((message!("is an empty list of messages", "是空的消息列表"), remove_the_record()))
        }
        false => Ok(messages),
    }
}

fn is_user(message: &ChatMessage) -> bool {
    message.role == "user"
}

/// Whether a list has only what the user says, so that its turns cannot be sent together: texts, also
/// in objects without a role, or lists of messages, one a turn.
pub(super) fn is_one_sided(value: &Value) -> bool {
    let turn = |value: &Value| match value {
        Value::String(_) => true,
        Value::Array(turn) => !turn.is_empty() && !turn.iter().all(Value::is_string),
        Value::Object(turn) => part(turn, ["role", "from"]).is_none() && pair_in(turn).is_none(),
        _ => false,
    };
    value.as_array().is_some_and(|list| list.iter().all(turn))
}

/// Texts of the user and of the assistant by turns, as messages.
pub(super) fn alternating(value: &Value) -> Value {
    let message = |(index, text): (usize, &Value)| {
        let role = if index % 2 == 0 { "user" } else { "assistant" };
        serde_json::json!({ "role": role, "content": text })
    };
    let list = value.as_array().map_or(&[][..], Vec::as_slice);
    Value::Array(list.iter().enumerate().map(message).collect())
}

/// Adds an element of a list: a message, a question with its answer, or a list of these.
fn add(
    messages: &mut Vec<ChatMessage>,
    number: usize,
    value: &Value,
    needed: Needed,
) -> Result<(), Wrong> {
    let object = match value {
        // A list of plain texts holds the user's turns.
        Value::String(text) => {
            messages.push(ChatMessage::user(text.clone()));
            return Ok(());
        }
        Value::Object(object) => object,
        Value::Array(pair) if pair.len() == 2 && pair.iter().all(Value::is_string) => {
            return add_pair(messages, number, (&pair[0], &pair[1]), needed);
        }
        Value::Array(turn) if turn.iter().all(|value| value.is_object() || value.is_string()) => {
            return turn.iter().try_for_each(|value| add(messages, number, value, needed));
        }
        other => {
            let what = message!(
                "has {found} as message {number}",
                "的第 {number} 条消息是{found}",
                found = described(other)
            );
            return Err((what, shape()));
        }
    };
    if let Some(role) = part(object, ["role", "from"]).and_then(Value::as_str) {
        messages.push(message(number, role, object, needed)?);
        return Ok(());
    }
    if let Some(pair) = pair_in(object) {
        return add_pair(messages, number, pair, needed);
    }
    match part(object, ["text", "content"]).and_then(Value::as_str) {
        Some(text) => messages.push(ChatMessage::user(text)),
        None => {
            let what =
                message!("has a message {number} without a role", "的第 {number} 条消息没有角色");
            return Err((what, shape()));
        }
    }
    Ok(())
}

/// Names of a question and of its answer in one object.
const PAIRS: [[&str; 2]; 5] = [
    ["human", "assistant"],
    ["user", "assistant"],
    ["question", "answer"],
    ["prompt", "response"],
    ["instruction", "output"],
];

fn pair_in(object: &Map<String, Value>) -> Option<(&Value, &Value)> {
    PAIRS.iter().find_map(|[asked, answered]| Some((object.get(*asked)?, object.get(*answered)?)))
}

fn add_pair(
    messages: &mut Vec<ChatMessage>,
    number: usize,
    (asked, answered): (&Value, &Value),
    needed: Needed,
) -> Result<(), Wrong> {
    for (role, content) in [("user", asked), ("assistant", answered)] {
        let content = content_of(number, role, Some(content), needed)?;
        messages.push(ChatMessage { role: role.into(), content });
    }
    Ok(())
}

fn part<'a>(object: &'a Map<String, Value>, names: [&str; 2]) -> Option<&'a Value> {
    names.iter().find_map(|name| object.get(*name))
}

/// The role that a name stands for.
fn role_of(name: &str) -> Option<&'static str> {
    Some(match name.to_ascii_lowercase().as_str() {
        "user" | "human" | "prompter" => "user",
        "assistant" | "gpt" | "chatgpt" | "bing" | "bard" | "model" | "bot" | "ai" | "chatbot"
        | "function_call" | "tool_call" | "tool_calls" => "assistant",
        "system" => "system",
        "developer" => "developer",
        "tool" | "function" | "observation" | "function_response" | "function_result"
        | "tool_response" | "tool_result" | "tool_results" | "ipython" | "environment" => "tool",
        _ => return None,
    })
}

fn message(
    number: usize,
    name: &str,
    object: &Map<String, Value>,
    needed: Needed,
) -> Result<ChatMessage, Wrong> {
    let Some(role) = role_of(name) else {
        let what = message!(
            "has a message {number} of the unknown role {name:?}",
            "的第 {number} 条消息角色未知：{name:?}"
        );
        let fix = match needed {
            Needed::All if number > 1 => message!(
                "the roles are system, user, assistant and tool; turns=first sends only what comes \
                 before the first response",
                "可用的角色：system、user、assistant 和 tool；turns=first 只发送第一个响应之前的内容"
            ),
            _ => message!(
                "the roles are system, user, assistant and tool",
                "可用的角色：system、user、assistant 和 tool"
            ),
        };
        return Err((what, fix));
    };
    let content = match part(object, ["content", "value"]) {
        // A response that is nothing but tool calls.
        None | Some(Value::Null) if role == "assistant" && needed == Needed::All => {
            let calls = part(object, ["tool_calls", "function_call"]);
            match calls {
                Some(Value::Array(calls)) if calls.is_empty() => String::new(),
                Some(calls) => calls.to_string(),
                None => content_of(number, role, part(object, ["content", "value"]), needed)?,
            }
        }
        content => content_of(number, role, content, needed)?,
    };
    Ok(ChatMessage { role: role.into(), content })
}

fn content_of(
    number: usize,
    role: &str,
    content: Option<&Value>,
    needed: Needed,
) -> Result<String, Wrong> {
    let sent = match needed {
        Needed::All => true,
        Needed::UserSide => role != "assistant",
        Needed::FirstTurn => role != "assistant" && role != "tool",
    };
    match content {
        Some(Value::String(text)) => Ok(text.clone()),
        _ if !sent => Ok(String::new()),
        Some(Value::Array(parts)) => text_of_parts(number, parts),
        // A tool call, or what a tool returned.
        Some(data @ Value::Object(_)) if role == "assistant" || role == "tool" => {
            Ok(data.to_string())
        }
        other => {
            let what = match other.map(described) {
                Some(found) => message!(
                    "has a message {number} with {found} content",
                    "的第 {number} 条消息内容是{found}"
                ),
                None => message!(
                    "has a message {number} with no content",
                    "的第 {number} 条消息没有内容"
                ),
            };
            Err((what, shape()))
        }
    }
}

fn text_of_parts(number: usize, parts: &[Value]) -> Result<String, Wrong> {
    let text = |part: &Value| match part {
        Value::String(text) => Some(text.clone()),
        Value::Object(part) => part.get("text").and_then(Value::as_str).map(String::from),
        _ => None,
    };
    parts.iter().map(text).collect::<Option<String>>().ok_or_else(|| {
        (
            message!(
                "has a message {number} with a part that is not text",
                "的第 {number} 条消息含有非文本部分"
            ),
            message!(
                "write whole request bodies, one a line, and read them as lines:FILE",
                "请写完整的请求体，每行一个，并按 lines:FILE 读取"
            ),
        )
    })
}

/// What of a conversation is sent. The error is what is wrong and what would fix it.
pub(super) fn prompt(messages: Vec<ChatMessage>, turns: Turns) -> Result<Content, Wrong> {
    let last = match turns {
        Turns::First => messages.iter().position(is_user),
        Turns::All => messages.iter().rposition(|message| message.role != "assistant"),
    };
    let Some(last) = last.filter(|_| messages.iter().any(is_user)) else {
        return Err((message!("has no user message", "没有用户消息"), remove_the_record()));
    };
    let mut kept: Vec<ChatMessage> = messages.into_iter().take(last + 1).collect();
    if turns == Turns::First {
        // A response before any user message belongs to a conversation that was cut.
        kept.retain(|message| message.role != "assistant" && message.role != "tool");
    }
    if kept.iter().all(|message| message.content.trim().is_empty()) {
        return Err((message!("has only empty messages", "只有空消息"), remove_the_record()));
    }
    Ok(plain(kept))
}

/// A conversation to replay. The error is what is wrong and what would fix it.
pub(super) fn led(mut messages: Vec<ChatMessage>) -> Result<Content, Wrong> {
    session::check(&messages).map_err(|why| (message::Message::of(why), remove_the_record()))?;
    // The first message must be one that is sent: it may get a unique prefix.
    let asked = messages.iter().position(|message| !session::is_answer(message)).unwrap_or(0);
    messages.drain(..asked);
    Ok(Content::Messages(messages))
}

/// A single user message becomes plain text.
pub(super) fn plain(mut messages: Vec<ChatMessage>) -> Content {
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
