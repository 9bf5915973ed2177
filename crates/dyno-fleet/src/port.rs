//! The port between the protocol and a transport: packets out, packets in, each with its time of arrival.

use crate::inbox::Inbox;
use crate::message::{BadPacket, decode, encode};
use dyno_model::{Message, Nanos, message};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Sends a packet, or says why the other side is gone. It must not block for long.
pub type Sender = Box<dyn FnMut(Vec<u8>) -> Result<(), Message> + Send>;

/// Something arrived.
#[derive(Debug)]
pub struct Arrived {
    /// When, on this side's clock.
    pub at: Nanos,
    /// A packet, or why there will be no more.
    pub packet: Result<Vec<u8>, Message>,
}

/// A way to send packets, shared between threads.
#[derive(Clone)]
pub(crate) struct Out(Arc<Mutex<Sender>>);

impl Out {
    pub(crate) fn new(sender: Sender) -> Self {
        Self(Arc::new(Mutex::new(sender)))
    }

    /// Sends a message; the reason if the other side is gone.
    pub(crate) fn send(&self, message: &impl Serialize, bytes: &[u8]) -> Result<(), Message> {
        let packet = encode(message, bytes).map_err(Message::of)?;
        let mut sender = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sender(packet)
    }
}

/// The coordinator's side: a line to each agent.
pub struct Hub {
    pub(crate) out: Vec<Out>,
    inbox: Inbox,
}

impl Hub {
    /// A hub of these lines, whose arrivals come with their number.
    pub fn new(senders: Vec<Sender>, inbox: Inbox) -> Self {
        Self { out: senders.into_iter().map(Out::new).collect(), inbox }
    }

    /// The next arrival; `None` if there was none until then.
    pub(crate) fn next(&self, until: Instant) -> Option<(usize, Arrived)> {
        self.inbox.next(until)
    }
}

impl std::fmt::Debug for Hub {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hub").field("lines", &self.out.len()).finish_non_exhaustive()
    }
}

/// An agent's side.
pub struct AgentLine {
    pub(crate) out: Out,
    inbox: Receiver<Arrived>,
}

impl AgentLine {
    /// A line to the coordinator.
    pub fn new(sender: Sender, inbox: Receiver<Arrived>) -> Self {
        Self { out: Out::new(sender), inbox }
    }

    /// The next arrival within a time; `Ok(None)` if there was none.
    pub(crate) fn next(&self, within: Duration) -> Result<Option<Arrived>, Message> {
        match self.inbox.recv_timeout(within) {
            Ok(arrived) => Ok(Some(arrived)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(closed()),
        }
    }
}

impl std::fmt::Debug for AgentLine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Line").finish_non_exhaustive()
    }
}

/// Nothing more will come.
pub(crate) fn closed() -> Message {
    message!("the line is closed", "连接已关闭")
}

/// A message and its bytes, taken out of a packet.
pub(crate) fn taken<M: DeserializeOwned>(packet: &[u8]) -> Result<(M, Vec<u8>), BadPacket> {
    decode(packet).map(|(message, bytes)| (message, bytes.to_vec()))
}
