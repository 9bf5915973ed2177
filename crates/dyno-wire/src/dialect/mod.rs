//! One file per dialect: how a request body is written, and how an event or a whole body is read.
//! All dialects read into a [`Delta`], which has everything that is measured of an event.

mod openai;
mod openai_chat;
mod openai_completions;
mod scan;

use dyno_model::plan::Api;
use dyno_model::prompt::Content;
use serde_json::{Map, Value};
use thiserror::Error;

/// The content of one event, or of the body of a response that was not streamed.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Delta {
    /// It carries output: non-empty content, reasoning or tool-call text.
    pub output: bool,
    /// The output itself, if it is kept.
    pub text: Option<String>,
    /// The content part of the output, without reasoning and tool calls, if it is kept.
    pub content: Option<String>,
    /// The finish reason, if it has one.
    pub finish: Option<String>,
    /// Input tokens, by the server's usage.
    pub input_tokens: Option<u64>,
    /// Input tokens from the prefix cache, by the server's usage.
    pub cached_tokens: Option<u64>,
    /// Output tokens up to and including this event, by the server's usage.
    pub output_tokens: Option<u64>,
    /// The server's message, if the event reports an error.
    pub error: Option<String>,
    /// It is the dialect's terminal event.
    pub terminal: bool,
}

/// An event does not follow the dialect.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("{0}")]
pub struct Malformed(pub String);

/// The fields of a request that depend on what the server accepts.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Shape {
    /// Model name.
    pub model: String,
    /// Ask for a stream.
    pub stream: bool,
    /// Ask for usage at the end of a stream.
    pub include_usage: bool,
    /// Ask for usage with every chunk.
    pub continuous_usage: bool,
    /// Use `max_completion_tokens` instead of `max_tokens`.
    pub max_completion_tokens: bool,
    /// Send `ignore_eos`.
    pub ignore_eos: bool,
    /// Send `min_tokens`.
    pub min_tokens: bool,
    /// Sampling temperature.
    pub temperature: Option<f64>,
    /// Stop strings.
    pub stop: Vec<String>,
    /// Additional fields set by the user.
    pub extra: Map<String, Value>,
}

impl Shape {
    /// A response shorter than requested is a failure of the server. Stop strings, and length fields
    /// set by the user, allow it to end early.
    pub fn fixes_length(&self) -> bool {
        const FREE: [&str; 4] = ["stop", "stop_token_ids", "ignore_eos", "min_tokens"];
        (self.ignore_eos || self.min_tokens)
            && self.stop.is_empty()
            && !FREE.iter().any(|key| self.extra.contains_key(*key))
    }
}

/// Writes the body of a request.
pub fn body(api: Api, shape: &Shape, content: &Content, output_tokens: u32) -> Vec<u8> {
    let mut fields = match content {
        Content::Body(fields) => fields.clone(),
        _ => Map::new(),
    };
    match api {
        Api::OpenAiChat => openai_chat::prompt(&mut fields, content),
        Api::OpenAiCompletions => openai_completions::prompt(&mut fields, content),
    }
    openai::options(&mut fields, shape, output_tokens);
    serde_json::to_vec(&Value::Object(fields)).unwrap_or_default()
}

/// The fields of a request besides its prompt, as the inside of a JSON object; never empty.
pub(crate) fn options(shape: &Shape, output_tokens: u32) -> Vec<u8> {
    let mut fields = Map::new();
    openai::options(&mut fields, shape, output_tokens);
    // Fields that the user sets for every request cannot replace a conversation's messages.
    fields.remove("messages");
    let object = serde_json::to_vec(&Value::Object(fields)).unwrap_or_default();
    object.get(1..object.len().saturating_sub(1)).unwrap_or_default().to_vec()
}

/// Which text of a response is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Keep {
    /// All output, for the record.
    pub text: bool,
    /// The content, for the next turn of a conversation.
    pub content: bool,
}

/// Reads one event of a stream.
pub fn event(api: Api, data: &[u8], keep: Keep) -> Result<Delta, Malformed> {
    match api {
        Api::OpenAiChat | Api::OpenAiCompletions => openai::event(data, keep),
    }
}

/// Reads the body of a response that was not streamed.
pub fn whole(api: Api, body: &[u8], keep: Keep) -> Result<Delta, Malformed> {
    match api {
        Api::OpenAiChat | Api::OpenAiCompletions => openai::whole(body, keep),
    }
}

/// The beginning of a text, escaped for display.
pub(crate) fn excerpt(bytes: &[u8]) -> String {
    let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(200)]).into_owned();
    if bytes.len() > 200 { format!("{shown}…") } else { shown }
}
