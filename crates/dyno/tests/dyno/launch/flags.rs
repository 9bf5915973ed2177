//! The flags in the launchers are those of the program.

use super::root;
use std::process::Command;

/// The long flags that a help page explains.
fn known(command: &str) -> Vec<String> {
    let output =
        Command::new(env!("CARGO_BIN_EXE_dyno")).args([command, "--help"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let words = text.split(|c: char| c.is_whitespace() || matches!(c, ',' | '=' | '[' | ']' | '`'));
    words.filter(|word| word.starts_with("--")).map(str::to_owned).collect()
}

/// The long flags that follow `dyno COMMAND` in a line, or `COMMAND` in a list of arguments.
fn used(text: &str, command: &str) -> Vec<String> {
    let calls = [
        format!("dyno {command} "),
        format!("\"$dyno\" {command} "),
        format!("command: [{command},"),
    ];
    let lines = text.replace("\\\n", " ");
    let (mut flags, mut listed) = (Vec::new(), false);
    for line in lines.lines().map(str::trim).filter(|line| !line.starts_with('#')) {
        listed = line == format!("- {command}") || listed && line.starts_with("- ");
        let called = calls.iter().find_map(|call| line.split_once(call.as_str()));
        if let Some(arguments) = called.map(|(_, after)| after).or(listed.then_some(line)) {
            let words =
                arguments.split(|c: char| c.is_whitespace() || matches!(c, ',' | '=' | '"'));
            flags.extend(words.filter(|word| word.starts_with("--")).map(str::to_owned));
        }
    }
    flags
}

#[test]
fn launchers_use_flags_that_exist() {
    let kubernetes = ["agents", "bench", "jobset"].map(|name| format!("kubernetes/{name}.yaml"));
    let others =
        ["over-ssh", "slurm.sbatch", "compose.yaml", "dyno-agent.service"].map(str::to_owned);
    for file in kubernetes.into_iter().chain(others) {
        let text = std::fs::read_to_string(root().join("launch").join(&file)).unwrap();
        let mut found = 0;
        for command in ["agent", "bench"] {
            let known = known(command);
            for flag in used(&text, command) {
                assert!(known.contains(&flag), "{file}: `dyno {command}` has no {flag}");
                found += 1;
            }
        }
        assert!(found > 0, "{file}: no flags are found");
    }
}
