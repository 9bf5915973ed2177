//! The response to each request: a function of the request and the site's state, without sockets.

use super::generate::Later;
use super::head::Sized;
use super::http::Request;
use super::site::{Backend, Site};
use super::stream::{After, ResponseStream};
use crate::live::{Accepted, Live, escaped};
use crate::slip::SlipReport;
use dyno_model::Nanos;
use dyno_respond::api::route::{Route, RoutePlace};
use dyno_respond::api::{self, APIS, Refusal, ServedApi, WhyFinished};
use dyno_respond::fault::{Quirk, Quirks};

/// What stands at `/`: no server's own line, because that is how servers are told apart.
const HOME: &[u8] = b"Dyno's engine: a server without a model.\n";

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
    Stream(Box<ResponseStream>),
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
    /// What the engine computes for this response.
    pub(super) accepted: Option<Accepted>,
    /// Whether it counts as a response.
    pub(super) counts: bool,
}

impl Reply {
    /// Bytes with work to follow.
    pub(super) fn works(now: Vec<u8>, work: Work) -> Self {
        Self { now, work, keep_alive: true, idle_close: false, accepted: None, counts: false }
    }

    /// Bytes, and nothing after them.
    pub(super) fn ends(now: Vec<u8>, after: After) -> Self {
        Self::works(now, Work::Over(after))
    }

    /// A whole response of JSON.
    pub(super) fn json(status: u16, body: &[u8], keep_alive: bool) -> Self {
        Self::sized(Sized::json(status, keep_alive), body)
    }

    fn sized(head: Sized<'_>, body: &[u8]) -> Self {
        Self { keep_alive: head.keep_alive, ..Self::ends(head.with(body), After::Done) }
    }

    /// An error in the form of an API.
    pub(super) fn error(api: &dyn ServedApi, status: u16, message: &str, keep_alive: bool) -> Self {
        Self::json(status, &api.error(status, message), keep_alive)
    }

    /// An error about what belongs to no API.
    pub(super) fn unknown(status: u16, message: &str, keep_alive: bool) -> Self {
        Self::error(APIS[0], status, message, keep_alive)
    }

    /// Why a request is refused, in the form of an API.
    pub(super) fn refusal(api: &dyn ServedApi, refusal: &Refusal, keep_alive: bool) -> Self {
        match &refusal.why {
            WhyFinished::Message(message) => Self::error(api, refusal.status, message, keep_alive),
            WhyFinished::Body(body) => Self::json(refusal.status, body, keep_alive),
        }
    }
}

/// The reply to a request without the key that the quirk `auth` requires.
pub(super) fn without_key(api: &dyn ServedApi, request: &Request, quirks: Quirks) -> Option<Reply> {
    let head = &request.head;
    let by_name = api.takes_api_key() && head.api_key.as_deref() == Some("sesame");
    let has_key = by_name || head.authorization.as_deref() == Some("Bearer sesame");
    (quirks.has(Quirk::Auth) && !has_key).then(|| {
        let message = "Invalid API key: send Authorization: Bearer sesame.";
        Reply::error(api, 401, message, head.keep_alive)
    })
}

impl Site {
    /// Answers a request that was read at `now`.
    pub(super) fn respond(&mut self, request: &Request, now: Nanos, caller: Caller) -> Reply {
        let keep = request.head.keep_alive;
        let (method, path) = (request.head.method.as_str(), request.head.path.as_str());
        let wrong_method = |api: &dyn ServedApi, takes: &str| {
            Reply::error(api, 405, &format!("{path} takes {takes}, not {method}."), keep)
        };
        if let Some(api) = api::at(path) {
            return match method {
                "POST" => self.generate(request, api, now, caller),
                _ => wrong_method(api, "POST"),
            };
        }
        let routes = APIS.iter().flat_map(|api| api.routes().iter().map(|route| (*api, route)));
        for (api, route) in routes.filter(|(_, route)| route.path == path) {
            if !route.methods.contains(&method) {
                return wrong_method(api, &route.methods.join(" or "));
            }
            if let Some(reply) = self.further(api, route, request) {
                return reply;
            }
        }
        match (method, path) {
            ("GET" | "HEAD", "/") => {
                let head = Sized { kind: "text/plain; charset=utf-8", ..Sized::json(200, keep) };
                Reply::sized(head, if method == "GET" { HOME } else { b"" })
            }
            ("GET", "/health") => Reply::json(200, b"{\"status\":\"ok\"}", keep),
            ("GET", "/dyno/slip") => self.slip(request, keep),
            ("GET", "/metrics") => {
                let kind = "text/plain; version=0.0.4; charset=utf-8";
                let head = Sized { kind, ..Sized::json(200, keep) };
                Reply::sized(head, self.metrics().as_bytes())
            }
            (_, "/" | "/health" | "/dyno/slip" | "/metrics") => wrong_method(APIS[0], "GET"),
            _ => Reply::unknown(404, &format!("There is nothing at {path}."), keep),
        }
    }

    /// The response of a route that belongs to an API, if this engine has it.
    fn further(&mut self, api: &dyn ServedApi, route: &Route, request: &Request) -> Option<Reply> {
        let keep_alive = request.head.keep_alive;
        let quirks = self.faults.quirks();
        let refused = route.needs_key.then(|| without_key(api, request, quirks)).flatten();
        if refused.is_some() {
            return refused;
        }
        let (brain, brain_name) = match &self.backend {
            Backend::Scripted(script) => ("script", script.to_string()),
            Backend::Twin(live) => ("twin", live.name().to_owned()),
        };
        let place = RoutePlace {
            model: &self.model,
            context: self.context,
            started: self.anchor_unix_ns / 1_000_000_000,
            brain,
            brain_name,
            has_engine: matches!(self.backend, Backend::Twin(_)),
            running: self.running,
            quirks,
        };
        let page = (route.answer)(&place, &request.body)?;
        if page.clears_cache {
            self.live().into_iter().for_each(Live::clear_prefix_cache);
        }
        let head = Sized { kind: page.kind, ..Sized::json(page.status, keep_alive) };
        Some(Reply::sized(head, &page.body))
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
