//! Control requests (model lists, health, metrics, cache resets): one at a time, outside of any level.

use super::Client;
use crate::encode::{NOT_MEASURED, head};
use crate::exchange::Exchange;
use crate::explain::explain;
use crate::http::ResponseHead;
use crate::redact::Redactor;
use crate::tls::TlsFault;
use dyno_drive::{Payload, Stop, StopSignal, TransportError};
use dyno_model::budget::{Budget, JsonError};
use dyno_model::outcome::{FailureClass, Outcome};
use dyno_model::record::{Phase, RequestRecord};
use dyno_model::units::format_duration;
use dyno_model::{Localized, MS, Message, Nanos, SEC, message};
use serde_json::Value;
use std::sync::Arc;

/// Largest body of a response to a control request: lists of models and tokens are long.
const LARGEST: usize = 16 << 20;
/// Memory for the values of such a response.
const MEMORY: usize = 128 << 20;

/// Is told which control request has no response yet, and how long it may take in all.
type Told = dyn Fn(&str, Nanos) + Send + Sync;

/// Hears of control requests that take long.
#[derive(Clone)]
pub struct SlowSink(pub Arc<Told>);

impl std::fmt::Debug for SlowSink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SlowSink")
    }
}

/// Why a control request has no result.
#[derive(Debug, Localized)]
pub enum Interrupted {
    /// The run was asked to stop first.
    #[message("interrupted", "已中断")]
    Stopped,
    /// The event loop failed.
    #[message(transparent)]
    Transport(#[from] TransportError),
}

/// The response to a plain GET.
#[derive(Debug)]
pub struct Fetched {
    /// The record of the request.
    pub record: RequestRecord,
    /// The headers of the response, if it has arrived.
    pub head: Option<Box<ResponseHead>>,
    /// The body, as received.
    pub body: Vec<u8>,
    /// Why there is no connection, where that is for reasons of TLS.
    pub tls: Option<Box<TlsFault>>,
}

/// A request of the API that ran by itself.
#[derive(Debug)]
pub struct Asked {
    /// Its record.
    pub record: RequestRecord,
    /// The headers of the response, if it has arrived.
    pub head: Option<Box<ResponseHead>>,
    /// Numbers in a vector of the response.
    pub dimensions: Option<u32>,
}

impl Fetched {
    /// The body of a 200.
    pub fn ok(&self) -> Option<&[u8]> {
        let good = self.record.outcome == Outcome::Completed && self.record.status == Some(200);
        good.then_some(self.body.as_slice())
    }

    /// The JSON of a 200.
    pub fn json(&self) -> Option<Value> {
        self.ok().and_then(|body| Budget::of(MEMORY).json(body).ok())
    }

    /// No connection could be opened.
    pub fn unreachable(&self) -> bool {
        use FailureClass::{Connect, TimeoutConnect, Tls};
        matches!(self.record.outcome, Outcome::Failed(Connect | TimeoutConnect | Tls))
    }

    /// What went wrong, as the server or the system reports it.
    pub fn words(&self, redactor: &Redactor) -> Message {
        match (&self.record.outcome, self.record.status) {
            (Outcome::Completed, Some(status)) => {
                if let Some(what) =
                    self.head.as_ref().and_then(|head| explain(head, &self.body, redactor))
                {
                    return message!("HTTP {status}: {what}", "HTTP {status}：{what}");
                }
                if let Err(JsonError::Over(over)) = Budget::of(MEMORY).json::<Value>(&self.body) {
                    return message!(
                        "HTTP {status}: {over} for the values of the response",
                        "HTTP {status}：读取该响应{over}"
                    );
                }
                // Redacted before it is cut: half a secret is a secret, too.
                let body = redactor.clean(&String::from_utf8_lossy(&self.body));
                match body.trim() {
                    "" => Message::quoted(format_args!("HTTP {status}")),
                    body => {
                        let body = crate::dialect::beginning(body.as_bytes(), 200);
                        message!("HTTP {status}: {body}", "HTTP {status}：{body}")
                    }
                }
            }
            _ => self.record.detail.clone().unwrap_or_else(|| message!("no response", "没有响应")),
        }
    }
}

/// The address of control requests: the first.
const CONTROL: usize = 0;
/// After so long without a response, somebody may want to know what is waited for.
const SLOW: Nanos = 3 * SEC;
/// The longest wait of the preflight: a server may load its model on the first request.
const ASK_WITHIN: Nanos = 300 * SEC;

impl Client {
    /// Gets a path of the target, within a time.
    pub fn fetch(
        &mut self,
        path: &str,
        within: Nanos,
        stop: &StopSignal,
    ) -> Result<Fetched, Interrupted> {
        self.side("GET", path, None, (within, LARGEST), stop)
    }

    /// The same, with a body of at most so many bytes.
    pub fn fetch_up_to(
        &mut self,
        path: &str,
        largest: usize,
        within: Nanos,
        stop: &StopSignal,
    ) -> Result<Fetched, Interrupted> {
        self.side("GET", path, None, (within, largest), stop)
    }

    /// Posts JSON to a path of the target, within a time.
    pub fn post(
        &mut self,
        path: &str,
        body: &[u8],
        within: Nanos,
        stop: &StopSignal,
    ) -> Result<Fetched, Interrupted> {
        self.side("POST", path, Some(body), (within, LARGEST), stop)
    }

    fn side(
        &mut self,
        method: &str,
        path: &str,
        body: Option<&[u8]>,
        (within, largest): (Nanos, usize),
        stop: &StopSignal,
    ) -> Result<Fetched, Interrupted> {
        let host = self.options.endpoint.host_header();
        let mut bytes = head(method, path, &host, &self.options.headers);
        if let Some(body) = body {
            let length = body.len();
            let line = format!("Content-Type: application/json\r\nContent-Length: {length}\r\n");
            bytes.extend_from_slice(line.as_bytes());
            bytes.extend_from_slice(NOT_MEASURED);
        }
        bytes.extend_from_slice(b"\r\n");
        bytes.extend_from_slice(body.unwrap_or_default());
        // A query may hold a secret.
        let what = format!("{method} {}", path.split('?').next().unwrap_or_default());
        let exchange = Exchange::raw(self.blank(), largest);
        let mut exchange = self.run_one(exchange, bytes, (&what, within), stop)?;
        let body = exchange.take_raw();
        let (head, tls) = (exchange.head.take(), exchange.tls.take());
        Ok(Fetched { record: exchange.record, head, body, tls })
    }

    /// Sends one request of the API and waits for its end.
    pub fn ask(
        &mut self,
        payload: Payload<Vec<u8>>,
        stop: &StopSignal,
    ) -> Result<Asked, Interrupted> {
        let mut record = self.blank();
        record.requested_output = payload.lengths.output;
        record.inputs = payload.lengths.inputs;
        let exchange = Exchange::new(record, payload.lengths.fixed);
        let path = &self.options.endpoint.path;
        let what = format!("POST {}", path.split('?').next().unwrap_or_default());
        let exchange = self.run_one(exchange, payload.body, (&what, ASK_WITHIN), stop)?;
        let Exchange { record, head, dimensions, .. } = *exchange;
        Ok(Asked { record, head, dimensions })
    }

    fn blank(&self) -> RequestRecord {
        let now = self.clock.now();
        let mut record = RequestRecord::new(0, 0, 0, Phase::Warmup, now);
        record.dispatched = Some(now);
        record
    }

    /// A control request runs alone, so everything in flight belongs to it.
    fn give_up_all(&mut self, class: FailureClass, within: Nanos) {
        let now = self.clock.now();
        let within = format_duration(within);
        let detail = message!("no response within {within}", "{within} 内没有响应");
        for token in self.table.tokens() {
            let connection = self.table.remove(token);
            if let Some(mut exchange) = connection.and_then(|mut c| c.exchange.take()) {
                exchange.fail(&self.options.rules, class, &detail, now);
                self.ended.push(exchange);
            }
        }
    }

    /// Closes every connection. Each is removed by its token, so that slots keep their generations and
    /// tokens left in `idle` and `timers` stay invalid.
    fn hang_up(&mut self) {
        for token in self.table.tokens() {
            if let Some(mut connection) = self.table.remove(token) {
                self.take_exchange(&mut connection);
            }
        }
        self.idle.clear();
    }

    fn run_one(
        &mut self,
        exchange: Exchange,
        bytes: Vec<u8>,
        (what, within): (&str, Nanos),
        stop: &StopSignal,
    ) -> Result<Box<Exchange>, Interrupted> {
        self.start(Box::new(exchange), bytes, CONTROL);
        let began = self.clock.now();
        let give_up = began.saturating_add(within);
        let mut slow = self.slow.clone();
        loop {
            if let Some(exchange) = self.ended.pop() {
                return Ok(exchange);
            }
            if self.clock.now() >= began.saturating_add(SLOW)
                && let Some(SlowSink(tell)) = slow.take()
            {
                tell(what, within);
            }
            if self.clock.now() >= give_up {
                self.give_up_all(FailureClass::TimeoutTotal, within);
                continue;
            }
            if stop.get() > Stop::No {
                self.hang_up();
                return Err(Interrupted::Stopped);
            }
            let soon = self.clock.now() + 20 * MS;
            self.poll(soon).map_err(TransportError)?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::test::client_of;
    use super::*;
    use dyno_drive::Transport;
    use std::net::TcpListener;

    #[test]
    fn what_was_idle_before_a_stop_reaches_no_connection_after_it() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = client_of(listener.local_addr().unwrap());
        client.prepare(3).unwrap();
        let old = client.idle.all();
        assert_eq!(old.len(), 3);
        let stop = StopSignal::new();
        stop.raise();
        let stopped = client.fetch("/health", SEC, &stop);
        assert!(matches!(stopped, Err(Interrupted::Stopped)));
        assert!(client.table.tokens().is_empty());
        assert_eq!((client.opening, client.in_flight), (0, 0));
        // The new connections take the places of the old ones.
        for _ in 0..3 {
            client.open(None, Vec::new(), CONTROL);
        }
        for token in old {
            assert!(client.table.get_mut(token).is_none(), "{token:#x} is alive again");
        }
    }

    /// C19: a server that accepts and says nothing.
    #[test]
    fn a_request_without_a_response_is_named_once() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = client_of(listener.local_addr().unwrap());
        let told = Arc::new(std::sync::Mutex::new(Vec::new()));
        let kept = Arc::clone(&told);
        client.tell_slow(Some(SlowSink(Arc::new(move |what, within| {
            kept.lock().unwrap().push((what.to_owned(), within));
        }))));
        let fetched = client.fetch("/v1/models?key=secret", 3500 * MS, &StopSignal::new()).unwrap();
        assert!(fetched.ok().is_none());
        assert_eq!(*told.lock().unwrap(), [("GET /v1/models".to_owned(), 3500 * MS)]);
        client.fetch("/health", SEC, &StopSignal::new()).unwrap();
        assert_eq!(told.lock().unwrap().len(), 1, "a second is not long");
    }

    #[test]
    fn a_client_that_was_stopped_can_be_used_again() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = client_of(listener.local_addr().unwrap());
        let stop = StopSignal::new();
        stop.raise();
        client.prepare(2).unwrap();
        client.fetch("/health", SEC, &stop).unwrap_err();
        client.prepare(2).unwrap();
        assert_eq!((client.idle.of(CONTROL), client.table.tokens().len()), (2, 2));
    }
}
