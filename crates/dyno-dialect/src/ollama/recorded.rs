//! What an agent sent, as Ollama's chat has it: arguments are objects, and a result names the tool.

use dyno_model::recorded::{RecordedMessage, RecordedPrompt};
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// Writes messages and tools.
pub(super) fn write(fields: &mut Map<String, Value>, prompt: &RecordedPrompt) {
    let tools = prompt
        .definitions()
        .map(|tool| json!({"type": "function", "function": tool.fields("parameters")}));
    let tools: Vec<Value> = tools.collect();
    if !tools.is_empty() {
        fields.insert("tools".into(), tools.into());
    }
    let mut called = HashMap::new();
    let messages: Vec<Value> = prompt.read().map(|message| written(message, &mut called)).collect();
    fields.insert("messages".into(), messages.into());
}

/// A message; `called` has the tools of the calls so far.
fn written<'a>(message: RecordedMessage<'a>, called: &mut HashMap<&'a str, &'a str>) -> Value {
    let role = match message.role() {
        "developer" => "system",
        "function" => "tool",
        role => role,
    };
    let mut fields = Map::new();
    fields.insert("role".into(), role.into());
    fields.insert("content".into(), message.text().into());
    if let Some(thought) = message.reasoning() {
        fields.insert("thinking".into(), thought.into());
    }
    let calls = message.calls().map(|call| {
        call.id.map(|id| called.insert(id, call.name));
        json!({"function": {"name": call.name, "arguments": call.input()}})
    });
    let calls: Vec<Value> = calls.collect();
    if !calls.is_empty() {
        fields.insert("tool_calls".into(), calls.into());
    }
    if let Some(name) = message.result_of().and_then(|id| called.get(id)) {
        fields.insert("tool_name".into(), (*name).into());
    }
    Value::Object(fields)
}
