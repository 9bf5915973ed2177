//! SGLang's own `/generate`, which LMDeploy has in a variant of its own: plain text in, no model, and
//! sampling in an object inside the body.

mod reader;

use super::{
    About, Auth, Counting, Dialect, Does, End, ModelList, Optional, Reader, Shape, Sign, ToCount,
};
use crate::framing::Framing;
use dyno_model::plan::Task;
use dyno_model::prompt::Content;
use serde_json::{Map, Value, json};

/// `/generate`.
#[derive(Debug)]
pub(super) struct Generate;

const SAMPLING: &str = "sampling_params";
const IGNORE_EOS: &str = "ignore_eos";
const MIN_NEW_TOKENS: &str = "min_new_tokens";
const MAX_NEW_TOKENS: &str = "max_new_tokens";
/// The fields that can be the prompt.
const PROMPTS: [&str; 3] = ["text", "input_ids", "input_embeds"];

static ABOUT: About = About {
    name: "sglang-generate",
    title: "SGLang /generate",
    task: Task::Generate,
    prefix: "",
    path: "/generate",
    framing: Framing::Sse,
    auth: &[Auth::Bearer],
    headers: &[],
    end: End::TerminalOrFinish,
    talk: None,
    names_model: false,
    optional: &[
        Optional { name: IGNORE_EOS, does: Does::FixLength },
        Optional { name: MIN_NEW_TOKENS, does: Does::FixLength },
        Optional { name: MAX_NEW_TOKENS, does: Does::LimitLength },
    ],
    short_by: 0,
    models: &[ModelList::OPENAI],
    // Not `/health`, with which SGLang generates a token and takes a second or more.
    health: &["/ping", "/model_info", "/get_model_info"],
    counting: &[TOKENIZE],
    resets: &["/flush_cache"],
    // The same servers have chat, which is what most people mean: the least of all signs.
    signs: &[
        Sign { path: "/server_info", shows: is_sglang, server: "SGLang", weight: 10 },
        Sign { path: "/get_server_info", shows: is_sglang, server: "SGLang", weight: 10 },
    ],
};

/// Several releases refuse messages here; prompts of this API are text anyway.
const TOKENIZE: Counting = Counting {
    path: "/tokenize",
    ask: |model, prompt| match prompt {
        ToCount::Text(text) => Some(json!({"model": model, "prompt": text})),
        ToCount::Messages(_) | ToCount::Recorded(_) => None,
    },
    count: |response| response.get("count")?.as_u64(),
};

fn is_sglang(seen: &super::SeenFields<'_>) -> bool {
    seen.status == 200 && seen.json.is_some_and(|info| info.get("internal_states").is_some())
}

impl Dialect for Generate {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn prompt(&self, fields: &mut Map<String, Value>, content: &Content) {
        // A complete body from the data keeps its prompt, by whichever name.
        if PROMPTS.iter().any(|name| fields.contains_key(*name)) {
            fields.remove("prompt");
            fields.remove("messages");
            return;
        }
        super::openai::text_prompt(fields, content);
        if let Some(prompt) = fields.remove("prompt") {
            let is_text = prompt.is_string();
            fields.insert(if is_text { "text" } else { "input_ids" }.into(), prompt);
        }
    }

    fn options(&self, fields: &mut Map<String, Value>, shape: &Shape, output_tokens: u32) {
        fields.insert("stream".into(), shape.stream.into());
        let mut sampling = Map::new();
        sampling.insert(MAX_NEW_TOKENS.into(), output_tokens.into());
        if shape.sends(IGNORE_EOS) {
            sampling.insert(IGNORE_EOS.into(), true.into());
        }
        if shape.sends(MIN_NEW_TOKENS) {
            sampling.insert(MIN_NEW_TOKENS.into(), output_tokens.into());
        }
        shape.put_sampling(&mut sampling);
        shape.put_all(fields, SAMPLING, sampling);
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::new(reader::Generated::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body;
    use dyno_model::prompt::ChatMessage;

    fn shape() -> Shape {
        let mut shape =
            Shape { stream: true, temperature: Some(0.0), forced: true, ..Shape::default() };
        shape.send_all(&ABOUT, |_| true);
        shape
    }

    fn sent(shape: &Shape, content: &Content) -> Value {
        serde_json::from_slice(&body(&Generate, shape, content, 8)).unwrap()
    }

    #[test]
    fn sampling_is_an_object_inside_and_no_model_is_named() {
        let sent = sent(&shape(), &Content::Text("hi".into()));
        let sampling = json!({"max_new_tokens": 8, "ignore_eos": true, "temperature": 0.0});
        assert_eq!(sent, json!({"text": "hi", "stream": true, "sampling_params": sampling}));
    }

    #[test]
    fn the_users_fields_are_merged_above_and_inside() {
        let mut shape = shape();
        shape.extra = json!({"cache_salt": "x", "sampling_params": {"top_k": 5, "stop": ["."]}})
            .as_object()
            .cloned()
            .unwrap();
        let sent = sent(&shape, &Content::Text("hi".into()));
        assert_eq!(sent["cache_salt"], "x");
        assert_eq!(sent["sampling_params"]["top_k"], 5);
        assert_eq!(sent["sampling_params"]["max_new_tokens"], 8);
        // A stop string may end the output early, wherever it is set.
        assert!(!shape.fixes_length(&ABOUT) && self::shape().fixes_length(&ABOUT));
    }

    #[test]
    fn every_kind_of_prompt_becomes_text_or_ids() {
        let body = |value: Value| Content::Body(value.as_object().cloned().unwrap());
        for (content, field, expected) in [
            (
                Content::Messages(vec![ChatMessage::user("a"), ChatMessage::user("b")]),
                "text",
                json!("a\nb"),
            ),
            (body(json!({"prompt": "p"})), "text", json!("p")),
            (body(json!({"prompt": [1, 2]})), "input_ids", json!([1, 2])),
            (body(json!({"messages": [{"role": "user", "content": "m"}]})), "text", json!("m")),
            (body(json!({"input_ids": [7], "messages": []})), "input_ids", json!([7])),
        ] {
            let sent = sent(&shape(), &content);
            assert_eq!(sent[field], expected, "{sent}");
            assert!(sent.get("prompt").is_none() && sent.get("messages").is_none(), "{sent}");
        }
        let own = sent(&shape(), &body(json!({"text": "t", "sampling_params": {"top_p": 0.5}})));
        assert_eq!(own["sampling_params"]["top_p"], 0.5);
        assert_eq!(own["sampling_params"]["ignore_eos"], true);
    }

    #[test]
    fn only_text_is_counted_by_the_server() {
        assert_eq!((TOKENIZE.ask)("m", ToCount::Messages(&[])), None);
        let asked = (TOKENIZE.ask)("m", ToCount::Text("a b")).unwrap();
        assert_eq!(asked, json!({"model": "m", "prompt": "a b"}));
    }
}
