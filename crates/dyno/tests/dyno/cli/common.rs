//! Runs the real binary in a separate directory and returns its output.

use crate::bench::place::NOT_OURS;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// The binary, without the environment variables of the tester.
pub(crate) fn dyno(dir: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dyno"));
    command.args(args).current_dir(dir).stdin(Stdio::null());
    for name in NOT_OURS {
        command.env_remove(name);
    }
    command
}

/// Runs it to its end.
pub(crate) fn run(dir: &Path, args: &[&str]) -> Output {
    dyno(dir, args).output().unwrap()
}

/// Status, stdout and stderr as one text.
pub(crate) fn transcript(dir: &Path, args: &[&str]) -> String {
    let output = run(dir, args);
    format!(
        "$ dyno {}\nstatus: {}\n--- stdout\n{}--- stderr\n{}",
        args.join(" "),
        output.status.code().map_or("none".to_owned(), |code| code.to_string()),
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}
