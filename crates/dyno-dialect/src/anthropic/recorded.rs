//! What an agent sent, as Messages: blocks of content, in messages of the user and the model by turns.

use super::TALK;
use crate::about::BETWEEN;
use dyno_model::recorded::{RecordedMessage, RecordedPrompt};
use serde_json::{Map, Value, json};
use std::collections::HashSet;

/// The longest name of a call.
const LONGEST_ID: usize = 256;

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
    let mut writing = Writing::default();
    rest.into_iter().for_each(|message| writing.add(message));
    writing.end_results();
    fields.insert(TALK.field.into(), writing.messages.into());
}

/// Messages so far.
#[derive(Default)]
struct Writing {
    messages: Vec<Value>,
    /// Calls of the last message of the model that have no result yet: as recorded, as written, and the place of their
    /// blocks.
    open: Vec<(Option<String>, String, usize)>,
    used: HashSet<String>,
}

impl Writing {
    fn add(&mut self, message: RecordedMessage<'_>) {
        let text = message.text();
        if message.is_result() {
            match self.answered(message.result_of()) {
                Some(id) => {
                    let mut block = json!({"type": "tool_result", "tool_use_id": id});
                    if !text.is_empty() {
                        block["content"] = text.into();
                    }
                    self.put_result(block);
                }
                // Whose call is not there would be refused.
                None => self.put_text("user", &text),
            }
        } else if message.role() == "assistant" {
            self.end_results();
            if let Some(thought) = message.reasoning() {
                // Only the server that wrote it could sign it.
                self.put(
                    "assistant",
                    json!({"type": "thinking", "thinking": thought, "signature": ""}),
                );
            }
            self.put_text("assistant", &text);
            for call in message.calls() {
                let id = self.new_id(call.id);
                let place = self.put(
                    "assistant",
                    json!({"type": "tool_use", "id": id, "name": call.name, "input": call.input()}),
                );
                self.open.push((call.id.map(str::to_owned), id, place));
            }
        } else {
            self.put_text("user", &text);
        }
    }

    /// The call that this result is of: the one with its id or, if it has none, the first that waits.
    fn answered(&mut self, id: Option<&str>) -> Option<String> {
        let place = match id {
            Some(_) => self.open.iter().position(|(recorded, ..)| recorded.as_deref() == id)?,
            None => 0,
        };
        (place < self.open.len()).then(|| self.open.remove(place).1)
    }

    /// An id of the allowed characters that no other call has.
    fn new_id(&mut self, recorded: Option<&str>) -> String {
        let allowed = |id: &&str| {
            let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
            !id.is_empty() && id.len() <= LONGEST_ID && id.bytes().all(plain)
        };
        let own = || (self.used.len()..).map(|number| format!("call_{number}"));
        let recorded = recorded.filter(allowed).map(str::to_owned);
        let free = recorded.into_iter().chain(own()).find(|id| !self.used.contains(id));
        let id = free.unwrap_or_default();
        self.used.insert(id.clone());
        id
    }

    /// Calls whose results do not follow would be refused: they become text.
    fn end_results(&mut self) {
        let open = std::mem::take(&mut self.open);
        let message = self.messages.iter_mut().rfind(|message| message["role"] == "assistant");
        let Some(message) = message else { return };
        for (_, _, place) in open {
            let block = &mut message["content"][place];
            let call = json!({"name": block["name"], "arguments": block["input"]});
            *block = json!({"type": "text", "text": call.to_string()});
        }
    }

    fn put_text(&mut self, role: &str, text: &str) {
        // Blocks without text are refused.
        if !blank(text) {
            self.put(role, json!({"type": "text", "text": text}));
        }
    }

    /// The results stand before what the user says beside them.
    fn put_result(&mut self, block: Value) {
        let place = self.put("user", block);
        if let Some(Value::Array(blocks)) =
            self.messages.last_mut().and_then(|message| message.get_mut("content"))
        {
            let results = blocks.iter().filter(|block| block["type"] == "tool_result").count();
            blocks[results - 1..=place].rotate_right(1);
        }
    }

    /// Adds a block to the last message, or begins a new one if that is of somebody else; its place there.
    fn put(&mut self, role: &str, block: Value) -> usize {
        if let Some(last) = self.messages.last_mut()
            && last["role"] == role
            && let Some(Value::Array(blocks)) = last.get_mut("content")
        {
            blocks.push(block);
            return blocks.len() - 1;
        }
        self.messages.push(json!({"role": role, "content": [block]}));
        0
    }
}

fn blank(text: &str) -> bool {
    text.trim().is_empty()
}
