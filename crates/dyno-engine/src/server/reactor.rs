//! The loop: readiness in, due tokens out.

use super::connection::{Connection, Connections, Task};
use super::ledger::Ledger;
use super::listener::{self, Accepted};
use super::routes::Reply;
use super::site::Site;
use super::timers::Timers;
use super::{EngineError, ServerOptions};
use dyno_model::budget::Budget;
use dyno_model::{MS, Nanos, message};
use dyno_net::{Clock, Interest, Poller, Ready, ask_for_stamps};
use dyno_respond::framing::Burst;
use rustix::fd::OwnedFd;
use std::io::{self, Read};
use std::os::unix::net::UnixStream;

pub(super) const LISTENER: u64 = u64::MAX - 1;
pub(super) const STOP: u64 = u64::MAX - 2;
const READ_SIZE: usize = 64 * 1024;
/// Ready sockets handled between two checks of the timers, so that tokens are written in time.
const READS_A_TURN: usize = 16;
const ACCEPT_AGAIN: Nanos = 100 * MS;

/// Whether a connection lives on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Keep,
    Drop,
}

/// A server's whole state.
#[derive(Debug)]
pub(super) struct Reactor {
    pub(super) site: Site,
    pub(super) listener: OwnedFd,
    stopped: UnixStream,
    pub(super) poller: Poller,
    pub(super) clock: Clock,
    pub(super) connections: Connections,
    pub(super) timers: Timers,
    pub(super) burst: Burst,
    pub(super) read_buffer: Vec<u8>,
    /// Writes of due tokens so far.
    pub(super) writes: u64,
    /// The memory that requests and responses may hold.
    budget: Budget,
    /// The ledger, if it is kept.
    pub(super) ledger: Option<Ledger>,
    /// Out of file descriptors: when to try again unless one is freed before.
    pub(super) accept_again: Option<Nanos>,
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
        let failed = |source| {
            let doing = message!("watch its sockets", "监视套接字");
            EngineError::Io { doing, source }
        };
        let ledger = options.ledger.clone().map(|path| {
            Ledger::create(&path, &clock).map_err(|source| EngineError::Ledger { path, source })
        });
        let budget = options.budget.clone();
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
            writes: 0,
            budget,
            ledger: ledger.transpose()?,
            accept_again: None,
        })
    }

    /// Serves until stopped or out of service.
    pub(super) fn run(mut self) -> Result<(), EngineError> {
        let mut ready = Vec::new();
        while self.site.outage().is_none() {
            let due = [self.timers.next_due(), self.site.next_due(), self.accept_again];
            self.wait(due.into_iter().flatten().min(), &mut ready)?;
            for (i, event) in ready.drain(..).enumerate() {
                match event.token {
                    STOP => return self.stop(),
                    LISTENER => self.accept()?,
                    _ => self.with(event.token, |reactor, c| reactor.on_ready(c, event)),
                }
                if i % READS_A_TURN == READS_A_TURN - 1 {
                    self.write_due();
                }
                if self.site.outage().is_some() {
                    break;
                }
            }
            self.write_due();
            self.accept_when_possible()?;
        }
        self.out_of_service()
    }

    /// Waits for readiness or for this time.
    pub(super) fn wait(
        &mut self,
        until: Option<Nanos>,
        ready: &mut Vec<Ready>,
    ) -> Result<(), EngineError> {
        ready.clear();
        self.poller.wait(self.clock.now(), until, ready).map(drop).map_err(|source| {
            let doing = message!("wait for the network", "等待网络事件");
            EngineError::Io { doing, source }
        })
    }

    pub(super) fn stop(&self) -> Result<(), EngineError> {
        let _ = (&self.stopped).read(&mut [0; 16]);
        Ok(())
    }

    pub(super) fn accept(&mut self) -> Result<(), EngineError> {
        loop {
            match listener::accept(&self.listener).map_err(not_accepted)? {
                Accepted::One(socket) => {
                    if self.ledger.is_some() {
                        ask_for_stamps(&socket);
                    }
                    let connection = self.connections.insert(socket, &self.budget);
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
                    return paused.map_err(not_accepted);
                }
            }
        }
    }

    pub(super) fn accept_when_possible(&mut self) -> Result<(), EngineError> {
        if self.accept_again.is_none_or(|at| at > self.clock.now()) {
            return Ok(());
        }
        self.accept_again = None;
        self.poller.modify(&self.listener, LISTENER, Interest::Read).map_err(not_accepted)
    }

    /// Handles a connection, answers its further requests, and keeps or drops it.
    pub(super) fn with(
        &mut self,
        token: u64,
        work: impl FnOnce(&mut Self, &mut Connection) -> Fate,
    ) {
        let Some(mut connection) = self.connections.take(token) else {
            return;
        };
        let mut fate = work(self, &mut connection);
        if fate == Fate::Keep {
            fate = self.answer_requests(&mut connection);
        }
        if fate == Fate::Keep && connection.hold().is_err() {
            fate = too_much(&mut connection);
        }
        if fate == Fate::Keep && self.watch(&mut connection).is_ok() {
            return self.connections.put_back(connection);
        }
        self.site.over(&mut connection.answering, self.clock.now());
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
}

fn not_accepted(source: io::Error) -> EngineError {
    let doing = message!("accept connections", "接受连接");
    EngineError::Io { doing, source }
}

/// Closes a connection for which there is no memory, and says why where no response has begun.
fn too_much(connection: &mut Connection) -> Fate {
    if matches!(connection.task, Task::Idle | Task::Later(_)) && connection.backlog() == 0 {
        let message = "The requests in flight hold too much memory. Send fewer at a time.";
        let _ = connection.send(&Reply::unknown(503, message, false).now);
    }
    Fate::Drop
}
