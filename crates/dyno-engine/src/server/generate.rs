//! From a generation request to its answer: checks, faults, and the stream or the whole body.

use super::framing::Framing;
use super::head::{self, Transfer};
use super::http::Request;
use super::routes::{Reply, Site, Work};
use super::stream::{After, Stream, StreamParts, UsageAsked};
use crate::fault::{Failure, Quirk, Quirks, Selected};
use crate::openai::chunk::{Voice, VoiceParts};
use crate::openai::request::Ask;
use crate::openai::{Endpoint, Finish, answer};
use dyno_core::Nanos;
use std::hash::{DefaultHasher, Hash, Hasher};

/// An answer that is sent in one piece when it is due.
#[derive(Debug)]
pub(super) struct Later {
    /// When the last token is due.
    pub(super) due: Nanos,
    /// What is sent then.
    pub(super) bytes: Vec<u8>,
    /// And what happens then.
    pub(super) after: After,
}

impl Site {
    /// Answers a generation request that was read at `start`, the `earlier`-th but one on its
    /// connection.
    pub(super) fn generate(
        &mut self,
        request: &Request,
        endpoint: Endpoint,
        start: Nanos,
        earlier: u64,
    ) -> Reply {
        let body_hash = hash(&request.body);
        if earlier == 0
            && let Some(at) = self.poisoned.iter().position(|hash| *hash == body_hash)
        {
            self.poisoned.swap_remove(at);
            return Reply::ends(Vec::new(), After::Close);
        }
        let selected = self.faults.select(request.head.preflight);
        let mut reply = self.answer(request, endpoint, start, earlier, selected);
        if selected.failure == Some(Failure::Drop) && earlier > 0 {
            // A client may send a request again that a reused connection swallowed; one that
            // kills the engine does so again.
            self.poisoned.push(body_hash);
        }
        reply.idle_close = selected.quirks.has(Quirk::IdleClose);
        reply
    }

    fn answer(
        &mut self,
        request: &Request,
        endpoint: Endpoint,
        start: Nanos,
        earlier: u64,
        Selected { failure, quirks }: Selected,
    ) -> Reply {
        let keep = request.head.keep_alive;
        if quirks.has(Quirk::Auth) && !has_key(request) {
            return Reply::error(401, "Invalid API key: send Authorization: Bearer sesame.", keep);
        }
        if quirks.has(Quirk::IdleCloseRace) && earlier > 0 {
            return Reply::ends(Vec::new(), After::Close);
        }
        match failure {
            Some(Failure::Drop) => return Reply::ends(Vec::new(), After::Close),
            Some(Failure::StallFirst) => return Reply::ends(Vec::new(), After::Hold),
            Some(Failure::Garbage) => {
                let garbage = b"\x00\x01 this is not HTTP at all \xff\xfe\r\n\r\n".to_vec();
                return Reply::ends(garbage, After::Close);
            }
            Some(Failure::Http(status)) => {
                return Reply::error(status, "The engine was told to refuse this request.", keep);
            }
            Some(Failure::JsonError) => {
                let body = answer::error(500, "The engine failed, and its front end did not see.");
                return Reply::json(200, &body, keep);
            }
            _ => {}
        }
        let ask = match Ask::parse(&request.body) {
            Ok(ask) => ask,
            Err(message) => return Reply::error(400, &message, keep),
        };
        if let Some(refusal) = refusal(&ask, quirks, keep) {
            return refusal;
        }
        if let Some(model) = ask.model.as_ref().filter(|model| **model != self.model) {
            return Reply::error(404, &format!("The model `{model}` does not exist."), keep);
        }
        let Some(prompt_tokens) = ask.prompt_tokens(endpoint == Endpoint::Chat) else {
            let field = if endpoint == Endpoint::Chat { "messages" } else { "prompt" };
            return Reply::error(400, &format!("The field `{field}` is required."), keep);
        };
        if let Some(complaint) = ask.complaint(self.script.context, prompt_tokens) {
            return Reply::error(400, &complaint, keep);
        }
        let (tokens, finish) = ask.length(self.script.tokens);
        self.generations += 1;
        let parts = VoiceParts {
            endpoint,
            quirks,
            salt: self.seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(self.generations),
            created: (self.anchor_unix_ns + start) / 1_000_000_000,
            model_json: &self.model_json,
            prompt_tokens,
            tokens,
        };
        if !ask.stream() || quirks.has(Quirk::NoStream) {
            return self.whole(&parts, finish, failure, start, keep);
        }
        let transfer = match request.head.http10 || quirks.has(Quirk::CloseDelimited) {
            true => Transfer::Close,
            false => Transfer::Chunked,
        };
        let head = head::stream_head(transfer, keep);
        if failure == Some(Failure::StallHeaders) {
            return Reply::ends(head, After::Hold);
        }
        let stream = Stream::new(StreamParts {
            start,
            script: self.script,
            voice: Voice::new(&parts),
            framing: Framing::new(quirks, transfer),
            quirks,
            usage: UsageAsked { at_end: ask.include_usage(), in_each: ask.continuous_usage() },
            failure,
            tokens,
            finish,
        });
        let mut reply = Reply::works(head, Work::Stream(Box::new(stream)));
        reply.keep_alive = keep && transfer == Transfer::Chunked;
        reply
    }

    /// An answer that is not streamed. A stream's failures become their nearest equivalent.
    fn whole(
        &self,
        parts: &VoiceParts<'_>,
        finish: Finish,
        failure: Option<Failure>,
        start: Nanos,
        keep: bool,
    ) -> Reply {
        let (tokens, finish) = match failure {
            Some(Failure::Empty) => (0, Finish::Stop),
            Some(Failure::Short) => (parts.tokens / 2, Finish::Stop),
            _ => (parts.tokens, finish),
        };
        let mut body = match failure {
            Some(Failure::ErrorEvent) => answer::error(500, "The engine died in this answer."),
            Some(Failure::NotJson) => b"this is not JSON".to_vec(),
            Some(Failure::Oversize) => vec![b'x'; 21 * 1024 * 1024],
            _ => answer::completion(parts, tokens, finish),
        };
        if let Some(Failure::Truncate | Failure::TruncateEvent) = failure {
            body.truncate(body.len() / 2);
        }
        let mut bytes = head::json(200, &body, keep);
        let in_the_middle = bytes.len() - body.len() / 2;
        let after = match failure {
            Some(Failure::Reset) => After::Reset,
            Some(Failure::Close) => After::Close,
            Some(Failure::Stall | Failure::StallHeaders | Failure::Drip) => After::Hold,
            Some(Failure::BadChunk) => {
                bytes = head::stream_head(Transfer::Chunked, keep);
                bytes.extend_from_slice(b"zz\r\n{}\r\n");
                After::Hold
            }
            _ => After::Done,
        };
        if after != After::Done {
            bytes.truncate(in_the_middle);
        }
        let due = start.saturating_add(self.script.due(tokens.saturating_sub(1)));
        let mut reply =
            Reply::works(Vec::new(), Work::Later(Box::new(Later { due, bytes, after })));
        reply.keep_alive = keep;
        reply
    }
}

/// The refusals of optional fields that some servers show.
fn refusal(ask: &Ask, quirks: Quirks, keep: bool) -> Option<Reply> {
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

/// Whether the request carries the key that the quirk `auth` wants.
pub(super) fn has_key(request: &Request) -> bool {
    request.head.authorization.as_deref() == Some("Bearer sesame")
}

fn hash(body: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    body.hash(&mut hasher);
    hasher.finish()
}
