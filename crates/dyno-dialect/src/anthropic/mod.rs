//! Anthropic's Messages API, `/v1/messages`, which vLLM, SGLang, llama.cpp and others have, too.

mod reader;
mod recorded;

use super::openai::{RESETS, TOKENIZE};
use super::{
    About, Auth, Counting, Dialect, Does, End, ModelList, Optional, Reader, SeenFields, Shape,
    Sign, Talk,
};
use crate::framing::Framing;
use dyno_model::plan::Task;
use dyno_model::prompt::{ChatMessage, Content};
use serde_json::{Map, Value};

/// Anthropic Messages.
#[derive(Debug)]
pub(super) struct Messages;

/// Anthropic's own servers, which take a Bearer for a login and refuse keys there.
const CLOUD: &str = "anthropic.com";
const MAX_TOKENS: &str = "max_tokens";
const TALK: Talk = Talk { field: "messages", system: Some("system") };

static ABOUT: About = About {
    name: "anthropic-messages",
    title: "Anthropic Messages",
    task: Task::Generate,
    prefix: "/v1",
    path: "/messages",
    framing: Framing::Sse,
    // Servers that people run themselves mostly look for a Bearer.
    auth: &[Auth::Header("x-api-key"), Auth::BearerExcept(CLOUD)],
    headers: &[("anthropic-version", "2023-06-01")],
    end: End::Terminal,
    talk: Some(TALK),
    names_model: true,
    // No field fixes the length: vLLM and SGLang accept `ignore_eos` here and drop it silently.
    optional: &[Optional { name: MAX_TOKENS, does: Does::LimitLength }],
    short_by: 0,
    models: &[ModelList::OPENAI],
    health: &["/health", "/v1/models"],
    counting: &[TOKENIZE, COUNT_TOKENS],
    resets: RESETS,
    signs: &[Sign {
        path: "/v1/models",
        shows: lists_models_its_way,
        server: "Anthropic",
        weight: 90,
    }],
};

/// The API's own way to count. It counts messages only, so that a text is counted as one, with what
/// the chat template adds.
const COUNT_TOKENS: Counting = Counting {
    path: "/v1/messages/count_tokens",
    ask: |model, prompt| {
        let mut fields = Map::new();
        fields.insert("model".into(), model.into());
        Messages.prompt(&mut fields, &prompt.content());
        Some(Value::Object(fields))
    },
    count: |response| response.get("input_tokens")?.as_u64(),
};

/// `{"data":[{"type":"model","id":…,"display_name":…}]}`: other servers list `"object":"model"`.
fn lists_models_its_way(seen: &SeenFields<'_>) -> bool {
    let first = seen.json.and_then(|models| models.get("data")?.get(0));
    seen.status == 200
        && first.is_some_and(|model| model["type"] == "model" && model["display_name"].is_string())
}

impl Dialect for Messages {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn prompt(&self, fields: &mut Map<String, Value>, content: &Content) {
        match content {
            Content::Text(text) => TALK.write(fields, &[ChatMessage::user(text.clone())]),
            Content::Texts(texts) => TALK.write(fields, &[ChatMessage::user(texts.joined())]),
            Content::Messages(messages) => TALK.write(fields, messages),
            Content::Recorded(prompt) => recorded::write(fields, prompt),
            // A complete body from the data keeps its messages, with images and whatever else is in
            // them; a completion's prompt becomes one message.
            Content::Body(_) => match fields.remove("prompt") {
                Some(Value::String(prompt)) if !fields.contains_key(TALK.field) => {
                    TALK.write(fields, &[ChatMessage::user(prompt)]);
                }
                _ => TALK.rewrite(fields),
            },
        }
    }

    fn options(&self, fields: &mut Map<String, Value>, shape: &Shape, output_tokens: u32) {
        fields.insert("model".into(), shape.model.clone().into());
        fields.insert("stream".into(), shape.stream.into());
        fields.insert(MAX_TOKENS.into(), output_tokens.into());
        if let Some(temperature) = shape.temperature {
            fields.insert("temperature".into(), temperature.into());
        }
        if !shape.stop.is_empty() {
            fields.insert("stop_sequences".into(), shape.stop.clone().into());
        }
        shape.put_extra(fields);
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::new(reader::Events::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ToCount, body};
    use serde_json::json;

    fn sent(content: &Content) -> Value {
        let shape = Shape {
            model: "m".into(),
            stream: true,
            fields: vec![MAX_TOKENS],
            temperature: Some(0.0),
            stop: vec!["END".into()],
            ..Shape::default()
        };
        serde_json::from_slice(&body(&Messages, &shape, content, 8)).unwrap()
    }

    fn with(prompt: Value) -> Value {
        let mut whole = json!({
            "model": "m", "stream": true, "max_tokens": 8, "temperature": 0.0,
            "stop_sequences": ["END"]
        });
        whole.as_object_mut().unwrap().extend(prompt.as_object().unwrap().clone());
        whole
    }

    fn from_data(value: Value) -> Content {
        Content::Body(value.as_object().cloned().unwrap_or_default())
    }

    #[test]
    fn what_the_system_says_is_a_field() {
        let message =
            |role: &str, text: &str| ChatMessage { role: role.into(), content: text.into() };
        let talk = vec![
            message("system", "Be brief."),
            message("user", "hi"),
            message("assistant", "hello"),
            message("developer", "In French."),
            message("user", "more"),
        ];
        let expected = with(json!({
            "system": "Be brief.\n\nIn French.",
            "messages": [
                {"role": "user", "content": "hi"},
                {"role": "assistant", "content": "hello"},
                {"role": "user", "content": "more"}
            ]
        }));
        assert_eq!(sent(&Content::Messages(talk.clone())), expected);
        assert_eq!(sent(&from_data(json!({"messages": talk}))), expected);
        let hi = with(json!({"messages": [{"role": "user", "content": "hi"}]}));
        assert_eq!(sent(&Content::Text("hi".into())), hi);
        assert_eq!(sent(&from_data(json!({"prompt": "hi"}))), hi);
    }

    #[test]
    fn a_body_of_the_users_keeps_its_system_and_its_images() {
        let own = json!({
            "system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
            "messages": [{"role": "user", "content": [
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}},
                {"type": "text", "text": "what is it"}
            ]}],
            "top_k": 3
        });
        assert_eq!(sent(&from_data(own.clone())), with(own));
    }

    #[test]
    fn tokens_are_counted_without_the_other_fields() {
        let system = ChatMessage { role: "system".into(), content: "Be brief.".into() };
        let asked = (COUNT_TOKENS.ask)("m", ToCount::Messages(&[system, ChatMessage::user("hi")]));
        let expected = json!({
            "model": "m", "system": "Be brief.", "messages": [{"role": "user", "content": "hi"}]
        });
        assert_eq!(asked, Some(expected));
        assert_eq!((COUNT_TOKENS.count)(&json!({"input_tokens": 9})), Some(9));
        assert_eq!((COUNT_TOKENS.count)(&json!({"count": 9})), None);
    }

    #[test]
    fn its_own_list_of_models_is_known() {
        let shows = |json: Value| {
            lists_models_its_way(&SeenFields { status: 200, json: Some(&json), body: b"" })
        };
        assert!(shows(json!({"data": [{"type": "model", "id": "m", "display_name": "M"}]})));
        assert!(!shows(json!({"data": [{"object": "model", "id": "m"}]})));
        assert!(!shows(json!({"data": []})));
    }
}
