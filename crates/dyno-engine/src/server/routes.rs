//! The response to each request: a function of the request and the site's state, without sockets.

use super::generate::Later;
use super::head;
use super::http::Request;
use super::refusal::has_key;
use super::site::{Backend, Site};
use super::stream::{After, Stream};
use crate::fault::Quirk;
use crate::live::{Live, escaped};
use crate::openai::prompt::{Counted, Words};
use crate::openai::request::Ask;
use crate::openai::{Endpoint, answer};
use crate::slip::SlipReport;
use dyno_model::Nanos;

/// The sender of a request.
#[derive(Debug, Clone, Copy)]
pub(super) struct Caller {
    /// The connection.
    pub(super) token: u64,
    /// Requests that it has sent before.
    pub(super) earlier: u64,
}

/// What remains to be sent of a response.
#[derive(Debug)]
pub(super) enum Work {
    /// Nothing beyond the bytes sent at once.
    Over(After),
    /// Tokens, each at its time.
    Stream(Box<Stream>),
    /// One piece at its time.
    Later(Box<Later>),
}

/// The response to a request.
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
    /// The request in the engine that this is the response to.
    pub(super) request: Option<u64>,
    /// Whether it counts as a response.
    pub(super) counts: bool,
}

impl Reply {
    /// Bytes with work to follow.
    pub(super) fn works(now: Vec<u8>, work: Work) -> Self {
        Self { now, work, keep_alive: true, idle_close: false, request: None, counts: false }
    }

    /// Bytes, and nothing after them.
    pub(super) fn ends(now: Vec<u8>, after: After) -> Self {
        Self::works(now, Work::Over(after))
    }

    /// A whole response of JSON.
    pub(super) fn json(status: u16, body: &[u8], keep_alive: bool) -> Self {
        let bytes = head::json(status, body, keep_alive);
        Self { keep_alive, ..Self::ends(bytes, After::Done) }
    }

    /// An error in OpenAI's form.
    pub(super) fn error(status: u16, message: &str, keep_alive: bool) -> Self {
        Self::json(status, &answer::error(status, message), keep_alive)
    }
}

impl Site {
    /// vLLM's `/tokenize`, for a tokenizer whose tokens are words.
    fn tokenize(&self, request: &Request, keep_alive: bool) -> Reply {
        let asked = Ask::<Counted>::parse(&request.body);
        let count = asked.map(|ask| {
            let chat = ask.prompt(Endpoint::Chat).or(ask.prompt(Endpoint::Completions));
            chat.ok().map(Words::tokens)
        });
        match count {
            Ok(Some(count)) => {
                let body = format!("{{\"count\":{count},\"max_model_len\":{}}}", self.context);
                Reply::json(200, body.as_bytes(), keep_alive)
            }
            Ok(None) => {
                Reply::error(400, "The request has neither a prompt nor messages.", keep_alive)
            }
            Err(words) => Reply::error(400, &words, keep_alive),
        }
    }

    /// Answers a request that was read at `now`.
    pub(super) fn respond(&mut self, request: &Request, now: Nanos, caller: Caller) -> Reply {
        let keep = request.head.keep_alive;
        let (method, path) = (request.head.method.as_str(), request.head.path.as_str());
        match (method, path) {
            ("POST", "/v1/chat/completions") => self.generate(request, Endpoint::Chat, now, caller),
            ("POST", "/v1/completions") => {
                self.generate(request, Endpoint::Completions, now, caller)
            }
            ("POST", "/tokenize") => self.tokenize(request, keep),
            (_, "/reset_prefix_cache") if matches!(self.backend, Backend::Twin(_)) => {
                self.reset_prefix_cache(method, keep)
            }
            ("GET", "/v1/models") if self.faults.has(Quirk::Models500) => {
                Reply::error(500, "The list of models is not available.", keep)
            }
            ("GET", "/v1/models") if self.faults.has(Quirk::Auth) && !has_key(request) => {
                Reply::error(401, "Invalid API key: send Authorization: Bearer sesame.", keep)
            }
            ("GET", "/v1/models") => {
                let created = self.anchor_unix_ns / 1_000_000_000;
                let body = match &self.backend {
                    Backend::Scripted(script) => {
                        let by = ("script", &*script.to_string());
                        answer::models(&self.model, created, self.context, by)
                    }
                    Backend::Twin(live) => {
                        answer::models(&self.model, created, self.context, ("twin", live.name()))
                    }
                };
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

    fn reset_prefix_cache(&mut self, method: &str, keep: bool) -> Reply {
        if method != "POST" {
            return Reply::error(405, "/reset_prefix_cache takes POST.", keep);
        }
        if let Some(live) = self.live() {
            live.clear_prefix_cache();
        }
        Reply::json(200, b"", keep)
    }

    fn slip(&mut self, request: &Request, keep: bool) -> Reply {
        let (first, last) = match &self.backend {
            Backend::Scripted(_) => (None, None),
            Backend::Twin(live) => {
                let (first, last) = live.step_slips();
                (first.some(), last.some())
            }
        };
        let report = SlipReport { all: self.slip.snapshot(), first, last };
        let body = serde_json::to_vec(&report).unwrap_or_default();
        if request.head.query.split('&').any(|pair| pair == "reset=1") {
            self.slip.reset();
            self.live().into_iter().for_each(Live::reset_slips);
        }
        Reply::json(200, &body, keep)
    }

    fn metrics(&self) -> String {
        let (running, total) = (self.running, self.generations);
        let mut text =
            self.slip.prometheus("dyno_engine_slip_seconds", "How late due tokens were written.")
                + &format!(
                    "# HELP dyno_engine_requests_running Answers under way.\n\
             # TYPE dyno_engine_requests_running gauge\n\
             dyno_engine_requests_running {running}\n\
             # HELP dyno_engine_requests_total Answers begun.\n\
             # TYPE dyno_engine_requests_total counter\n\
             dyno_engine_requests_total {total}\n"
                );
        if let Backend::Twin(live) = &self.backend {
            let (first, last) = live.step_slips();
            let name = "dyno_engine_step_first_write_slip_seconds";
            text += &first.prometheus(name, "How late the first write of each step was.");
            let name = "dyno_engine_step_last_write_slip_seconds";
            text += &last.prometheus(name, "How late the last write of each step was.");
            text += &format!(
                "# HELP dyno_engine_info The twin that is simulated.\n\
                 # TYPE dyno_engine_info gauge\n\
                 dyno_engine_info{{twin=\"{}\"}} 1\n",
                escaped(live.name())
            );
            text += &live.prometheus(&self.model);
        }
        text
    }
}
