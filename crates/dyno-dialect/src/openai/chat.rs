//! `/v1/chat/completions`: the prompt is a list of messages.

use super::{CHAT_INPUT_TOKENS, OPTIONAL, RESETS, TOKENIZE, options, reader};
use crate::framing::Framing;
use crate::{About, Auth, Dialect, End, ModelList, Reader, SeenFields, Shape, Sign, Talk};
use dyno_model::plan::Task;
use dyno_model::prompt::Content;
use serde_json::{Map, Value, json};

/// OpenAI chat completions.
#[derive(Debug)]
pub(crate) struct Chat;

static ABOUT: About = About {
    name: "openai-chat",
    title: "OpenAI chat completions",
    task: Task::Generate,
    prefix: "/v1",
    path: "/chat/completions",
    framing: Framing::Sse,
    auth: &[Auth::Bearer],
    headers: &[],
    end: End::TerminalOrFinish,
    talk: Some(Talk::MESSAGES),
    names_model: true,
    optional: OPTIONAL,
    short_by: 0,
    models: &[ModelList::OPENAI],
    health: &["/health", "/v1/models"],
    counting: &[TOKENIZE, CHAT_INPUT_TOKENS],
    resets: RESETS,
    signs: &[Sign {
        path: ModelList::OPENAI.path,
        shows: lists_models,
        server: "a server like OpenAI's",
        weight: 20,
    }],
};

fn lists_models(seen: &SeenFields<'_>) -> bool {
    seen.json.is_some_and(|models| !ModelList::OPENAI.names(models).is_empty())
}

impl Dialect for Chat {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn prompt(&self, fields: &mut Map<String, Value>, content: &Content) {
        prompt(fields, content);
    }

    fn options(&self, fields: &mut Map<String, Value>, shape: &Shape, output_tokens: u32) {
        options(fields, shape, output_tokens);
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::new(reader::OpenAi::default())
    }
}

/// Writes the messages.
pub(crate) fn prompt(fields: &mut Map<String, Value>, content: &Content) {
    let messages = match content {
        Content::Text(text) => json!([{"role": "user", "content": text}]),
        Content::Messages(messages) => json!(messages),
        Content::Texts(texts) => json!([{"role": "user", "content": texts.joined()}]),
        Content::Recorded(prompt) => return fields.extend(prompt.fields()),
        // A complete body from the data keeps its messages; a completion's prompt becomes one message.
        Content::Body(_) => match fields.remove("prompt") {
            Some(prompt) if !fields.contains_key("messages") => {
                json!([{"role": "user", "content": prompt}])
            }
            _ => return,
        },
    };
    fields.insert("messages".into(), messages);
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::prompt::ChatMessage;

    fn fields(content: &Content) -> Value {
        let mut fields = match content {
            Content::Body(fields) => fields.clone(),
            _ => Map::new(),
        };
        prompt(&mut fields, content);
        Value::Object(fields)
    }

    fn body(value: Value) -> Content {
        Content::Body(value.as_object().cloned().unwrap_or_default())
    }

    #[test]
    fn every_kind_of_prompt_becomes_messages() {
        let hi = json!({"messages": [{"role": "user", "content": "hi"}]});
        assert_eq!(fields(&Content::Text("hi".into())), hi);
        assert_eq!(fields(&Content::Messages(vec![ChatMessage::user("hi")])), hi);
        assert_eq!(fields(&body(json!({"prompt": "hi"}))), hi);
        let own = json!({"messages": [], "top_k": 5});
        assert_eq!(fields(&body(own.clone())), own);
    }
}
