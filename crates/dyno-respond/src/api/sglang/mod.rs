//! SGLang's own `/generate`: a stream whose frames repeat the text so far, and what `meta_info`
//! says of it.

mod frames;
mod routes;

use super::ask::{Ask, Output};
use super::prompt::{Hashed, Prompt, PromptCount, Words};
use super::read::ReadPrompt;
use super::response::{Chunks, Facts, KnownPrompt, Response, Whole};
use super::route::Route;
use super::words::mix;
use super::{AnswerFinish, Refusal, RequestBody, ServedApi, room};
use crate::framing::Out;
use frames::Generating;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

/// Tokens of a response whose request says nothing.
const MAX_NEW_TOKENS: u32 = 128;
const QUEUED: &str = "queue_time";
const CACHED: &str = "cached_tokens";
const LATENCY: &str = "e2e_latency";

/// `/generate`.
#[derive(Debug)]
pub(super) struct Generate;

/// The relevant fields of a request.
#[derive(Debug, Deserialize)]
#[serde(bound = "W: Words")]
struct Fields<W> {
    text: Option<One<W>>,
    input_ids: Option<ReadPrompt<W>>,
    #[serde(default)]
    sampling_params: Sampling,
    stream: Option<bool>,
    rid: Option<String>,
}

/// Text, or a list of texts, which is a batch.
#[derive(Debug, Deserialize)]
#[serde(untagged, bound = "W: Words")]
enum One<W> {
    Batch(Vec<IgnoredAny>),
    Text(ReadPrompt<W>),
}

#[derive(Debug, Default, Deserialize)]
struct Sampling {
    max_new_tokens: Option<u32>,
    min_new_tokens: Option<u32>,
    ignore_eos: Option<bool>,
}

impl ServedApi for Generate {
    fn paths(&self) -> &'static [&'static str] {
        &["/generate"]
    }

    fn read(&self, body: &RequestBody<'_>) -> Result<Ask, Refusal> {
        match body.block {
            Some(_) => ask::<Hashed>(body),
            None => ask::<PromptCount>(body),
        }
    }

    fn error(&self, _status: u16, message: &str) -> Vec<u8> {
        json!({"error": {"message": message}}).to_string().into_bytes()
    }

    fn routes(&self) -> &'static [Route] {
        routes::ROUTES
    }

    fn refuse_in_stream(&self, out: &mut Out<'_>, status: u16, message: &str) -> bool {
        let error = json!({"error": {
            "message": message,
            "type": "invalid_request_error",
            "code": status,
            "retryable": false,
        }});
        out.frame(|out| out.extend_from_slice(error.to_string().as_bytes()));
        frames::done(out);
        true
    }
}

fn ask<W: Words>(body: &RequestBody<'_>) -> Result<Ask, Refusal> {
    let fields: Fields<W> = body.fields()?;
    let words = match (fields.text, fields.input_ids) {
        (Some(One::Text(text)), None) => text.0,
        (None, Some(ids)) => ids.0,
        (Some(One::Batch(texts)), None) => {
            let message = format!("The engine takes one text in a request, not {}.", texts.len());
            return Err(Refusal::new(400, message));
        }
        _ => return Err(Refusal::new(400, "Either text or input_ids should be provided.")),
    };
    let sampling = fields.sampling_params;
    let output = Output {
        max: Some(sampling.max_new_tokens.unwrap_or(MAX_NEW_TOKENS)),
        min: sampling.min_new_tokens,
        endless: sampling.ignore_eos == Some(true),
        none: false,
    };
    Ok(Ask {
        model: None,
        prompts: vec![Prompt::new(&words, body.block.unwrap_or(1))],
        output,
        stream: fields.stream.unwrap_or(false),
        response: Box::new(Generated { rid: fields.rid }),
    })
}

#[derive(Debug)]
struct Generated {
    /// The name that the client gave its request.
    rid: Option<String>,
}

impl Generated {
    fn id(&self, facts: &Facts<'_>) -> String {
        let own = || format!("{:016x}{:016x}", mix(facts.salt, u32::MAX), mix(facts.salt, 0));
        Value::from(self.rid.clone().unwrap_or_else(own)).to_string()
    }
}

impl Response for Generated {
    fn whole(&self, facts: &Facts<'_>) -> Whole {
        let mut text = Vec::new();
        frames::put_all(&mut text, facts);
        let mut meta = frames::meta_head(&self.id(facts), facts.prompt_tokens);
        frames::put_finish(&mut meta, Some(facts.finish), facts.tokens);
        for name in facts.tells_cached.then_some(CACHED).into_iter().chain([QUEUED, LATENCY]) {
            meta.push(b',');
            room::reserve(&mut meta, name);
        }
        text.extend_from_slice(&meta);
        text.extend_from_slice(b"}}");
        text.into()
    }

    fn settle(&self, bytes: &mut [u8], known: &KnownPrompt) {
        if let Some(cached) = known.start.and_then(|start| start.cached) {
            room::fill(bytes, CACHED, cached);
        }
        let queued = known.start.map_or(0, |start| start.queued);
        room::fill(bytes, QUEUED, frames::seconds(queued));
        room::fill(bytes, LATENCY, frames::seconds(known.last));
    }

    fn stream(&self, facts: &Facts<'_>) -> Option<Box<dyn Chunks>> {
        Some(Box::new(Generating::new(&self.id(facts), facts)))
    }
}

/// A reason in `finish_reason`. What the model stopped at is the end of its text.
fn finish(finish: AnswerFinish, tokens: u32) -> String {
    match finish {
        AnswerFinish::Stop => "{\"type\":\"stop\",\"matched\":2}".to_owned(),
        AnswerFinish::Length => format!("{{\"type\":\"length\",\"length\":{tokens}}}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::golden;
    use crate::api::words::word;
    use crate::fault::Quirk;
    use crate::framing::Frames;

    fn generated() -> Generated {
        Generated { rid: Some("run-7".to_owned()) }
    }

    /// A frame with these texts and ids.
    fn frame(tokens: std::ops::Range<u32>, finish: &str, more: &str) -> String {
        let text: String = tokens.clone().map(|k| word(7, k)).collect();
        let ids: Vec<_> = tokens.clone().map(|k| frames::id(7, k).to_string()).collect();
        format!(
            "data: {{\"text\":\"{text}\",\"output_ids\":[{}],\"meta_info\":{{\"id\":\"run-7\",\
             \"prompt_tokens\":11,\"weight_version\":\"default\",\"num_retractions\":0,\
             \"finish_reason\":{finish},\"completion_tokens\":{}{more}}}}}\n\n",
            ids.join(","),
            tokens.end
        )
    }

    fn streamed(quirks: &[Quirk]) -> String {
        let facts = golden::facts(quirks);
        let mut chunks = generated().stream(&facts).unwrap();
        chunks.start(crate::api::response::ResponseStart { cached: Some(4), queued: 25_000_000 });
        golden::streamed(Frames::Data, &mut *chunks, &facts)
    }

    const STARTED: &str = ",\"cached_tokens\":4,\"queue_time\":0.025,\
        \"forward_entry_time\":1700000000.275,\"prefill_finished_time\":1700000000.35";

    #[test]
    fn every_frame_repeats_the_text_so_far() {
        let frames = [
            frame(0..1, "null", STARTED),
            frame(0..2, "null", STARTED),
            frame(0..3, "null", STARTED),
            frame(
                0..4,
                "{\"type\":\"length\",\"length\":4}",
                &format!("{STARTED},\"e2e_latency\":0.16"),
            ),
            "data: [DONE]\n\n".to_owned(),
        ];
        assert_eq!(streamed(&[]), frames.concat());
    }

    #[test]
    fn with_incremental_output_a_frame_has_its_own_text_and_counts_all() {
        let frames = streamed(&[Quirk::IncrementalOutput]);
        assert!(frames.contains(&frame(1..2, "null", STARTED)), "{frames}");
        assert!(frames.contains(&frame(2..3, "null", STARTED)), "{frames}");
    }

    #[test]
    fn a_stream_that_fails_is_aborted_in_a_frame_like_the_others() {
        let facts = golden::facts(&[]);
        let failed = golden::failed(Frames::Data, &mut *generated().stream(&facts).unwrap());
        let abort = "{\"err_type\":\"InternalServerError\",\"message\":\"It broke.\",\
            \"status_code\":500,\"type\":\"abort\"}";
        assert_eq!(failed, frame(0..0, abort, "") + "data: [DONE]\n\n");
    }

    #[test]
    fn a_whole_response_is_the_last_frame() {
        let facts = golden::facts(&[]);
        let mut body = generated().whole(&facts).body;
        generated()
            .settle(&mut body, &KnownPrompt { start: None, first: 100, last: 1_500_000_000 });
        let body: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(body["text"].as_str().unwrap().split(' ').count(), 5);
        assert_eq!(body["output_ids"].as_array().unwrap().len(), 4);
        let meta = &body["meta_info"];
        assert_eq!(meta["finish_reason"], json!({"type": "length", "length": 4}));
        assert_eq!((&meta["completion_tokens"], &meta["prompt_tokens"]), (&json!(4), &json!(11)));
        assert_eq!((&meta["e2e_latency"], &meta["queue_time"]), (&json!(1.5), &json!(0.0)));
    }

    #[test]
    fn a_request_is_read_with_its_sampling() {
        let read = |bytes: &str| Generate.read(&golden::body(bytes));
        let ask = read(
            r#"{"text":"a b c","stream":true,"sampling_params":{"max_new_tokens":9,
            "min_new_tokens":3,"ignore_eos":true,"temperature":0.0}}"#,
        )
        .unwrap();
        let output = Output { max: Some(9), min: Some(3), endless: true, none: false };
        assert_eq!((ask.input(), ask.output, ask.stream), (3, output, true));
        let ids = read(r#"{"input_ids":[4,5]}"#).unwrap();
        assert_eq!((ids.input(), ids.output.max, ids.stream), (2, Some(128), false));
        for wrong in [r#"{"text":["a","b"]}"#, "{}", r#"{"text":"a","input_ids":[1]}"#] {
            assert_eq!(read(wrong).unwrap_err().status, 400, "{wrong}");
        }
    }
}
