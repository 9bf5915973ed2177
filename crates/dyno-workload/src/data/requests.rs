//! Requests in files: whole bodies, which are sent as they are, and requests that were logged, alone
//! or with their responses, which are conversations.

use serde_json::{Map, Value};

use super::fields::{FieldPath, OUTPUTS, count, whole};

/// Fields that only a request to a server has. A model is also named in logs.
const OF_BODIES: [&str; 13] = [
    "stream",
    "stream_options",
    "temperature",
    "top_p",
    "top_k",
    "stop",
    "tools",
    "tool_choice",
    "response_format",
    "frequency_penalty",
    "presence_penalty",
    "ignore_eos",
    "logprobs",
];

/// Fields with what a server responded, or about it.
const OF_RESPONSES: [&str; 10] = [
    "response",
    "responses",
    "choices",
    "completion",
    "output",
    "answer",
    "usage",
    "latency",
    "latency_ms",
    "status_code",
];

/// Where batch files and logs have the request, the innermost first.
const REQUESTS: [&str; 6] = ["body", "request.body", "request", "request_body", "payload", "input"];

/// Where the length of a logged response is.
const RESPONSE_LENGTHS: [&str; 3] = [
    "response.usage.completion_tokens",
    "response.body.usage.completion_tokens",
    "usage.completion_tokens",
];

fn has(object: &Map<String, Value>, name: &str) -> bool {
    object.get(name).is_some_and(|value| !value.is_null())
}

/// Whether it has something to send, by the names that requests use.
pub(super) fn is_request(object: &Map<String, Value>) -> bool {
    has(object, "messages") || has(object, "prompt")
}

/// Whether records are whole request bodies: they have fields that only requests have, or content
/// that only a body can hold, and no trace of a response.
pub(super) fn are_bodies(objects: &[&Map<String, Value>]) -> bool {
    objects.iter().any(|object| is_request(object))
        && objects.iter().any(|object| is_more_than_text(object))
        && !objects.iter().any(|object| is_answered(object))
}

fn messages(object: &Map<String, Value>) -> &[Value] {
    object.get("messages").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn is_more_than_text(object: &Map<String, Value>) -> bool {
    let is_picture = |part: &Value| part.as_object().is_some_and(|part| !part.contains_key("text"));
    let beyond_text = |message: &Value| {
        message.get("tool_calls").is_some_and(|calls| !calls.is_null())
            || message
                .get("content")
                .and_then(Value::as_array)
                .is_some_and(|parts| parts.iter().any(is_picture))
    };
    OF_BODIES.iter().any(|name| object.contains_key(*name))
        || (object.contains_key("model") && messages(object).iter().any(beyond_text))
}

fn is_answered(object: &Map<String, Value>) -> bool {
    let ends_with_response = |message: &Value| message.get("role") == Some(&"assistant".into());
    OF_RESPONSES.iter().any(|name| has(object, name))
        || messages(object).last().is_some_and(ends_with_response)
}

/// The request within a record of a batch file or a log, if the record itself is none.
pub(super) fn request_of(object: &Map<String, Value>) -> Option<(FieldPath, &Map<String, Value>)> {
    if is_request(object) {
        return None;
    }
    REQUESTS.iter().map(|name| FieldPath::of(name)).find_map(|path| {
        let request = path.find(object)?.as_object()?;
        let asks = is_request(request) || (has(request, "input") && has(request, "model"));
        asks.then_some((path, request))
    })
}

/// How many tokens to ask for, by the logged response, or else by the request within a record.
pub(super) fn length_of(objects: &[&Map<String, Value>]) -> Option<FieldPath> {
    let recorded = RESPONSE_LENGTHS.iter().map(|path| FieldPath::of(path)).find(|path| {
        objects.iter().any(|object| path.find(object).is_some_and(|value| whole(value, 0).is_ok()))
    });
    let asked = || {
        objects.iter().find_map(|object| {
            let (path, request) = request_of(object)?;
            let fits =
                |name: &&&str| request.get(**name).is_some_and(|v| matches!(count(v), Ok(Some(_))));
            OUTPUTS.iter().find(fits).map(|name| path.within(name))
        })
    };
    recorded.or_else(asked)
}

/// Whether a length is that of a logged response, which may have been empty.
pub(super) fn is_recorded(field: &FieldPath) -> bool {
    RESPONSE_LENGTHS.contains(&field.as_str())
}
