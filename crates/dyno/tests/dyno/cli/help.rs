//! Every help page, and the pages of `docs/` that are generated from the same definitions.

use crate::cli::common::{run, transcript};
use std::path::Path;

const COMMANDS: &[&str] = &[
    "bench",
    "engine",
    "presets",
    "doctor",
    "report",
    "runs",
    "open",
    "help",
    "completions",
    "man",
];

#[test]
fn every_help_page() {
    let here = tempfile::tempdir().unwrap();
    insta::assert_snapshot!("help_dyno", transcript(here.path(), &["--help"]));
    for command in COMMANDS {
        let name = format!("help_{command}");
        insta::assert_snapshot!(name, transcript(here.path(), &[command, "--help"]));
    }
    insta::assert_snapshot!("short_help_bench", transcript(here.path(), &["bench", "-h"]));
    let fixed =
        ["verdicts", "metrics", "slo", "apis", "data", "units", "environment", "exit-codes"];
    for topic in fixed {
        let name = format!("help_{}", topic.replace('-', "_"));
        insta::assert_snapshot!(name, transcript(here.path(), &["help", topic]));
    }
    insta::assert_snapshot!("help_nothing", transcript(here.path(), &[]));
}

#[test]
fn help_of_a_command_is_its_help_page() {
    let here = tempfile::tempdir().unwrap();
    for command in COMMANDS {
        let asked = run(here.path(), &["help", command]);
        let flagged = run(here.path(), &[command, "--help"]);
        assert!(asked.status.success());
        assert_eq!(
            String::from_utf8_lossy(&asked.stdout),
            String::from_utf8_lossy(&flagged.stdout)
        );
    }
    assert_eq!(run(here.path(), &["help"]).stdout, run(here.path(), &["--help"]).stdout);
    assert_eq!(run(here.path(), &["help", "nonsense"]).status.code(), Some(2));
}

fn is_up_to_date(page: &str, args: &[&str]) {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference");
    let kept = std::fs::read_to_string(docs.join(page)).unwrap_or_default();
    let made = run(&std::env::temp_dir(), args);
    let made = String::from_utf8_lossy(&made.stdout);
    assert!(
        kept == made,
        "docs/reference/{page} is out of date; run: cargo run -q -- {} > docs/reference/{page}",
        args.join(" ")
    );
}

#[test]
fn the_reference_pages_are_up_to_date() {
    is_up_to_date("cli.md", &["man", "--markdown"]);
    is_up_to_date("exit-codes.md", &["man", "--markdown", "exit-codes"]);
}

#[test]
fn manual_pages_and_completions_come_out_of_the_program() {
    let here = tempfile::tempdir().unwrap();
    let page = run(here.path(), &["man", "bench"]);
    assert!(String::from_utf8_lossy(&page.stdout).contains(".TH dyno-bench 1"));
    let out = here.path().join("man1");
    assert!(run(here.path(), &["man", "--out", out.to_str().unwrap()]).status.success());
    assert!(out.join("dyno-bench.1").exists());
    let script = run(here.path(), &["completions", "bash"]);
    assert!(String::from_utf8_lossy(&script.stdout).contains("--timeout-first-token"));
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    let here = tempfile::tempdir().unwrap();
    let mut child = crate::cli::common::dyno(here.path(), &["man", "--markdown"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}
