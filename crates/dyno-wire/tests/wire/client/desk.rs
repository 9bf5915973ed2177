//! A client and the server's end of its sockets.

use dyno_drive::{Ended, Job, Payload, RequestedLengths, Transport};
use dyno_model::budget::Budget;
use dyno_model::chunks::Chunk;
use dyno_model::plan::Timeouts;
use dyno_model::record::{Phase, RequestRecord};
use dyno_model::{MS, Nanos, SEC};
use dyno_net::{Clock, ask_for_stamps};
use dyno_wire::client::{Addresses, Client, ClientOptions, Sources};
use dyno_wire::dialect::{DIALECTS, Keep};
use dyno_wire::encode::SecretHeaders;
use dyno_wire::endpoint::Endpoint;
use dyno_wire::exchange::Rules;
use dyno_wire::redact::Redactor;
use dyno_wire::tls::TlsSettings;
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::OnceLock;
use std::time::Duration;

/// A busy machine may take its time; a test that hangs fails after this.
const PATIENCE: Nanos = 30 * SEC;
/// How far the clocks of writer and reader may be apart.
pub(crate) const TOLERANCE: Nanos = 50_000;

/// Long enough for data or a close to have arrived, and longer than the uncertainty of an exact time.
pub(crate) const WHILE: Duration = Duration::from_millis(3);
/// A time from a kernel timestamp is known to within this, in microseconds.
pub(crate) const EXACT_US: u64 = 1_000;

/// When something was written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Written {
    before: Nanos,
    after: Nanos,
}

impl Written {
    /// Checks that an output event may have come with this write.
    #[track_caller]
    pub(crate) fn holds(self, chunk: Chunk) {
        let Self { before, after } = self;
        let [at, loose] = [chunk.at_us, chunk.loose_us].map(|us| us * 1_000);
        // Times are kept in whole microseconds.
        let late_enough = at + 1_000 + TOLERANCE >= before;
        let early_enough = at.saturating_sub(loose) <= after + TOLERANCE;
        assert!(late_enough && early_enough, "{chunk:?} was written from {before} to {after}");
    }
}

/// A client and where it connects to.
pub(crate) struct Desk {
    pub(crate) client: Client,
    clock: Clock,
    listener: TcpListener,
    ended: Vec<Ended>,
    index: u64,
}

/// The kernel starts to stamp packets some time after the first socket has asked for it.
fn stamps_are_on() {
    static ASKED: OnceLock<TcpListener> = OnceLock::new();
    ASKED.get_or_init(|| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        assert!(ask_for_stamps(&listener), "this kernel gives no receive stamps");
        std::thread::sleep(Duration::from_millis(50));
        listener
    });
}

impl Desk {
    pub(crate) fn new() -> Self {
        Self::with("http", TlsSettings::default())
    }

    pub(crate) fn with(scheme: &str, tls: TlsSettings) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        Self::of(listener, &format!("{scheme}://{address}"), address.into(), tls)
    }

    /// A client of other servers.
    pub(crate) fn at(addresses: Addresses) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        Self::of(listener, "http://gpu:8000", addresses, TlsSettings::default())
    }

    /// A client that opens connections from these local addresses.
    pub(crate) fn from(sources: &str) -> Self {
        let Self { client, clock, listener, .. } = Self::new();
        let sources = Sources::parse(sources).unwrap();
        let options = ClientOptions { sources, ..client.options().clone() };
        let client = Client::new(options, clock).unwrap();
        Self { client, clock, listener, ended: Vec::new(), index: 0 }
    }

    fn of(listener: TcpListener, url: &str, addresses: Addresses, tls: TlsSettings) -> Self {
        stamps_are_on();
        listener.set_nonblocking(true).unwrap();
        let rules = Rules {
            dialect: DIALECTS[0],
            stream: true,
            keep: Keep { text: true, content: false },
            redactor: Redactor::default(),
            budget: Budget::foreign(),
        };
        let timeouts = Timeouts {
            connect_ns: PATIENCE,
            total_ns: PATIENCE,
            first_token_ns: PATIENCE,
            idle_ns: PATIENCE,
        };
        let options = ClientOptions {
            stamps: true,
            endpoint: Endpoint::parse(url, DIALECTS[0]).unwrap(),
            addresses,
            sources: Sources::default(),
            tls,
            timeouts,
            rules,
            headers: SecretHeaders::default(),
        };
        let clock = Clock::start();
        let client = Client::new(options, clock).unwrap();
        Self { client, clock, listener, ended: Vec::new(), index: 0 }
    }

    /// For a server on a separate thread.
    pub(crate) fn listener(&self) -> TcpListener {
        self.listener.try_clone().unwrap()
    }

    pub(crate) fn now(&self) -> Nanos {
        self.clock.now()
    }

    /// Dispatches a request; on a new connection nothing is sent before the client polls.
    pub(crate) fn dispatch(&mut self) {
        self.dispatch_bytes(b"POST /v1/chat/completions HTTP/1.1\r\n\r\n".to_vec());
    }

    pub(crate) fn dispatch_bytes(&mut self, body: Vec<u8>) {
        let now = self.now();
        self.client.dispatch(Job {
            level: 0,
            index: self.index,
            slot: 0,
            turn: None,
            tree: None,
            phase: Phase::Measured,
            intended: now,
            slack: 0,
            admitted: None,
            dispatched: now,
            payload: Payload { lengths: RequestedLengths::default(), body },
        });
        self.index += 1;
    }

    /// One iteration of the client's loop, which waits a little if nothing is ready.
    pub(crate) fn turn(&mut self) {
        self.client.wait(self.clock.now() + MS / 5, &mut self.ended).unwrap();
    }

    /// Iterates the client's loop until a condition holds.
    #[track_caller]
    pub(crate) fn until<T>(&mut self, what: &str, mut so: impl FnMut(&mut Self) -> Option<T>) -> T {
        let give_up = self.now() + PATIENCE;
        loop {
            if let Some(found) = so(self) {
                return found;
            }
            assert!(self.now() < give_up, "{what} did not happen");
            self.turn();
        }
    }

    /// The next connection.
    #[track_caller]
    pub(crate) fn accept(&mut self) -> TcpStream {
        let stream = self.until("a connection", |desk| match desk.listener.accept() {
            Ok((stream, _)) => Some(stream),
            Err(error) if error.kind() == ErrorKind::WouldBlock => None,
            Err(error) => panic!("{error}"),
        });
        stream.set_nonblocking(true).unwrap();
        stream.set_nodelay(true).unwrap();
        stream
    }

    /// No connection was opened.
    #[track_caller]
    pub(crate) fn nobody_else(&mut self) {
        for _ in 0..20 {
            self.turn();
        }
        assert!(self.listener.accept().is_err(), "there is one connection too many");
    }

    /// Reads a whole request.
    #[track_caller]
    pub(crate) fn expect_request(&mut self, stream: &mut TcpStream) {
        let mut request = Vec::new();
        self.until("a request", |_| {
            let mut room = [0; 4096];
            match stream.read(&mut room) {
                Ok(0) => panic!("the client hung up"),
                Ok(length) => request.extend_from_slice(&room[..length]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => panic!("{error}"),
            }
            request.ends_with(b"\r\n\r\n").then_some(())
        });
    }

    /// A request on a new connection.
    #[track_caller]
    pub(crate) fn request(&mut self) -> TcpStream {
        self.dispatch();
        let mut stream = self.accept();
        self.expect_request(&mut stream);
        stream
    }

    /// Writes, and lets the client read exactly that.
    #[track_caller]
    pub(crate) fn deliver(&mut self, stream: &mut TcpStream, bytes: &[u8]) -> Written {
        let written = self.write(stream, bytes);
        self.heard_since(written);
        written
    }

    /// Writes without letting the client read.
    pub(crate) fn write(&self, stream: &mut TcpStream, bytes: &[u8]) -> Written {
        let before = self.now();
        stream.write_all(bytes).unwrap();
        Written { before, after: self.now() }
    }

    /// Lets the client read everything that was written, in one read.
    #[track_caller]
    pub(crate) fn heard_since(&mut self, written: Written) {
        std::thread::sleep(Duration::from_millis(1));
        self.until("a read", |desk| (desk.client.last_received()? > written.before).then_some(()));
    }

    /// The record of the next request that ends.
    #[track_caller]
    pub(crate) fn record(&mut self) -> RequestRecord {
        let ended = self.until("the end of a request", |desk| desk.ended.pop());
        *ended.record
    }
}

/// The headers of a chunked stream.
pub(crate) const HEAD: &str =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

/// An event in a chunk.
pub(crate) fn event(data: &str) -> String {
    let event = format!("data: {data}\n\n");
    format!("{:x}\r\n{event}\r\n", event.len())
}

/// An event with output.
pub(crate) fn token(text: &str) -> String {
    event(&format!(r#"{{"choices":[{{"delta":{{"content":"{text}"}}}}]}}"#))
}

/// What follows the output.
pub(crate) fn ending() -> String {
    let finish = event(r#"{"choices":[{"delta":{},"finish_reason":"length"}]}"#);
    finish + &event("[DONE]") + "0\r\n\r\n"
}

/// A whole response of two tokens.
pub(crate) fn whole() -> String {
    [HEAD, &token("a"), &token("b"), &ending()].concat()
}
