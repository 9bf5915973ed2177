//! Several load generators on one run.
//!
//! A coordinator ([`Fleet`]) has the plan, and agents ([`Post`]) send their parts of it. There is no
//! message per request: an agent gets the plan once, and for each level what it needs beyond that;
//! between the start and the end of a level the coordinator's call and the agent's beat, once a second,
//! are all that is sent. Records are pulled after the level.
//!
//! Messages go over a [`Hub`] on the coordinator's side and an [`AgentLine`] on the agent's; how they get there
//! is a transport's business: [`pipe`] for children of this process, [`nats`] for other machines. The time of every arrival is taken
//! on the transport's thread, so that clocks can be compared however busy the rest is.
//! What a level does, and what its requests and records are, is not known here.

mod agent_protocol;
mod clock;
mod coordinator;
mod inbox;
mod limits;
mod message;
pub mod nats;
mod patience;
pub mod pipe;
mod port;
mod sanitize;

pub use agent_protocol::{AgentOrder, Counters, Post, SILENCE};
pub use clock::{ClockStamps, ClockSync};
pub use coordinator::{AgentPart, Fleet, FleetError, LevelWatch, RecordPieces};
pub use inbox::{Inbox, Intake, inbox};
pub use limits::{check_level, check_setup};
pub use message::{
    AgentLevelEnd, BadPacket, FileRef, FromAgent, Hello, MAX_PACKET, PIECE, PROTOCOL, PrepareLevel,
    Setup, ToAgent, decode, encode,
};
pub use patience::Patience;
pub use port::{AgentLine, Arrived, Hub, Sender};
