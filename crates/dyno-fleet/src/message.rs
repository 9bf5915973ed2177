//! What coordinator and agents say to each other. A packet is the length of a JSON header, the header, and
//! raw bytes where the message carries any.

use crate::sanitize::clean;
use dyno_model::fleet::Beat;
use dyno_model::frame::Ending;
use dyno_model::plan::{LevelPlan, Plan, Shard};
use dyno_model::{Localized, Message, Nanos};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The version of this protocol. Coordinator and agents must also be of the same version of Dyno.
pub const PROTOCOL: u32 = 2;
/// The largest packet: what a NATS server accepts by default.
pub const MAX_PACKET: usize = 1 << 20;
/// Bytes of a file or of records in one packet.
pub const PIECE: usize = 512 << 10;

/// From the coordinator to an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToAgent {
    /// Once a second, and in quick succession to compare clocks; answered with a beat.
    Call {
        /// Counts up.
        number: u64,
        /// When it was sent, on the coordinator's clock.
        sent: Nanos,
    },
    /// What to do; once.
    Setup(Box<Setup>),
    /// A piece of a file that the agent wanted; the bytes follow.
    File {
        /// Its SHA-256, in hexadecimal.
        hash: String,
        /// Where the piece begins.
        from: u64,
    },
    /// Prepare a level.
    Prepare(Box<PrepareLevel>),
    /// Start the level that was prepared.
    Start {
        /// Its number.
        level: u32,
        /// When, on the agent's clock.
        at: Nanos,
    },
    /// Stop the level.
    Stop {
        /// Its number.
        level: u32,
        /// Give up what is in flight, too.
        now: bool,
    },
    /// Send a piece of the records of the level that ended last.
    Pull {
        /// Where it begins.
        from: u64,
    },
    /// The run is over for this agent.
    Leave {
        /// Why, for people.
        why: Message,
    },
}

/// What an agent has to know for all levels of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Setup {
    /// The run's id.
    pub run: String,
    /// The plan as it is saved.
    pub plan: Plan,
    /// The agent's part of each level.
    pub shard: Shard,
    /// Where the target is, without anything secret.
    pub url: String,
    /// What the preflight settled.
    pub settled: serde_json::Value,
    /// The files that the plan names.
    pub files: Vec<FileRef>,
    /// The CPU to stay on.
    pub cpu: Option<u32>,
    /// Local addresses to send from.
    pub sources: Vec<String>,
}

/// A file that an agent needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRef {
    /// Its name in the plan.
    pub name: String,
    /// Its SHA-256, in hexadecimal.
    pub hash: String,
    /// Its size in bytes.
    pub size: u64,
}

/// A level to prepare.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PrepareLevel {
    /// Its number.
    pub level: u32,
    /// What it does, for all agents together.
    pub plan: LevelPlan,
    /// Prompts or conversations that earlier levels took.
    pub taken: u64,
    /// Failures that are left until the run is given up.
    pub failures: Option<u64>,
}

/// From an agent to the coordinator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FromAgent {
    /// The agent is there.
    Hello(Hello),
    /// The answer to a call.
    Beat {
        /// The call's number.
        number: u64,
        /// When the call was sent, on the coordinator's clock.
        sent: Nanos,
        /// When it arrived, on the agent's clock.
        received: Nanos,
        /// When this was sent, on the agent's clock.
        answered: Nanos,
        /// What was done so far, during a level.
        beat: Option<Beat>,
    },
    /// A file is missing.
    Wants {
        /// Its SHA-256, in hexadecimal.
        hash: String,
        /// Where the next piece begins.
        from: u64,
    },
    /// The setup is understood, and all files are there.
    Settled,
    /// The agent cannot or will not.
    Refused {
        /// Why, for people.
        why: Message,
    },
    /// The agent leaves the run.
    Leaving {
        /// Why, for people.
        why: Message,
    },
    /// The level is prepared: prompts made, connections opened.
    Ready {
        /// Its number.
        level: u32,
    },
    /// The level is over, and its records are written.
    Done(Box<AgentLevelEnd>),
    /// A piece of the records; the bytes follow. An empty piece is the end.
    Piece {
        /// Where it begins.
        from: u64,
    },
}

/// An agent that is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// [`PROTOCOL`].
    pub protocol: u32,
    /// Version of Dyno.
    pub version: String,
    /// Its name.
    pub name: String,
    /// Its machine.
    pub host: String,
    /// Its process id there.
    pub process: u32,
    /// CPUs that it may use.
    pub cpus: u32,
}

/// A version of Dyno as people are told of it; with its protocol where that alone differs from this one.
pub(crate) fn named(version: &str, protocol: u32) -> String {
    match protocol == PROTOCOL {
        true => version.to_owned(),
        false => format!("{version} (protocol {protocol})"),
    }
}

/// A level that is over, as one agent saw it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentLevelEnd {
    /// Its number.
    pub level: u32,
    /// Why sending stopped.
    pub ending: Ending,
    /// How much later than agreed its clock started.
    pub start_error_ns: i64,
    /// The position in the data up to which something was taken, over all agents.
    pub taken: u64,
    /// Failures, warm-up included.
    pub failed: u64,
    /// Why the target was given up, for people.
    pub lost_target: Option<Message>,
    /// What went wrong in the agent, for people.
    pub trouble: Option<Message>,
    /// What it says of its data and of the target.
    #[serde(default)]
    pub told: serde_json::Value,
    /// Bytes of its records.
    pub bytes: u64,
}

/// A packet that is not one.
#[derive(Debug, Clone, PartialEq, Eq, Localized)]
pub enum BadPacket {
    /// It is larger than allowed.
    #[message(
        "a message of {0} bytes; at most {MAX_PACKET} are allowed",
        "消息有 {0} 字节；最多允许 {MAX_PACKET} 字节"
    )]
    TooLarge(usize),
    /// It ends within its header.
    #[message("a message that ends within its header", "消息在头部中途结束")]
    Cut,
    /// Its header is not understood.
    #[message("a message that is not understood: {0}", "无法理解的消息：{0}")]
    Unknown(String),
}

/// A message as a packet.
pub fn encode(message: &impl Serialize, bytes: &[u8]) -> Result<Vec<u8>, BadPacket> {
    let header =
        serde_json::to_vec(message).map_err(|error| BadPacket::Unknown(error.to_string()))?;
    let whole = 4 + header.len() + bytes.len();
    let length = u32::try_from(header.len()).map_err(|_| BadPacket::TooLarge(whole))?;
    if whole > MAX_PACKET {
        return Err(BadPacket::TooLarge(whole));
    }
    let mut packet = Vec::with_capacity(whole);
    packet.extend_from_slice(&length.to_le_bytes());
    packet.extend_from_slice(&header);
    packet.extend_from_slice(bytes);
    Ok(packet)
}

/// The message of a packet, and its raw bytes.
pub fn decode<M: DeserializeOwned>(packet: &[u8]) -> Result<(M, &[u8]), BadPacket> {
    if packet.len() > MAX_PACKET {
        return Err(BadPacket::TooLarge(packet.len()));
    }
    let (length, rest) = packet.split_first_chunk::<4>().ok_or(BadPacket::Cut)?;
    let length = u32::from_le_bytes(*length) as usize;
    let (header, bytes) = rest.split_at_checked(length).ok_or(BadPacket::Cut)?;
    let message = serde_json::from_slice(header);
    // The error repeats what was said.
    Ok((message.map_err(|error| BadPacket::Unknown(clean(&error.to_string())))?, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_with_a_message_is_said_without_its_escapes() {
        let header = br#"{"\u001b[2J\u202e":{}}"#;
        let packet = [&(header.len() as u32).to_le_bytes()[..], header].concat();
        let said = decode::<ToAgent>(&packet).unwrap_err().to_string();
        assert!(said.contains("unknown variant `?[2J?`"), "{said}");
    }
}
