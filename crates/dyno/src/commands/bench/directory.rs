//! The run's identity and its directory.

use crate::commands::RUNS;
use crate::host;
use crate::resolve::{Resolved, suffix};
use dyno_model::environment::Environment;
use dyno_model::frame::RunHeader;
use dyno_model::plan::Plan;
use dyno_model::versus::Side;
use dyno_model::when::compact;
use dyno_net::Clock;
use dyno_record::{FORMAT, RunDir};
use dyno_wire::preflight::Settled;
use std::path::PathBuf;

/// What a run is called: its UTC time and four hexadecimal digits.
pub(crate) struct Identity {
    name: String,
}

impl Identity {
    pub(crate) fn new(clock: &Clock) -> Self {
        let nanos = clock.anchor_unix_ns();
        // Two runs of one second differ by their nanoseconds and process.
        let mixed =
            (nanos ^ u64::from(std::process::id()) << 20).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Self { name: format!("{}-{:04x}", compact(nanos), mixed >> 48) }
    }

    /// The name of one of two runs that take turns.
    pub(crate) fn of_side(clock: &Clock, side: Side) -> Self {
        Self { name: Self::new(clock).name + suffix(side) }
    }

    /// What the run is called.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The name of a run that is gone on with.
    pub(crate) fn known(name: &str) -> Self {
        Self { name: name.to_owned() }
    }

    pub(crate) fn header(&self, plan: &Plan, clock: &Clock) -> RunHeader {
        RunHeader {
            format: FORMAT,
            run_id: self.name.clone(),
            shard: plan.shard.index,
            shards: plan.shard.of,
            anchor_unix_ns: clock.anchor_unix_ns(),
            plan_hash: plan.hash(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }
}

/// Makes the directory; the words for the user if that fails.
pub(crate) fn create(resolved: &Resolved, identity: &Identity) -> Result<RunDir, String> {
    let path = match &resolved.out {
        Some(out) => out.clone(),
        None => PathBuf::from(RUNS).join(&identity.name),
    };
    RunDir::create(path).map_err(|error| format!("--out: {error}"))
}

/// What is saved about this machine and the server.
pub(crate) fn environment(settled: &Settled) -> Environment {
    Environment {
        schema: "dyno.environment/1".to_owned(),
        dyno: env!("CARGO_PKG_VERSION").to_owned(),
        host: host::describe(),
        server: settled.server.clone(),
        preflight: Some(settled.preflight.clone()),
        notes: settled.notes.clone(),
    }
}

/// A server's words on one line, without anything that a terminal could obey.
pub(crate) fn one_line(text: &str) -> String {
    let mut line = String::new();
    for c in text.trim().chars().take(600) {
        match c {
            '\n' | '\r' | '\t' => line.push(' '),
            c if c.is_control() => line.extend(c.escape_default()),
            c => line.push(c),
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_servers_words_cannot_speak_to_the_terminal() {
        assert_eq!(one_line("a\nb\x1b[31mc"), "a b\\u{1b}[31mc");
    }
}
