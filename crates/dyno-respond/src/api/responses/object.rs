//! The response as an object: in progress, complete or failed.

use crate::api::AnswerFinish;
use crate::api::response::Facts;
use crate::api::words::{accented, mix, word};
use crate::fault::{Quirk, Quirks};
use serde_json::{Value, json};
use std::io::Write;

/// Everything that the object has, whatever its state.
#[derive(Debug)]
pub(super) struct Object {
    /// Up to its state: identity, time, model, settings.
    head: Box<[u8]>,
    /// What the ids of its parts end with.
    pub(super) id: String,
    quirks: Quirks,
    salt: u64,
    prompt_tokens: u32,
    pub(super) tokens: u32,
    finish: AnswerFinish,
}

impl Object {
    pub(super) fn new(facts: &Facts<'_>, max: Option<u32>) -> Self {
        let id = format!("{:016x}", mix(facts.salt, u32::MAX));
        let max = max.map_or("null".to_owned(), |max| max.to_string());
        let head = format!(
            "{{\"id\":\"resp_{id}\",\"object\":\"response\",\"created_at\":{},\"model\":{},\
             \"max_output_tokens\":{max},\"instructions\":null,\"metadata\":null,\
             \"parallel_tool_calls\":true,\"temperature\":1.0,\"tool_choice\":\"auto\",\
             \"tools\":[],\"top_p\":1.0,",
            facts.created(),
            facts.model_json
        );
        Self {
            head: head.into_bytes().into(),
            id,
            quirks: facts.quirks,
            salt: facts.salt,
            prompt_tokens: facts.prompt_tokens,
            tokens: facts.tokens,
            finish: facts.finish,
        }
    }

    /// The tokens before the message: the first half, if the model reasons.
    pub(super) fn reasoning(&self) -> u32 {
        if self.quirks.has(Quirk::Reasoning) { self.tokens / 2 } else { 0 }
    }

    /// The text of token `k`.
    pub(super) fn word(&self, k: u32) -> &'static str {
        match self.quirks.has(Quirk::Split) {
            true => accented(self.salt, k),
            false => word(self.salt, k),
        }
    }

    /// The text of some tokens.
    pub(super) fn text(&self, tokens: std::ops::Range<u32>) -> String {
        tokens.map(|k| self.word(k)).collect()
    }

    /// The finished items of the output.
    pub(super) fn items(&self) -> Vec<Value> {
        let reasoning = self.reasoning();
        let mut items = Vec::new();
        if reasoning > 0 {
            items.push(self.reasoning_item(&self.text(0..reasoning)));
        }
        if reasoning < self.tokens {
            items.push(self.message_item(&self.text(reasoning..self.tokens)));
        }
        items
    }

    /// A finished reasoning item.
    pub(super) fn reasoning_item(&self, text: &str) -> Value {
        let part = json!({"type": "reasoning_text", "text": text});
        let id = format!("rs_{}", self.id);
        json!({"id": id, "type": "reasoning", "summary": [], "content": [part], "status": "completed"})
    }

    /// A finished message.
    pub(super) fn message_item(&self, text: &str) -> Value {
        let part =
            json!({"type": "output_text", "text": text, "annotations": [], "logprobs": null});
        let id = format!("msg_{}", self.id);
        json!({"id": id, "type": "message", "role": "assistant", "content": [part], "status": "completed"})
    }

    /// The object before there is output.
    pub(super) fn put_in_progress(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.head);
        out.extend_from_slice(
            b"\"status\":\"in_progress\",\"error\":null,\"incomplete_details\":null,\
              \"output\":[],\"usage\":null}",
        );
    }

    /// The object when it has failed.
    pub(super) fn put_failed(&self, out: &mut Vec<u8>, message: &str) {
        out.extend_from_slice(&self.head);
        let error = json!({"code": "server_error", "message": message});
        let _ = write!(
            out,
            "\"status\":\"failed\",\"error\":{error},\"incomplete_details\":null,\
             \"output\":[],\"usage\":null}}"
        );
    }

    /// The complete object; `cached` writes what its usage says of cached tokens.
    pub(super) fn put_complete(&self, out: &mut Vec<u8>, cached: impl FnOnce(&mut Vec<u8>)) {
        out.extend_from_slice(&self.head);
        let (status, details) = match self.finish {
            AnswerFinish::Stop => ("completed", "null"),
            AnswerFinish::Length => ("incomplete", "{\"reason\":\"max_output_tokens\"}"),
        };
        let output = Value::from(self.items());
        let _ = write!(
            out,
            "\"status\":\"{status}\",\"error\":null,\"incomplete_details\":{details},\
             \"output\":{output},\"usage\":{{\"input_tokens\":{},",
            self.prompt_tokens
        );
        cached(out);
        let total = u64::from(self.prompt_tokens) + u64::from(self.tokens);
        let _ = write!(
            out,
            "\"output_tokens\":{},\"output_tokens_details\":{{\"reasoning_tokens\":{}}},\
             \"total_tokens\":{total}}}}}",
            self.tokens,
            self.reasoning()
        );
    }
}
