//! Errors inside of a 200, in the forms of the servers that imitate this API. Errors are rare, so a
//! general-purpose parser reads them.

use crate::{ServerError, excerpt, is_overload_status};
use serde_json::Value;

/// What Text Generation Inference says when it is overloaded. In streams it gives every error the
/// status 422, and no type: only its words tell.
const TGI_OVERLOADED: &str = "Model is overloaded";

/// An error that a server wrote without escaping its message, which therefore is not JSON.
pub(super) fn unescaped(bytes: &[u8]) -> Option<ServerError> {
    let inside = bytes.trim_ascii().strip_prefix(b"{")?.trim_ascii_start();
    let value = inside.strip_prefix(b"\"error\"")?.trim_ascii_start().strip_prefix(b":")?;
    // A frame that was cut off shows nothing.
    let whole = value.trim_ascii_end().ends_with(b"}");
    whole.then(|| ServerError::new(excerpt(value.trim_ascii())))
}

/// Whether an error means that the server has too much to do, by its status or its type.
pub(crate) fn is_overload(body: &[u8]) -> bool {
    let Ok(body) = serde_json::from_slice::<Value>(body) else { return false };
    [Some(&body), body.get("error")].into_iter().flatten().any(says_overload)
}

fn says_overload(error: &Value) -> bool {
    let status = |name: &&str| {
        let value = &error[*name];
        value.as_u64().or_else(|| value.as_str()?.parse().ok())
    };
    let kind = |name: &&str| error[*name].as_str();
    if error["message"].as_str() == Some(TGI_OVERLOADED) {
        return true;
    }
    let statuses = ["code", "http_status_code", "status", "status_code"];
    let kinds = ["type", "error_type", "code"];
    statuses.iter().filter_map(status).any(is_overload_status)
        || kinds.iter().filter_map(kind).any(|kind| {
            let kind = kind.to_ascii_lowercase();
            ["overload", "rate_limit", "toomanyrequests", "too_many_requests", "serviceunavailable"]
                .iter()
                .any(|word| kind.contains(word))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overload_is_known_by_its_status_or_type() {
        for overload in [
            r#"{"error":{"message":"m","code":503}}"#,
            r#"{"error":{"message":"m","code":"429"}}"#,
            r#"{"error":{"message":"m","http_status_code":429}}"#,
            r#"{"error":{"message":"m","code":529}}"#,
            r#"{"error":{"message":"Model is overloaded","http_status_code":422}}"#,
            r#"{"error":"Model is overloaded","error_type":"overloaded"}"#,
            r#"{"object":"error","message":"m","type":"ServiceUnavailableError","code":503}"#,
            r#"{"error":{"type":"rate_limit_error","message":"m"}}"#,
        ] {
            assert!(is_overload(overload.as_bytes()), "{overload}");
        }
        for other in [
            r#"{"error":{"message":"503 apples","code":500}}"#,
            r#"{"error":"overloaded"}"#,
            r#"{"error":{"message":"Input validation error: `inputs` must have less than 1024 tokens","http_status_code":422}}"#,
            r#"{"error":{"message":"Input validation error: no stop sequence `Model is overloaded`","http_status_code":422}}"#,
            r#"{"error":{"type":"BadRequestError","code":400}}"#,
            "{",
        ] {
            assert!(!is_overload(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn an_error_that_is_not_json_is_still_an_error() {
        let message = r#"{"error": "no field "top_k" in "request""}"#;
        assert!(unescaped(message.as_bytes()).unwrap().message.contains("top_k"));
        for other in [r#"{"error": "cut o"#, r#"{"choices": [}"#, "error", ""] {
            assert_eq!(unescaped(other.as_bytes()), None, "{other}");
        }
    }
}
