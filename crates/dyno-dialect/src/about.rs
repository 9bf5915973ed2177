//! The facts about an API that do not depend on a request: a table's row, written once in the module
//! of its dialect. Everything outside of the dialects asks here instead of knowing names.

use crate::framing::Framing;
use dyno_model::plan::Task;
use dyno_model::prompt::{ChatMessage, Content, RecordedPrompt};
use serde_json::{Map, Value, json};

/// What is known of an API.
#[derive(Debug)]
pub struct About {
    /// Its name, as users type it and plans keep it.
    pub name: &'static str,
    /// What it is, in a few words.
    pub title: &'static str,
    /// What its requests are for.
    pub task: Task,
    /// The path of its requests, in two parts: where it is usually found, such as `/v1`, …
    pub prefix: &'static str,
    /// … and the rest. A target whose path ends with the rest is a full endpoint.
    pub path: &'static str,
    /// How streams are framed; [`Framing::Whole`] where there are none.
    pub framing: Framing,
    /// Where the key goes.
    pub auth: &'static [Auth],
    /// Headers that every request has.
    pub headers: &'static [(&'static str, &'static str)],
    /// What shows that a response is whole.
    pub end: End,
    /// How a conversation is written, where the API has messages. With messages, servers apply a
    /// chat template.
    pub talk: Option<Talk>,
    /// Requests name a model.
    pub names_model: bool,
    /// Optional fields, in the order in which they are left out when a refusal names none.
    pub optional: &'static [Optional],
    /// The output may have up to this many tokens less than requested: no failure.
    pub short_by: u32,
    /// Where models are listed; the first that responds is taken.
    pub models: &'static [ModelList],
    /// Paths that respond while the server is healthy, cheap ones first.
    pub health: &'static [&'static str],
    /// How the server counts the tokens of a prompt; the first that works is taken.
    pub counting: &'static [Counting],
    /// Paths to which a POST empties the prefix cache; the first that works is taken.
    pub resets: &'static [&'static str],
    /// How to find out that a server has this API.
    pub signs: &'static [Sign],
}

impl About {
    /// The path of its requests below the server's base.
    pub fn whole_path(&self) -> String {
        format!("{}{}", self.prefix, self.path)
    }

    /// Whether responses can be streamed.
    pub fn streams(&self) -> bool {
        self.framing != Framing::Whole
    }

    /// The optional fields that do the same, in the order in which they are tried.
    pub fn that(&self, does: Does) -> impl Iterator<Item = &'static Optional> {
        self.optional.iter().filter(move |field| field.does == does)
    }
}

/// Where an API expects the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Auth {
    /// `Authorization: Bearer KEY`.
    Bearer,
    /// The same, except to this host and those below it, which would take the key for another kind of
    /// token.
    BearerExcept(&'static str),
    /// A header of this name.
    Header(&'static str),
}

/// What shows that a streamed response is whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The API's terminal frame, and nothing less.
    Terminal,
    /// A terminal frame, or a finish reason before a clean end of the body: lookalikes of this API
    /// leave the terminal frame out.
    TerminalOrFinish,
    /// The API has no terminal frame: a finish reason or the requested length before a clean end; a
    /// clean end alone leaves the response unconfirmed.
    CleanEnd,
}

/// How a conversation is written.
#[derive(Debug, Clone, Copy)]
pub struct Talk {
    /// The field with the list of messages.
    pub field: &'static str,
    /// The field for what the system says, where that is not a message.
    pub system: Option<&'static str>,
}

impl Talk {
    /// Messages as `{"role":…,"content":…}`, those of the system among them.
    pub const MESSAGES: Self = Self { field: "messages", system: None };

    /// Whether the message is written into the field for what the system says.
    pub fn is_aside(&self, role: &str) -> bool {
        self.system.is_some() && matches!(role, "system" | "developer")
    }

    /// Writes messages into the body of a request.
    pub fn write(&self, fields: &mut Map<String, Value>, messages: &[ChatMessage]) {
        let (aside, rest): (Vec<_>, Vec<_>) =
            messages.iter().partition(|message| self.is_aside(&message.role));
        fields.insert(self.field.into(), json!(rest));
        let said: Vec<&str> = aside.iter().map(|message| message.content.as_str()).collect();
        self.write_system(fields, &said);
    }

    /// Rewrites the messages of a chat, from a complete body in the data. What the body says in the
    /// API's own fields has precedence.
    pub fn rewrite(&self, fields: &mut Map<String, Value>) {
        let Some(Value::Array(messages)) = fields.remove(Self::MESSAGES.field) else {
            return;
        };
        let is_aside = |message: &Value| message["role"].as_str().is_some_and(|r| self.is_aside(r));
        let (aside, rest): (Vec<_>, Vec<_>) = messages.into_iter().partition(is_aside);
        let said: Vec<String> = aside.iter().map(|message| plain(&message["content"])).collect();
        self.write_system(fields, &said.iter().map(String::as_str).collect::<Vec<_>>());
        fields.entry(self.field).or_insert(rest.into());
    }

    fn write_system(&self, fields: &mut Map<String, Value>, said: &[&str]) {
        if let Some(field) = self.system
            && !said.is_empty()
        {
            fields.entry(field).or_insert_with(|| said.join(BETWEEN).into());
        }
    }
}

/// What stands between several things that the system says.
pub const BETWEEN: &str = "\n\n";

/// The text of a message's content, which may be a list of parts.
fn plain(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts: Vec<&str> = parts.iter().filter_map(|part| part["text"].as_str()).collect();
            texts.join(BETWEEN)
        }
        _ => String::new(),
    }
}

/// An optional field, which a server may refuse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Optional {
    /// Its name on the wire, as refusals name it.
    pub name: &'static str,
    /// What it is for. Of several fields for the same, only the first that is accepted is sent.
    pub does: Does,
}

/// What an optional field is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Does {
    /// Usage with every chunk.
    CountChunks,
    /// Usage at the end of a stream.
    CountAtEnd,
    /// The output has exactly the requested length.
    FixLength,
    /// The output has at most the requested length. One such field is always sent.
    LimitLength,
    /// Anything that results do not depend on.
    Other,
}

/// Where a server lists its models: an object with a list of objects that have names.
#[derive(Debug, Clone, Copy)]
pub struct ModelList {
    /// Its path.
    pub path: &'static str,
    /// The field with the list; empty if the object is that of the only model.
    pub list: &'static str,
    /// The field with a model's name.
    pub name: &'static str,
}

/// The longest name of a model, in bytes. It is part of every request and of the run directory.
const LONGEST_NAME: usize = 1_000;

impl ModelList {
    /// `{"data":[{"id":…}]}` at `/v1/models`.
    pub const OPENAI: Self = Self { path: "/v1/models", list: "data", name: "id" };

    /// The names in such a list, without those that are too long for a name.
    pub fn names(&self, models: &Value) -> Vec<String> {
        let of = |model: &Value| {
            let name = model.get(self.name)?.as_str()?;
            (name.len() <= LONGEST_NAME).then(|| name.to_owned())
        };
        if self.list.is_empty() {
            return of(models).into_iter().collect();
        }
        let list = models.get(self.list).and_then(Value::as_array);
        list.into_iter().flatten().filter_map(of).collect()
    }
}

/// A prompt to count.
#[derive(Debug, Clone, Copy)]
pub enum ToCount<'a> {
    /// Plain text.
    Text(&'a str),
    /// Messages, with the chat template.
    Messages(&'a [ChatMessage]),
    /// What an agent sent, with the chat template and its tools.
    Recorded(&'a RecordedPrompt),
}

impl ToCount<'_> {
    /// The same as the content of a request.
    pub(crate) fn content(self) -> Content {
        match self {
            Self::Text(text) => Content::Text(text.to_owned()),
            Self::Messages(messages) => Content::Messages(messages.to_vec()),
            Self::Recorded(prompt) => Content::Recorded(prompt.clone()),
        }
    }
}

/// How a server counts the tokens of a prompt.
#[derive(Debug, Clone, Copy)]
pub struct Counting {
    /// Where to ask, by POST.
    pub path: &'static str,
    /// The body of the request, given the model; absent if it cannot count such a prompt.
    pub ask: fn(&str, ToCount<'_>) -> Option<Value>,
    /// The count in its response.
    pub count: fn(&Value) -> Option<u64>,
}

/// A response to a GET, as far as discovery is concerned.
#[derive(Debug, Clone, Copy)]
pub struct SeenFields<'a> {
    /// HTTP status.
    pub status: u16,
    /// The body, if it is JSON.
    pub json: Option<&'a Value>,
    /// The body.
    pub body: &'a [u8],
}

/// How to find out that a server has an API: a cheap GET that generates nothing.
#[derive(Debug, Clone, Copy)]
pub struct Sign {
    /// The path.
    pub path: &'static str,
    /// Whether its response shows it.
    pub shows: fn(&SeenFields<'_>) -> bool,
    /// What the server is then, for people: `Ollama`.
    pub server: &'static str,
    /// How much this counts against signs of other APIs: 90 if the API is the server's own and the
    /// best to measure it by, 50 like an entry in a list of paths, 20 like a list of models, which
    /// stands for chat, and less if chat, too, is the better choice. Chat is taken where nothing is
    /// found.
    pub weight: u8,
}
