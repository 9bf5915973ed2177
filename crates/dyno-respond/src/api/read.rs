//! How prompts in the bodies of requests are read as words: text, token ids, messages with the tools that they call,
//! and what tools there are. What one API calls an item and another a block has the same words.

use super::prompt::{Words, text};
use dyno_model::recorded::{RecordedMessage, ToolCall, ToolDefinition};
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

/// A prompt as words: of strings their words, of token ids each, of lists all in order, of
/// messages and parts what is in `content` and `text`, and what the model thought and called. The text itself is not
/// kept.
#[derive(Debug)]
pub(super) struct ReadPrompt<W>(pub(super) W);

impl<'de, W: Words> Deserialize<'de> for ReadPrompt<W> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader(PhantomData)).map(ReadPrompt)
    }
}

/// The tools of a request as words: names, descriptions and schemas.
#[derive(Debug)]
pub(super) struct ReadTools<W>(W);

impl<'de, W: Words> Deserialize<'de> for ReadTools<W> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let tools = Value::deserialize(deserializer)?;
        let mut words = W::default();
        for tool in ToolDefinition::all(&tools) {
            words.role("tool");
            words.append(text(tool.name));
            words.append(text(tool.description.unwrap_or_default()));
            words.append(of_object(&tool.schema()));
        }
        Ok(Self(words))
    }
}

impl<W: Words> ReadTools<W> {
    /// The tools, and what comes behind them.
    pub(super) fn before(tools: Option<Self>, rest: W) -> W {
        let mut words = tools.map(|tools| tools.0).unwrap_or_default();
        words.append(rest);
        words
    }
}

struct Reader<W>(PhantomData<W>);

impl<'de, W: Words> Visitor<'de> for Reader<W> {
    type Value = W;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("text, token ids or messages")
    }

    fn visit_str<E>(self, words: &str) -> Result<W, E> {
        Ok(text(words))
    }

    fn visit_u64<E>(self, id: u64) -> Result<W, E> {
        let mut words = W::default();
        words.id(id);
        Ok(words)
    }

    fn visit_unit<E>(self) -> Result<W, E> {
        Ok(W::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<W, A::Error> {
        let mut words = W::default();
        while let Some(ReadPrompt(next)) = items.next_element()? {
            words.append(next);
        }
        Ok(words)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<W, A::Error> {
        let mut read: Part<W> = Part::default();
        while let Some(key) = fields.next_key::<Cow<'de, str>>()? {
            match key.as_ref() {
                "content" | "text" => read.said.append(fields.next_value::<ReadPrompt<W>>()?.0),
                "role" | "type" | "reasoning_content" | "reasoning" | "thinking" | "tool_calls"
                | "name" | "arguments" | "input" | "output" => {
                    read.fields.insert(key.into_owned(), fields.next_value()?);
                }
                _ => {
                    fields.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(read.words())
    }
}

/// A message, or a part of one.
#[derive(Default)]
struct Part<W> {
    said: W,
    fields: Map<String, Value>,
}

impl<W: Words> Part<W> {
    /// Its words: the role, what the model thought, what is said, and what is called.
    fn words(self) -> W {
        let Self { said, fields } = self;
        let field = |name: &str| fields.get(name).and_then(Value::as_str);
        let mut words = W::default();
        field("role").into_iter().for_each(|role| words.role(role));
        let kind = field("type").unwrap_or_default();
        match kind {
            "function_call" => words.role("assistant"),
            "function_call_output" | "tool_result" => words.role("tool"),
            _ => {}
        }
        let thought = ["reasoning_content", "reasoning", "thinking"].into_iter().find_map(field);
        words.append(text(thought.unwrap_or_default()));
        words.append(said);
        let name = field("name").unwrap_or_default();
        match kind {
            "function_call" => {
                let arguments = Cow::Borrowed(field("arguments").unwrap_or_default());
                words.append(of_call(&ToolCall { id: None, name, arguments }));
            }
            "function_call_output" => {
                let output = fields.get("output").map(ReadPrompt::<W>::deserialize);
                words.append(output.and_then(Result::ok).map(|read| read.0).unwrap_or_default());
            }
            "tool_use" => {
                words.append(text(name));
                words.append(fields.get("input").map(of_value).unwrap_or_default());
            }
            _ => {}
        }
        if let Some(calls) = fields.get("tool_calls") {
            let message = json!({ "tool_calls": calls });
            RecordedMessage(&message).calls().for_each(|call| words.append(of_call(&call)));
        }
        words
    }
}

fn of_call<W: Words>(call: &ToolCall<'_>) -> W {
    let mut words: W = text(call.name);
    words.append(of_object(&call.input()));
    words
}

/// The words of JSON: those of names and of values, without what stands between them.
fn of_value<W: Words>(value: &Value) -> W {
    match value {
        Value::String(string) => text(string),
        Value::Object(fields) => of_object(fields),
        Value::Array(list) => {
            let mut words = W::default();
            list.iter().for_each(|one| words.append(of_value(one)));
            words
        }
        other => text(&other.to_string()),
    }
}

fn of_object<W: Words>(fields: &Map<String, Value>) -> W {
    let mut words = W::default();
    for (name, value) in fields {
        words.append(text(name));
        words.append(of_value(value));
    }
    words
}
