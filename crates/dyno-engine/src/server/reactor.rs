//! The loop: readiness in, due tokens out.

use super::connection::{Connection, Connections, Task, Then};
use super::framing::Burst;
use super::http::MAX_BODY;
use super::listener::{self, Accepted};
use super::routes::{Reply, Site, Work};
use super::stream::After;
use super::timers::Timers;
use super::{EngineError, ServerOptions};
use dyno_core::{MS, Nanos};
use dyno_net::{Clock, Interest, Poller, Ready};
use rustix::fd::OwnedFd;
use rustix::net::sockopt::set_socket_linger;
use std::io::{self, ErrorKind, Read};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::time::Duration;

const LISTENER: u64 = u64::MAX - 1;
const STOP: u64 = u64::MAX - 2;
const READ_SIZE: usize = 64 * 1024;
/// Due writes between two looks at the network, so that requests are read in time.
const WRITES_A_TURN: usize = 64;
/// Ready sockets between two looks at the timers, so that tokens are written in time.
const READS_A_TURN: usize = 16;
/// A client that leaves this much unread gets no more until it has read.
const BACKLOG_LIMIT: usize = 256 * 1024;
const IDLE_CLOSE: Nanos = 300 * MS;
const DISCARD_FOR: Nanos = 1_000 * MS;
const ACCEPT_AGAIN: Nanos = 100 * MS;

/// Whether a connection lives on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Keep,
    Drop,
}

/// A server's whole state.
#[derive(Debug)]
pub(super) struct Reactor {
    site: Site,
    listener: OwnedFd,
    stopped: UnixStream,
    poller: Poller,
    clock: Clock,
    connections: Connections,
    timers: Timers,
    burst: Burst,
    read_buffer: Vec<u8>,
    /// Out of descriptors: when to try again if none is freed before.
    accept_again: Option<Nanos>,
}

impl Reactor {
    /// Everything but the loop itself.
    pub(super) fn new(
        options: ServerOptions,
        listener: OwnedFd,
        stopped: UnixStream,
    ) -> Result<Self, EngineError> {
        let clock = Clock::start();
        let poller = Poller::new().and_then(|poller| {
            poller.add(&listener, LISTENER, Interest::Read)?;
            poller.add(&stopped, STOP, Interest::Read)?;
            Ok(poller)
        });
        let failed = |source| EngineError::Io { doing: "watch its sockets", source };
        Ok(Self {
            site: Site::new(options, clock.anchor_unix_ns()),
            listener,
            stopped,
            poller: poller.map_err(failed)?,
            clock,
            connections: Connections::default(),
            timers: Timers::default(),
            burst: Burst::default(),
            read_buffer: vec![0; READ_SIZE],
            accept_again: None,
        })
    }

    /// Serves until stopped.
    pub(super) fn run(&mut self) -> Result<(), EngineError> {
        let mut ready = Vec::new();
        loop {
            let deadline = match (self.timers.next_due(), self.accept_again) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.or(b),
            };
            self.poller
                .wait(self.clock.now(), deadline, &mut ready)
                .map_err(|source| EngineError::Io { doing: "wait for the network", source })?;
            for (i, event) in ready.drain(..).enumerate() {
                match event.token {
                    STOP => {
                        let _ = (&self.stopped).read(&mut [0; 16]);
                        return Ok(());
                    }
                    LISTENER => self.accept()?,
                    _ => self.with(event.token, |reactor, c| reactor.on_ready(c, event)),
                }
                if i % READS_A_TURN == READS_A_TURN - 1 {
                    self.fire_due();
                }
            }
            self.fire_due();
            if self.accept_again.is_some_and(|at| at <= self.clock.now()) {
                self.accept_from_now_on()?;
            }
        }
    }

    fn accept(&mut self) -> Result<(), EngineError> {
        let failed = |source| EngineError::Io { doing: "accept connections", source };
        loop {
            match listener::accept(&self.listener).map_err(failed)? {
                Accepted::One(socket) => {
                    let connection = self.connections.insert(socket);
                    let token = connection.token;
                    let added = self.poller.add(&connection.socket, token, Interest::Read);
                    if added.is_err() {
                        self.with(token, |_, _| Fate::Drop);
                    }
                }
                Accepted::None => return Ok(()),
                Accepted::OutOfFiles => {
                    self.accept_again = Some(self.clock.now() + ACCEPT_AGAIN);
                    let paused = self.poller.modify(&self.listener, LISTENER, Interest::None);
                    return paused.map_err(failed);
                }
            }
        }
    }

    fn accept_from_now_on(&mut self) -> Result<(), EngineError> {
        self.accept_again = None;
        self.poller
            .modify(&self.listener, LISTENER, Interest::Read)
            .map_err(|source| EngineError::Io { doing: "accept connections", source })
    }

    /// Works on a connection, answers what it has asked since, and keeps or drops it.
    fn with(&mut self, token: u64, work: impl FnOnce(&mut Self, &mut Connection) -> Fate) {
        let Some(mut connection) = self.connections.take(token) else {
            return;
        };
        let mut fate = work(self, &mut connection);
        if fate == Fate::Keep {
            fate = self.answer_requests(&mut connection);
        }
        if fate == Fate::Keep && self.watch(&mut connection).is_ok() {
            return self.connections.put_back(connection);
        }
        self.site.running -= u64::from(connection.generating);
        self.connections.release(token);
        drop(connection);
        if self.accept_again.is_some() {
            self.accept_again = Some(0);
        }
    }

    fn watch(&mut self, connection: &mut Connection) -> io::Result<()> {
        let wants_write = connection.backlog() > 0;
        if wants_write == connection.watches_write {
            return Ok(());
        }
        connection.watches_write = wants_write;
        let interest = if wants_write { Interest::ReadWrite } else { Interest::Read };
        self.poller.modify(&connection.socket, connection.token, interest)
    }

    fn on_ready(&mut self, connection: &mut Connection, event: Ready) -> Fate {
        if event.writable && connection.backlog() > 0 && self.flush(connection) == Fate::Drop {
            return Fate::Drop;
        }
        if event.readable { self.read(connection) } else { Fate::Keep }
    }

    fn flush(&mut self, connection: &mut Connection) -> Fate {
        if connection.flush().is_err() {
            return Fate::Drop;
        }
        if connection.backlog() > 0 {
            return Fate::Keep;
        }
        if let Some(then) = connection.then {
            return self.part(connection, then);
        }
        if connection.blocked { self.advance(connection) } else { Fate::Keep }
    }

    /// One read: a client with much to send must not keep the others waiting.
    fn read(&mut self, connection: &mut Connection) -> Fate {
        match (&connection.socket).read(&mut self.read_buffer) {
            Ok(0) => return Fate::Drop,
            Ok(_) if matches!(connection.task, Task::Discard) => {}
            Ok(n) => connection.reader.push(&self.read_buffer[..n]),
            Err(error) => match error.kind() {
                ErrorKind::WouldBlock | ErrorKind::Interrupted => {}
                _ => return Fate::Drop,
            },
        }
        if connection.reader.waiting() > 2 * MAX_BODY { Fate::Drop } else { Fate::Keep }
    }

    /// Answers whole requests one after the other, as far as they can be answered now.
    fn answer_requests(&mut self, connection: &mut Connection) -> Fate {
        while matches!(connection.task, Task::Idle) && connection.then.is_none() {
            let now = self.clock.now();
            let fate = match connection.reader.next() {
                Ok(Some(request)) => {
                    let reply = self.site.respond(&request, now, connection.requests);
                    connection.requests += 1;
                    self.begin(connection, reply)
                }
                Ok(None) if connection.reader.take_expectation() => {
                    return sent(connection.send(b"HTTP/1.1 100 Continue\r\n\r\n"));
                }
                Ok(None) => return Fate::Keep,
                Err(wrong) => {
                    let reply = Reply::error(wrong.status, &wrong.message, false);
                    let fate = sent(connection.send(&reply.now));
                    if fate == Fate::Keep { self.part(connection, Then::Discard) } else { fate }
                }
            };
            if fate == Fate::Drop {
                return Fate::Drop;
            }
        }
        Fate::Keep
    }

    fn begin(&mut self, connection: &mut Connection, reply: Reply) -> Fate {
        connection.keep_alive = reply.keep_alive;
        connection.idle_close = reply.idle_close;
        if connection.send(&reply.now).is_err() {
            return Fate::Drop;
        }
        let due = match reply.work {
            Work::Over(after) => return self.finish(connection, after),
            Work::Stream(stream) => {
                let due = stream.next_due();
                connection.task = Task::Stream(stream);
                due
            }
            Work::Later(later) => {
                let due = later.due;
                connection.task = Task::Later(later);
                due
            }
        };
        connection.generating = true;
        self.site.running += 1;
        connection.timer = self.timers.set(due, connection.token);
        Fate::Keep
    }

    /// Writes what is due, in due order, up to a bound.
    fn fire_due(&mut self) {
        let now = self.clock.now();
        for _ in 0..WRITES_A_TURN {
            let Some(fired) = self.timers.pop(now) else {
                return;
            };
            self.with(fired.token, |reactor, connection| {
                if connection.timer == fired.id { reactor.fire(connection) } else { Fate::Keep }
            });
        }
    }

    fn fire(&mut self, connection: &mut Connection) -> Fate {
        match std::mem::replace(&mut connection.task, Task::Idle) {
            Task::Stream(stream) => {
                connection.task = Task::Stream(stream);
                self.advance(connection)
            }
            Task::Later(later) => {
                if connection.send(&later.bytes).is_err() {
                    return Fate::Drop;
                }
                self.site.slip.record(later.due, self.clock.now());
                self.finish(connection, later.after)
            }
            Task::Idle if connection.idle_close && connection.reader.is_empty() => Fate::Drop,
            Task::Discard => Fate::Drop,
            other => {
                connection.task = other;
                Fate::Keep
            }
        }
    }

    /// Writes the next of a stream: one write if it is paced, a turn's worth if it runs flat out.
    fn advance(&mut self, connection: &mut Connection) -> Fate {
        for _ in 0..WRITES_A_TURN {
            let waited = std::mem::take(&mut connection.blocked);
            let backlog = connection.backlog();
            let Task::Stream(stream) = &mut connection.task else {
                return Fate::Keep;
            };
            if backlog > if stream.flat_out() { 0 } else { BACKLOG_LIMIT } {
                connection.blocked = true;
                return Fate::Keep;
            }
            self.burst.clear();
            let stepped = stream.step(&mut self.burst);
            let (flat_out, next) = (stream.flat_out(), stream.next_due());
            for bytes in self.burst.writes() {
                if connection.send(bytes).is_err() {
                    return Fate::Drop;
                }
            }
            let now = self.clock.now();
            if let Some(due) = stepped.due.filter(|_| !waited) {
                self.site.slip.record(due, now);
            }
            if stepped.after != After::Continue {
                return self.finish(connection, stepped.after);
            }
            if !flat_out || next > now {
                connection.timer = self.timers.set(next, connection.token);
                return Fate::Keep;
            }
        }
        // Its turn is over: now is after everything that is due already.
        connection.timer = self.timers.set(self.clock.now(), connection.token);
        Fate::Keep
    }

    fn finish(&mut self, connection: &mut Connection, after: After) -> Fate {
        if after == After::Hold {
            connection.task = Task::Held;
            return Fate::Keep;
        }
        self.site.running -= u64::from(std::mem::take(&mut connection.generating));
        connection.task = Task::Idle;
        match after {
            After::Reset => {
                let _ = set_socket_linger(&connection.socket, Some(Duration::ZERO));
                Fate::Drop
            }
            After::Done if connection.keep_alive => {
                if connection.idle_close {
                    let due = self.clock.now() + IDLE_CLOSE;
                    connection.timer = self.timers.set(due, connection.token);
                }
                Fate::Keep
            }
            _ => self.part(connection, Then::Close),
        }
    }

    /// Closes a connection when the client has taken everything.
    fn part(&mut self, connection: &mut Connection, then: Then) -> Fate {
        if connection.backlog() > 0 {
            connection.then = Some(then);
            return Fate::Keep;
        }
        if then == Then::Close {
            return Fate::Drop;
        }
        let _ = connection.socket.shutdown(Shutdown::Write);
        connection.task = Task::Discard;
        connection.timer = self.timers.set(self.clock.now() + DISCARD_FOR, connection.token);
        Fate::Keep
    }
}

fn sent(result: io::Result<()>) -> Fate {
    if result.is_ok() { Fate::Keep } else { Fate::Drop }
}
