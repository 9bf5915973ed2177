//! The network client: one thread and one readiness loop for all connections. Each iteration reads
//! and times every ready socket before it parses anything, so that one stream's events do not delay
//! the timestamps of another's.

mod address;
mod broken;
mod connection;
mod events;
mod health;
mod idle;
mod instrument;
mod opening;
mod side;
#[cfg(test)]
mod simulated;
mod socket;
mod source;
mod table;
#[cfg(test)]
mod test;
mod timers;
mod transport;
mod trial;

pub use address::{Addresses, NoAddress, Resolver, UnusedAddress, is_name};
pub use broken::Broken;
pub use instrument::ArrivalTime;
pub use side::{Asked, Fetched, Interrupted, SlowSink};
pub use source::Sources;

use crate::encode::SecretHeaders;
use crate::endpoint::Endpoint;
use crate::exchange::{Exchange, ExchangeProgress, Rules};
use crate::tls::{TlsError, TlsSettings, client_config};
use connection::{Connection, State};
use dyno_model::outcome::FailureClass;
use dyno_model::plan::Timeouts;
use dyno_model::{Localized, Nanos, message};
use dyno_net::{Clock, Interest, Poller, Ready, RunQueue};
use health::Health;
use idle::Idle;
use instrument::Instrument;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use source::Turns;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::sync::Arc;
use table::Table;

/// What a client needs.
#[derive(Debug, Clone)]
pub struct ClientOptions {
    /// Where requests go.
    pub endpoint: Endpoint,
    /// Its addresses. Requests go to each in turn, control requests to the first.
    pub addresses: Addresses,
    /// Local addresses that lead to them. Each new connection is opened from the next one.
    pub sources: Sources,
    /// Certificates.
    pub tls: TlsSettings,
    /// Time-outs.
    pub timeouts: Timeouts,
    /// Ask the kernel for receive timestamps.
    pub stamps: bool,
    /// How responses are read.
    pub rules: Rules,
    /// Headers for control requests.
    pub headers: SecretHeaders,
}

/// Why the client could not be created.
#[derive(Debug, Localized)]
pub enum ClientError {
    /// TLS could not be set up.
    #[message(transparent)]
    Tls(#[from] TlsError),
    /// The host's name cannot appear in a certificate.
    #[message(
        "`{0}` is not a name that a certificate can have; use the server's DNS name, or --insecure",
        "`{0}` 不是证书中可用的名称；请使用服务器的 DNS 名称，或 --insecure"
    )]
    ServerName(String),
    /// The event loop could not be created.
    #[message("creating the client's event loop failed: {0}", "无法创建客户端的事件循环：{0}")]
    Io(#[from] io::Error),
}

/// The client.
#[derive(Debug)]
pub struct Client {
    options: ClientOptions,
    /// Hears of control requests that take long.
    slow: Option<SlowSink>,
    tls: Option<(Arc<ClientConfig>, ServerName<'static>)>,
    clock: Clock,
    poller: Poller,
    table: Table,
    idle: Idle,
    /// The address of the next request.
    next_address: usize,
    /// The source of the next connection.
    turns: Turns,
    timers: BinaryHeap<Reverse<(Nanos, u64)>>,
    /// Boxed as they were in flight, because moving them would cost more.
    #[allow(clippy::vec_box)]
    ended: Vec<Box<Exchange>>,
    in_flight: usize,
    /// Output tokens received since the client was made. A plain number: the driver copies it when
    /// it looks up, so the loop shares nothing with the thread that shows it.
    tokens_received: u64,
    /// Connections being opened before a level, and whether opening one of them failed.
    opening: usize,
    opening_failed: bool,
    health: Health,
    instrument: Instrument,
    /// How long the thread that measures waits for a CPU, where the kernel counts that.
    run_queue: Option<RunQueue>,
    ready: Vec<Ready>,
    reads: Vec<events::SocketRead>,
    writes: Vec<u64>,
    arena: Vec<u8>,
    scratch: Vec<u8>,
}

impl Client {
    /// A client without connections.
    pub fn new(options: ClientOptions, clock: Clock) -> Result<Self, ClientError> {
        let tls = if options.endpoint.tls {
            let host = options.endpoint.host.clone();
            let name =
                ServerName::try_from(host.clone()).map_err(|_| ClientError::ServerName(host))?;
            Some((client_config(&options.tls)?, name))
        } else {
            None
        };
        Ok(Self {
            idle: Idle::new(options.addresses.count()),
            next_address: 0,
            turns: Turns::new(options.addresses.count()),
            options,
            slow: None,
            tls,
            clock,
            poller: Poller::new()?,
            table: Table::default(),
            timers: BinaryHeap::new(),
            ended: Vec::new(),
            in_flight: 0,
            tokens_received: 0,
            opening: 0,
            opening_failed: false,
            health: Health::new(&clock),
            instrument: Instrument::new(clock.now(), clock.wall_offset()),
            run_queue: None,
            ready: Vec::new(),
            reads: Vec::new(),
            writes: Vec::new(),
            arena: vec![0; events::ARENA],
            scratch: Vec::new(),
        })
    }

    /// From now on, `slow` hears of control requests that take long.
    pub fn tell_slow(&mut self, slow: Option<SlowSink>) {
        self.slow = slow;
    }

    /// The run's clock.
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// The options it was created with.
    pub fn options(&self) -> &ClientOptions {
        &self.options
    }

    /// How responses are read.
    pub fn rules(&self) -> &Rules {
        &self.options.rules
    }

    /// Sends a request to an address, on an idle connection where there is one.
    fn start(&mut self, mut exchange: Box<Exchange>, bytes: Vec<u8>, address: usize) {
        let token = self.idle.take(address, &mut self.table, self.clock.now());
        let Some((token, connection)) =
            token.and_then(|token| Some((token, self.table.get_mut(token)?)))
        else {
            return self.open(Some(exchange), bytes, address);
        };
        exchange.record.connected = exchange.record.dispatched;
        exchange.record.reused = true;
        connection.reused = true;
        connection.exchange = Some(exchange);
        connection.request = Some(bytes);
        self.send(token);
    }

    /// The address of the next request: each has its turn.
    fn take_address(&mut self) -> usize {
        let next = (self.next_address + 1) % self.options.addresses.count();
        std::mem::replace(&mut self.next_address, next)
    }

    /// The connection is ready: sends its request, or keeps it idle.
    fn on_ready(&mut self, token: u64) {
        let now = self.clock.now();
        let Some(connection) = self.table.get_mut(token) else {
            return;
        };
        match &mut connection.exchange {
            Some(exchange) => {
                exchange.record.connected = Some(now);
                self.send(token);
            }
            None => {
                self.opening -= 1;
                self.keep_idle(token);
            }
        }
    }

    fn keep_idle(&mut self, token: u64) {
        let now = self.clock.now();
        if let Some(connection) = self.table.get_mut(token) {
            connection.state = State::Idle;
            connection.since = now;
            connection.request = None;
            self.idle.push(connection.address, token);
        }
        self.watch(token, Interest::Read);
    }

    /// Hands the request to the socket.
    fn send(&mut self, token: u64) {
        let Some(connection) = self.table.get_mut(token) else {
            return;
        };
        connection.state = State::Sending;
        connection.unused = false;
        connection.since = self.clock.now();
        // Only a reused connection can turn out to be closed, so only then is a copy kept.
        let bytes = match connection.reused {
            true => connection.request.clone(),
            false => connection.request.take(),
        };
        let queued = connection.socket.queue(bytes.unwrap_or_default());
        match queued {
            Ok(()) => self.flush(token),
            Err(error) => self.on_broken(token, Some(error.into()), None),
        }
        self.set_timer(token);
    }

    fn flush(&mut self, token: u64) {
        let Some(connection) = self.table.get_mut(token) else {
            return;
        };
        if connection.unsent.is_some() {
            return;
        }
        let before = self.clock.now();
        match connection.socket.flush() {
            Ok(done) => {
                if done && connection.state == State::Sending {
                    let now = self.clock.now();
                    connection.state = State::Waiting;
                    connection.seen.empty_at(before);
                    if let Some(exchange) = &mut connection.exchange {
                        exchange.on_sent(before, now);
                    }
                }
                self.watch(token, if done { Interest::Read } else { Interest::ReadWrite });
            }
            // A server that refuses a request may close the connection before it has read all of it. Its
            // reason has arrived by then, so the connection is read to its end.
            Err(error) if is_closed(&error) => {
                connection.unsent = Some(error.into());
                self.watch(token, Interest::Read);
            }
            Err(error) => self.on_broken(token, Some(error.into()), None),
        }
    }

    fn watch(&mut self, token: u64, interest: Interest) {
        let Some(connection) = self.table.get_mut(token) else {
            return;
        };
        if connection.interest != interest {
            connection.interest = interest;
            let _ = self.poller.modify(connection.socket.fd(), token, interest);
        }
    }

    /// The connection was closed (`why` if it broke), at `arrival`. A request on a reused connection
    /// that closed before any byte of the response is sent again on a new connection.
    fn on_broken(&mut self, token: u64, why: Option<Broken>, arrival: Option<ArrivalTime>) {
        let arrival = arrival.unwrap_or_else(|| ArrivalTime::exactly(self.clock.now()));
        let now = arrival.at;
        let Some(mut connection) = self.table.remove(token) else {
            return;
        };
        let Some(mut exchange) = self.take_exchange(&mut connection) else { return };
        let why = why.or(connection.unsent.take());
        // An alert after the handshake, such as a missing client certificate, is a TLS failure, too.
        let refused_by_tls = matches!(why, Some(Broken::Tls(_))) && !exchange.begun;
        if connection.state == State::Handshaking || refused_by_tls {
            let rules = &self.options.rules;
            match &why {
                Some(why) => exchange.fail(rules, FailureClass::Tls, why, now),
                None => {
                    let why = message!(
                        "the server closed the connection during the TLS handshake",
                        "服务器在 TLS 握手期间关闭了连接"
                    );
                    exchange.fail(rules, FailureClass::Tls, &why, now)
                }
            };
            if let Some(Broken::Tls(fault)) = why {
                exchange.tls = Some(Box::new(fault));
            }
        } else if connection.reused && !exchange.begun && !exchange.record.resent {
            drop(connection.socket);
            exchange.record.resent = true;
            exchange.record.reused = false;
            exchange.record.connected = None;
            exchange.not_sent();
            let request = connection.request.unwrap_or_default();
            return self.open(Some(exchange), request, connection.address);
        } else if connection.state == State::Sending {
            exchange.on_unsent(&self.options.rules, why.as_ref(), arrival);
        } else {
            exchange.on_close(&self.options.rules, why.as_ref(), arrival);
        }
        self.ended.push(exchange);
    }

    /// The exchange of a connection that is gone. If it was being opened before a level, that has
    /// failed.
    fn take_exchange(&mut self, connection: &mut Connection) -> Option<Box<Exchange>> {
        if connection.is_opening() {
            self.opening -= 1;
            self.opening_failed = true;
        }
        connection.exchange.take()
    }

    /// Updates the connection after an exchange has progressed.
    fn on_progress(&mut self, token: u64, progress: ExchangeProgress, at: Nanos) {
        let Some(connection) = self.table.get_mut(token) else {
            return;
        };
        match progress {
            ExchangeProgress::Running => {}
            ExchangeProgress::Lingering => {
                if let Some(mut exchange) = connection.exchange.take() {
                    connection.rest = Some(exchange.take_rest());
                    self.ended.push(exchange);
                }
                connection.state = State::Lingering;
                connection.since = at;
                self.set_timer(token);
            }
            ExchangeProgress::Over { reusable } => {
                self.ended.extend(connection.exchange.take());
                if reusable && connection.state == State::Waiting {
                    self.keep_idle(token);
                } else {
                    self.table.remove(token);
                }
            }
        }
    }
}

/// The other side has closed the connection, so what it sent before can be read to the end.
fn is_closed(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset};
    matches!(error.kind(), BrokenPipe | ConnectionReset | ConnectionAborted)
}
