//! Prompts that come to the engine as they are, not in the body of a request. Each is to the engine
//! what it would be over HTTP.

use super::Endpoint;
use super::prompt::{Hashed, Prompt, PromptError, Words, text};
use super::request::Ask;
use dyno_model::prompt::Content;
use serde::Deserialize;
use serde::de::value::MapDeserializer;
use serde_json::{Map, Value};

/// The fields of a body that a client sets, whatever the data say.
const SET: [&str; 4] = ["model", "stream", "max_tokens", "ignore_eos"];

/// A conversation so far.
#[derive(Debug, Clone, Default)]
pub struct Said(Hashed);

impl Said {
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
                let mut said = Said::default();
                messages.iter().for_each(|message| said.add(&message.role, &message.content));
                said.0
            }
            Content::Messages(messages) => {
                strung(messages.iter().map(|message| message.content.as_str()))
            }
            Content::Body(fields) => of_body(fields, chat).map_err(PromptError)?,
        };
        Ok(Self::new(&words, block))
    }
}

/// The one message of a user.
fn of_user(words: Hashed) -> Hashed {
    let mut said = Said::default();
    said.message("user", words);
    said.0
}

/// Texts, strung together.
fn strung<'a>(texts: impl Iterator<Item = &'a str>) -> Hashed {
    let mut all = Hashed::default();
    texts.for_each(|next| all.append(text(next)));
    all
}

/// The prompt in a body of the user's own. One that was made for the other endpoint is turned into
/// what this one takes.
fn of_body(fields: &Map<String, Value>, chat: bool) -> Result<Hashed, String> {
    let (messages, prompt) = (fields.get("messages"), fields.get("prompt"));
    let left_out = |key: &str| match key {
        "messages" => !chat,
        "prompt" => chat && messages.is_some(),
        _ => SET.contains(&key),
    };
    let read = fields.iter().filter(|(key, _)| !left_out(key));
    let read = MapDeserializer::new(read.map(|(key, value)| (key.as_str(), value)));
    let wrong = |error: serde_json::Error| format!("The request body is wrong: {error}");
    let ask = Ask::<Hashed>::deserialize(read).map_err(wrong)?;
    match (chat, messages, prompt) {
        (true, None, Some(_)) => {
            Ok(of_user(ask.prompt(Endpoint::Completions).cloned().unwrap_or_default()))
        }
        (true, ..) => ask.prompt(Endpoint::Chat).cloned(),
        (false, Some(Value::Array(messages)), None) => {
            let texts = messages.iter().filter_map(|message| message.get("content")?.as_str());
            Ok(strung(texts))
        }
        (false, ..) => ask.prompt(Endpoint::Completions).cloned(),
    }
}
