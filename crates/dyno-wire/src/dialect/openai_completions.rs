//! `/v1/completions`: the prompt is plain text.

use dyno_model::prompt::Content;
use serde_json::{Map, Value};

pub(super) fn prompt(fields: &mut Map<String, Value>, content: &Content) {
    let text = match content {
        Content::Text(text) => text.clone(),
        Content::Messages(messages) => {
            let texts: Vec<&str> = messages.iter().map(|m| m.content.as_str()).collect();
            texts.join("\n")
        }
        // A complete body from the data keeps its prompt; a chat's messages are concatenated.
        Content::Body(_) => match fields.remove("messages") {
            Some(Value::Array(messages)) if !fields.contains_key("prompt") => {
                let texts = messages.iter().filter_map(|message| message.get("content")?.as_str());
                texts.collect::<Vec<_>>().join("\n")
            }
            _ => return,
        },
    };
    fields.insert("prompt".into(), text.into());
}
