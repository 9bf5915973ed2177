//! A connection in the client's table: its socket, the exchange it carries, and its time-outs.

use super::broken::Broken;
use super::instrument::Seen;
use super::socket::Socket;
use crate::exchange::{Exchange, Rest};
use dyno_model::Nanos;
use dyno_model::outcome::FailureClass;
use dyno_model::plan::Timeouts;
use dyno_net::Interest;

/// What a connection is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// Waiting for TCP.
    Connecting,
    /// Waiting for TLS.
    Handshaking,
    /// Ready, without a request.
    Idle,
    /// Sending its request.
    Sending,
    /// Its request has been sent.
    Waiting,
    /// The response is complete; only the end of the HTTP body is missing.
    Lingering,
}

/// How long to wait for the end of the body after the terminal event, before the connection is
/// closed instead of reused.
const LINGER: Nanos = dyno_model::SEC;

/// Connections that were idle for longer are not reused: servers close them after 5 s.
const MAX_IDLE: Nanos = 4 * dyno_model::SEC;
/// The same for those that have not carried a request yet, which servers allow more time. Opening tens
/// of thousands before a level takes longer than the time above.
const MAX_UNUSED: Nanos = 20 * dyno_model::SEC;

/// A connection in the table.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) socket: Socket,
    /// Which of the target's addresses it leads to.
    pub(crate) address: usize,
    pub(crate) state: State,
    pub(crate) interest: Interest,
    /// What it carries; absent while it is idle or opened before a level.
    pub(crate) exchange: Option<Box<Exchange>>,
    /// What remains to be read after the terminal event.
    pub(crate) rest: Option<Rest>,
    /// The request, until the first byte of the response, in case it has to be sent again.
    pub(crate) request: Option<Vec<u8>>,
    /// Why the request could not be sent whole.
    pub(crate) unsent: Option<Broken>,
    /// It had carried a request, or was idle, before this one.
    pub(crate) reused: bool,
    /// It has not carried any request.
    pub(crate) unused: bool,
    /// When its socket was known to be empty.
    pub(super) seen: Seen,
    /// When the current wait began: that of the connect, the request or the last byte.
    pub(crate) since: Nanos,
    /// The earliest timer set for it.
    pub(crate) timer: Nanos,
}

impl Connection {
    pub(crate) fn new(socket: Socket, address: usize, now: Nanos) -> Self {
        Self {
            socket,
            address,
            state: State::Connecting,
            interest: Interest::Write,
            exchange: None,
            rest: None,
            request: None,
            unsent: None,
            reused: false,
            unused: true,
            seen: Seen::default(),
            since: now,
            timer: Nanos::MAX,
        }
    }

    /// It is being opened before a level.
    pub(crate) fn is_opening(&self) -> bool {
        self.exchange.is_none() && matches!(self.state, State::Connecting | State::Handshaking)
    }

    /// How long it may be idle and still be used.
    pub(crate) fn max_idle(&self) -> Nanos {
        if self.unused { MAX_UNUSED } else { MAX_IDLE }
    }

    /// When it times out, and as which failure.
    pub(crate) fn deadline(&self, timeouts: &Timeouts) -> Option<(Nanos, FailureClass)> {
        let own = match self.state {
            State::Idle => return None,
            State::Lingering => return Some((self.since + LINGER, FailureClass::Client)),
            State::Connecting | State::Handshaking => {
                (self.since.saturating_add(timeouts.connect_ns), FailureClass::TimeoutConnect)
            }
            State::Sending | State::Waiting => {
                let exchange = self.exchange.as_ref()?;
                if exchange.has_output() {
                    (self.since.saturating_add(timeouts.idle_ns), FailureClass::TimeoutIdle)
                } else {
                    let from = exchange.record.sent.unwrap_or(self.since);
                    let class = FailureClass::TimeoutFirstToken;
                    (from.saturating_add(timeouts.first_token_ns), class)
                }
            }
        };
        let dispatched = self.exchange.as_ref().and_then(|e| e.record.dispatched);
        let total = dispatched.map(|at| at.saturating_add(timeouts.total_ns));
        match total {
            // Where both are equal, the total time-out is reported.
            Some(total) if total <= own.0 => Some((total, FailureClass::TimeoutTotal)),
            _ => Some(own),
        }
    }
}
