//! The frames of a stream: by default each repeats the text and the ids so far.

use super::finish;
use crate::api::AnswerFinish;
use crate::api::response::{Chunks, Facts, ResponseStart, ResponseToken};
use crate::api::words::{accented, mix, word};
use crate::fault::{Quirk, Quirks};
use crate::framing::Out;
use dyno_model::Nanos;
use serde_json::json;
use std::io::Write;

const IDS: u64 = 30_000;

/// A stream under way.
#[derive(Debug)]
pub(super) struct Generating {
    /// What every `meta_info` begins with.
    head: Vec<u8>,
    quirks: Quirks,
    salt: u64,
    /// When the request was read, in nanoseconds since 1970.
    read_at: Nanos,
    start: Option<ResponseStart>,
    /// What every `meta_info` says of it, from the first token on.
    started: Vec<u8>,
    /// The text and the ids that the next frame repeats.
    text: Vec<u8>,
    ids: Vec<u8>,
    tokens: u32,
}

impl Generating {
    pub(super) fn new(id: &str, facts: &Facts<'_>) -> Self {
        Self {
            head: meta_head(id, facts.prompt_tokens),
            quirks: facts.quirks,
            salt: facts.salt,
            read_at: facts.start,
            start: None,
            started: Vec::new(),
            text: Vec::new(),
            ids: Vec::new(),
            tokens: 0,
        }
    }

    fn put(&self, out: &mut Vec<u8>, finish: &[u8], latency: Option<Nanos>) {
        put_output(out, &self.text, &self.ids);
        out.extend_from_slice(&self.head);
        out.extend_from_slice(finish);
        let _ = write!(out, ",\"completion_tokens\":{}", self.tokens);
        out.extend_from_slice(&self.started);
        if let Some(latency) = latency {
            let _ = write!(out, ",\"e2e_latency\":{}", seconds(latency));
        }
        out.extend_from_slice(b"}}");
    }

    /// Renders how the request started; its first token came at `first`.
    fn render_start(&mut self, start: ResponseStart, first: Nanos) {
        let out = &mut self.started;
        if let Some(cached) = start.cached {
            let _ = write!(out, ",\"cached_tokens\":{cached}");
        }
        let _ = write!(
            out,
            ",\"queue_time\":{},\"forward_entry_time\":{},\"prefill_finished_time\":{}",
            seconds(start.queued),
            seconds(self.read_at + start.queued),
            seconds(self.read_at + first)
        );
    }

    fn put_end(&self, out: &mut Out<'_>, end: AnswerFinish, at: Nanos) {
        let finish = finish(end, self.tokens);
        out.frame(|out| self.put(out, finish.as_bytes(), Some(at)));
    }
}

impl Chunks for Generating {
    fn start(&mut self, start: ResponseStart) {
        self.start = Some(start);
    }

    fn token(&mut self, out: &mut Out<'_>, token: ResponseToken, end: Option<AnswerFinish>) {
        if self.quirks.has(Quirk::IncrementalOutput) {
            self.text.clear();
            self.ids.clear();
        }
        if let Some(start) = self.start.take() {
            self.render_start(start, token.at);
        }
        let text = match self.quirks.has(Quirk::Split) {
            true => accented(self.salt, token.k),
            false => word(self.salt, token.k),
        };
        put_token(&mut self.text, &mut self.ids, text, id(self.salt, token.k));
        self.tokens = token.k + 1;
        match end {
            None => out.frame(|out| self.put(out, b"null", None)),
            Some(end) => self.put_end(out, end, token.at),
        }
    }

    fn end_without_tokens(&mut self, out: &mut Out<'_>, finish: AnswerFinish, at: Nanos) {
        self.put_end(out, finish, at);
    }

    fn close(&mut self, out: &mut Out<'_>, _at: Nanos) {
        if !self.quirks.has(Quirk::NoDone) {
            done(out);
        }
    }

    fn fail(&mut self, out: &mut Out<'_>, message: &str) {
        let abort = json!({
            "type": "abort",
            "message": message,
            "status_code": 500,
            "err_type": "InternalServerError",
        });
        out.frame(|out| self.put(out, abort.to_string().as_bytes(), None));
        done(out);
    }
}

pub(super) fn done(out: &mut Out<'_>) {
    out.last("", |out| out.extend_from_slice(b"[DONE]"));
}

/// The beginning of a frame with all tokens of a response.
pub(super) fn put_all(out: &mut Vec<u8>, facts: &Facts<'_>) {
    let (mut text, mut ids) = (Vec::new(), Vec::new());
    for k in 0..facts.tokens {
        put_token(&mut text, &mut ids, word(facts.salt, k), id(facts.salt, k));
    }
    put_output(out, &text, &ids);
}

fn put_token(text: &mut Vec<u8>, ids: &mut Vec<u8>, word: &str, id: u64) {
    text.extend_from_slice(word.as_bytes());
    if !ids.is_empty() {
        ids.push(b',');
    }
    let _ = write!(ids, "{id}");
}

fn put_output(out: &mut Vec<u8>, text: &[u8], ids: &[u8]) {
    out.extend_from_slice(b"{\"text\":\"");
    out.extend_from_slice(text);
    out.extend_from_slice(b"\",\"output_ids\":[");
    out.extend_from_slice(ids);
    out.extend_from_slice(b"],\"meta_info\":");
}

/// What `meta_info` begins with, up to the value of `finish_reason`.
pub(super) fn meta_head(id_json: &str, prompt_tokens: u32) -> Vec<u8> {
    format!(
        "{{\"id\":{id_json},\"prompt_tokens\":{prompt_tokens},\"weight_version\":\"default\",\
         \"num_retractions\":0,\"finish_reason\":"
    )
    .into_bytes()
}

/// The value of `finish_reason`, and how many tokens there are.
pub(super) fn put_finish(meta: &mut Vec<u8>, end: Option<AnswerFinish>, tokens: u32) {
    let finish = end.map_or_else(|| "null".to_owned(), |end| finish(end, tokens));
    let _ = write!(meta, "{finish},\"completion_tokens\":{tokens}");
}

/// The id of token `k`.
pub(super) fn id(salt: u64, k: u32) -> u64 {
    mix(salt, k) % IDS
}

/// Nanoseconds as seconds, to the microsecond.
pub(super) fn seconds(nanos: Nanos) -> String {
    let micros = (nanos + 500) / 1_000;
    let text = format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
    let trimmed = text.trim_end_matches('0');
    if trimmed.ends_with('.') { format!("{trimmed}0") } else { trimmed.to_owned() }
}
