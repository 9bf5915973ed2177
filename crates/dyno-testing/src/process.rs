//! Processes that a test starts, and ports for them.

use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command};

/// Kills its process when the test is over, however it ends.
pub struct KillOnDrop(pub Child);

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A port of the loopback that is free now.
pub fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// The program that runs: in a test, the tests of its crate.
pub fn this_binary() -> Command {
    Command::new(std::env::current_exe().unwrap())
}

/// The arguments with which [`this_binary`] runs one test alone, printing as it goes.
pub fn only(test: &str) -> [&str; 4] {
    [test, "--exact", "--nocapture", "--test-threads=1"]
}

/// Where a program is: in the folders of `PATH`, or where Debian has those of administrators.
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin".into()]);
    folders.map(|folder| folder.join(program)).find(|program| program.exists())
}
