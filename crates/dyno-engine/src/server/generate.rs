//! From a generation request to its response: checks, faults, and the stream or the whole body.

use super::head::{self, Sized};
use super::http::Request;
use super::routes::{Caller, Reply, Work, without_key};
use super::site::{Backend, Site};
use super::stream::{After, ResponseStream, StreamParts};
use crate::live::{Accepted, Due, LiveRequest};
use dyno_model::Nanos;
use dyno_model::units::to_s;
use dyno_respond::api::ask::Ask;
use dyno_respond::api::response::{Facts, KnownPrompt, Response, Whole};
use dyno_respond::api::{AnswerFinish, RequestBody, ServedApi};
use dyno_respond::fault::{Failure, Quirk, Selected};
use dyno_respond::framing::{Burst, ServedFraming, Transfer};
use std::hash::{DefaultHasher, Hash, Hasher};

/// The tokens of a reply to the preflight's question, unless the client forces a length.
const SHORT_REPLY: u32 = 3;

/// A response that is sent in one piece when it is due.
#[derive(Debug)]
pub(super) struct Later {
    /// When the last token is due; absent if the engine decides.
    pub(super) due: Option<Nanos>,
    /// What is sent then.
    pub(super) bytes: Vec<u8>,
    /// And what happens then.
    pub(super) after: After,
    response: Box<dyn Response>,
    /// Prompts that the engine has not finished.
    left: u64,
}

impl Later {
    /// One of its prompts is finished; whether all of them are, and the response is complete.
    pub(super) fn settled(&mut self, due: &Due) -> bool {
        self.left = self.left.saturating_sub(1);
        if self.left == 0 {
            let (first, last) = (due.began - due.arrived, due.came - due.arrived);
            self.response
                .settle(&mut self.bytes, &KnownPrompt { start: Some(due.start()), first, last });
        }
        self.left == 0
    }
}

/// A generation request, and what is to go wrong with it.
#[derive(Clone, Copy)]
struct Job<'a> {
    api: &'static dyn ServedApi,
    request: &'a Request,
    start: Nanos,
    caller: Caller,
    selected: Selected,
}

impl Job<'_> {
    fn keep(&self) -> bool {
        self.request.head.keep_alive
    }

    fn transfer(&self) -> Transfer {
        match self.request.head.http10 || self.selected.quirks.has(Quirk::CloseDelimited) {
            true => Transfer::Close,
            false => Transfer::Chunked,
        }
    }

    fn stream_head(&self) -> Vec<u8> {
        head::stream_head(self.api.frames(), self.transfer(), self.keep())
    }

    fn framing(&self) -> ServedFraming {
        ServedFraming::new(self.api.frames(), self.selected.quirks, self.transfer())
    }

    /// Why the request is refused, as a response or inside of a stream.
    fn refused(&self, status: u16, message: &str, streamed: bool) -> Reply {
        let mut burst = Burst::default();
        let mut framing = self.framing();
        if streamed && self.api.refuse_in_stream(&mut framing.out(&mut burst), status, message) {
            framing.end(&mut burst);
            let mut bytes = self.stream_head();
            bytes.extend(burst.writes().flatten());
            let keep_alive = self.keep() && self.transfer() == Transfer::Chunked;
            let after = if keep_alive { After::Done } else { After::Close };
            return Reply { keep_alive, ..Reply::ends(bytes, after) };
        }
        Reply::error(self.api, status, message, self.keep())
    }
}

impl Site {
    /// Answers a generation request that was read at `start`.
    pub(super) fn generate(
        &mut self,
        request: &Request,
        api: &'static dyn ServedApi,
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
        let job = Job { api, request, start, caller, selected };
        let mut reply = spoilt(&job).unwrap_or_else(|| self.answer(&job));
        if selected.failure == Some(Failure::Drop) && caller.earlier > 0 {
            // A client may resend a request that a reused connection lost; a request that kills the
            // engine does so every time.
            self.poisoned.push(body_hash);
        }
        reply.idle_close = selected.quirks.has(Quirk::IdleClose);
        reply.counts = !request.head.preflight;
        reply
    }

    fn answer(&mut self, job: &Job<'_>) -> Reply {
        let Selected { failure, quirks, .. } = job.selected;
        let block = self.live().and_then(|live| live.hashed_block());
        let dimensions = self.dimensions;
        let body = RequestBody { bytes: &job.request.body, quirks, block, dimensions };
        let ask = match job.api.read(&body) {
            Ok(ask) => ask,
            Err(refusal) => return Reply::refusal(job.api, &refusal, job.keep()),
        };
        if let Err((status, message)) = self.acceptable(&ask) {
            return job.refused(status, &message, ask.stream);
        }
        // To the preflight's question the model would reply with a few words.
        let natural = match job.request.head.preflight {
            true => self.tokens.min(SHORT_REPLY),
            false => self.tokens,
        };
        let (tokens, finish) = match (failure, ask.length(natural, self.context)) {
            (Some(Failure::Empty), _) => (0, AnswerFinish::Stop),
            (Some(Failure::Short), (tokens, _)) => (tokens / 2, AnswerFinish::Stop),
            (_, length) => length,
        };
        let facts = Facts {
            quirks,
            salt: self.seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(self.generations + 1),
            seed: self.seed,
            start: self.anchor_unix_ns + job.start,
            model_json: &self.model_json,
            prompt_tokens: ask.input(),
            tokens,
            finish,
            tells_cached: self.tells_cached(),
        };
        let wanted = ask.stream && !quirks.has(Quirk::NoStream);
        let chunks = wanted.then(|| ask.response.stream(&facts)).flatten();
        let whole = chunks.is_none().then(|| ask.response.whole(&facts));
        let silent = chunks.is_some() && failure == Some(Failure::StallHeaders);
        let asked = LiveRequest {
            connection: job.caller.token,
            prompts: &ask.prompts,
            output: if ask.output.none { 1 } else { tokens.max(1) },
            streamed: chunks.is_some(),
            finish,
            salt: facts.salt,
        };
        let taken = self.live().filter(|_| !silent).map(|live| live.submit(&asked, job.start));
        let accepted = match taken.transpose() {
            Ok(accepted) => accepted,
            Err(reason) => return job.refused(400, &reason.to_string(), ask.stream),
        };
        self.generations += 1;
        let Some(chunks) = chunks else {
            let last = if ask.output.none { 0 } else { tokens.saturating_sub(1) };
            let body = whole.unwrap_or_default();
            let later = self.later(job, ask.response, body, accepted, last);
            let keep_alive = job.keep();
            return Reply { accepted, keep_alive, ..Reply::works(Vec::new(), Work::Later(later)) };
        };
        let head = job.stream_head();
        if silent {
            return Reply::ends(head, After::Hold);
        }
        let stream = ResponseStream::new(StreamParts {
            pace: self.pace(job.start),
            chunks,
            framing: job.framing(),
            quirks,
            failure,
            tokens,
            finish,
        });
        let keep_alive = job.keep() && job.transfer() == Transfer::Chunked;
        Reply { accepted, keep_alive, ..Reply::works(head, Work::Stream(Box::new(stream))) }
    }

    /// Whether a request can be served; else the status and what is wrong with it.
    fn acceptable(&self, ask: &Ask) -> Result<(), (u16, String)> {
        if let Some(model) = ask.model.as_ref().filter(|model| **model != self.model) {
            return Err((404, format!("The model `{model}` does not exist.")));
        }
        ask.complaint(self.context).map_or(Ok(()), |complaint| Err((400, complaint)))
    }

    /// A response that is not streamed. A stream's failures become their nearest equivalent.
    fn later(
        &self,
        job: &Job<'_>,
        response: Box<dyn Response>,
        whole: Whole,
        accepted: Option<Accepted>,
        last: u32,
    ) -> Box<Later> {
        let (failure, keep) = (job.selected.failure, job.keep());
        let mut body = match failure {
            Some(Failure::ErrorEvent) => {
                job.api.error(500, "The engine died during this response.")
            }
            Some(Failure::NotJson) => b"this is not JSON".to_vec(),
            Some(Failure::Oversize) => vec![b'x'; 21 * 1024 * 1024],
            _ => whole.body,
        };
        if let Some(Failure::Truncate | Failure::TruncateEvent) = failure {
            body.truncate(body.len() / 2);
        }
        let head = Sized { headers: &whole.headers, ..Sized::json(200, keep) };
        let mut bytes = head.with(&body);
        let in_the_middle = bytes.len() - body.len() / 2;
        let after = match failure {
            Some(Failure::Reset) => After::Reset,
            Some(Failure::Close) => After::Close,
            Some(Failure::Stall | Failure::StallHeaders | Failure::Drip) => After::Hold,
            Some(Failure::BadChunk) => {
                bytes = head::stream_head(job.api.frames(), Transfer::Chunked, keep);
                bytes.extend_from_slice(b"zz\r\n{}\r\n");
                After::Hold
            }
            _ => After::Done,
        };
        if after != After::Done {
            bytes.truncate(in_the_middle);
        }
        let left = accepted.map_or(0, Accepted::count);
        let mut later = Later { due: None, bytes, after, response, left };
        if let Backend::Scripted(script) = &self.backend {
            let script = script.at(job.start);
            let known = KnownPrompt { start: None, first: script.due(0), last: script.due(last) };
            later.response.settle(&mut later.bytes, &known);
            later.due = Some(job.start.saturating_add(known.last));
        }
        Box::new(later)
    }
}

/// The response to a request that gets no proper one.
fn spoilt(job: &Job<'_>) -> Option<Reply> {
    let Selected { failure, quirks, .. } = job.selected;
    if let Some(reply) = without_key(job.api, job.request, quirks) {
        return Some(reply);
    }
    if quirks.has(Quirk::IdleCloseRace) && job.caller.earlier > 0 {
        return Some(Reply::ends(Vec::new(), After::Close));
    }
    match failure? {
        Failure::Drop => Some(Reply::ends(Vec::new(), After::Close)),
        Failure::StallFirst => Some(Reply::ends(Vec::new(), After::Hold)),
        Failure::Garbage => {
            let garbage = b"\x00\x01 this is not HTTP at all \xff\xfe\r\n\r\n".to_vec();
            Some(Reply::ends(garbage, After::Close))
        }
        Failure::Http(status) => {
            let message = "The engine was told to refuse this request.";
            let mut reply = Reply::error(job.api, status, message, job.keep());
            if let Some(time) = job.selected.retry_after {
                head::add(&mut reply.now, &format!("Retry-After: {}", to_s(time)));
            }
            Some(reply)
        }
        Failure::JsonError => {
            let message = "The engine failed, and its front end did not notice.";
            Some(Reply::json(200, &job.api.error(500, message), job.keep()))
        }
        _ => None,
    }
}

fn hash(body: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    body.hash(&mut hasher);
    hasher.finish()
}
