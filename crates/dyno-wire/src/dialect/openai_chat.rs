//! `/v1/chat/completions`: the prompt is one message of the user's.

use serde_json::{Map, Value, json};

pub(super) fn prompt(fields: &mut Map<String, Value>, prompt: &str) {
    fields.insert("messages".into(), json!([{"role": "user", "content": prompt}]));
}
