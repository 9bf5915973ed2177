//! Why a fleet cannot go on.

use dyno_model::{Localized, Message};

/// Why a fleet cannot go on.
#[derive(Debug, Clone, PartialEq, Eq, Localized)]
pub enum FleetError {
    /// Not all agents came.
    #[message(
        "{found} of {wanted} agents were there after {seconds} s",
        "{seconds} s 后只有 {found}/{wanted} 个压测端就绪"
    )]
    Missing {
        /// How many there are.
        found: usize,
        /// How many there should be.
        wanted: usize,
        /// How long was waited.
        seconds: u64,
    },
    /// An agent is of another version.
    #[message(
        "agent {name} is Dyno {theirs}, and this is {ours}: use the same version everywhere",
        "压测端 {name} 是 Dyno {theirs}，而此处是 {ours}：请在各处使用同一版本"
    )]
    Version {
        /// The agent.
        name: String,
        /// Its version.
        theirs: String,
        /// The coordinator's.
        ours: String,
    },
    /// An agent cannot or will not.
    #[message("agent {name}: {why}", "压测端 {name}：{why}")]
    Refused {
        /// The agent.
        name: String,
        /// Why.
        why: Message,
    },
    /// An agent is gone.
    #[message("agent {name} was lost: {why}", "压测端 {name} 丢失：{why}")]
    Lost {
        /// The agent.
        name: String,
        /// Why.
        why: Message,
    },
    /// The user stopped it.
    #[message("interrupted", "已中断")]
    Interrupted,
}
