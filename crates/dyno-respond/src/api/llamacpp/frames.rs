//! The frames of a stream.

use super::{Done, Reply, error, millis};
use crate::api::AnswerFinish;
use crate::api::response::{Chunks, Facts, ResponseStart, ResponseToken};
use crate::api::words::{accented, mix, word};
use crate::fault::{Quirk, Quirks};
use crate::framing::Out;
use dyno_model::Nanos;
use std::io::Write;

/// How many ids a tokenizer has.
const IDS: u64 = 32_000;

/// A stream under way.
#[derive(Debug)]
pub(super) struct Completing {
    reply: Reply,
    quirks: Quirks,
    salt: u64,
    model_json: Box<str>,
    tokens: u32,
    finish: AnswerFinish,
    start: Option<ResponseStart>,
    /// When the first token came, since the request was read.
    first: Option<Nanos>,
}

impl Completing {
    pub(super) fn new(reply: Reply, facts: &Facts<'_>) -> Self {
        Self {
            reply,
            quirks: facts.quirks,
            salt: facts.salt,
            model_json: facts.model_json.into(),
            tokens: 0,
            finish: facts.finish,
            start: None,
            first: None,
        }
    }

    fn timings(&self, at: Nanos) -> Vec<u8> {
        let mut timings = b"{".to_vec();
        let cached = self.start.and_then(|start| start.cached);
        if let Some(cached) = cached {
            let _ = write!(timings, "\"cache_n\":{cached},");
        }
        let computed = self.reply.prompt_tokens.saturating_sub(cached.unwrap_or(0));
        let queued = self.start.map_or(0, |start| start.queued);
        let first = self.first.unwrap_or(at);
        let _ = write!(
            timings,
            "\"prompt_n\":{computed},\"prompt_ms\":{},\"predicted_n\":{},\"predicted_ms\":{}}}",
            millis(first.saturating_sub(queued)),
            self.tokens,
            millis(at.saturating_sub(first))
        );
        timings
    }
}

impl Chunks for Completing {
    fn start(&mut self, start: ResponseStart) {
        self.start = Some(start);
    }

    fn token(&mut self, out: &mut Out<'_>, token: ResponseToken, _end: Option<AnswerFinish>) {
        self.first.get_or_insert(token.at);
        self.tokens = token.k + 1;
        let text = match self.quirks.has(Quirk::Split) {
            true => accented(self.salt, token.k),
            false => word(self.salt, token.k),
        };
        out.frame(|out| {
            let _ = write!(
                out,
                "{{\"index\":0,\"content\":\"{text}\",\"tokens\":[{}],\"stop\":false,\"id_slot\":-1,\
                 \"tokens_predicted\":{},\"tokens_evaluated\":{}}}",
                id(self.salt, token.k),
                self.tokens,
                self.reply.prompt_tokens
            );
        });
    }

    fn end_without_tokens(&mut self, _out: &mut Out<'_>, _finish: AnswerFinish, _at: Nanos) {}

    fn close(&mut self, out: &mut Out<'_>, at: Nanos) {
        let done = Done { model_json: &self.model_json, tokens: self.tokens, finish: self.finish };
        let last = self.reply.last("", &done, &self.timings(at));
        out.last("", |out| out.extend_from_slice(&last));
    }

    fn fail(&mut self, out: &mut Out<'_>, message: &str) {
        let error = error(500, message);
        out.last("", |out| out.extend_from_slice(error.as_bytes()));
    }
}

/// The id of token `k`.
pub(super) fn id(salt: u64, k: u32) -> u64 {
    mix(salt, k) % IDS
}
