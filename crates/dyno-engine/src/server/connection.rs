//! One connection: its socket, unread requests and unsent response bytes; and the table of all
//! connections.

use super::generate::Later;
use super::http::Reader;
use super::ledger::Entry;
use super::stream::ResponseStream;
use crate::live::Accepted;
use dyno_model::budget::{Budget, HeldBytes, OverBudget};
use std::io::{ErrorKind, Write};
use std::net::TcpStream;

/// What a connection is busy with.
#[derive(Debug)]
pub(super) enum Task {
    /// Waiting for a request.
    Idle,
    /// Streaming a response.
    Stream(Box<ResponseStream>),
    /// Waiting for the time of a whole response.
    Later(Box<Later>),
    /// Silent on purpose until the client closes.
    Held,
    /// Closed for writing. What still arrives is read and discarded, because closing with unread data
    /// would reset the connection and lose the last response.
    Discard,
}

/// A client's connection.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) socket: TcpStream,
    /// Its place among the connections.
    pub(super) token: u64,
    pub(super) reader: Reader,
    pub(super) task: Task,
    /// The current timer; older ones are void.
    pub(super) timer: u64,
    /// Requests read so far.
    pub(super) requests: u64,
    pub(super) keep_alive: bool,
    pub(super) idle_close: bool,
    /// The response under way.
    pub(super) answering: Option<Answering>,
    /// The stream waits for the client to read.
    pub(super) blocked: bool,
    /// What to do when the client has read everything.
    pub(super) then: Option<Then>,
    /// The ledger entry of the response under way.
    pub(super) entry: Option<Box<Entry>>,
    /// When the last bytes came, since 1970, if the ledger is kept.
    pub(super) came: u64,
    /// Write interest is registered.
    pub(super) watches_write: bool,
    pending: Vec<u8>,
    taken: usize,
    /// Its share of the memory for clients.
    held: HeldBytes,
}

/// A response under way.
#[derive(Debug, Clone, Copy)]
pub(super) struct Answering {
    /// What stands for it in the engine, if there is one behind it.
    pub(super) accepted: Option<Accepted>,
    /// Whether it counts as a response.
    pub(super) counts: bool,
}

/// What follows the last byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Then {
    /// The connection is closed.
    Close,
    /// It is closed for writing, and what the client still sends is discarded.
    Discard,
}

impl Connection {
    pub(super) fn new(socket: TcpStream, token: u64, budget: &Budget) -> Self {
        Self {
            socket,
            token,
            reader: Reader::default(),
            task: Task::Idle,
            timer: 0,
            requests: 0,
            keep_alive: true,
            idle_close: false,
            answering: None,
            blocked: false,
            then: None,
            watches_write: false,
            entry: None,
            came: 0,
            pending: Vec::new(),
            taken: 0,
            held: budget.share(),
        }
    }

    /// Takes note of the memory that it holds now; whether there is that much.
    pub(super) fn hold(&mut self) -> Result<(), OverBudget> {
        let response = match &self.task {
            Task::Later(later) => later.bytes.capacity(),
            _ => 0,
        };
        self.held.set(self.reader.holds() + self.pending.capacity() + response)
    }

    /// How many bytes the client has not read yet.
    pub(super) fn backlog(&self) -> usize {
        self.pending.len() - self.taken
    }

    /// Writes what the socket accepts and buffers the rest, in order.
    pub(super) fn send(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        let written = if self.backlog() == 0 { write_some(&self.socket, bytes)? } else { 0 };
        if written < bytes.len() {
            self.pending.extend_from_slice(&bytes[written..]);
        }
        Ok(())
    }

    /// Writes more of the buffer.
    pub(super) fn flush(&mut self) -> std::io::Result<()> {
        self.taken += write_some(&self.socket, &self.pending[self.taken..])?;
        if self.taken == self.pending.len() {
            self.taken = 0;
            self.pending = Vec::new();
        }
        Ok(())
    }
}

/// Writes until the socket is full; returns how much it accepted.
fn write_some(mut socket: &TcpStream, bytes: &[u8]) -> std::io::Result<usize> {
    let mut written = 0;
    while written < bytes.len() {
        match socket.write(&bytes[written..]) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(n) => written += n,
            Err(error) if error.kind() == ErrorKind::WouldBlock => break,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(written)
}

/// All connections, each under a token that is never used twice.
#[derive(Debug, Default)]
pub(super) struct Connections {
    slots: Vec<Slot>,
    free: Vec<u32>,
}

#[derive(Debug, Default)]
struct Slot {
    generation: u32,
    connection: Option<Box<Connection>>,
}

impl Connections {
    /// Adds a connection and returns its token.
    pub(super) fn insert(&mut self, socket: TcpStream, budget: &Budget) -> &Connection {
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::default());
            (self.slots.len() - 1) as u32
        });
        let slot = &mut self.slots[index as usize];
        let token = u64::from(slot.generation) << 32 | u64::from(index);
        slot.connection.insert(Box::new(Connection::new(socket, token, budget)))
    }

    /// Takes a connection out to work on it, if it is still there.
    pub(super) fn take(&mut self, token: u64) -> Option<Box<Connection>> {
        let slot = self.slots.get_mut(token as u32 as usize)?;
        if u64::from(slot.generation) != token >> 32 {
            return None;
        }
        slot.connection.take()
    }

    /// Puts it back.
    pub(super) fn put_back(&mut self, connection: Box<Connection>) {
        if let Some(slot) = self.slots.get_mut(connection.token as u32 as usize) {
            slot.connection = Some(connection);
        }
    }

    /// Removes all connections.
    pub(super) fn take_all(&mut self) -> impl Iterator<Item = Box<Connection>> {
        self.slots.drain(..).filter_map(|slot| slot.connection)
    }

    /// Frees the slot of a connection that was removed.
    pub(super) fn release(&mut self, token: u64) {
        if let Some(slot) = self.slots.get_mut(token as u32 as usize) {
            // Tokens stay clear of the poller's and the server's own.
            slot.generation = (slot.generation + 1) % (1 << 30);
            self.free.push(token as u32);
        }
    }
}
