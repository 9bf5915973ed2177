//! Prompts passed to the engine directly, not in a request body. The engine sees the same as over HTTP.

use super::Endpoint;
use super::prompt::{Hashed, Prompt, PromptError, Words, text};
use super::request::Ask;
use dyno_model::prompt::Content;
use serde::Deserialize;
use serde::de::value::MapDeserializer;
use serde_json::{Map, Value};

/// The body fields that a client sets, whatever the data says.
const SET: [&str; 4] = ["model", "stream", "max_tokens", "ignore_eos"];

/// A conversation so far.
#[derive(Debug, Clone, Default)]
pub struct Transcript(Hashed);

impl Transcript {
    /// Adds a message.
    pub fn add(&mut self, role: &str, content: &str) {
        self.message(role, text(content));
    }

    fn message(&mut self, role: &str, words: Hashed) {
        let mut message = Hashed::default();
        message.role(role);
        message.append(words);
        self.0.append(message);
    }

    /// All of it as a prompt, in blocks of `block` tokens.
    pub fn prompt(&self, block: u32) -> Prompt {
        Prompt::new(&self.0, block)
    }

    /// About how much memory it holds.
    pub fn size(&self) -> usize {
        self.0.tokens() as usize * size_of::<u64>()
    }
}

impl Prompt {
    /// A prompt over the chat API if `chat`, else over that of completions, in blocks of `block`
    /// tokens.
    pub fn of(content: &Content, chat: bool, block: u32) -> Result<Self, PromptError> {
        let words = match content {
            Content::Text(words) if chat => of_user(text(words)),
            Content::Text(words) => text(words),
            Content::Messages(messages) if chat => {
                let mut transcript = Transcript::default();
                messages.iter().for_each(|message| transcript.add(&message.role, &message.content));
                transcript.0
            }
            Content::Messages(messages) => {
                joined(messages.iter().map(|message| message.content.as_str()))
            }
            Content::Body(fields) => of_body(fields, chat).map_err(PromptError)?,
        };
        Ok(Self::new(&words, block))
    }
}

/// The one message of a user.
fn of_user(words: Hashed) -> Hashed {
    let mut transcript = Transcript::default();
    transcript.message("user", words);
    transcript.0
}

/// Texts, joined together.
fn joined<'a>(texts: impl Iterator<Item = &'a str>) -> Hashed {
    let mut all = Hashed::default();
    texts.for_each(|next| all.append(text(next)));
    all
}

/// The prompt in a user-supplied body. A body for the other endpoint is converted.
fn of_body(fields: &Map<String, Value>, chat: bool) -> Result<Hashed, String> {
    let (messages, prompt) = (fields.get("messages"), fields.get("prompt"));
    let left_out = |key: &str| match key {
        "messages" => !chat,
        "prompt" => chat && messages.is_some(),
        _ => SET.contains(&key),
    };
    let read = fields.iter().filter(|(key, _)| !left_out(key));
    let read = MapDeserializer::new(read.map(|(key, value)| (key.as_str(), value)));
    let wrong = |error: serde_json::Error| format!("The request body is invalid: {error}");
    let ask = Ask::<Hashed>::deserialize(read).map_err(wrong)?;
    match (chat, messages, prompt) {
        (true, None, Some(_)) => {
            Ok(of_user(ask.prompt(Endpoint::Completions).cloned().unwrap_or_default()))
        }
        (true, ..) => ask.prompt(Endpoint::Chat).cloned(),
        (false, Some(Value::Array(messages)), None) => {
            let texts = messages.iter().filter_map(|message| message.get("content")?.as_str());
            Ok(joined(texts))
        }
        (false, ..) => ask.prompt(Endpoint::Completions).cloned(),
    }
}
