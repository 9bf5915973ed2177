//! Anthropic's Messages: events with names, blocks of content, and usage at both ends.

mod events;

use super::ask::{Ask, Output};
use super::prompt::{Hashed, Prompt, PromptCount, Words};
use super::read::{ReadPrompt, ReadTools};
use super::response::{Chunks, Facts, KnownPrompt, Response, Whole};
use super::route::{Route, RoutePlace, ServedPage};
use super::words::{mix, text};
use super::{AnswerFinish, Refusal, RequestBody, ServedApi, room};
use crate::framing::Frames;
use events::Events;
use serde::Deserialize;
use serde_json::{Value, json};
use std::io::Write;

const INPUT: &str = "input_tokens";
const CACHED: &str = "cache_read_input_tokens";

/// `/v1/messages`.
#[derive(Debug)]
pub(super) struct Messages;

/// The relevant fields of a request.
#[derive(Debug, Deserialize)]
#[serde(bound = "W: Words")]
struct Fields<W> {
    model: Option<String>,
    max_tokens: Option<u32>,
    system: Option<ReadPrompt<W>>,
    messages: Option<ReadPrompt<W>>,
    tools: Option<ReadTools<W>>,
    stream: Option<bool>,
}

impl<W: Words> Fields<W> {
    fn take_prompt(&mut self) -> Result<W, Refusal> {
        let missing = || Refusal::new(400, "messages: Field required");
        let messages = self.messages.take().ok_or_else(missing)?.0;
        let mut words = W::default();
        if let Some(ReadPrompt(system)) = self.system.take() {
            words.role("system");
            words.append(system);
        }
        words.append(messages);
        Ok(ReadTools::before(self.tools.take(), words))
    }
}

impl ServedApi for Messages {
    fn paths(&self) -> &'static [&'static str] {
        &["/v1/messages"]
    }

    fn read(&self, body: &RequestBody<'_>) -> Result<Ask, Refusal> {
        match body.block {
            Some(_) => ask::<Hashed>(body),
            None => ask::<PromptCount>(body),
        }
    }

    fn error(&self, status: u16, message: &str) -> Vec<u8> {
        error(error_type(status), message).to_string().into_bytes()
    }

    fn frames(&self) -> Frames {
        Frames::Events
    }

    fn routes(&self) -> &'static [Route] {
        &[Route {
            methods: &["POST"],
            path: "/v1/messages/count_tokens",
            needs_key: true,
            answer: count_tokens,
        }]
    }

    fn takes_api_key(&self) -> bool {
        true
    }
}

fn ask<W: Words>(body: &RequestBody<'_>) -> Result<Ask, Refusal> {
    let mut fields: Fields<W> = body.fields()?;
    let words = fields.take_prompt()?;
    if fields.max_tokens.is_none() {
        return Err(Refusal::new(400, "max_tokens: Field required"));
    }
    let prompt_tokens = words.tokens();
    Ok(Ask {
        model: fields.model,
        prompts: vec![Prompt::new(&words, body.block.unwrap_or(1))],
        output: Output { max: fields.max_tokens, ..Output::default() },
        stream: fields.stream.unwrap_or(false),
        response: Box::new(Message { prompt_tokens }),
    })
}

/// How many tokens a request would have, without making it.
fn count_tokens(_place: &RoutePlace<'_>, body: &[u8]) -> Option<ServedPage> {
    let refused = |message: &str| ServedPage::error(400, Messages.error(400, message));
    let mut fields: Fields<PromptCount> = match serde_json::from_slice(body) {
        Ok(fields) => fields,
        Err(error) => return Some(refused(&format!("The request body is invalid: {error}"))),
    };
    Some(match fields.take_prompt() {
        Ok(words) => ServedPage::json(json!({"input_tokens": words.tokens()}).to_string()),
        Err(_) => refused("messages: Field required"),
    })
}

fn error(kind: &str, message: &str) -> Value {
    json!({"type": "error", "error": {"type": kind, "message": message}})
}

fn error_type(status: u16) -> &'static str {
    match status {
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        529 | 503 => "overloaded_error",
        400..500 => "invalid_request_error",
        _ => "api_error",
    }
}

#[derive(Debug)]
struct Message {
    prompt_tokens: u32,
}

impl Response for Message {
    fn whole(&self, facts: &Facts<'_>) -> Whole {
        let content = json!([{"type": "text", "text": text(facts.salt, facts.tokens)}]);
        let mut body = Vec::new();
        put_head(&mut body, facts.salt, facts.model_json);
        let (stop, tokens) = (stop_reason(facts.finish), facts.tokens);
        let _ = write!(
            body,
            "\"content\":{content},\"stop_reason\":\"{stop}\",\"stop_sequence\":null,\"usage\":{{"
        );
        match facts.tells_cached {
            true => {
                room::reserve(&mut body, INPUT);
                body.extend_from_slice(b",\"cache_creation_input_tokens\":0,");
                room::reserve(&mut body, CACHED);
            }
            false => put_input(&mut body, facts.prompt_tokens, None),
        }
        let _ = write!(body, ",\"output_tokens\":{tokens}}}}}");
        body.into()
    }

    fn settle(&self, bytes: &mut [u8], known: &KnownPrompt) {
        let Some(cached) = known.start.and_then(|start| start.cached) else { return };
        room::fill(bytes, CACHED, cached);
        room::fill(bytes, INPUT, self.prompt_tokens.saturating_sub(cached));
    }

    fn stream(&self, facts: &Facts<'_>) -> Option<Box<dyn Chunks>> {
        Some(Box::new(Events::new(facts)))
    }
}

/// What every message begins with.
fn put_head(out: &mut Vec<u8>, salt: u64, model_json: &str) {
    let id = mix(salt, u32::MAX);
    let _ = write!(
        out,
        "{{\"id\":\"msg_{id:016x}\",\"type\":\"message\",\"role\":\"assistant\",\
         \"model\":{model_json},"
    );
}

/// The tokens of the prompt: those that were cached are counted apart.
fn put_input(out: &mut Vec<u8>, prompt: u32, cached: Option<u32>) {
    let _ = match cached {
        None => write!(out, "\"{INPUT}\":{prompt}"),
        Some(cached) => write!(
            out,
            "\"{INPUT}\":{},\"cache_creation_input_tokens\":0,\"{CACHED}\":{cached}",
            prompt.saturating_sub(cached)
        ),
    };
}

fn stop_reason(finish: AnswerFinish) -> &'static str {
    match finish {
        AnswerFinish::Stop => "end_turn",
        AnswerFinish::Length => "max_tokens",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::golden;
    use crate::api::response::ResponseStart;

    #[test]
    fn a_request_needs_a_bound_and_messages() {
        let read = |bytes: &str| Messages.read(&golden::body(bytes));
        let ask = read(
            r#"{"model":"m","max_tokens":9,"stream":true,"system":[{"type":"text","text":"x y"}],
            "messages":[{"role":"user","content":[{"type":"text","text":"a b c"}]}]}"#,
        )
        .unwrap();
        assert_eq!((ask.input(), ask.output.max, ask.stream), (5, Some(9), true));
        let unbounded = read(r#"{"messages":[{"role":"user","content":"a"}]}"#).unwrap_err();
        assert_eq!(unbounded, Refusal::new(400, "max_tokens: Field required"));
        assert!(format!("{:?}", read(r#"{"max_tokens":1}"#)).contains("messages: Field required"));
    }

    #[test]
    fn a_whole_message_counts_cached_tokens_apart() {
        let facts = Facts { tells_cached: true, ..golden::facts(&[]) };
        let message = Message { prompt_tokens: 11 };
        let mut body = message.whole(&facts).body;
        let start = Some(ResponseStart { cached: Some(8), queued: 0 });
        message.settle(&mut body, &KnownPrompt { start, first: 1, last: 2 });
        let body: Value = serde_json::from_slice(&body).unwrap();
        let usage = json!({
            "input_tokens": 3, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 8,
            "output_tokens": 4,
        });
        assert_eq!((&body["usage"], &body["stop_reason"]), (&usage, &json!("max_tokens")));
        assert_eq!(body["content"][0]["text"], text(7, 4));
        let plain = Message { prompt_tokens: 11 }.whole(&golden::facts(&[])).body;
        let plain: Value = serde_json::from_slice(&plain).unwrap();
        assert_eq!(plain["usage"], json!({"input_tokens": 11, "output_tokens": 4}));
    }

    #[test]
    fn errors_have_the_type_of_their_status() {
        let kind = |status| {
            let body: Value = serde_json::from_slice(&Messages.error(status, "x")).unwrap();
            assert_eq!(body["type"], "error");
            body["error"]["type"].as_str().unwrap().to_owned()
        };
        assert_eq!(
            (kind(400), kind(401)),
            ("invalid_request_error".into(), "authentication_error".into())
        );
        assert_eq!((kind(529), kind(500)), ("overloaded_error".into(), "api_error".into()));
    }
}
