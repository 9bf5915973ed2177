//! How much longer a tokenizer makes a text before it cuts it up. Four replacements of a character by a
//! thousand would make a terabyte of one: such a tokenizer is refused when it is read.

use dyno_model::budget::Budget;
use dyno_model::{Message, message};
use serde::Deserialize;
use serde_json::Value;

/// The most that the replacements of a tokenizer may lengthen a text, all together. Those of known models
/// stay below 10: a blank becomes a mark of three bytes.
const MOST: f64 = 64.0;

/// What replaces text; the vocabulary, which is most of the file, is not looked at.
#[derive(Deserialize)]
struct Parts {
    #[serde(default)]
    normalizer: Value,
    #[serde(default)]
    pre_tokenizer: Value,
    #[serde(default)]
    decoder: Value,
}

/// Whether a `tokenizer.json` is safe to use; what is wrong if not. That it is none at all is found later.
pub(super) fn check(file: &[u8]) -> Result<(), Message> {
    let budget = Budget::foreign();
    let _held = budget
        .hold(dyno_model::budget::json_weight(file))
        .map_err(|over| message!("{over}", "{over}"))?;
    let Ok(parts) = serde_json::from_slice::<Parts>(file) else { return Ok(()) };
    let steps = [&parts.normalizer, &parts.pre_tokenizer, &parts.decoder];
    let most = steps.map(growth).into_iter().fold(1.0, f64::max);
    if most <= MOST {
        return Ok(());
    }
    Err(message!(
        "its replacements make a text up to {most:.0} times as long, at most {MOST} is accepted",
        "其替换规则最多会使文本变为原来的 {most:.0} 倍，最多允许 {MOST} 倍"
    ))
}

/// By how much a step and those inside of it lengthen a text, at most.
fn growth(step: &Value) -> f64 {
    let inner: f64 = ["normalizers", "pretokenizers", "decoders"]
        .into_iter()
        .filter_map(|list| step.get(list)?.as_array())
        .flatten()
        .map(growth)
        .product();
    let Some(content) = step.get("content").and_then(Value::as_str) else { return inner };
    if step.get("type").and_then(Value::as_str) != Some("Replace") {
        return inner;
    }
    // An expression may match nothing at all, between any two characters.
    let replaced = match step.get("pattern").and_then(|pattern| pattern.get("String")) {
        Some(text) => text.as_str().map_or(1, str::len).max(1) as f64,
        None => 0.5,
    };
    inner * (content.len() as f64 / replaced).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn checked(normalizer: &Value) -> Result<(), Message> {
        check(json!({"normalizer": normalizer, "model": {}}).to_string().as_bytes())
    }

    fn replace(pattern: Value, length: usize) -> Value {
        json!({"type": "Replace", "pattern": pattern, "content": "x".repeat(length)})
    }

    #[test]
    fn replacements_that_multiply_are_refused() {
        let one = replace(json!({"String": "x"}), 1000);
        let all = json!({"type": "Sequence", "normalizers": [one, one, one, one]});
        let refused = checked(&all).unwrap_err().to_string();
        assert!(refused.contains("1000000000000 times as long"), "{refused}");
        assert!(checked(&one).is_err());
        assert!(checked(&replace(json!({"Regex": ""}), 40)).is_err());
    }

    #[test]
    fn those_of_known_models_are_accepted() {
        let blank = replace(json!({"String": " "}), 3);
        let quotes = replace(json!({"String": "``"}), 1);
        let strip = replace(json!({"Regex": " {2,}"}), 1);
        let prepend = json!({"type": "Prepend", "prepend": "▁"});
        let all = json!({"type": "Sequence", "normalizers": [prepend, blank, quotes, strip]});
        assert_eq!(checked(&all), Ok(()));
        assert_eq!(checked(&Value::Null), Ok(()));
        assert_eq!(check(b"not JSON"), Ok(()));
    }
}
