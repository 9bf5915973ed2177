//! Several load generators on one run.
//!
//! A coordinator ([`Fleet`]) has the plan, and agents ([`Post`]) send their parts of it. There is no
//! message per request: an agent gets the plan once, and for each level what it needs beyond that;
//! between the start and the end of a level the coordinator's call and the agent's beat, once a second,
//! are all that is sent. Records are pulled after the level.
//!
//! Messages go over a [`Hub`] on the coordinator's side and a [`Line`] on the agent's; how they get there
//! is a transport's business: [`pipe`] for children of this process, [`nats`] for other machines. The time of every arrival is taken
//! on the transport's thread, so that clocks can be compared however busy the rest is.
//! What a level does, and what its requests and records are, is not known here.

mod clock;
mod coordinator;
mod harmless;
mod inbox;
mod limits;
mod message;
pub mod nats;
mod patience;
pub mod pipe;
mod port;
mod post;

pub use clock::{ClockSync, Stamps};
pub use coordinator::{Fleet, FleetError, Part, Pieces, Watch};
pub use inbox::{Inbox, Intake, inbox};
pub use limits::{check_level, check_setup};
pub use message::{
    BadPacket, Done, FileRef, FromAgent, Hello, MAX_PACKET, PIECE, PROTOCOL, Prepare, Setup,
    ToAgent, decode, encode,
};
pub use patience::Patience;
pub use port::{Arrived, Hub, Line, Sender};
pub use post::{Counters, Order, Post, SILENCE};
