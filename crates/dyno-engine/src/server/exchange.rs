//! What happens when a connection is ready: bytes are taken, requests read and responses begun.

use super::connection::{Answering, Connection, Task, Then};
use super::http::MAX_BODY;
use super::ledger::Ledger;
use super::reactor::{Fate, Reactor};
use super::routes::{Caller, Reply, Work};
use dyno_net::{Ready, read_stamped};
use std::io::{self, ErrorKind, Read};

impl Reactor {
    /// Handles a connection that is ready.
    pub(super) fn on_ready(&mut self, connection: &mut Connection, event: Ready) -> Fate {
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

    /// Reads once: a client with much to send must not delay the others.
    fn read(&mut self, connection: &mut Connection) -> Fate {
        let read = match self.ledger {
            None => (&connection.socket).read(&mut self.read_buffer),
            Some(_) => read_stamped(&connection.socket, &mut self.read_buffer).map(|read| {
                let now = || self.clock.anchor_unix_ns() + self.clock.now();
                connection.came = read.unix_ns.unwrap_or_else(now);
                read.length
            }),
        };
        match read {
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

    /// Answers complete requests one after the other, as far as possible now.
    pub(super) fn answer_requests(&mut self, connection: &mut Connection) -> Fate {
        while matches!(connection.task, Task::Idle)
            && connection.then.is_none()
            && self.site.outage().is_none()
        {
            let now = self.clock.now();
            let fate = match connection.reader.next() {
                Ok(Some(request)) => {
                    let caller = Caller { token: connection.token, earlier: connection.requests };
                    let reply = self.site.respond(&request, now, caller);
                    connection.requests += 1;
                    if self.ledger.is_some() {
                        Ledger::begin(connection, connection.came);
                    }
                    self.begin(connection, reply)
                }
                Ok(None) if connection.reader.take_expectation() => {
                    return sent(connection.send(b"HTTP/1.1 100 Continue\r\n\r\n"));
                }
                Ok(None) => return Fate::Keep,
                Err(wrong) => {
                    let reply = Reply::unknown(wrong.status, &wrong.message, false);
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
        let due = match &reply.work {
            Work::Over(_) => None,
            Work::Stream(stream) => stream.next_due(),
            Work::Later(later) => later.due,
        };
        connection.task = match reply.work {
            Work::Over(after) => {
                let fate = sent(connection.send(&reply.now));
                return if fate == Fate::Keep { self.finish(connection, after) } else { fate };
            }
            Work::Stream(stream) => Task::Stream(stream),
            Work::Later(later) => Task::Later(later),
        };
        connection.answering = Some(Answering { accepted: reply.accepted, counts: reply.counts });
        self.site.running += 1;
        if let Some(due) = due {
            connection.timer = self.timers.set(due, connection.token);
        }
        sent(connection.send(&reply.now))
    }
}

fn sent(result: io::Result<()>) -> Fate {
    if result.is_ok() { Fate::Keep } else { Fate::Drop }
}
