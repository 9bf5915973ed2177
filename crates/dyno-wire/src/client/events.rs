//! One iteration of the loop: wait, read and time every ready socket, then process what was read.

use super::Client;
use super::connection::State;
use super::instrument::{ArrivalTime, Read};
use super::socket::Decoded;
use crate::exchange::ExchangeProgress;
use crate::tls::TlsFault;
use dyno_model::outcome::FailureClass;
use dyno_model::{MS, Message, Nanos};
use std::io::{self, ErrorKind};
use std::ops::Range;

/// Space for the reads of one iteration.
pub(super) const ARENA: usize = 1 << 20;
/// The most that one read takes, and the least space it needs.
const MAX_READ: usize = 64 << 10;
const MIN_READ: usize = 16 << 10;

/// How long data may have been waiting in a socket is bounded by the last poll and by the end of the last
/// sleep. Where the scheduler does not tell that, the loop polls at least this often while requests are in
/// flight.
const LOOK_EVERY: Nanos = MS;
/// After a shorter sleep its beginning is bound enough.
const LONG_SLEEP: Nanos = MS / 2;

/// One socket read: its times, and its bytes.
#[derive(Debug)]
pub(super) struct SocketRead {
    token: u64,
    read: Read,
    result: io::Result<Range<usize>>,
}

impl Client {
    /// Waits for events, at most until `until`, and processes them.
    pub(super) fn poll(&mut self, until: Nanos) -> io::Result<()> {
        let timer = self.timers.peek().map_or(Nanos::MAX, |timer| timer.0.0);
        let entered = self.clock.now();
        // On a grid, so that the timer is not re-armed for each event.
        let next_look = match (&self.run_queue, self.in_flight) {
            (None, 1..) => (entered / LOOK_EVERY + 1) * LOOK_EVERY,
            _ => Nanos::MAX,
        };
        let deadline = until.min(timer).min(self.health.tick).min(next_look);
        let mut ready = std::mem::take(&mut self.ready);
        ready.clear();
        let room = self.poller.wait(entered, Some(deadline), &mut ready)?;
        let polled = self.clock.now();
        self.health.on_poll(entered, deadline, polled);
        self.instrument.polled(entered, room);
        if self.instrument.offset_is_due(polled) {
            self.instrument.offset(polled, self.clock.wall_offset());
        }
        if let Some(queue) = self.run_queue.as_ref().filter(|_| polled - entered >= LONG_SLEEP) {
            self.instrument.slept(polled, deadline, queue.waited_ns());
        }
        let mut before = polled;
        let mut arena = std::mem::take(&mut self.arena);
        let mut rest = ready.as_slice();
        while !rest.is_empty() {
            let mut used = 0;
            while let Some((event, others)) = rest.split_first() {
                if used + MIN_READ > arena.len() {
                    break;
                }
                rest = others;
                let Some(connection) = self.table.get_mut(event.token) else {
                    continue;
                };
                if event.writable {
                    self.writes.push(event.token);
                }
                if !event.readable || connection.state == State::Connecting {
                    continue;
                }
                let room = used..arena.len().min(used + MAX_READ);
                let most = room.len();
                let result = connection.socket.read(&mut arena[room]);
                let after = self.clock.now();
                if matches!(&result, Err(error) if error.kind() == ErrorKind::WouldBlock) {
                    continue;
                }
                let (length, stamp) =
                    result.as_ref().map_or((0, None), |read| (read.length, read.unix_ns));
                let read = Read { before, after, full: length == most, stamp };
                self.instrument.stamp(stamp);
                before = after;
                let bytes = used..used + length;
                used += length;
                let result = result.map(|_| bytes);
                self.reads.push(SocketRead { token: event.token, read, result });
            }
            let mut reads = std::mem::take(&mut self.reads);
            for SocketRead { token, read, result } in reads.drain(..) {
                let Some(connection) = self.table.get_mut(token) else { continue };
                let (arrival, stamped) = self.instrument.read(&mut connection.seen, read);
                match result {
                    Ok(range) if range.is_empty() => self.on_broken(token, None, Some(arrival)),
                    Ok(range) => {
                        self.health.on_read(arrival.at, read.after, stamped);
                        self.on_bytes(token, &arena[range], arrival);
                    }
                    Err(error) => self.on_broken(token, Some(error.into()), Some(arrival)),
                }
            }
            self.reads = reads;
            let mut writes = std::mem::take(&mut self.writes);
            writes.drain(..).for_each(|token| self.on_writable(token));
            self.writes = writes;
        }
        self.arena = arena;
        self.ready = ready;
        self.fire_timers(polled);
        Ok(())
    }

    fn on_writable(&mut self, token: u64) {
        let Some(connection) = self.table.get_mut(token) else {
            return;
        };
        if connection.state != State::Connecting {
            return self.flush(token);
        }
        if let Err(error) = connection.socket.connect_result() {
            return self.on_refused(token, &error);
        }
        if connection.socket.is_tls() {
            connection.state = State::Handshaking;
            self.flush(token);
        } else {
            self.on_ready(token);
        }
    }

    /// A connect failed.
    fn on_refused(&mut self, token: u64, error: &io::Error) {
        let now = self.clock.now();
        let Some(mut connection) = self.table.remove(token) else { return };
        if let Some(mut exchange) = self.take_exchange(&mut connection) {
            let detail = self.named(Message::of(error), connection.address);
            exchange.fail(&self.options.rules, FailureClass::Connect, &detail, now);
            self.ended.push(exchange);
        }
    }

    /// Bytes have arrived.
    fn on_bytes(&mut self, token: u64, bytes: &[u8], mut arrival: ArrivalTime) {
        let at = arrival.at;
        let mut scratch = std::mem::take(&mut self.scratch);
        let Some(connection) = self.table.get_mut(token) else {
            return;
        };
        let data = match connection.socket.decode(bytes, &mut scratch) {
            Ok(Decoded::Plain(data)) => data,
            Ok(Decoded::Scratch) => scratch.as_slice(),
            Err(error) => {
                // Try to send the alert that tells the server why.
                let _ = connection.socket.flush();
                self.on_broken(token, Some(TlsFault::from(error).into()), Some(arrival));
                self.scratch = scratch;
                return;
            }
        };
        if !connection.socket.is_between_records() {
            // The last packet carried the beginning of a record that cannot be decrypted yet.
            arrival.last_byte_slack = arrival.spread();
        }
        match connection.state {
            State::Connecting => {}
            State::Handshaking => {
                let ready = connection.socket.is_ready();
                self.flush(token);
                if ready {
                    self.on_ready(token);
                }
            }
            // Data without a request closes the connection; TLS control records do not.
            State::Idle if data.is_empty() => {}
            State::Idle => {
                self.health.unasked += u64::from(is_unasked(data));
                self.table.remove(token);
            }
            State::Lingering => {
                match connection.rest.as_mut().and_then(|rest| rest.on_data(data)) {
                    None => {}
                    Some(true) => self.keep_idle(token),
                    Some(false) => drop(self.table.remove(token)),
                }
            }
            State::Sending | State::Waiting => {
                let mut progress = ExchangeProgress::Over { reusable: false };
                let mut first_output = false;
                if let Some(exchange) = &mut connection.exchange {
                    let had_output = exchange.has_output();
                    progress = exchange.on_data(&self.options.rules, data, arrival);
                    first_output = !had_output && exchange.has_output();
                    self.tokens_received += exchange.newly_received();
                    if exchange.begun {
                        connection.request = None;
                    }
                    connection.since = at;
                }
                self.on_progress(token, progress, at);
                if first_output {
                    // The deadline changes from the first token's to the idle time-out.
                    self.set_timer(token);
                }
            }
        }
        self.scratch = scratch;
    }
}

/// Whether data on an idle connection are the beginning of a response. Servers may say that they close
/// the connection, because it was idle for too long (408).
fn is_unasked(data: &[u8]) -> bool {
    let status = data.strip_prefix(b"HTTP/1.").and_then(|rest| rest.get(1..));
    status.is_some_and(|status| !status.starts_with(b" 408"))
}
