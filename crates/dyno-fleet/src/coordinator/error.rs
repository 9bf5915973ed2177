//! Why a fleet cannot go on.

/// Why a fleet cannot go on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FleetError {
    /// Not all agents came.
    #[error("{found} of {wanted} agents were there after {seconds} s")]
    Missing {
        /// How many there are.
        found: usize,
        /// How many there should be.
        wanted: usize,
        /// How long was waited.
        seconds: u64,
    },
    /// An agent is of another version.
    #[error("agent {name} is Dyno {theirs}, and this is {ours}: use the same version everywhere")]
    Version {
        /// The agent.
        name: String,
        /// Its version.
        theirs: String,
        /// The coordinator's.
        ours: String,
    },
    /// An agent cannot or will not.
    #[error("agent {name}: {why}")]
    Refused {
        /// The agent.
        name: String,
        /// Why.
        why: String,
    },
    /// An agent is gone.
    #[error("agent {name} was lost: {why}")]
    Lost {
        /// The agent.
        name: String,
        /// Why.
        why: String,
    },
    /// The user stopped it.
    #[error("interrupted")]
    Interrupted,
}
