//! Ollama's `/api/chat` and `/api/generate`: lines of JSON, the last of which has the counts and the
//! server's own times. The length of the output can be limited, not fixed.

mod reader;
mod recorded;

use super::openai::{chat_prompt, text_prompt};
use super::{
    About, Auth, Dialect, Does, End, ModelList, Optional, Reader, SeenFields, Shape, Sign, Talk,
};
use crate::framing::Framing;
use dyno_model::plan::Task;
use dyno_model::prompt::Content;
use serde_json::{Map, Value};

/// `/api/chat`.
pub(super) const CHAT: Ollama = Ollama { about: &CHATTING, has_messages: true };
/// `/api/generate`.
pub(super) const GENERATE: Ollama = Ollama { about: &GENERATING, has_messages: false };

/// One of the two.
#[derive(Debug)]
pub(super) struct Ollama {
    about: &'static About,
    has_messages: bool,
}

const OPTIONS: &str = "options";
const NUM_PREDICT: &str = "num_predict";
const KEEP_ALIVE: &str = "keep_alive";
/// How long the model stays loaded after a request: the usual five minutes may pass between two levels.
const KEPT_FOR: &str = "30m";
const TAGS: ModelList = ModelList { path: "/api/tags", list: "models", name: "name" };

static CHATTING: About = About {
    name: "ollama-chat",
    title: "Ollama /api/chat",
    path: "/chat",
    talk: Some(Talk::MESSAGES),
    // SGLang has these paths, too, but says another name.
    signs: &[Sign { path: "/", shows: is_ollama, server: "Ollama", weight: 90 }],
    ..GENERATING
};

static GENERATING: About = About {
    name: "ollama-generate",
    title: "Ollama /api/generate",
    task: Task::Generate,
    prefix: "/api",
    path: "/generate",
    framing: Framing::Ndjson,
    auth: &[Auth::Bearer],
    headers: &[],
    end: End::Terminal,
    talk: None,
    names_model: true,
    optional: &[
        Optional { name: KEEP_ALIVE, does: Does::Other },
        Optional { name: NUM_PREDICT, does: Does::LimitLength },
    ],
    short_by: 0,
    models: &[TAGS],
    health: &["/api/version"],
    counting: &[],
    resets: &[],
    signs: &[],
};

fn is_ollama(seen: &SeenFields<'_>) -> bool {
    seen.status == 200 && seen.body.trim_ascii() == b"Ollama is running"
}

impl Dialect for Ollama {
    fn about(&self) -> &'static About {
        self.about
    }

    fn prompt(&self, fields: &mut Map<String, Value>, content: &Content) {
        if self.has_messages {
            return match content {
                Content::Recorded(prompt) => recorded::write(fields, prompt),
                _ => chat_prompt(fields, content),
            };
        }
        text_prompt(fields, content);
        if !matches!(content, Content::Body(_)) {
            // The text as it is, without the model's template, as its length was counted.
            fields.insert("raw".into(), true.into());
        }
    }

    fn options(&self, fields: &mut Map<String, Value>, shape: &Shape, output_tokens: u32) {
        fields.insert("model".into(), shape.model.clone().into());
        fields.insert("stream".into(), shape.stream.into());
        if shape.sends(KEEP_ALIVE) {
            fields.insert(KEEP_ALIVE.into(), KEPT_FOR.into());
        }
        let mut options = Map::new();
        options.insert(NUM_PREDICT.into(), output_tokens.into());
        shape.put_sampling(&mut options);
        shape.put_all(fields, OPTIONS, options);
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::new(reader::Lines)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body;
    use serde_json::json;

    fn sent(dialect: &Ollama, shape: &Shape, content: &Content) -> Value {
        serde_json::from_slice(&body(dialect, shape, content, 8)).unwrap()
    }

    fn shape() -> Shape {
        let mut shape = Shape { model: "m".into(), stop: vec!["\n".into()], ..Shape::default() };
        shape.send_all(&CHATTING, |_| true);
        shape
    }

    #[test]
    fn limits_and_sampling_are_options_and_streams_are_asked_for_or_not_by_name() {
        let hi = Content::Text("hi".into());
        let options = json!({"num_predict": 8, "stop": ["\n"]});
        let chat = json!({
            "model": "m", "messages": [{"role": "user", "content": "hi"}], "stream": false,
            "keep_alive": "30m", "options": options
        });
        assert_eq!(sent(&CHAT, &shape(), &hi), chat);
        let generate = json!({
            "model": "m", "prompt": "hi", "raw": true, "stream": false, "keep_alive": "30m",
            "options": options
        });
        assert_eq!(sent(&GENERATE, &shape(), &hi), generate);
    }

    #[test]
    fn the_users_options_are_merged_and_a_body_keeps_its_own() {
        let mut shape = shape();
        shape.extra = json!({"think": false, "options": {"seed": 7}}).as_object().cloned().unwrap();
        let own = json!({"prompt": "p", "system": "s", "options": {"num_ctx": 64}});
        let own = Content::Body(own.as_object().cloned().unwrap());
        let sent = sent(&GENERATE, &shape, &own);
        let options = json!({"num_ctx": 64, "num_predict": 8, "stop": ["\n"], "seed": 7});
        assert_eq!(sent["options"], options);
        assert_eq!((&sent["think"], &sent["system"]), (&json!(false), &json!("s")));
        assert!(sent.get("raw").is_none());
    }

    #[test]
    fn the_length_cannot_be_fixed() {
        assert!(!shape().fixes_length(&CHATTING));
    }
}
