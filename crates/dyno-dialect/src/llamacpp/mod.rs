//! llama.cpp's own `/completion`: plain text in, a count of tokens with every frame, and the server's
//! times with the last.

mod reader;

use super::openai::{TOKENIZE, TOKENIZE_CONTENT, text_prompt};
use super::{About, Auth, Dialect, Does, End, ModelList, Optional, Reader, Shape};
use crate::framing::Framing;
use dyno_model::plan::Task;
use dyno_model::prompt::Content;
use serde_json::{Map, Value, json};

/// `/completion`.
#[derive(Debug)]
pub(super) struct Completion;

const IGNORE_EOS: &str = "ignore_eos";
const N_PREDICT: &str = "n_predict";
const RESPONSE_FIELDS: &str = "response_fields";
/// What is read of the last frame. Without such a list it repeats the prompt and all settings.
const READ: [&str; 6] =
    ["content", "stop", "stop_type", "tokens_predicted", "tokens_evaluated", "timings"];

static ABOUT: About = About {
    name: "llamacpp-completion",
    title: "llama.cpp /completion",
    task: Task::Generate,
    prefix: "",
    path: "/completion",
    framing: Framing::Sse,
    auth: &[Auth::Bearer],
    headers: &[],
    end: End::Terminal,
    talk: None,
    names_model: true,
    optional: &[
        Optional { name: RESPONSE_FIELDS, does: Does::Other },
        Optional { name: IGNORE_EOS, does: Does::FixLength },
        Optional { name: N_PREDICT, does: Does::LimitLength },
    ],
    short_by: 0,
    models: &[ModelList::OPENAI],
    health: &["/health"],
    counting: &[TOKENIZE_CONTENT, TOKENIZE],
    resets: &[],
    // None: every such server has chat, which is the better choice.
    signs: &[],
};

impl Dialect for Completion {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn prompt(&self, fields: &mut Map<String, Value>, content: &Content) {
        text_prompt(fields, content);
    }

    fn options(&self, fields: &mut Map<String, Value>, shape: &Shape, output_tokens: u32) {
        // A server of one model ignores the name; one that loads several needs it.
        fields.insert("model".into(), shape.model.clone().into());
        fields.insert("stream".into(), shape.stream.into());
        fields.insert(N_PREDICT.into(), output_tokens.into());
        if shape.sends(IGNORE_EOS) {
            fields.insert(IGNORE_EOS.into(), true.into());
        }
        if shape.sends(RESPONSE_FIELDS) {
            fields.insert(RESPONSE_FIELDS.into(), json!(READ));
        }
        shape.put_sampling(fields);
        shape.put_extra(fields);
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::new(reader::Completed::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body;
    use dyno_model::prompt::ChatMessage;

    fn shape() -> Shape {
        let mut shape = Shape { model: "m".into(), stream: true, ..Shape::default() };
        shape.send_all(&ABOUT, |_| true);
        shape
    }

    fn sent(shape: &Shape, content: &Content) -> Value {
        serde_json::from_slice(&body(&Completion, shape, content, 8)).unwrap()
    }

    #[test]
    fn a_request_fixes_its_length_and_asks_for_what_is_read() {
        let mut shape = Shape { temperature: Some(0.0), stop: vec!["\n".into()], ..shape() };
        shape.extra = json!({"cache_prompt": false}).as_object().cloned().unwrap();
        let expected = json!({
            "model": "m", "prompt": "hi", "stream": true, "n_predict": 8, "ignore_eos": true,
            "response_fields": READ, "temperature": 0.0, "stop": ["\n"], "cache_prompt": false
        });
        assert_eq!(sent(&shape, &Content::Text("hi".into())), expected);
    }

    #[test]
    fn every_kind_of_prompt_is_text_or_what_the_body_has() {
        let body = |value: Value| Content::Body(value.as_object().cloned().unwrap());
        for (content, expected) in [
            (
                Content::Messages(vec![ChatMessage::user("a"), ChatMessage::user("b")]),
                json!("a\nb"),
            ),
            (body(json!({"prompt": ["text", 1, 2]})), json!(["text", 1, 2])),
            (body(json!({"messages": [{"role": "user", "content": "m"}]})), json!("m")),
        ] {
            let sent = sent(&shape(), &content);
            assert_eq!(sent["prompt"], expected, "{sent}");
            assert!(sent.get("messages").is_none(), "{sent}");
        }
    }
}
