//! What an agent sent, as items of Responses: calls and their results are items of their own, and tools are flat.

use super::TALK;
use crate::about::BETWEEN;
use crate::calls::{By, paired};
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
    for said in paired(rest) {
        let role = match said.by {
            By::Tool(id) => {
                let output = said.text;
                items
                    .push(json!({"type": "function_call_output", "call_id": id, "output": output}));
                continue;
            }
            By::Model => "assistant",
            By::Other(role) => role,
        };
        if let Some(thought) = said.thought {
            items.push(json!({
                "type": "reasoning", "id": format!("rs_{}", items.len()), "summary": [],
                "content": [{"type": "reasoning_text", "text": thought}]
            }));
        }
        if !said.text.is_empty() {
            items.push(match role {
                // With all that the API's own clients require of what the model said.
                "assistant" => json!({
                    "type": "message", "id": format!("msg_{}", items.len()), "status": "completed",
                    "role": role,
                    "content": [{"type": "output_text", "text": said.text, "annotations": []}]
                }),
                _ => json!({"role": role, "content": said.text}),
            });
        }
        items.extend(said.calls.iter().map(|(id, call)| {
            json!({
                "type": "function_call", "call_id": id, "name": call.name,
                "arguments": call.object_text()
            })
        }));
    }
    fields.insert(TALK.field.into(), items.into());
}
