//! A bus of our own, and agents that wait on it.

use anyhow::{Context, Result};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A NATS server on a free port, and its agents; they end with this value.
pub(super) struct Bus {
    port: u16,
    server: Child,
    agents: Vec<Child>,
}

impl Bus {
    /// Starts the server and agents whose temporary files are in a folder.
    pub(super) fn start(dyno: &Path, agents: usize, folder: &Path) -> Result<Self> {
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let mut bus = Self { port, server: server(port)?, agents: Vec::new() };
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
        self.agents.push(agent);
        Ok(())
    }

    pub(super) fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    pub(super) fn process(&self) -> u32 {
        self.server.id()
    }

    /// The process ids of the agents.
    pub(super) fn agents(&self) -> Vec<u32> {
        self.agents.iter().map(Child::id).collect()
    }

    /// Starts the server again, where it was.
    pub(super) fn start_again(&mut self) -> Result<()> {
        self.server.wait()?;
        self.server = server(self.port)?;
        Ok(())
    }

    /// How many agents are still there.
    pub(super) fn agents_left(&mut self) -> usize {
        let there = self.agents.iter_mut().map(|agent| matches!(agent.try_wait(), Ok(None)));
        there.filter(|there| *there).count()
    }
}

fn server(port: u16) -> Result<Child> {
    let child = Command::new("nats-server")
        .args(["-a", "127.0.0.1", "-p", &port.to_string()])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .context("nats-server is needed")?;
    std::thread::sleep(Duration::from_millis(300));
    Ok(child)
}

impl Drop for Bus {
    fn drop(&mut self) {
        for child in self.agents.iter_mut().chain([&mut self.server]) {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
