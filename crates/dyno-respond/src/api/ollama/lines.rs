//! The lines of a stream.

use super::{Durations, Endpoint, finish_name};
use crate::api::AnswerFinish;
use crate::api::response::{Chunks, Facts, ResponseStart, ResponseToken};
use crate::api::words::{accented, word};
use crate::fault::{Quirk, Quirks};
use crate::framing::Out;
use dyno_model::Nanos;
use dyno_model::when::utc;
use serde_json::json;
use std::io::Write;

const SECOND: Nanos = 1_000_000_000;

/// What a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Content,
    Thinking,
}

/// A stream under way.
#[derive(Debug)]
pub(super) struct Lines {
    endpoint: Endpoint,
    quirks: Quirks,
    salt: u64,
    model_json: Box<str>,
    /// When the request was read, in nanoseconds since 1970.
    read_at: Nanos,
    /// The second of the last line, since 1970 and as text.
    second: (u64, String),
    prompt_tokens: u32,
    tokens: u32,
    finish: AnswerFinish,
    queued: Nanos,
    /// When the first token came, since the request was read.
    first: Nanos,
}

impl Lines {
    pub(super) fn new(endpoint: Endpoint, facts: &Facts<'_>) -> Self {
        Self {
            endpoint,
            quirks: facts.quirks,
            salt: facts.salt,
            model_json: facts.model_json.into(),
            read_at: facts.start,
            second: (0, String::new()),
            prompt_tokens: facts.prompt_tokens,
            tokens: facts.tokens,
            finish: facts.finish,
            queued: 0,
            first: 0,
        }
    }

    /// Keeps the text of the second `at`, since the request; the nanoseconds after it.
    fn tell_time(&mut self, at: Nanos) -> Nanos {
        let now = self.read_at + at;
        if self.second.0 != now / SECOND {
            self.second = (now / SECOND, second(now));
        }
        now % SECOND
    }

    fn put_last(&self, out: &mut Vec<u8>, at: Nanos, nanos: Nanos) {
        put_head(out, &self.model_json, &self.second.1, nanos);
        put_text(out, self.endpoint, Kind::Content, "");
        put_done(out, self.finish);
        let first = if self.tokens == 0 { at } else { self.first };
        let durations = Durations::new(self.queued, first, at);
        for (name, duration) in [
            ("total_duration", durations.total),
            ("prompt_eval_duration", durations.prefill),
            ("eval_duration", durations.decode),
        ] {
            put_unless_zero(out, name, duration);
        }
        put_counts(out, self.prompt_tokens, self.tokens);
        out.push(b'}');
    }
}

impl Chunks for Lines {
    fn start(&mut self, start: ResponseStart) {
        self.queued = start.queued;
    }

    fn token(&mut self, out: &mut Out<'_>, token: ResponseToken, _end: Option<AnswerFinish>) {
        if token.k == 0 {
            self.first = token.at;
        }
        let thinks = self.quirks.has(Quirk::Reasoning) && token.k < self.tokens / 2;
        let kind = if thinks { Kind::Thinking } else { Kind::Content };
        let text = match self.quirks.has(Quirk::Split) {
            true => accented(self.salt, token.k),
            false => word(self.salt, token.k),
        };
        let nanos = self.tell_time(token.at);
        out.frame(|out| {
            put_head(out, &self.model_json, &self.second.1, nanos);
            put_text(out, self.endpoint, kind, text);
            out.extend_from_slice(b",\"done\":false}");
        });
    }

    fn end_without_tokens(&mut self, _out: &mut Out<'_>, _finish: AnswerFinish, _at: Nanos) {}

    fn close(&mut self, out: &mut Out<'_>, at: Nanos) {
        let nanos = self.tell_time(at);
        out.last("", |out| self.put_last(out, at, nanos));
    }

    fn fail(&mut self, out: &mut Out<'_>, message: &str) {
        let error = json!({"error": message}).to_string();
        out.last("", |out| out.extend_from_slice(error.as_bytes()));
    }
}

/// The second of a moment since 1970, without its zone.
pub(super) fn second(unix_ns: Nanos) -> String {
    utc(unix_ns).trim_end_matches('Z').to_owned()
}

/// What every line begins with.
pub(super) fn put_head(out: &mut Vec<u8>, model_json: &str, second: &str, nanos: Nanos) {
    let _ = write!(out, "{{\"model\":{model_json},\"created_at\":\"{second}.{nanos:09}Z\",");
}

/// The text of a line, in the field of its endpoint.
pub(super) fn put_text(out: &mut Vec<u8>, endpoint: Endpoint, kind: Kind, text: &str) {
    let _ = match (endpoint, kind) {
        (Endpoint::Chat, Kind::Content) => {
            write!(out, "\"message\":{{\"role\":\"assistant\",\"content\":\"{text}\"}}")
        }
        (Endpoint::Chat, Kind::Thinking) => write!(
            out,
            "\"message\":{{\"role\":\"assistant\",\"content\":\"\",\"thinking\":\"{text}\"}}"
        ),
        (Endpoint::Generate, Kind::Content) => write!(out, "\"response\":\"{text}\""),
        (Endpoint::Generate, Kind::Thinking) => {
            write!(out, "\"response\":\"\",\"thinking\":\"{text}\"")
        }
    };
}

/// That it is over, and why.
pub(super) fn put_done(out: &mut Vec<u8>, finish: AnswerFinish) {
    let _ = write!(out, ",\"done\":true,\"done_reason\":\"{}\"", finish_name(finish));
}

/// How many tokens there were.
pub(super) fn put_counts(out: &mut Vec<u8>, prompt: u32, output: u32) {
    put_unless_zero(out, "prompt_eval_count", prompt.into());
    put_unless_zero(out, "eval_count", output.into());
}

/// Ollama leaves out what is zero.
fn put_unless_zero(out: &mut Vec<u8>, name: &str, number: u64) {
    if number > 0 {
        let _ = write!(out, ",\"{name}\":{number}");
    }
}
