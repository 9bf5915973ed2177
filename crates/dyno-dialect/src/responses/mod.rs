//! OpenAI's Responses API, `/v1/responses`, which vLLM, SGLang, llama.cpp and others have, too.

mod object;
mod reader;
mod recorded;

use super::openai::{RESETS, TOKENIZE};
use super::{About, Auth, Counting, Dialect, Does, End, ModelList, Optional, Reader, Shape, Talk};
use crate::framing::Framing;
use dyno_model::plan::Task;
use dyno_model::prompt::{ChatMessage, Content};
use serde_json::{Map, Value, json};

/// OpenAI Responses.
#[derive(Debug)]
pub(super) struct Responses;

const IGNORE_EOS: &str = "ignore_eos";
const MAX_OUTPUT_TOKENS: &str = "max_output_tokens";
const TALK: Talk = Talk { field: "input", system: Some("instructions") };

static ABOUT: About = About {
    name: "openai-responses",
    title: "OpenAI Responses",
    task: Task::Generate,
    prefix: "/v1",
    path: "/responses",
    framing: Framing::Sse,
    auth: &[Auth::Bearer],
    headers: &[],
    end: End::Terminal,
    talk: Some(TALK),
    names_model: true,
    // vLLM's, and only if it obeys. There is no `min_tokens`.
    optional: &[
        Optional { name: IGNORE_EOS, does: Does::FixLength },
        Optional { name: MAX_OUTPUT_TOKENS, does: Does::LimitLength },
    ],
    // SGLang generates two tokens less than requested.
    short_by: 2,
    models: &[ModelList::OPENAI],
    health: &["/health", "/v1/models"],
    counting: &[TOKENIZE, INPUT_TOKENS],
    resets: RESETS,
    // Servers that have it have chat, too, which is taken where nothing else is found.
    signs: &[],
};

/// The API's own way to count, which OpenAI and llama.cpp have. A text is counted as a message, as it
/// is sent.
const INPUT_TOKENS: Counting = Counting {
    path: "/v1/responses/input_tokens",
    ask: |model, prompt| {
        let mut fields = Map::new();
        fields.insert("model".into(), model.into());
        Responses.prompt(&mut fields, &prompt.content());
        Some(Value::Object(fields))
    },
    count: |response| response.get("input_tokens")?.as_u64(),
};

impl Dialect for Responses {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn prompt(&self, fields: &mut Map<String, Value>, content: &Content) {
        match content {
            Content::Text(text) => {
                fields.insert(TALK.field.into(), text.clone().into());
            }
            Content::Texts(texts) => {
                fields.insert(TALK.field.into(), texts.joined().into());
            }
            Content::Messages(messages) => {
                TALK.write(fields, messages);
                as_items(fields);
            }
            Content::Recorded(prompt) => recorded::write(fields, prompt),
            // A complete body from the data keeps its input; a completion's prompt or a chat's messages
            // become it.
            Content::Body(_) => {
                TALK.rewrite(fields);
                as_items(fields);
                if let Some(prompt @ Value::String(_)) = fields.get("prompt").cloned() {
                    fields.remove("prompt");
                    fields.entry(TALK.field).or_insert(prompt);
                }
            }
        }
    }

    fn message(&self, out: &mut Vec<u8>, message: &ChatMessage) {
        let mut item = json!(message);
        as_item(&mut item);
        // Writing to memory cannot fail.
        let _ = serde_json::to_writer(out, &item);
    }

    fn options(&self, fields: &mut Map<String, Value>, shape: &Shape, output_tokens: u32) {
        fields.insert("model".into(), shape.model.clone().into());
        fields.insert("stream".into(), shape.stream.into());
        // Otherwise some servers keep every response in memory.
        fields.insert("store".into(), false.into());
        fields.insert(MAX_OUTPUT_TOKENS.into(), output_tokens.into());
        if shape.sends(IGNORE_EOS) {
            fields.insert(IGNORE_EOS.into(), true.into());
        }
        shape.put_sampling(fields);
        shape.put_extra(fields);
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::new(reader::Events::default())
    }
}

/// Rewrites the messages of a chat in a body.
fn as_items(fields: &mut Map<String, Value>) {
    if let Some(Value::Array(items)) = fields.get_mut(TALK.field) {
        items.iter_mut().for_each(as_item);
    }
}

/// The parts of a chat's message have other names here. What the model said is a message with parts:
/// llama.cpp does not recognise it otherwise.
fn as_item(message: &mut Value) {
    let by_model = message["role"] == "assistant";
    if by_model {
        if let Some(Value::String(text)) = message.get("content") {
            message["content"] = json!([{"type": "output_text", "text": text}]);
        }
        if message["content"].is_array() && message.get("type").is_none() {
            message["type"] = "message".into();
        }
    }
    let Some(Value::Array(parts)) = message.get_mut("content") else {
        return;
    };
    for part in parts {
        if part["type"] == "text" {
            part["type"] = if by_model { "output_text" } else { "input_text" }.into();
        } else if part["type"] == "image_url" {
            let image = &part["image_url"];
            let url = image.get("url").unwrap_or(image).clone();
            *part = json!({"type": "input_image", "image_url": url});
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ToCount, body};
    use dyno_model::prompt::ChatMessage;

    fn sent(content: &Content) -> Value {
        let shape = Shape {
            model: "m".into(),
            fields: vec![IGNORE_EOS, MAX_OUTPUT_TOKENS],
            ..Shape::default()
        };
        serde_json::from_slice(&body(&Responses, &shape, content, 8)).unwrap()
    }

    fn with(prompt: Value) -> Value {
        let mut whole = json!({
            "model": "m", "stream": false, "store": false, "max_output_tokens": 8,
            "ignore_eos": true
        });
        whole.as_object_mut().unwrap().extend(prompt.as_object().unwrap().clone());
        whole
    }

    fn from_data(value: Value) -> Content {
        Content::Body(value.as_object().cloned().unwrap_or_default())
    }

    #[test]
    fn a_text_is_the_input_and_messages_are_items() {
        let hi = with(json!({"input": "hi"}));
        assert_eq!(sent(&Content::Text("hi".into())), hi);
        assert_eq!(sent(&from_data(json!({"prompt": "hi"}))), hi);
        let system = ChatMessage { role: "system".into(), content: "Be brief.".into() };
        let talk = vec![system, ChatMessage::user("hi")];
        let expected = with(json!({
            "instructions": "Be brief.", "input": [{"role": "user", "content": "hi"}]
        }));
        assert_eq!(sent(&Content::Messages(talk.clone())), expected);
        assert_eq!(sent(&from_data(json!({"messages": talk}))), expected);
    }

    /// llama.cpp refuses what the model said as plain text: "Cannot determine type of 'item'".
    #[test]
    fn what_the_model_said_is_a_message_with_parts() {
        let reply = ChatMessage { role: "assistant".into(), content: "hello".into() };
        let item = json!({
            "type": "message", "role": "assistant",
            "content": [{"type": "output_text", "text": "hello"}]
        });
        let mut of_a_turn = Vec::new();
        Responses.message(&mut of_a_turn, &reply);
        assert_eq!(serde_json::from_slice::<Value>(&of_a_turn).unwrap(), item);
        let talk = vec![ChatMessage::user("hi"), reply, ChatMessage::user("more")];
        let expected = with(json!({"input": [
            {"role": "user", "content": "hi"}, item, {"role": "user", "content": "more"}
        ]}));
        assert_eq!(sent(&Content::Messages(talk.clone())), expected);
        assert_eq!(sent(&from_data(json!({"messages": talk}))), expected);
    }

    #[test]
    fn it_counts_what_it_sends() {
        let ask = |prompt| (INPUT_TOKENS.ask)("m", prompt).unwrap();
        assert_eq!(ask(ToCount::Text("hi")), json!({"model": "m", "input": "hi"}));
        let system = ChatMessage { role: "system".into(), content: "Be brief.".into() };
        let asked = ask(ToCount::Messages(&[system, ChatMessage::user("hi")]));
        let items = json!([{"role": "user", "content": "hi"}]);
        assert_eq!(asked, json!({"model": "m", "instructions": "Be brief.", "input": items}));
        let counted = json!({"object": "response.input_tokens", "input_tokens": 11});
        assert_eq!((INPUT_TOKENS.count)(&counted), Some(11));
        assert_eq!((INPUT_TOKENS.count)(&json!({"detail": "Not Found"})), None);
    }

    #[test]
    fn the_parts_of_a_chat_become_items_and_own_items_stay() {
        let chat = json!({"messages": [
            {"role": "user", "content": [
                {"type": "text", "text": "what is it"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
            ]},
            {"role": "assistant", "content": [{"type": "text", "text": "a dot"}]}
        ]});
        let items = json!({"input": [
            {"role": "user", "content": [
                {"type": "input_text", "text": "what is it"},
                {"type": "input_image", "image_url": "data:image/png;base64,AA=="}
            ]},
            {"type": "message", "role": "assistant", "content": [
                {"type": "output_text", "text": "a dot"}
            ]}
        ]});
        assert_eq!(sent(&from_data(chat)), with(items.clone()));
        assert_eq!(sent(&from_data(items.clone())), with(items));
    }
}
