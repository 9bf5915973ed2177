//! What an agent sent, as items of Responses: calls and their results are items of their own, and tools are flat.

use super::{TALK, as_item};
use crate::about::BETWEEN;
use dyno_model::recorded::RecordedPrompt;
use serde_json::{Map, Value, json};

/// Writes items and tools.
pub(super) fn write(fields: &mut Map<String, Value>, prompt: &RecordedPrompt) {
    let (system, rest) = prompt.split_system();
    if !system.is_empty() {
        let said: Vec<_> = system.iter().map(|message| message.text()).collect();
        fields.insert("instructions".into(), said.join(BETWEEN).into());
    }
    let tools = prompt.definitions().map(|tool| {
        let mut fields = tool.fields("parameters");
        fields.insert("type".into(), "function".into());
        fields.insert("strict".into(), false.into());
        Value::Object(fields)
    });
    let tools: Vec<Value> = tools.collect();
    if !tools.is_empty() {
        fields.insert("tools".into(), tools.into());
    }
    let mut items: Vec<Value> = Vec::new();
    for message in rest {
        let text = message.text();
        if message.is_result() {
            let id = message.result_of().unwrap_or_default();
            items.push(json!({"type": "function_call_output", "call_id": id, "output": text}));
            continue;
        }
        if let Some(thought) = message.reasoning() {
            items.push(json!({
                "type": "reasoning", "id": format!("rs_{}", items.len()), "summary": [],
                "content": [{"type": "reasoning_text", "text": thought}]
            }));
        }
        let role = match message.role() {
            role @ ("system" | "developer" | "assistant") => role,
            _ => "user",
        };
        if !text.is_empty() {
            let mut item = json!({"role": role, "content": text});
            as_item(&mut item);
            items.push(item);
        }
        items.extend(message.calls().map(|call| {
            json!({
                "type": "function_call", "call_id": call.id.unwrap_or_default(), "name": call.name,
                "arguments": call.object_text()
            })
        }));
    }
    fields.insert(TALK.field.into(), items.into());
}
