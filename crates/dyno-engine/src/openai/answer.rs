//! Bodies in one piece: whole completions, the list of models, errors.

use super::chunk::{Cached, ChunkParts, ChunkWriter, answer_id, put_usage};
use super::{Endpoint, Finish};
use serde_json::json;

/// A completion that is not streamed.
pub(crate) fn completion(parts: &ChunkParts<'_>, finish: Finish) -> Vec<u8> {
    let text = ChunkWriter::new(parts).text(parts.tokens);
    let id = answer_id(parts.endpoint, parts.salt);
    let finish = finish.name();
    let (object, choice) = match parts.endpoint {
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
        parts.created, parts.model_json
    )
    .into_bytes();
    let cached = parts.tells_cached.then_some(Cached::Later);
    put_usage(&mut body, parts.prompt_tokens, parts.tokens, cached);
    body.push(b'}');
    body
}

/// The response to `GET /v1/models`: one model, and the twin or the script that plays it.
pub(crate) fn models(model: &str, created: u64, context: u32, by: (&str, &str)) -> Vec<u8> {
    let mut model = json!({
        "id": model,
        "object": "model",
        "created": created,
        "owned_by": "dyno",
        "root": model,
        "parent": null,
        "max_model_len": context,
        "dyno_simulated": true,
    });
    let (kind, name) = by;
    model[kind] = name.into();
    json!({"object": "list", "data": [model]}).to_string().into_bytes()
}

/// An error in OpenAI's form.
pub(crate) fn error(status: u16, message: &str) -> Vec<u8> {
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
