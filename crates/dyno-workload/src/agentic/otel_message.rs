//! The messages of a span, in whichever of its attributes they are: as JSON in a text, as values, or one attribute for
//! each field of each message.

use serde_json::{Map, Value, json};

use super::fields::{array, text};
use super::messages::{TreeMessages, plain};
use super::reader::TreeDetail;

const INPUT: &str = "gen_ai.input.messages";
const OUTPUT: &str = "gen_ai.output.messages";
const OUTPUT_TEXT: &str = "gen_ai.output.text";
const SYSTEM: &str = "gen_ai.system_instructions";
/// The most messages that are looked for one by one.
const MOST_NUMBERED: usize = 100_000;

/// What a span says.
#[derive(Debug, Default)]
pub(super) struct SpanMessages {
    /// Places of the messages of its prompt, where it has them.
    pub(super) prompt: Option<Vec<u32>>,
    /// Places of the messages of its response.
    pub(super) response: Vec<u32>,
    /// Calls of tools in the response.
    pub(super) calls: u32,
}

/// The messages of a span.
pub(super) fn of(
    attributes: &Map<String, Value>,
    messages: &mut TreeMessages,
    keep: TreeDetail,
) -> SpanMessages {
    let mut prompt = list(attributes.get(INPUT)).or_else(|| numbered(attributes, "gen_ai.prompt"));
    if let Some(system) = attributes.get(SYSTEM).filter(|system| !system.is_null()) {
        let system = json!({ "role": "system", "content": parsed(system) });
        prompt = prompt.map(|prompt| [vec![system], prompt].concat());
    }
    let response = list(attributes.get(OUTPUT))
        .or_else(|| {
            let text = text(attributes, OUTPUT_TEXT)?;
            Some(vec![json!({ "role": "assistant", "content": text })])
        })
        .or_else(|| numbered(attributes, "gen_ai.completion"))
        .unwrap_or_default();
    let calls = response.iter().map(calls).sum();
    let mut place = |list: Vec<Value>| -> Vec<u32> {
        list.iter().map(|one| messages.place(&compared(one), || body(one), keep)).collect()
    };
    SpanMessages { response: place(response), calls, prompt: prompt.map(place) }
}

/// A value that may be JSON in a text.
pub(super) fn parsed(value: &Value) -> Value {
    let read = value.as_str().and_then(|text| serde_json::from_str(text).ok());
    read.unwrap_or_else(|| value.clone())
}

fn list(value: Option<&Value>) -> Option<Vec<Value>> {
    match parsed(value?) {
        Value::Array(list) => Some(list),
        one @ Value::Object(_) => Some(vec![one]),
        Value::String(text) => Some(vec![json!({ "role": "user", "content": text })]),
        _ => None,
    }
}

/// Messages of which every field is an attribute, such as `gen_ai.prompt.0.role`.
fn numbered(attributes: &Map<String, Value>, prefix: &str) -> Option<Vec<Value>> {
    let mut found = Vec::new();
    for number in 0..MOST_NUMBERED {
        let field = |name: &str| attributes.get(&format!("{prefix}.{number}.{name}")).cloned();
        let (role, content) = (field("role"), field("content"));
        if role.is_none() && content.is_none() {
            break;
        }
        found.push(json!({ "role": role, "content": content }));
    }
    (!found.is_empty()).then_some(found)
}

/// What makes messages equal: role, content and calls.
fn compared(message: &Value) -> Value {
    let field = |name: &str| message.get(name).cloned().unwrap_or_default();
    let content = match field("content") {
        Value::Null => field("parts"),
        content => content,
    };
    json!([field("role"), content, field("tool_calls")])
}

fn calls(message: &Value) -> u32 {
    let calls = message.get("tool_calls").and_then(Value::as_array).map_or(0, Vec::len);
    let parts = message.as_object().and_then(|message| array(message, "parts")).unwrap_or_default();
    let in_parts = parts.iter().filter(|part| kind(part) == "tool_call").count();
    u32::try_from(calls + in_parts).unwrap_or(u32::MAX)
}

fn kind(part: &Value) -> &str {
    part.get("type").and_then(Value::as_str).unwrap_or_default()
}

/// A message as OpenAI's API has it, with its parts as text, calls of tools, or the result of one.
fn body(message: &Value) -> Value {
    let Some(parts) = message.get("parts").and_then(Value::as_array) else {
        return message.clone();
    };
    let role = message.get("role").cloned().unwrap_or_default();
    let content: Vec<&str> = parts
        .iter()
        .filter(|part| kind(part) == "text")
        .filter_map(|part| part.get("content").and_then(Value::as_str))
        .collect();
    let calls: Vec<Value> = parts
        .iter()
        .filter(|part| kind(part) == "tool_call")
        .map(|part| {
            let arguments = match part.get("arguments") {
                Some(Value::String(text)) => text.clone(),
                Some(value) => plain(value),
                None => String::new(),
            };
            let function = json!({ "name": part.get("name"), "arguments": arguments });
            json!({ "id": part.get("id"), "type": "function", "function": function })
        })
        .collect();
    if let Some(result) = parts.iter().find(|part| kind(part) == "tool_call_response") {
        let said =
            result.get("response").or_else(|| result.get("result")).cloned().unwrap_or_default();
        let said = said.as_str().map_or_else(|| plain(&said), str::to_owned);
        return json!({ "role": "tool", "tool_call_id": result.get("id"), "content": said });
    }
    let mut body = json!({ "role": role, "content": content.join("\n") });
    if !calls.is_empty() {
        body["tool_calls"] = Value::Array(calls);
    }
    body
}
