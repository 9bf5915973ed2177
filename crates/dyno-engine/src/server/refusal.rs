//! Rejects requests that some servers reject and others accept.

use super::http::Request;
use super::routes::Reply;
use crate::fault::{Quirk, Quirks};
use crate::openai::request::Ask;

/// Rejections of optional fields, as some servers send them.
pub(super) fn refusal<W>(ask: &Ask<W>, quirks: Quirks, keep: bool) -> Option<Reply> {
    let unsupported = |field: &str, advice: &str| {
        let message = format!("Unsupported parameter: '{field}' is not supported.{advice}");
        Some(Reply::error(400, &message, keep))
    };
    if quirks.has(Quirk::RefuseIgnoreEos) && ask.ignore_eos.is_some() {
        let body = br#"{"detail":"Unexpected fields in the request: {'ignore_eos'}"}"#;
        return Some(Reply::json(422, body, keep));
    }
    if quirks.has(Quirk::RefuseMinTokens) && ask.min_tokens.is_some() {
        return unsupported("min_tokens", "");
    }
    if quirks.has(Quirk::RefuseStreamOptions) && ask.stream_options.is_some() {
        return unsupported("stream_options", "");
    }
    if quirks.has(Quirk::RefuseMaxTokens) && ask.max_tokens.is_some() {
        return unsupported("max_tokens", " Use 'max_completion_tokens' instead.");
    }
    None
}

/// Whether the request has the key that the quirk `auth` requires.
pub(super) fn has_key(request: &Request) -> bool {
    request.head.authorization.as_deref() == Some("Bearer sesame")
}
