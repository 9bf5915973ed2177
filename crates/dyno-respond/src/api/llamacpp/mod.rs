//! llama.cpp's own `/completion`: a stream whose frames count the tokens so far, and a last one with
//! the server's times, which has all fields or those that the request names.

mod frames;

use super::ask::{Ask, Output};
use super::prompt::{Hashed, Prompt, PromptCount, Words};
use super::read::ReadPrompt;
use super::response::{Chunks, Facts, KnownPrompt, Response, Whole};
use super::words::text;
use super::{AnswerFinish, Refusal, RequestBody, ServedApi, room};
use dyno_model::Nanos;
use frames::Completing;
use serde::Deserialize;
use serde_json::json;

/// `/completion`.
#[derive(Debug)]
pub(super) struct Completion;

/// The relevant fields of a request.
#[derive(Debug, Deserialize)]
#[serde(bound = "W: Words")]
struct Fields<W> {
    prompt: Option<ReadPrompt<W>>,
    n_predict: Option<i64>,
    max_tokens: Option<i64>,
    ignore_eos: Option<bool>,
    stream: Option<bool>,
    response_fields: Option<Vec<String>>,
}

impl ServedApi for Completion {
    fn paths(&self) -> &'static [&'static str] {
        &["/completion"]
    }

    fn read(&self, body: &RequestBody<'_>) -> Result<Ask, Refusal> {
        match body.block {
            Some(_) => ask::<Hashed>(body),
            None => ask::<PromptCount>(body),
        }
    }

    fn error(&self, status: u16, message: &str) -> Vec<u8> {
        error(status, message).into_bytes()
    }
}

fn ask<W: Words>(body: &RequestBody<'_>) -> Result<Ask, Refusal> {
    let fields: Fields<W> = body.fields()?;
    let words = fields.prompt.ok_or_else(|| Refusal::missing("prompt"))?.0;
    let prompt = Prompt::new(&words, body.block.unwrap_or(1));
    // Negative numbers mean: until the context is full. There is always one token.
    let max = fields.n_predict.or(fields.max_tokens).and_then(|n| u32::try_from(n).ok());
    let reply = Reply {
        prompt_tokens: prompt.tokens,
        // An empty list is none.
        shown: fields.response_fields.filter(|shown| !shown.is_empty()),
    };
    Ok(Ask {
        // As by a server of one model, its name is not looked at.
        model: None,
        prompts: vec![prompt],
        output: Output {
            max: max.map(|max| max.max(1)),
            min: None,
            endless: fields.ignore_eos == Some(true),
            none: false,
        },
        stream: fields.stream.unwrap_or(false),
        response: Box::new(reply),
    })
}

/// How a request is answered.
#[derive(Debug, Clone)]
struct Reply {
    prompt_tokens: u32,
    /// The fields of the last frame, if the request names them.
    shown: Option<Vec<String>>,
}

impl Reply {
    /// The last frame, or a whole response: with all fields, or those that were asked for.
    fn last(&self, content: &str, done: &Done<'_>, timings: &[u8]) -> Vec<u8> {
        let (tokens, prompt) = (done.tokens, self.prompt_tokens);
        let stop_type = format!("\"{}\"", stop_type(done.finish));
        let fields = [
            ("index", "0".to_owned()),
            ("content", format!("\"{content}\"")),
            ("tokens", "[]".to_owned()),
            ("id_slot", "0".to_owned()),
            ("stop", "true".to_owned()),
            ("model", done.model_json.to_owned()),
            ("tokens_predicted", tokens.to_string()),
            ("tokens_evaluated", prompt.to_string()),
            // The settings and the text of the prompt are not kept.
            ("generation_settings", "{}".to_owned()),
            ("prompt", "\"\"".to_owned()),
            ("has_new_line", "false".to_owned()),
            ("truncated", "false".to_owned()),
            ("stop_type", stop_type),
            ("stopping_word", "\"\"".to_owned()),
            ("tokens_cached", (u64::from(prompt) + u64::from(tokens.max(1)) - 1).to_string()),
        ];
        let mut body = b"{".to_vec();
        let mut put = |name: &str, value: &[u8]| {
            if self.shown.as_ref().is_none_or(|shown| shown.iter().any(|field| field == name)) {
                if body.len() > 1 {
                    body.push(b',');
                }
                body.extend_from_slice(format!("\"{name}\":").as_bytes());
                body.extend_from_slice(value);
            }
        };
        fields.iter().for_each(|(name, value)| put(name, value.as_bytes()));
        put("timings", timings);
        body.push(b'}');
        body
    }
}

impl Response for Reply {
    fn whole(&self, facts: &Facts<'_>) -> Whole {
        let done =
            Done { model_json: facts.model_json, tokens: facts.tokens, finish: facts.finish };
        let mut timings = b"{".to_vec();
        let cached = facts.tells_cached.then_some(CACHED);
        for name in cached.into_iter().chain([COMPUTED, PREFILL]) {
            room::reserve(&mut timings, name);
            timings.push(b',');
        }
        timings.extend_from_slice(format!("\"predicted_n\":{},", facts.tokens).as_bytes());
        room::reserve(&mut timings, DECODE);
        timings.push(b'}');
        self.last(&text(facts.salt, facts.tokens), &done, &timings).into()
    }

    fn settle(&self, bytes: &mut [u8], known: &KnownPrompt) {
        let cached = known.start.and_then(|start| start.cached);
        let queued = known.start.map_or(0, |start| start.queued);
        cached.into_iter().for_each(|cached| room::fill(bytes, CACHED, cached));
        room::fill(bytes, COMPUTED, self.prompt_tokens.saturating_sub(cached.unwrap_or(0)));
        room::fill(bytes, PREFILL, millis(known.first.saturating_sub(queued)));
        room::fill(bytes, DECODE, millis(known.last.saturating_sub(known.first)));
    }

    fn stream(&self, facts: &Facts<'_>) -> Option<Box<dyn Chunks>> {
        Some(Box::new(Completing::new(self.clone(), facts)))
    }
}

const CACHED: &str = "cache_n";
const COMPUTED: &str = "prompt_n";
const PREFILL: &str = "prompt_ms";
const DECODE: &str = "predicted_ms";

/// What is known of a response at its end.
struct Done<'a> {
    model_json: &'a str,
    tokens: u32,
    finish: AnswerFinish,
}

/// An error in llama.cpp's form.
fn error(status: u16, message: &str) -> String {
    let kind = match status {
        400..=499 if status != 401 && status != 403 && status != 404 => "invalid_request_error",
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        501 => "not_supported_error",
        503 => "unavailable_error",
        _ => "server_error",
    };
    json!({"error": {"code": status, "message": message, "type": kind}}).to_string()
}

/// The name of a reason in `stop_type`.
fn stop_type(finish: AnswerFinish) -> &'static str {
    match finish {
        AnswerFinish::Stop => "eos",
        AnswerFinish::Length => "limit",
    }
}

/// Milliseconds to the microsecond.
fn millis(nanos: Nanos) -> String {
    format!("{:?}", ((nanos + 500) / 1_000) as f64 / 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::golden;
    use crate::api::response::ResponseStart;
    use crate::api::words::word;
    use crate::framing::Frames;
    use serde_json::Value;

    const START: ResponseStart = ResponseStart { cached: Some(4), queued: 25_000_000 };

    fn reply(shown: Option<&[&str]>) -> Reply {
        let shown = shown.map(|shown| shown.iter().map(ToString::to_string).collect());
        Reply { prompt_tokens: 11, shown }
    }

    fn streamed(shown: Option<&[&str]>) -> String {
        let facts = golden::facts(&[]);
        let mut chunks = reply(shown).stream(&facts).unwrap();
        chunks.start(START);
        golden::streamed(Frames::Data, &mut *chunks, &facts)
    }

    /// As llama.cpp build 11669 writes them.
    #[test]
    fn every_frame_counts_and_the_last_has_everything() {
        let token = |k: u32| {
            format!(
                "data: {{\"index\":0,\"content\":\"{}\",\"tokens\":[{}],\"stop\":false,\"id_slot\":-1,\
                 \"tokens_predicted\":{},\"tokens_evaluated\":11}}\n\n",
                word(7, k),
                frames::id(7, k),
                k + 1
            )
        };
        let last = "data: {\"index\":0,\"content\":\"\",\"tokens\":[],\"id_slot\":0,\"stop\":true,\
            \"model\":\"m \\\"x\\\"\",\"tokens_predicted\":4,\"tokens_evaluated\":11,\
            \"generation_settings\":{},\"prompt\":\"\",\"has_new_line\":false,\"truncated\":false,\
            \"stop_type\":\"limit\",\"stopping_word\":\"\",\"tokens_cached\":14,\
            \"timings\":{\"cache_n\":4,\"prompt_n\":7,\"prompt_ms\":75.0,\"predicted_n\":4,\
            \"predicted_ms\":60.0}}\n\n";
        let tokens: String = (0..4).map(token).collect();
        assert_eq!(streamed(None), tokens + last);
    }

    #[test]
    fn the_last_frame_has_the_fields_that_were_asked_for() {
        let frames = streamed(Some(&["stop_type", "content", "timings/prompt_ms", "stop"]));
        let last = "data: {\"content\":\"\",\"stop\":true,\"stop_type\":\"limit\"}\n\n";
        assert!(frames.ends_with(last) && frames.contains("\"tokens_predicted\":4"), "{frames}");
    }

    #[test]
    fn a_whole_response_is_a_last_frame_with_the_text() {
        let mut body = reply(None).whole(&golden::facts(&[])).body;
        let known = KnownPrompt { start: Some(START), first: 100_000_000, last: 160_500_000 };
        reply(None).settle(&mut body, &known);
        let body: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(body["content"].as_str().unwrap().split(' ').count(), 5);
        let timings =
            json!({"prompt_n": 11 - 4, "prompt_ms": 75.0, "predicted_n": 4, "predicted_ms": 60.5});
        assert_eq!((&body["timings"], &body["stop"]), (&timings, &json!(true)));
    }

    #[test]
    fn a_failure_is_a_frame_with_an_error_and_nothing_after_it() {
        let mut chunks = reply(None).stream(&golden::facts(&[])).unwrap();
        let failed = golden::failed(Frames::Data, &mut *chunks);
        let error = "{\"code\":500,\"message\":\"It broke.\",\"type\":\"server_error\"}";
        assert_eq!(failed, format!("data: {{\"error\":{error}}}\n\n"));
    }

    #[test]
    fn a_request_is_read_with_its_length_by_either_name() {
        let read = |bytes: &str| Completion.read(&golden::body(bytes));
        let ask = read(
            r#"{"prompt":"a b c","n_predict":9,"max_tokens":5,"ignore_eos":true,"stream":true}"#,
        );
        let ask = ask.unwrap();
        assert_eq!((ask.input(), ask.output.max, ask.output.endless), (3, Some(9), true));
        assert!(ask.stream);
        for (body, max) in [
            (r#"{"prompt":[4,5,6]}"#, None),
            (r#"{"prompt":["a",4,5],"max_tokens":5}"#, Some(5)),
            (r#"{"prompt":"a b c","n_predict":-1}"#, None),
            (r#"{"prompt":"a b c","n_predict":0}"#, Some(1)),
        ] {
            let ask = read(body).unwrap();
            assert_eq!((ask.input(), ask.output.max, ask.stream), (3, max, false), "{body}");
        }
        assert_eq!(read("{}").unwrap_err(), Refusal::missing("prompt"));
        assert_eq!(read(r#"{"prompt":"a","n_predict":"x"}"#).unwrap_err().status, 400);
    }
}
