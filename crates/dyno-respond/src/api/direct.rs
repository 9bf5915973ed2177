//! Prompts passed to the engine directly, not in a request body. The engine sees the same as over HTTP.

use super::openai::request::Fields;
use super::prompt::{Hashed, Prompt, PromptError, Words, text, words_of};
use super::read::{ReadPrompt, ReadTools};
use dyno_model::prompt::{Content, RecordedPrompt};
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
    /// A prompt as messages if it is sent `with_roles`, else as plain text, in blocks of `block`
    /// tokens.
    pub fn of(content: &Content, with_roles: bool, block: u32) -> Result<Self, PromptError> {
        let words = match content {
            Content::Text(words) if with_roles => of_user(text(words)),
            Content::Text(words) => text(words),
            Content::Messages(messages) if with_roles => {
                let mut transcript = Transcript::default();
                messages.iter().for_each(|message| transcript.add(&message.role, &message.content));
                transcript.0
            }
            Content::Messages(messages) => {
                joined(messages.iter().map(|message| message.content.as_str()))
            }
            Content::Body(fields) => of_body(fields, with_roles)?,
            Content::Texts(texts) => joined(texts.all().map(String::as_str)),
            Content::Recorded(prompt) => return Self::of_recorded(prompt, with_roles, block),
        };
        Ok(Self::new(&words, block))
    }

    /// What an agent sent, in the same way.
    pub fn of_recorded(
        prompt: &RecordedPrompt,
        with_roles: bool,
        block: u32,
    ) -> Result<Self, PromptError> {
        if !with_roles {
            return Ok(Self::new(&text::<Hashed>(&prompt.text()), block));
        }
        let mut words = Hashed::default();
        for message in &prompt.messages {
            words.append(ReadPrompt::deserialize(&**message).map_err(wrong)?.0);
        }
        let tools = prompt.tools.as_deref().map(ReadTools::deserialize);
        Ok(Self::new(&ReadTools::before(tools.transpose().map_err(wrong)?, words), block))
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

/// The prompt in a user-supplied body. A body in the other form is converted.
fn of_body(fields: &Map<String, Value>, with_roles: bool) -> Result<Hashed, PromptError> {
    let (messages, prompt) = (fields.get("messages"), fields.get("prompt"));
    let left_out = |key: &str| match key {
        "messages" => !with_roles,
        "prompt" => with_roles && messages.is_some(),
        _ => SET.contains(&key),
    };
    let read = fields.iter().filter(|(key, _)| !left_out(key));
    let read = MapDeserializer::new(read.map(|(key, value)| (key.as_str(), value)));
    let mut read = Fields::<Hashed>::deserialize(read).map_err(wrong)?;
    match (with_roles, messages, prompt) {
        (true, None, Some(_)) => {
            let said = of_user(words_of(&mut read, false).unwrap_or_default());
            Ok(read.behind_tools(said))
        }
        (false, Some(Value::Array(messages)), None) => {
            let texts = messages.iter().filter_map(|message| message.get("content")?.as_str());
            Ok(joined(texts))
        }
        _ => words_of(&mut read, with_roles),
    }
}

fn wrong(error: serde_json::Error) -> PromptError {
    PromptError(format!("The request body is invalid: {error}"))
}
