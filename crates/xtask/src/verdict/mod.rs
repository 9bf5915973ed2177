//! Whether verdicts reflect the error of the metrics: `dyno bench` against a scripted engine that logs
//! when each token was written, undisturbed and disturbed. `table` has the criteria.

mod disturbance;
mod table;
mod truth;

use crate::lab::{Engine, build, scratch};
use anyhow::{Context, Result};
use disturbance::{Disturbance, KINDS};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use table::{Row, Table};
use truth::Truth;

const TOKENS: u32 = 32;
const SLOTS: u32 = 8;
const REQUESTS: u32 = 64;

/// Runs each kind so many times; those that should be good more often.
pub(crate) fn run(runs: u32) -> Result<()> {
    let dyno = build()?;
    let script = format!("ttft=100ms,itl=20ms,tokens={TOKENS}");
    println!(
        "{SLOTS} in flight, {REQUESTS} requests of {TOKENS} tokens, TTFT 100 ms, ITL 20 ms; truth: the engine's \
         clock around each write"
    );
    let mut table = Table::default();
    for kind in KINDS {
        let times = if kind.is_calm() { runs * 5 / 2 } else { runs };
        for number in 0..times {
            let row =
                one(&dyno, &script, kind).with_context(|| format!("{} #{number}", kind.name()))?;
            println!("{}", row.line(kind.name()));
            table.add(kind, row);
        }
    }
    println!("{}", table.text());
    Ok(())
}

fn one(dyno: &Path, script: &str, kind: Disturbance) -> Result<Row> {
    let ledger = scratch();
    let shown = ledger.display().to_string();
    let engine = Engine::with(&dyno.to_path_buf(), &["--scripted", script, "--ledger", &shown])?;
    let out = scratch();
    let busy = kind.begin()?;
    let mut command = kind.command(dyno);
    let url = format!("http://{}", engine.address);
    let (slots, requests, tokens) = (SLOTS.to_string(), REQUESTS.to_string(), TOKENS.to_string());
    command.args(["bench", &url, "--concurrency", &slots, "--requests", &requests]);
    command.args(["--output-tokens", &tokens, "--input-tokens", "16", "--json", "--quiet"]);
    command.args(["--report", "none", "--no-progress", "--out"]).arg(&out);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    // The preflight is over by then, so that the level is disturbed.
    let disturbing = kind.disturb(child.id(), Duration::from_millis(300))?;
    let output = child.wait_with_output()?;
    drop((disturbing, busy));
    drop(engine);
    let summary: serde_json::Value =
        serde_json::from_slice(&output.stdout).context("the summary is not JSON")?;
    let truth = Truth::read(&ledger, TOKENS, SLOTS)?;
    let _ = std::fs::remove_file(&ledger);
    let _ = std::fs::remove_dir_all(&out);
    Row::new(&summary["levels"][0], &truth)
}

/// A process that is killed when this value is dropped.
struct Ended(std::process::Child);

impl Ended {
    fn spawn(mut command: Command) -> Result<Self> {
        Ok(Self(command.stdin(Stdio::null()).stdout(Stdio::null()).spawn()?))
    }
}

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
