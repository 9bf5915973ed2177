//! OpenAI's chat and text completions: what they have in common, and each in its file.

mod chat;
mod completions;
mod errors;
mod reader;
mod usage;

pub(super) use chat::{Chat, prompt as chat_prompt};
pub(super) use completions::{Completions, prompt as text_prompt};
pub(super) use errors::is_overload;

use super::{Counting, Does, Optional, Shape, ToCount};
use dyno_model::prompt::Content;
use serde_json::{Map, Value, json};

/// The optional fields, in the order in which they are left out when a refusal names none.
const OPTIONAL: &[Optional] = &[
    Optional { name: CONTINUOUS, does: Does::CountChunks },
    Optional { name: IGNORE_EOS, does: Does::FixLength },
    Optional { name: MIN_TOKENS, does: Does::FixLength },
    Optional { name: STREAM_OPTIONS, does: Does::CountAtEnd },
    Optional { name: MAX_TOKENS, does: Does::LimitLength },
    Optional { name: MAX_COMPLETION_TOKENS, does: Does::LimitLength },
];

const CONTINUOUS: &str = "continuous_usage_stats";
const IGNORE_EOS: &str = "ignore_eos";
const MIN_TOKENS: &str = "min_tokens";
const STREAM_OPTIONS: &str = "stream_options";
const MAX_TOKENS: &str = "max_tokens";
const MAX_COMPLETION_TOKENS: &str = "max_completion_tokens";

/// vLLM's `/tokenize`, which others have, too.
pub(super) const TOKENIZE: Counting = Counting {
    path: "/tokenize",
    ask: |model, prompt| {
        Some(match prompt {
            ToCount::Text(text) => json!({"model": model, "prompt": text}),
            ToCount::Messages(messages) => {
                json!({"model": model, "messages": messages, "add_generation_prompt": true})
            }
            ToCount::Recorded(_) => {
                let mut fields = as_chat(model, &prompt.content());
                fields.insert("add_generation_prompt".into(), true.into());
                Value::Object(fields)
            }
        })
    },
    count: |response| response.get("count")?.as_u64(),
};

/// llama.cpp's `/tokenize`, which counts text only: the same path with another field. Others refuse this
/// one, and llama.cpp counts nothing in theirs.
pub(super) const TOKENIZE_CONTENT: Counting = Counting {
    path: "/tokenize",
    ask: |_, prompt| match prompt {
        // Prompts get the tokens that begin a text, if the model has any.
        ToCount::Text(text) => Some(json!({"content": text, "add_special": true})),
        ToCount::Messages(_) | ToCount::Recorded(_) => None,
    },
    count: |response| Some(response.get("tokens")?.as_array()?.len() as u64),
};

/// llama.cpp's way to count a chat. A text is counted as a message, as it is sent.
const CHAT_INPUT_TOKENS: Counting = Counting {
    path: "/v1/chat/completions/input_tokens",
    ask: |model, prompt| Some(Value::Object(as_chat(model, &prompt.content()))),
    count: |response| response.get("input_tokens")?.as_u64(),
};

/// The model and the messages of a chat.
fn as_chat(model: &str, content: &Content) -> Map<String, Value> {
    let mut fields = Map::new();
    fields.insert("model".into(), model.into());
    chat_prompt(&mut fields, content);
    fields
}

/// vLLM's way to empty the prefix cache, and SGLang's.
pub(super) const RESETS: &[&str] = &["/reset_prefix_cache", "/flush_cache"];

fn options(fields: &mut Map<String, Value>, shape: &Shape, output_tokens: u32) {
    fields.insert("model".into(), shape.model.clone().into());
    fields.insert("stream".into(), shape.stream.into());
    if shape.stream && shape.sends(STREAM_OPTIONS) {
        let options = match shape.sends(CONTINUOUS) {
            true => json!({"include_usage": true, "continuous_usage_stats": true}),
            false => json!({"include_usage": true}),
        };
        fields.insert(STREAM_OPTIONS.into(), options);
    }
    let limit = match shape.sends(MAX_COMPLETION_TOKENS) {
        true => MAX_COMPLETION_TOKENS,
        false => MAX_TOKENS,
    };
    fields.insert(limit.into(), output_tokens.into());
    if shape.sends(IGNORE_EOS) {
        fields.insert(IGNORE_EOS.into(), true.into());
    }
    if shape.sends(MIN_TOKENS) {
        fields.insert(MIN_TOKENS.into(), output_tokens.into());
    }
    shape.put_sampling(fields);
    shape.put_extra(fields);
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::prompt::ChatMessage;

    /// llama.cpp responds to the question in vLLM's form with an empty list, which is no count.
    #[test]
    fn the_servers_that_count_do_so_in_their_own_forms() {
        let hi = [ChatMessage::user("hi")];
        assert_eq!((TOKENIZE.count)(&json!({"tokens": []})), None);
        assert_eq!((TOKENIZE.count)(&json!({"count": 3, "max_model_len": 2048})), Some(3));
        let content = json!({"content": "hi", "add_special": true});
        assert_eq!((TOKENIZE_CONTENT.ask)("m", ToCount::Text("hi")), Some(content));
        assert_eq!((TOKENIZE_CONTENT.ask)("m", ToCount::Messages(&hi)), None);
        assert_eq!((TOKENIZE_CONTENT.count)(&json!({"tokens": [449, 839, 2490]})), Some(3));
        assert_eq!((TOKENIZE_CONTENT.count)(&json!({"count": 3})), None);
        let chat = json!({"model": "m", "messages": [{"role": "user", "content": "hi"}]});
        let asked = [ToCount::Text("hi"), ToCount::Messages(&hi)];
        assert!(
            asked.map(|p| (CHAT_INPUT_TOKENS.ask)("m", p)).iter().all(|a| *a == Some(chat.clone()))
        );
        assert_eq!((CHAT_INPUT_TOKENS.count)(&json!({"input_tokens": 13})), Some(13));
    }
}
