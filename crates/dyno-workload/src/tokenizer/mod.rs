//! Counts the tokens of a prompt: with a tokenizer read from disk, by asking the server, or with a
//! built-in estimate, which is labelled as one.
//! Where prompts come from is not known here.

mod estimate;
mod growth;
mod local;
mod python;
mod template;

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value};

use self::local::Local;
use dyno_model::prompt::{ChatMessage, Content, RecordedPrompt};
use dyno_model::recorded::RecordedMessage;
use dyno_model::{Message, message};

/// What a server's own `/tokenize` is asked to count.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Ask<'a> {
    /// A bare prompt.
    Text(&'a str),
    /// A conversation, through the server's chat template up to where the response begins.
    Messages(&'a [ChatMessage]),
    /// What an agent sent, with its tools, in the same way.
    Recorded(&'a RecordedPrompt),
}

/// The caller's way to ask a server for a count.
pub type Asking = Box<dyn Fn(&Ask<'_>) -> Result<u32, Message> + Send + Sync>;

/// Counts tokens. Cheap to clone.
#[derive(Clone)]
pub struct Tokenizer(Arc<Kind>);

enum Kind {
    Local(Box<Local>),
    Asking(Asking, TokenCounts),
    Estimate,
}

/// What a server counts when it is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenCounts {
    /// Text, and conversations with the chat template.
    Messages,
    /// Text alone.
    Text,
}

fn of_server(why: Message) -> Message {
    message!("server's /tokenize: {why}", "服务器的 /tokenize：{why}")
}

impl fmt::Debug for Tokenizer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Tokenizer({})", self.name())
    }
}

impl Tokenizer {
    /// Reads a Hugging Face `tokenizer.json`, or a model's folder with one. The chat template
    /// and the special tokens are taken from the files beside it.
    pub fn load(path: &Path) -> Result<Self, Message> {
        Local::load(path).map(|local| Self(Arc::new(Kind::Local(Box::new(local)))))
    }

    /// The built-in estimate: not exact for any tokenizer, but close to most of them.
    pub fn estimate() -> Self {
        Self(Arc::new(Kind::Estimate))
    }

    /// Counts with the server's `/tokenize`; the caller owns the sockets.
    pub fn by_asking(ask: Asking) -> Self {
        Self::by_asking_for(TokenCounts::Messages, ask)
    }

    /// The same, of a server that may count text alone.
    pub fn by_asking_for(counts: TokenCounts, ask: Asking) -> Self {
        Self(Arc::new(Kind::Asking(ask, counts)))
    }

    /// Tokens of a bare prompt, special tokens included as a server adds them.
    pub fn count(&self, text: &str) -> Result<u32, Message> {
        match &*self.0 {
            Kind::Local(local) => local.count(text),
            Kind::Asking(ask, _) => ask(&Ask::Text(text)).map_err(of_server),
            Kind::Estimate => Ok(estimate::count(text)),
        }
    }

    /// Tokens of a conversation through the chat template, up to where the response begins.
    /// Without a template (see [`Self::has_template`]) the text alone is counted.
    pub fn count_messages(&self, messages: &[ChatMessage]) -> Result<u32, Message> {
        let through_template = match &*self.0 {
            Kind::Local(local) => local.count_chat(&messages, None)?,
            Kind::Asking(ask, TokenCounts::Messages) => {
                Some(ask(&Ask::Messages(messages)).map_err(of_server)?)
            }
            Kind::Asking(_, TokenCounts::Text) | Kind::Estimate => None,
        };
        match through_template {
            Some(tokens) => Ok(tokens),
            None => self.count(&text_alone(messages)),
        }
    }

    /// Tokens of a conversation through the chat template that stand before the last occurrence of a text; absent
    /// where that cannot be known.
    pub(crate) fn tokens_before(
        &self,
        messages: &[ChatMessage],
        text: &str,
    ) -> Result<Option<u32>, Message> {
        match &*self.0 {
            Kind::Local(local) => local.tokens_before(&messages, text),
            Kind::Asking(..) | Kind::Estimate => Ok(None),
        }
    }

    /// Tokens of a request's content. Plain text is the user's one message when `chat`, else a
    /// bare prompt.
    pub fn count_content(&self, content: &Content, chat: bool) -> Result<u32, Message> {
        match content {
            Content::Text(text) if chat => self.count_messages(&[ChatMessage::user(text.as_str())]),
            Content::Text(text) => self.count(text),
            Content::Messages(messages) => self.count_messages(messages),
            Content::Body(body) => self.count_body(body),
            Content::Recorded(prompt) if chat => self.count_recorded(prompt),
            Content::Recorded(prompt) => self.count(&prompt.text()),
            Content::Texts(texts) => {
                texts.all().try_fold(0_u32, |sum, text| Ok(sum.saturating_add(self.count(text)?)))
            }
        }
    }

    /// Tokens of what an agent sent: through the chat template where there is one, else of its text.
    pub fn count_recorded(&self, prompt: &RecordedPrompt) -> Result<u32, Message> {
        let through_template = match &*self.0 {
            Kind::Local(local) if local.has_template() => {
                let messages: Vec<Value> = prompt.read().map(for_template).collect();
                local.count_chat(&messages, prompt.tools.as_deref())?
            }
            Kind::Asking(ask, TokenCounts::Messages) => {
                Some(ask(&Ask::Recorded(prompt)).map_err(Message::of)?)
            }
            Kind::Local(_) | Kind::Asking(..) | Kind::Estimate => None,
        };
        match through_template {
            Some(tokens) => Ok(tokens),
            None => self.count(&prompt.text()),
        }
    }

    fn count_body(&self, body: &Map<String, Value>) -> Result<u32, Message> {
        if let Some(Value::Array(messages)) = body.get("messages") {
            if let Kind::Local(local) = &*self.0
                && let Some(tokens) = local.count_chat(messages, body.get("tools"))?
            {
                return Ok(tokens);
            }
            return self.count_messages(&messages.iter().map(plain_message).collect::<Vec<_>>());
        }
        match body.get("prompt") {
            Some(Value::String(text)) => self.count(text),
            // A prompt given as token numbers counts itself; several prompts add up.
            Some(Value::Array(parts)) => parts.iter().try_fold(0_u32, |sum, part| {
                let tokens = match part {
                    Value::String(text) => self.count(text)?,
                    Value::Array(numbers) => u32::try_from(numbers.len()).unwrap_or(u32::MAX),
                    _ => 1,
                };
                Ok(sum.saturating_add(tokens))
            }),
            _ => Err(message!(
                "request body without `messages` or `prompt`: its input tokens cannot be counted",
                "请求体没有 `messages` 或 `prompt`：无法计算其输入 token 数"
            )),
        }
    }

    /// How a count of this tokenizer is labelled.
    pub fn name(&self) -> String {
        match &*self.0 {
            Kind::Local(local) => format!("tokenizer of {}", local.path().display()),
            Kind::Asking(..) => "server's /tokenize".to_owned(),
            Kind::Estimate => "estimate".to_owned(),
        }
    }

    /// Whether counts are estimates, to be labelled so wherever they appear.
    pub fn is_estimate(&self) -> bool {
        matches!(&*self.0, Kind::Estimate)
    }

    /// Whether every count is a request to the server, so that there should be few.
    pub fn is_asking(&self) -> bool {
        matches!(&*self.0, Kind::Asking(..))
    }

    /// Whether the tokens of the chat template are part of a conversation's count. Where not,
    /// the server's own count will be larger by what its template adds.
    pub fn has_template(&self) -> bool {
        match &*self.0 {
            Kind::Local(local) => local.has_template(),
            Kind::Asking(_, counts) => *counts == TokenCounts::Messages,
            Kind::Estimate => false,
        }
    }

    /// Whether a word is made of tokens that spell it, as far as that can be known.
    pub fn spells(&self, word: &str) -> bool {
        match &*self.0 {
            Kind::Local(local) => local.spells(word),
            Kind::Asking(..) | Kind::Estimate => true,
        }
    }

    /// Words of the tokenizer's own vocabulary, where it has one.
    pub fn words(&self) -> Vec<String> {
        match &*self.0 {
            Kind::Local(local) => local.words(),
            Kind::Asking(..) | Kind::Estimate => Vec::new(),
        }
    }
}

/// A message as servers pass it to a chat template: its content as text, and the arguments of calls as objects.
fn for_template(message: RecordedMessage<'_>) -> Value {
    let mut given = message.0.clone();
    if given["content"].is_array() {
        given["content"] = message.text().into();
    }
    let calls = given.get_mut("tool_calls").and_then(Value::as_array_mut);
    for (given, call) in calls.into_iter().flatten().zip(message.calls()) {
        if let Some(arguments) = given.pointer_mut("/function/arguments") {
            *arguments = call.input().into();
        }
    }
    given
}

fn text_alone(messages: &[ChatMessage]) -> String {
    let texts: Vec<&str> = messages.iter().map(|message| message.content.as_str()).collect();
    texts.join("\n")
}

/// A message of a request body with the text of its parts; pictures and sound have none.
fn plain_message(message: &Value) -> ChatMessage {
    let content = match &message["content"] {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts: Vec<&str> = parts.iter().filter_map(|part| part["text"].as_str()).collect();
            texts.join("\n")
        }
        _ => String::new(),
    };
    ChatMessage { role: message["role"].as_str().unwrap_or("user").to_owned(), content }
}
