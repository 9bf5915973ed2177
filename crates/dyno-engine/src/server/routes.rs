//! What the server answers to each request: a function of the request and of the site's state,
//! without sockets.

use super::ServerOptions;
use super::generate::{Later, has_key};
use super::head;
use super::http::Request;
use super::stream::{After, Stream};
use crate::fault::{Quirk, Selector};
use crate::openai::request::Ask;
use crate::openai::{Endpoint, answer};
use crate::script::Script;
use crate::slip::Slip;
use dyno_core::Nanos;

/// What is left to do for an answer.
#[derive(Debug)]
pub(super) enum Work {
    /// Nothing but to send the bytes at hand.
    Over(After),
    /// Tokens, each at its time.
    Stream(Box<Stream>),
    /// One piece at its time.
    Later(Box<Later>),
}

/// The answer to a request.
#[derive(Debug)]
pub(super) struct Reply {
    /// Sent at once.
    pub(super) now: Vec<u8>,
    /// What follows.
    pub(super) work: Work,
    /// Whether the connection may carry further requests.
    pub(super) keep_alive: bool,
    /// Whether the connection is closed when it is idle for a while.
    pub(super) idle_close: bool,
}

impl Reply {
    /// Bytes with work to follow.
    pub(super) fn works(now: Vec<u8>, work: Work) -> Self {
        Self { now, work, keep_alive: true, idle_close: false }
    }

    /// Bytes, and then that is that.
    pub(super) fn ends(now: Vec<u8>, after: After) -> Self {
        Self::works(now, Work::Over(after))
    }

    /// A whole answer of JSON.
    pub(super) fn json(status: u16, body: &[u8], keep_alive: bool) -> Self {
        let bytes = head::json(status, body, keep_alive);
        Self { keep_alive, ..Self::ends(bytes, After::Done) }
    }

    /// An error in OpenAI's form.
    pub(super) fn error(status: u16, message: &str, keep_alive: bool) -> Self {
        Self::json(status, &answer::error(status, message), keep_alive)
    }
}

/// Everything that answers depend on.
#[derive(Debug)]
pub(super) struct Site {
    pub(super) script: Script,
    pub(super) faults: Selector,
    pub(super) model: String,
    pub(super) model_json: String,
    pub(super) seed: u64,
    pub(super) anchor_unix_ns: u64,
    pub(super) slip: Slip,
    /// Answers begun.
    pub(super) generations: u64,
    /// Answers under way.
    pub(super) running: u64,
    /// Hashes of requests that were dropped and shall be again.
    pub(super) poisoned: Vec<u64>,
}

impl Site {
    /// vLLM's `/tokenize`, for a tokenizer whose tokens are words.
    fn tokenize(&self, request: &Request, keep_alive: bool) -> Reply {
        let asked = Ask::parse(&request.body);
        let count = asked.map(|ask| ask.prompt_tokens(true).or(ask.prompt_tokens(false)));
        match count {
            Ok(Some(count)) => {
                let context = self.script.context;
                let body = format!("{{\"count\":{count},\"max_model_len\":{context}}}");
                Reply::json(200, body.as_bytes(), keep_alive)
            }
            Ok(None) => Reply::error(400, "There is no prompt and no messages.", keep_alive),
            Err(words) => Reply::error(400, &words, keep_alive),
        }
    }

    /// The site before its first request.
    pub(super) fn new(options: ServerOptions, anchor_unix_ns: u64) -> Self {
        let model_json = serde_json::Value::from(options.model.as_str()).to_string();
        Self {
            script: options.script,
            faults: Selector::new(options.faults),
            model: options.model,
            model_json,
            seed: options.seed,
            anchor_unix_ns,
            slip: Slip::default(),
            generations: 0,
            running: 0,
            poisoned: Vec::new(),
        }
    }

    /// Answers a request that was read at `now` and had `earlier` others before it on its
    /// connection.
    pub(super) fn respond(&mut self, request: &Request, now: Nanos, earlier: u64) -> Reply {
        let keep = request.head.keep_alive;
        let (method, path) = (request.head.method.as_str(), request.head.path.as_str());
        match (method, path) {
            ("POST", "/v1/chat/completions") => {
                self.generate(request, Endpoint::Chat, now, earlier)
            }
            ("POST", "/v1/completions") => {
                self.generate(request, Endpoint::Completions, now, earlier)
            }
            ("POST", "/tokenize") => self.tokenize(request, keep),
            ("GET", "/v1/models") if self.faults.has(Quirk::Models500) => {
                Reply::error(500, "The list of models is out of order.", keep)
            }
            ("GET", "/v1/models") if self.faults.has(Quirk::Auth) && !has_key(request) => {
                Reply::error(401, "Invalid API key: send Authorization: Bearer sesame.", keep)
            }
            ("GET", "/v1/models") => {
                let created = self.anchor_unix_ns / 1_000_000_000;
                let body = answer::models(&self.model, created, self.script.context);
                Reply::json(200, &body, keep)
            }
            ("GET", "/health") => Reply::json(200, b"{\"status\":\"ok\"}", keep),
            ("GET", "/dyno/slip") => self.slip(request, keep),
            ("GET", "/metrics") => {
                let bytes = head::text(200, &self.metrics(), keep);
                Reply { keep_alive: keep, ..Reply::ends(bytes, After::Done) }
            }
            (_, "/v1/chat/completions" | "/v1/completions" | "/tokenize") => {
                Reply::error(405, &format!("{path} takes POST, not {method}."), keep)
            }
            (_, "/v1/models" | "/health" | "/dyno/slip" | "/metrics") => {
                Reply::error(405, &format!("{path} takes GET, not {method}."), keep)
            }
            _ => Reply::error(404, &format!("There is nothing at {path}."), keep),
        }
    }

    fn slip(&mut self, request: &Request, keep: bool) -> Reply {
        let body = serde_json::to_vec(&self.slip.snapshot()).unwrap_or_default();
        if request.head.query.split('&').any(|pair| pair == "reset=1") {
            self.slip.reset();
        }
        Reply::json(200, &body, keep)
    }

    fn metrics(&self) -> String {
        let (running, total) = (self.running, self.generations);
        self.slip.prometheus()
            + &format!(
                "# HELP dyno_engine_requests_running Answers under way.\n\
                 # TYPE dyno_engine_requests_running gauge\n\
                 dyno_engine_requests_running {running}\n\
                 # HELP dyno_engine_requests_total Answers begun.\n\
                 # TYPE dyno_engine_requests_total counter\n\
                 dyno_engine_requests_total {total}\n"
            )
    }
}
