//! `/v1/completions`: the prompt is plain text.

use serde_json::{Map, Value};

pub(super) fn prompt(fields: &mut Map<String, Value>, prompt: &str) {
    fields.insert("prompt".into(), prompt.into());
}
