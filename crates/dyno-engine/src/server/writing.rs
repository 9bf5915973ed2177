//! What happens when something is due: tokens are written, responses end, connections close.

use super::connection::{Connection, Task, Then};
use super::pace::Next;
use super::reactor::{Fate, Reactor};
use super::stream::After;
use crate::live::Due;
use dyno_model::{MS, Nanos};
use rustix::net::sockopt::set_socket_linger;
use std::net::Shutdown;
use std::time::Duration;

/// Due writes between two polls of the network, so that requests are read in time.
const WRITES_A_TURN: usize = 64;
/// A client with this many unread bytes gets no more until it has read them.
const BACKLOG_LIMIT: usize = 256 * 1024;
const IDLE_CLOSE: Nanos = 300 * MS;
const DISCARD_FOR: Nanos = 1_000 * MS;

impl Reactor {
    /// Writes what is due, in due order, up to a bound.
    pub(super) fn write_due(&mut self) {
        let now = self.clock.now();
        self.site.run(now);
        for _ in 0..WRITES_A_TURN {
            if self.site.outage().is_some() {
                return;
            }
            if let Some((token, id)) = self.timers.pop(now) {
                self.with(token, |reactor, connection| {
                    if connection.timer == id { reactor.fire(connection) } else { Fate::Keep }
                });
            } else if let Some(due) = self.site.next_write() {
                self.write_tokens(&due);
            } else {
                return;
            }
        }
    }

    /// Writes the tokens that the engine has produced for one request.
    fn write_tokens(&mut self, due: &Due) {
        let before = self.writes;
        self.with(due.connection, |reactor, connection| reactor.grant(connection, due));
        let now = self.clock.now();
        if self.writes > before {
            self.site.slip.record(due.at, now);
        }
        self.site.wrote(due, now);
    }

    fn grant(&mut self, connection: &mut Connection, due: &Due) -> Fate {
        let accepted = connection.answering.and_then(|answering| answering.accepted);
        if !accepted.is_some_and(|accepted| accepted.has(due.id)) {
            return Fate::Keep;
        }
        match &mut connection.task {
            Task::Stream(stream) => {
                stream.grant(due);
                self.advance(connection)
            }
            Task::Later(later) if due.over => {
                if !later.settled(due) {
                    return Fate::Keep;
                }
                self.fire(connection)
            }
            _ => Fate::Keep,
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
                self.writes += 1;
                if let Some(due) = later.due {
                    self.site.slip.record(due, self.clock.now());
                }
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

    /// Continues a stream: one write if it is paced, a batch if it runs at full speed.
    pub(super) fn advance(&mut self, connection: &mut Connection) -> Fate {
        for turn in 0..WRITES_A_TURN {
            let backlog = connection.backlog();
            let Task::Stream(stream) = &mut connection.task else {
                return Fate::Keep;
            };
            let now = self.clock.now();
            match stream.next(now) {
                Next::Now => {}
                Next::At(due) if turn == 0 && due <= now => {}
                Next::At(due) => {
                    connection.timer = self.timers.set(due, connection.token);
                    return Fate::Keep;
                }
                Next::OnGrant => return Fate::Keep,
            }
            if backlog > if stream.flat_out() { 0 } else { BACKLOG_LIMIT } {
                connection.blocked = true;
                return Fate::Keep;
            }
            let waited = std::mem::take(&mut connection.blocked);
            self.burst.clear();
            let sent = stream.sent();
            let stepped = stream.step(&mut self.burst);
            let tokens = stream.sent() - sent;
            let before = self.clock.now();
            for bytes in self.burst.writes() {
                if connection.send(bytes).is_err() {
                    return Fate::Drop;
                }
            }
            if let Some(ledger) = &self.ledger {
                ledger.wrote(connection, [before, self.clock.now()], tokens);
            }
            if !waited {
                self.writes += 1;
                stepped
                    .due
                    .into_iter()
                    .for_each(|due| self.site.slip.record(due, self.clock.now()));
            }
            if stepped.after != After::Continue {
                return self.finish(connection, stepped.after);
            }
        }
        // Its batch is done: anything already due goes first.
        connection.timer = self.timers.set(self.clock.now(), connection.token);
        Fate::Keep
    }

    /// A response is over, completed or not.
    pub(super) fn finish(&mut self, connection: &mut Connection, after: After) -> Fate {
        if after == After::Hold {
            connection.task = Task::Held;
            return Fate::Keep;
        }
        if let Some(ledger) = &mut self.ledger {
            ledger.end(connection);
        }
        self.site.answered +=
            connection.answering.map_or(0, |answering| u64::from(answering.counts));
        self.site.over(&mut connection.answering, self.clock.now());
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

    /// Closes a connection when the client has read everything.
    pub(super) fn part(&mut self, connection: &mut Connection, then: Then) -> Fate {
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
