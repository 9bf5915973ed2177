//! From a generation request to its response: checks, faults, and the stream or the whole body.

use super::framing::Framing;
use super::head::{self, Transfer};
use super::http::Request;
use super::refusal::{has_key, refusal};
use super::routes::{Caller, Reply, Work};
use super::site::{Backend, Site};
use super::stream::{After, Stream, StreamParts, UsageAsked};
use crate::fault::{Failure, Quirk, Selected};
use crate::live::LiveRequest;
use crate::openai::chunk::{ChunkParts, ChunkWriter};
use crate::openai::prompt::{Counted, Hashed, Words};
use crate::openai::request::Ask;
use crate::openai::{Endpoint, Finish, answer};
use dyno_model::Nanos;
use dyno_model::units::to_s;
use std::hash::{DefaultHasher, Hash, Hasher};

/// A response that is sent in one piece when it is due.
#[derive(Debug)]
pub(super) struct Later {
    /// When the last token is due; absent if the engine decides.
    pub(super) due: Option<Nanos>,
    /// What is sent then.
    pub(super) bytes: Vec<u8>,
    /// And what happens then.
    pub(super) after: After,
}

/// How a request is to be read.
#[derive(Debug, Clone, Copy)]
struct Read {
    endpoint: Endpoint,
    start: Nanos,
    caller: Caller,
    selected: Selected,
    /// Tokens that a block holds, where prompts are hashed.
    block: u32,
}

impl Site {
    /// Answers a generation request that was read at `start`.
    pub(super) fn generate(
        &mut self,
        request: &Request,
        endpoint: Endpoint,
        start: Nanos,
        caller: Caller,
    ) -> Reply {
        let body_hash = hash(&request.body);
        if caller.earlier == 0
            && let Some(at) = self.poisoned.iter().position(|hash| *hash == body_hash)
        {
            self.poisoned.swap_remove(at);
            return Reply::ends(Vec::new(), After::Close);
        }
        let selected = self.faults.select(request.head.preflight);
        let mut reply = match self.spoilt(request, caller, selected) {
            Some(reply) => reply,
            None => match self.live().and_then(|live| live.hashed_block()) {
                Some(block) => {
                    let hashed = Read { endpoint, start, caller, selected, block };
                    self.answer::<Hashed>(request, hashed)
                }
                None => {
                    let counted = Read { endpoint, start, caller, selected, block: 1 };
                    self.answer::<Counted>(request, counted)
                }
            },
        };
        if selected.failure == Some(Failure::Drop) && caller.earlier > 0 {
            // A client may resend a request that a reused connection lost; a request that kills the
            // engine does so every time.
            self.poisoned.push(body_hash);
        }
        reply.idle_close = selected.quirks.has(Quirk::IdleClose);
        reply.counts = !request.head.preflight;
        reply
    }

    /// The response to a request that gets no proper one.
    fn spoilt(&self, request: &Request, caller: Caller, selected: Selected) -> Option<Reply> {
        let keep = request.head.keep_alive;
        if selected.quirks.has(Quirk::Auth) && !has_key(request) {
            let message = "Invalid API key: send Authorization: Bearer sesame.";
            return Some(Reply::error(401, message, keep));
        }
        if selected.quirks.has(Quirk::IdleCloseRace) && caller.earlier > 0 {
            return Some(Reply::ends(Vec::new(), After::Close));
        }
        match selected.failure? {
            Failure::Drop => Some(Reply::ends(Vec::new(), After::Close)),
            Failure::StallFirst => Some(Reply::ends(Vec::new(), After::Hold)),
            Failure::Garbage => {
                let garbage = b"\x00\x01 this is not HTTP at all \xff\xfe\r\n\r\n".to_vec();
                Some(Reply::ends(garbage, After::Close))
            }
            Failure::Http(status) => {
                let message = "The engine was told to refuse this request.";
                let mut reply = Reply::error(status, message, keep);
                if let Some(time) = selected.retry_after {
                    head::add(&mut reply.now, &format!("Retry-After: {}", to_s(time)));
                }
                Some(reply)
            }
            Failure::JsonError => {
                let body =
                    answer::error(500, "The engine failed, and its front end did not notice.");
                Some(Reply::json(200, &body, keep))
            }
            _ => None,
        }
    }

    fn answer<W: Words>(&mut self, request: &Request, read: Read) -> Reply {
        let Read { endpoint, start, selected: Selected { failure, quirks, .. }, .. } = read;
        let keep = request.head.keep_alive;
        let refused = |message: &str| Reply::error(400, message, keep);
        let ask = match Ask::<W>::parse(&request.body) {
            Ok(ask) => ask,
            Err(message) => return refused(&message),
        };
        if let Some(refusal) = refusal(&ask, quirks, keep) {
            return refusal;
        }
        if let Some(model) = ask.model.as_ref().filter(|model| **model != self.model) {
            return Reply::error(404, &format!("The model `{model}` does not exist."), keep);
        }
        let prompt = match ask.prompt(endpoint) {
            Ok(prompt) => prompt,
            Err(message) => return refused(&message),
        };
        let input = prompt.tokens();
        if let Some(complaint) = ask.complaint(self.context, input) {
            return refused(&complaint);
        }
        let (tokens, finish) = match (failure, ask.length(self.tokens, self.context - input)) {
            (Some(Failure::Empty), _) => (0, Finish::Stop),
            (Some(Failure::Short), (tokens, _)) => (tokens / 2, Finish::Stop),
            (_, length) => length,
        };
        let streamed = ask.stream() && !quirks.has(Quirk::NoStream);
        let silent = streamed && failure == Some(Failure::StallHeaders);
        let (hashes, connection) = (prompt.hashes(read.block), read.caller.token);
        let output = tokens.max(1);
        let asked = LiveRequest { connection, input, output, hashes: &hashes, streamed, finish };
        let taken = self.live().filter(|_| !silent).map(|live| live.submit(&asked, start));
        let taken = match taken.transpose() {
            Ok(taken) => taken,
            Err(reason) => return refused(&reason.to_string()),
        };
        self.generations += 1;
        let parts = ChunkParts {
            endpoint,
            quirks,
            salt: self.seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(self.generations),
            created: (self.anchor_unix_ns + start) / 1_000_000_000,
            model_json: &self.model_json,
            prompt_tokens: input,
            tokens,
            tells_cached: self.tells_cached(),
        };
        if !streamed {
            let reply = self.whole(&parts, finish, failure, start, keep);
            return Reply { request: taken, ..reply };
        }
        let transfer = match request.head.http10 || quirks.has(Quirk::CloseDelimited) {
            true => Transfer::Close,
            false => Transfer::Chunked,
        };
        let head = head::stream_head(transfer, keep);
        if silent {
            return Reply::ends(head, After::Hold);
        }
        let stream = Stream::new(StreamParts {
            pace: self.pace(start),
            chunks: ChunkWriter::new(&parts),
            framing: Framing::new(quirks, transfer),
            quirks,
            usage: UsageAsked { at_end: ask.include_usage(), in_each: ask.continuous_usage() },
            failure,
            tokens,
            finish,
        });
        let keep_alive = keep && transfer == Transfer::Chunked;
        let work = Work::Stream(Box::new(stream));
        Reply { request: taken, keep_alive, ..Reply::works(head, work) }
    }

    /// A response that is not streamed. A stream's failures become their nearest equivalent.
    fn whole(
        &self,
        parts: &ChunkParts<'_>,
        finish: Finish,
        failure: Option<Failure>,
        start: Nanos,
        keep: bool,
    ) -> Reply {
        let mut body = match failure {
            Some(Failure::ErrorEvent) => {
                answer::error(500, "The engine died during this response.")
            }
            Some(Failure::NotJson) => b"this is not JSON".to_vec(),
            Some(Failure::Oversize) => vec![b'x'; 21 * 1024 * 1024],
            _ => answer::completion(parts, finish),
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
        let due = match &self.backend {
            Backend::Scripted(script) => {
                Some(start.saturating_add(script.due(parts.tokens.saturating_sub(1))))
            }
            Backend::Twin(_) => None,
        };
        let mut reply =
            Reply::works(Vec::new(), Work::Later(Box::new(Later { due, bytes, after })));
        reply.keep_alive = keep;
        reply
    }
}

fn hash(body: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    body.hash(&mut hasher);
    hasher.finish()
}
