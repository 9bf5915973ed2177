//! What a refusal is about: which of our fields it names, or the length of the prompt.

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

/// What servers write where a prompt does not fit, in lower case: OpenAI and vLLM ("maximum context
/// length"), SGLang ("longer than the model's context length", "exceeds the maximum allowed length"),
/// llama.cpp ("exceeds the available context size", "too large to process"), Anthropic ("prompt is too
/// long"), Text Embeddings Inference ("must have less than 512 tokens").
const LENGTH: [&str; 10] = [
    "context length",
    "context_length",
    "context size",
    "context window",
    "prompt length",
    "input length",
    "maximum allowed length",
    "too long",
    "too large to process",
    "must have less than",
];

/// Whether a server refused a request, with this status and message, because its prompt is too long.
pub fn is_about_length(status: u16, message: &str) -> bool {
    let message = message.to_ascii_lowercase();
    // llama.cpp answers 500 to an input that does not fit into a batch.
    matches!(status, 400 | 413 | 422 | 500) && LENGTH.iter().any(|text| message.contains(text))
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

    /// Refusals: in the forms that the rule was made for, in others that mean the same, and about
    /// something else. What is missed fails in the run, with the server's message.
    #[test]
    fn which_refusals_are_about_the_length() {
        let known = [
            "This model's maximum context length is 2048 tokens. However, you requested 3001 tokens \
             (3000 in the messages, 1 in the completion).",
            "The input (3000 tokens) is longer than the model's context length (2048 tokens).",
            "Input length (3000 tokens) exceeds the maximum allowed length (2042 tokens).",
            r#"{"error":{"code":400,"message":"request (3000 tokens) exceeds the available context size (2048 tokens)","type":"exceed_context_size_error"}}"#,
            "prompt is too long: 3000 tokens > 2048 maximum",
            "Input validation error: `inputs` must have less than 512 tokens. Given: 3000",
            "input is too large to process. increase the physical batch size",
            "This model's maximum prompt length is 2048 but the request contains 3000 tokens.",
        ];
        let unseen = [
            "The prompt (total length 3000) is too long to fit into the model.",
            "Requested token count exceeds the model's maximum context length of 2048 tokens.",
            "Prompt contains 3000 tokens, too large for model with 2048 maximum context length",
            "the input length exceeds the context length",
        ];
        let missed = [
            "prompt token count of 3000 exceeds the limit of 2048",
            "Too many input tokens. Max input tokens: 2048, request input token count: 3000",
            "Please reduce the length of the messages or completion.",
        ];
        let others = [
            "",
            "The model `m` does not exist.",
            "max_tokens must be at least 1, got 0.",
            "Extra inputs are not permitted: ignore_eos",
            "batch size 64 > maximum allowed batch size 32",
            "min_tokens must be less than or equal to max_tokens=16, got 32.",
            "Invalid value for temperature: must be between 0 and 2",
            "CUDA out of memory",
        ];
        let count = |all: &[&str]| all.iter().filter(|text| is_about_length(400, text)).count();
        assert_eq!([&known[..], &unseen, &missed, &others].map(count), [8, 4, 0, 0]);
        assert!(!is_about_length(401, known[0]) && !is_about_length(429, known[0]));
    }
}
