//! A bus of our own, and agents that wait on it.

use anyhow::Result;
use dyno_testing::nats::Nats;
use dyno_testing::process::KillOnDrop;
use std::path::Path;
use std::process::{Command, Stdio};

/// A NATS server on a free port, and its agents; they end with this value.
pub(super) struct Bus {
    server: Nats,
    agents: Vec<KillOnDrop>,
}

impl Bus {
    /// Starts the server and agents whose temporary files are in a folder.
    pub(super) fn start(dyno: &Path, agents: usize, folder: &Path) -> Result<Self> {
        let mut bus = Self { server: Nats::start(), agents: Vec::new() };
        for _ in 0..agents {
            bus.add_agent(dyno, folder)?;
        }
        Ok(bus)
    }

    /// One more agent.
    pub(super) fn add_agent(&mut self, dyno: &Path, folder: &Path) -> Result<()> {
        let agent = Command::new(dyno)
            .args(["agent", "--any-target", "--bus", &self.url()])
            .args(["--name", &format!("a{}", self.agents.len() + 1)])
            .env("TMPDIR", folder)
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        self.agents.push(KillOnDrop(agent));
        Ok(())
    }

    pub(super) fn url(&self) -> String {
        self.server.url()
    }

    pub(super) fn process(&self) -> u32 {
        self.server.process()
    }

    /// The process ids of the agents.
    pub(super) fn agents(&self) -> Vec<u32> {
        self.agents.iter().map(|agent| agent.0.id()).collect()
    }

    /// Starts the server again, where it was.
    pub(super) fn start_again(&mut self) {
        self.server.restart();
    }

    /// How many agents are still there.
    pub(super) fn agents_left(&mut self) -> usize {
        let there = self.agents.iter_mut().map(|agent| matches!(agent.0.try_wait(), Ok(None)));
        there.filter(|there| *there).count()
    }
}
