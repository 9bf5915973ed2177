//! What an agent sent, as Messages: blocks of content, in messages of the user and the model by turns.

use super::TALK;
use crate::about::BETWEEN;
use crate::calls::{By, Paired, paired};
use dyno_model::recorded::RecordedPrompt;
use serde_json::{Map, Value, json};

/// Writes messages and tools. What the system says later than at the beginning is said by the user: moved to its field,
/// it would change the beginning of every later prompt.
pub(super) fn write(fields: &mut Map<String, Value>, prompt: &RecordedPrompt) {
    let (system, rest) = prompt.split_system();
    let said: Vec<_> = system.iter().map(|message| message.text()).collect();
    let said: Vec<&str> = said.iter().map(|text| &**text).filter(|text| !blank(text)).collect();
    if !said.is_empty() {
        fields.insert("system".into(), said.join(BETWEEN).into());
    }
    let tools: Vec<Value> =
        prompt.definitions().map(|tool| Value::Object(tool.fields("input_schema"))).collect();
    if !tools.is_empty() {
        fields.insert("tools".into(), tools.into());
    }
    let mut turns: Vec<Turn> = Vec::new();
    for said in paired(rest) {
        let role = if said.by == By::Model { "assistant" } else { "user" };
        let (results, others) = blocks(said);
        if results.is_empty() && others.is_empty() {
            continue;
        }
        match turns.last_mut().filter(|last| last.role == role) {
            Some(last) => {
                last.results.extend(results);
                last.others.extend(others);
            }
            None => turns.push(Turn { role, results, others }),
        }
    }
    let messages = turns.into_iter().map(|turn| {
        // The results come before what the user says beside them.
        let content = [turn.results, turn.others].concat();
        json!({"role": turn.role, "content": content})
    });
    fields.insert(TALK.field.into(), messages.collect());
}

/// What one of the two says before the other does.
struct Turn {
    role: &'static str,
    results: Vec<Value>,
    others: Vec<Value>,
}

/// The blocks of a message: results of calls, and all others.
fn blocks(said: Paired<'_>) -> (Vec<Value>, Vec<Value>) {
    if let By::Tool(id) = said.by {
        let mut block = json!({"type": "tool_result", "tool_use_id": id});
        if !said.text.is_empty() {
            block["content"] = said.text.into();
        }
        return (vec![block], Vec::new());
    }
    let mut blocks = Vec::new();
    if let Some(thought) = said.thought {
        // Only the server that wrote it could sign it.
        blocks.push(json!({"type": "thinking", "thinking": thought, "signature": ""}));
    }
    // Blocks without text are refused.
    if !blank(&said.text) {
        blocks.push(json!({"type": "text", "text": said.text}));
    }
    blocks.extend(said.calls.into_iter().map(
        |(id, call)| json!({"type": "tool_use", "id": id, "name": call.name, "input": call.input()}),
    ));
    (Vec::new(), blocks)
}

fn blank(text: &str) -> bool {
    text.trim().is_empty()
}
