//! What a refusal is about: which of our fields it names.

use crate::dialect::Optional;
use serde_json::Value;

/// Fields of an error that repeat what was sent, whatever the error is about.
const ECHOES: [&str; 4] = ["input", "body", "ctx", "request"];

/// The fields among these that a refusal names, as whole words. Parts of the message that repeat the
/// request do not count.
pub(super) fn named<'a>(
    message: &str,
    fields: impl Iterator<Item = &'a Optional>,
) -> Vec<&'a Optional> {
    let said = match serde_json::from_str::<Value>(message) {
        Ok(json) => {
            let mut said = String::new();
            texts(&json, &mut said);
            said
        }
        Err(_) => message.to_owned(),
    };
    fields.filter(|field| has_word(&said, field.name)).collect()
}

/// All strings of a document except echoes. Its depth is limited by the parser.
fn texts(json: &Value, out: &mut String) {
    match json {
        Value::String(text) => {
            out.push_str(text);
            out.push('\n');
        }
        Value::Array(list) => list.iter().for_each(|value| texts(value, out)),
        Value::Object(fields) => {
            let others = fields.iter().filter(|(name, _)| !ECHOES.contains(&name.as_str()));
            others.for_each(|(_, value)| texts(value, out));
        }
        _ => {}
    }
}

fn has_word(text: &str, word: &str) -> bool {
    let in_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !in_word(before) && !in_word(after)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::DIALECTS;

    fn found(message: &str) -> Vec<&'static str> {
        let fields = DIALECTS[0].about().optional.iter();
        named(message, fields).into_iter().map(|field| field.name).collect()
    }

    #[test]
    fn refusals_in_the_forms_of_the_servers() {
        let forbidden = r#"{"error":"1 validation error for Request\nignore_eos\n  Extra inputs are not permitted [type=extra_forbidden, input_value=True, input_type=bool]"}"#;
        assert_eq!(found(forbidden), ["ignore_eos"]);
        let keys =
            r#"{"detail":"Unexpected keys in the request: {'stream_options', 'ignore_eos'}"}"#;
        assert_eq!(found(keys), ["ignore_eos", "stream_options"]);
        let place = r#"{"detail":[{"type":"extra_forbidden","loc":["body","min_tokens"],"msg":"Extra inputs are not permitted","input":16}]}"#;
        assert_eq!(found(place), ["min_tokens"]);
        let other = "Unsupported parameter: 'max_tokens' is not supported with this model. Use \
                     'max_completion_tokens' instead.";
        assert_eq!(found(other), ["max_tokens", "max_completion_tokens"]);
    }

    #[test]
    fn what_is_about_something_else_names_nothing() {
        let missing = r#"{"detail":[{"type":"missing","loc":["body","model"],"msg":"Field required","input":{"ignore_eos":true,"max_tokens":16,"echo":"ignore_eos"}}]}"#;
        assert_eq!(found(missing), [""; 0]);
        for other in [
            "",
            "The model `m` does not exist.",
            "minimum is my_max_tokens_per_batch",
            r#"{"error":{"message":"Prompt is too long","param":null,"code":400}}"#,
        ] {
            assert_eq!(found(other), [""; 0], "{other}");
        }
    }
}
