//! Bodies in one piece: whole completions, the list of models, errors.

use super::chunk::{answer_id, put_usage};
use super::{Endpoint, finish_name};
use crate::api::response::Facts;
use crate::api::room;
use crate::api::route::RoutePlace;
use crate::api::words::text;
use serde_json::json;

const CACHED: &str = "cached_tokens";

/// A completion that is not streamed.
pub(super) fn completion(endpoint: Endpoint, facts: &Facts<'_>) -> Vec<u8> {
    let text = text(facts.salt, facts.tokens);
    let id = answer_id(endpoint, facts.salt);
    let finish = finish_name(facts.finish);
    let (object, choice) = match endpoint {
        Endpoint::Chat => (
            "chat.completion",
            json!({
                "index": 0,
                "message": {"role": "assistant", "content": text},
                "logprobs": null,
                "finish_reason": finish,
            }),
        ),
        Endpoint::Completions => (
            "text_completion",
            json!({"index": 0, "text": text, "logprobs": null, "finish_reason": finish}),
        ),
    };
    let mut body = format!(
        "{{\"id\":\"{id}\",\"object\":\"{object}\",\"created\":{},\"model\":{},\
         \"choices\":[{choice}],",
        facts.created(),
        facts.model_json
    )
    .into_bytes();
    put_usage(&mut body, facts.prompt_tokens, facts.tokens);
    if facts.tells_cached {
        body.extend_from_slice(b",\"prompt_tokens_details\":{");
        room::reserve(&mut body, CACHED);
        body.push(b'}');
    }
    body.extend_from_slice(b"}}");
    body
}

/// Fills in the number of cached prompt tokens.
pub(super) fn put_cached(bytes: &mut [u8], cached: u32) {
    room::fill(bytes, CACHED, cached);
}

/// The response to `GET /v1/models`: one model, and the twin or the script that plays it.
pub(super) fn models(place: &RoutePlace<'_>) -> Vec<u8> {
    let mut model = json!({
        "id": place.model,
        "object": "model",
        "created": place.started,
        "owned_by": "dyno",
        "root": place.model,
        "parent": null,
        "max_model_len": place.context,
        "dyno_simulated": true,
    });
    model[place.brain] = place.brain_name.as_str().into();
    json!({"object": "list", "data": [model]}).to_string().into_bytes()
}

/// An error in OpenAI's form.
pub(in crate::api) fn error(status: u16, message: &str) -> Vec<u8> {
    let kind = match status {
        400 | 405 | 413 | 422 | 431 => "BadRequestError",
        401 | 403 => "AuthenticationError",
        404 => "NotFoundError",
        429 => "RateLimitError",
        503 => "ServiceUnavailableError",
        _ => "InternalServerError",
    };
    json!({"error": {"message": message, "type": kind, "param": null, "code": status}})
        .to_string()
        .into_bytes()
}
