//! What can be wrong with a bus, or with what was said about it. Nothing here contains a secret.

use std::fmt;
use std::path::PathBuf;

/// Why a bus cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BusError {
    /// The address of the bus is none.
    #[error("`{given}` is no address of a bus: {why}")]
    Address {
        /// What was given, without user and password.
        given: String,
        /// What is wrong with it.
        why: String,
    },
    /// A setting of the bus is wrong.
    #[error("{flag} {why}")]
    Setting {
        /// The flag.
        flag: &'static str,
        /// What is wrong with it.
        why: String,
    },
    /// A file cannot be used.
    #[error("{flag}: `{}`: {why}", .file.display())]
    File {
        /// The flag that names it.
        flag: &'static str,
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// Nobody is there.
    #[error("cannot reach the bus at {servers}: {why}")]
    Unreachable {
        /// Where it was looked for.
        servers: String,
        /// What went wrong.
        why: String,
    },
    /// The server does not let us in.
    #[error("the bus at {servers} does not let Dyno in: {why}")]
    Denied {
        /// The servers.
        servers: String,
        /// What it said.
        why: String,
    },
    /// Messages are not allowed to be large enough.
    #[error(
        "the bus at {servers} takes messages of at most {allowed} bytes: set max_payload of nats-server to \
         {needed} or more"
    )]
    SmallPayload {
        /// The servers.
        servers: String,
        /// What it allows.
        allowed: usize,
        /// What is needed.
        needed: usize,
    },
    /// Not enough agents came.
    #[error("{0}")]
    TooFew(Box<TooFew>),
    /// This machine did not allow something.
    #[error("cannot use a bus: {0}")]
    Own(String),
    /// The user stopped it.
    #[error("interrupted")]
    Interrupted,
}

/// Who came when agents were called for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TooFew {
    /// How many were called for.
    pub wanted: usize,
    /// How long was waited.
    pub seconds: u64,
    /// The servers.
    pub servers: String,
    /// The coordinator's version.
    pub ours: String,
    /// Those that were free.
    pub free: Vec<String>,
    /// Those that were busy, and with which run.
    pub busy: Vec<(String, String)>,
    /// Those of another version.
    pub other: Vec<(String, String)>,
}

/// How many names are listed.
const LISTED: usize = 20;

impl fmt::Display for TooFew {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (found, wanted, seconds) = (self.free.len(), self.wanted, self.seconds);
        let came = format!(
            "{found} of {wanted} agents came within {seconds} s to the bus at {}",
            self.servers
        );
        let mut parts = vec![match found {
            0 => came,
            _ => format!("{came}: {}", listed(&self.free)),
        }];
        if !self.busy.is_empty() {
            let busy = self.busy.iter().map(|(name, run)| format!("{name} with run {run}"));
            parts.push(format!("busy: {}", listed(&busy.collect::<Vec<_>>())));
        }
        if !self.other.is_empty() {
            let other = self.other.iter().map(|(name, theirs)| format!("{name} is Dyno {theirs}"));
            let other = listed(&other.collect::<Vec<_>>());
            parts.push(format!("of another version than {}: {other}", self.ours));
        }
        f.write_str(&parts.join("; "))
    }
}

fn listed(names: &[String]) -> String {
    let shown = names.iter().take(LISTED).cloned().collect::<Vec<_>>().join(", ");
    match names.len().checked_sub(LISTED) {
        None | Some(0) => shown,
        Some(more) => format!("{shown} and {more} more"),
    }
}
