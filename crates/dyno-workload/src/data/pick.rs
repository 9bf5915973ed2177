//! Converts records into items, by the fields that were recognised once for the file.

use dyno_model::message;
use serde_json::{Map, Value};

use super::at::At;
use super::conversation::{self, Needed, Wrong, plain};
use super::error::{DataError, remove_the_record};
use super::fields::{FieldPath, OUTPUTS, count, described, listed, whole};
use super::prompt_in::{PromptIn, present, text_in};
use super::record::Record;
use super::requests;
use super::spec::Turns;
use super::texts;
use crate::session::Unusable;
use dyno_model::prompt::{ChatMessage, Content, Item};

/// How records are converted into items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pick {
    /// None: objects are whole request bodies.
    pub(super) prompt: Option<PromptIn>,
    /// Where it is in records that have nothing there: a file may hold both.
    pub(super) otherwise: Option<PromptIn>,
    pub(super) system: Option<FieldPath>,
    pub(super) output: Option<FieldPath>,
    pub(super) taken: Taken,
}

/// Which part of a conversation is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Taken {
    /// A prompt: it ends with a user message.
    Prompt(Turns),
    /// The whole conversation, recorded responses included.
    Verbatim,
    /// The whole conversation, to be replayed turn by turn.
    Led,
    /// Several texts.
    Texts,
}

impl Pick {
    /// Records that hold nothing but their prompt.
    pub(super) fn bare() -> Self {
        Self { prompt: None, otherwise: None, system: None, output: None, taken: Taken::Verbatim }
    }

    /// The fields that are read.
    pub(super) fn fields(&self) -> Vec<&FieldPath> {
        let prompts = self.prompt.iter().chain(&self.otherwise).flat_map(PromptIn::fields);
        prompts.chain(&self.system).chain(&self.output).collect()
    }

    /// The item of a record.
    pub(super) fn item(&self, record: Record) -> Result<Item, DataError> {
        let Record { at, value } = record;
        if self.taken == Taken::Texts {
            return texts::item(&at, value);
        }
        let item = self.any_item(&at, value)?;
        match (self.taken, item.content) {
            (Taken::Led, Content::Text(text)) => {
                Ok(Item { content: Content::Messages(vec![ChatMessage::user(text)]), ..item })
            }
            (Taken::Led, Content::Body(_)) => {
                Err(wrong_record(&at, (message::Message::of(Unusable::Body), write_messages())))
            }
            (_, content) => Ok(Item { content, ..item }),
        }
    }

    fn any_item(&self, at: &At, value: Value) -> Result<Item, DataError> {
        match value {
            Value::String(text) if text.trim().is_empty() => Err(empty_prompt(at)),
            Value::String(text) => Ok(Item::text(text)),
            Value::Object(object) => match self.prompt_of(&object) {
                Some(prompt) => self.table_item(at, prompt, &object),
                None => self.body(at, object),
            },
            list @ Value::Array(_) => {
                let content = self.conversation(&list).map_err(|why| wrong_record(at, why))?;
                Ok(Item { content, output_tokens: None, input_tokens: None })
            }
            other => {
                let what = message!(
                    "the record is {}, not a prompt",
                    "该记录是{}，不是提示词",
                    described(&other)
                );
                let fix = message!(
                    "write text, a list of messages or an object",
                    "请写文本、消息列表或对象"
                );
                Err(DataError::bad(at, what, fix))
            }
        }
    }

    fn prompt_of(&self, object: &Map<String, Value>) -> Option<&PromptIn> {
        let holds = |prompt: &&PromptIn| match prompt {
            PromptIn::Joined(_) => true,
            PromptIn::Field(field) | PromptIn::Messages(field) | PromptIn::Alternating(field) => {
                field.find(object).is_some_and(|value| !value.is_null())
            }
        };
        let first = self.prompt.as_ref();
        first.filter(holds).or_else(|| self.otherwise.as_ref().filter(holds)).or(first)
    }

    fn table_item(
        &self,
        at: &At,
        prompt: &PromptIn,
        object: &Map<String, Value>,
    ) -> Result<Item, DataError> {
        let content = match prompt {
            PromptIn::Joined(joined) => Content::Text(joined.text(at, object)?),
            PromptIn::Field(field) | PromptIn::Messages(field) | PromptIn::Alternating(field) => {
                let value = present(at, object, field)?;
                let content = match (prompt, value) {
                    (PromptIn::Field(_), Value::String(text)) => Ok(Content::Text(text.clone())),
                    (PromptIn::Alternating(_), value @ Value::Array(_)) => {
                        self.conversation(&conversation::alternating(value))
                    }
                    (_, value @ (Value::Array(_) | Value::String(_))) => self.conversation(value),
                    (_, value) => Err((
                        message!("is {}, not text", "是{}，不是文本", described(value)),
                        message!(
                            "write prompt=FIELD ({})",
                            "请写 prompt=FIELD（{}）",
                            listed(object)
                        ),
                    )),
                };
                content.map_err(|why| wrong_field(at, field, why))?
            }
        };
        if matches!(&content, Content::Text(text) if text.trim().is_empty()) {
            return Err(empty_prompt(at));
        }
        let content = match self.system_of(at, object)? {
            Some(system) => with_system(system, content),
            None => content,
        };
        let output_tokens = match &self.output {
            Some(field) => tokens_in(at, object, field)?,
            None => None,
        };
        Ok(Item { content, output_tokens, input_tokens: None })
    }

    fn conversation(&self, value: &Value) -> Result<Content, Wrong> {
        match self.taken {
            Taken::Led => conversation::led(conversation::messages(value, Needed::UserSide)?),
            Taken::Verbatim | Taken::Texts => {
                Ok(plain(conversation::messages(value, Needed::All)?))
            }
            Taken::Prompt(turns) => {
                let first = turns == Turns::First || conversation::is_one_sided(value);
                let (turns, needed) = match first {
                    true => (Turns::First, Needed::FirstTurn),
                    false => (Turns::All, Needed::All),
                };
                conversation::prompt(conversation::messages(value, needed)?, turns)
            }
        }
    }

    fn system_of(&self, at: &At, object: &Map<String, Value>) -> Result<Option<String>, DataError> {
        let Some(field) = &self.system else { return Ok(None) };
        match field.find(object) {
            None | Some(Value::Null) => Ok(None),
            Some(_) => {
                let text = text_in(at, object, field)?;
                Ok((!text.trim().is_empty()).then(|| text.to_string()))
            }
        }
    }

    /// A whole request body. One with nothing but the prompt and its length becomes a plain item.
    fn body(&self, at: &At, mut body: Map<String, Value>) -> Result<Item, DataError> {
        if let Some((_, request)) = requests::request_of(&body) {
            body = request.clone();
        }
        let has = |name: &str| body.get(name).is_some_and(|value| !value.is_null());
        if !requests::is_request(&body) {
            return Err(DataError::bad(
                at,
                message!(
                    "a request body needs messages or prompt, and {}",
                    "请求体需要 messages 或 prompt，而{}",
                    listed(&body)
                ),
                message!(
                    "write prompt=FIELD to read the object as a table row",
                    "如需把对象当作表格的一行，请写 prompt=FIELD"
                ),
            ));
        }
        let field = match &self.output {
            Some(field) => Some(field.clone()),
            None => OUTPUTS[..3].iter().find(|name| has(name)).map(|name| FieldPath::of(name)),
        };
        let output_tokens = match &field {
            Some(field) => tokens_in(at, &body, field)?,
            None => None,
        };
        let is_length = |name: &str| field.as_ref().is_some_and(|field| field.as_str() == name);
        let more =
            body.keys().any(|name| !["messages", "prompt"].contains(&&**name) && !is_length(name));
        if !more {
            let content = match (body.remove("messages"), body.remove("prompt")) {
                (Some(Value::Array(list)), None) => self.text_only(list),
                (None, Some(Value::String(text))) if !text.trim().is_empty() => {
                    Ok(Content::Text(text))
                }
                (messages, prompt) => Err((messages, prompt)),
            };
            match content {
                Ok(content) => return Ok(Item { content, output_tokens, input_tokens: None }),
                Err((messages, prompt)) => {
                    body.extend(messages.map(|value| ("messages".into(), value)));
                    body.extend(prompt.map(|value| ("prompt".into(), value)));
                }
            }
        }
        Ok(Item { content: Content::Body(body), output_tokens, input_tokens: None })
    }

    /// Messages of nothing but text; others stay as they are.
    fn text_only(&self, list: Vec<Value>) -> Result<Content, (Option<Value>, Option<Value>)> {
        let bare = |value: &Value| {
            value.as_object().is_some_and(|object| {
                object.len() == 2
                    && ["role", "content"]
                        .iter()
                        .all(|name| object.get(*name).is_some_and(Value::is_string))
            })
        };
        let list = Value::Array(list);
        match conversation::messages(&list, Needed::All) {
            Ok(messages) if list.as_array().is_some_and(|list| list.iter().all(bare)) => {
                Ok(plain(messages))
            }
            _ => Err((Some(list), None)),
        }
    }

    /// The whole conversation of a record, recorded responses included.
    pub(super) fn messages(&self, record: &Record) -> Result<Vec<ChatMessage>, DataError> {
        let at = &record.at;
        let object = match &record.value {
            Value::Object(object) => object,
            Value::Array(_) => {
                return conversation::messages(&record.value, Needed::All)
                    .map_err(|why| wrong_record(at, why));
            }
            other => {
                let what = message!(
                    "the record is {}, not a conversation",
                    "该记录是{}，不是对话",
                    described(other)
                );
                return Err(DataError::bad(at, what, write_messages()));
            }
        };
        let field = match self.prompt_of(object) {
            Some(
                PromptIn::Messages(field) | PromptIn::Field(field) | PromptIn::Alternating(field),
            ) => field.clone(),
            _ => FieldPath::of("messages"),
        };
        let mut value = present(at, object, &field)?;
        let by_turns;
        if let Some(PromptIn::Alternating(_)) = self.prompt_of(object) {
            by_turns = conversation::alternating(value);
            value = &by_turns;
        }
        let mut messages = conversation::messages(value, Needed::All)
            .map_err(|why| wrong_field(at, &field, why))?;
        if let Some(system) = self.system_of(at, object)? {
            messages.insert(0, ChatMessage { role: "system".into(), content: system });
        }
        Ok(messages)
    }
}

fn empty_prompt(at: &At) -> DataError {
    DataError::bad(at, message!("the prompt is empty", "提示词为空"), remove_the_record())
}

fn write_messages() -> message::Message {
    message!("write a list of messages", "请写消息列表")
}

fn wrong_record(at: &At, (what, fix): Wrong) -> DataError {
    DataError::bad(at, message!("the record {what}", "该记录{what}"), fix)
}

fn wrong_field(at: &At, field: &FieldPath, (what, fix): Wrong) -> DataError {
    DataError::bad(at, message!("the field {field} {what}", "字段 {field} {what}"), fix)
}

fn with_system(system: String, content: Content) -> Content {
    let system = ChatMessage { role: "system".into(), content: system };
    match content {
        Content::Text(text) => Content::Messages(vec![system, ChatMessage::user(text)]),
        Content::Messages(mut messages) => {
            if messages.first().is_none_or(|first| first.role != "system") {
                messages.insert(0, system);
            }
            Content::Messages(messages)
        }
        other @ (Content::Body(_) | Content::Texts(_) | Content::Recorded(_)) => other,
    }
}

fn tokens_in(
    at: &At,
    object: &Map<String, Value>,
    field: &FieldPath,
) -> Result<Option<u32>, DataError> {
    match field.find(object) {
        None => Ok(None),
        Some(value) if requests::is_recorded(field) => {
            Ok(whole(value, 0).ok().flatten().filter(|tokens| *tokens > 0))
        }
        Some(value) => count(value).map_err(|what| {
            let fix = message!("correct it or leave it blank", "请更正或留空");
            wrong_field(at, field, (what, fix))
        }),
    }
}
