//! The content of a request, independent of the API dialect.

pub use crate::recorded::RecordedPrompt;

use crate::Nanos;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChatMessage {
    /// `system`, `user` or `assistant`.
    pub role: String,
    /// What it says.
    pub content: String,
}

impl ChatMessage {
    /// A message of the user's.
    pub fn user(content: impl Into<String>) -> Self {
        Self { role: "user".into(), content: content.into() }
    }
}

/// The prompt of a request.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// Plain text: the user's one message, or a completion's prompt.
    Text(String),
    /// A conversation so far.
    Messages(Vec<ChatMessage>),
    /// A whole request body, of which only the fields that Dyno must set are replaced.
    Body(Map<String, Value>),
    /// Texts to embed, or to rank.
    Texts(Texts),
    /// What an agent sent, with its tools.
    Recorded(RecordedPrompt),
}

/// The texts of a request that generates nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Texts {
    /// What they are ranked by or scored against; absent where they are embedded.
    pub query: Option<String>,
    /// The inputs: texts to embed, or documents.
    pub texts: Vec<String>,
}

impl Texts {
    /// All of them, the query first.
    pub fn all(&self) -> impl Iterator<Item = &String> {
        self.query.iter().chain(&self.texts)
    }

    /// All of them as one text, for APIs that generate.
    pub fn joined(&self) -> String {
        self.all().map(String::as_str).collect::<Vec<_>>().join("\n")
    }
}

/// The content of one request.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// The prompt.
    pub content: Content,
    /// Output tokens requested by the data; absent: those of the plan.
    pub output_tokens: Option<u32>,
    /// Input tokens including the chat template, where they were counted.
    pub input_tokens: Option<u32>,
}

impl Item {
    /// Plain text, of unknown length.
    pub fn text(text: impl Into<String>) -> Self {
        Self { content: Content::Text(text.into()), output_tokens: None, input_tokens: None }
    }
}

/// A conversation: what the user says, turn by turn. The server's responses are inserted between the
/// turns as they arrive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conversation {
    /// The turns, in order; at least one.
    pub turns: Vec<UserTurn>,
    /// Input tokens of the first turn including the chat template, where they were counted.
    pub input_tokens: Option<u32>,
}

/// One turn of the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserTurn {
    /// Think time: from the end of the previous response to this turn.
    pub think: Nanos,
    /// What is added to the conversation.
    pub messages: Vec<ChatMessage>,
    /// Output tokens to request.
    pub output_tokens: u32,
}
