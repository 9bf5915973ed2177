//! Whether verdicts reflect the error of the metrics: `dyno bench` against a scripted engine that logs
//! when each token was written, undisturbed and disturbed. `table` has the criteria. Runs and ledgers
//! can be kept, and judged again when a rule has changed.

mod disturbance;
mod table;
mod truth;

use anyhow::{Context, Result};
use disturbance::{Disturbance, KINDS};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use table::{Row, Table};
use truth::Truth;
use xtask::lab::{Engine, build, scratch};

const TOKENS: u32 = 32;
const SLOTS: u32 = 8;
const REQUESTS: u32 = 64;

/// `[RUNS] [--keep FOLDER]` runs each kind so many times, those that should be good more often;
/// `--from FOLDER` judges the runs that were kept there.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let folder = |flag: &str| {
        let place = arguments.iter().position(|argument| argument == flag)?;
        arguments.get(place + 1).map(PathBuf::from)
    };
    match folder("--from") {
        Some(kept) => again(&kept),
        None => {
            let runs = arguments.first().filter(|first| !first.starts_with("--"));
            measure(runs.map_or(Ok(6), |runs| runs.parse())?, folder("--keep").as_deref())
        }
    }
}

/// Judges runs that were kept, by the rules of the program as it is now.
fn again(folder: &Path) -> Result<()> {
    let dyno = build()?;
    let mut places: Vec<PathBuf> = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        places.push(entry?.path());
    }
    places.sort();
    let mut table = Table::default();
    for place in places {
        let name = std::fs::read_to_string(place.join("kind"))?;
        let kind = KINDS.into_iter().find(|kind| kind.name() == name);
        let kind = kind.with_context(|| format!("{}: kind `{name}`", place.display()))?;
        let mut command = Command::new(&dyno);
        command.arg("report").arg(place.join("run")).arg("--json");
        let row = judged(&command.output()?.stdout, &place.join("ledger"))?;
        println!("{}", row.line(name));
        table.add(kind, row);
    }
    println!("{}", table.text());
    Ok(())
}

fn measure(runs: u32, keep: Option<&Path>) -> Result<()> {
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
            let place = match keep {
                Some(folder) => folder.join(format!("{:03}", table.len())),
                None => scratch(),
            };
            std::fs::create_dir_all(&place)?;
            std::fs::write(place.join("kind"), kind.name())?;
            let row = one(&dyno, &script, kind, &place)
                .with_context(|| format!("{} #{number}", kind.name()))?;
            if keep.is_none() {
                let _ = std::fs::remove_dir_all(&place);
            }
            println!("{}", row.line(kind.name()));
            table.add(kind, row);
        }
    }
    println!("{}", table.text());
    Ok(())
}

fn one(dyno: &Path, script: &str, kind: Disturbance, place: &Path) -> Result<Row> {
    let ledger = place.join("ledger");
    let shown = ledger.display().to_string();
    let engine = Engine::with(&dyno.to_path_buf(), &["--scripted", script, "--ledger", &shown])?;
    let out = place.join("run");
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
    judged(&output.stdout, &ledger)
}

/// A printed summary, compared with the ledger of its engine.
fn judged(printed: &[u8], ledger: &Path) -> Result<Row> {
    let summary: serde_json::Value =
        serde_json::from_slice(printed).context("the summary is not JSON")?;
    Row::new(&summary["levels"][0], &Truth::read(ledger, TOKENS, SLOTS)?)
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
