//! How well a twin of a real server predicts it: the server is measured, one part of the runs is fitted, and
//! the rest is predicted.
//!
//! # How it is judged
//!
//! **Measured** (`real/runs.rs`): a ladder of closed loops, Poisson rates, mixed lengths in closed and open
//! loops, short prompts with long responses, long prompts, and conversations; each with a seed of its own, so
//! that no prompt is sent twice. The ladder is repeated at the end: by how much it differs from the first one
//! is what the server itself does not repeat.
//!
//! **Fitted** is the ladder with three of the rates, and then the same with one level of mixed lengths, by
//! `dyno fit` as users run it. Everything else is predicted: each request is sent to the twin when the server
//! got it.
//!
//! **Judged** are throughput and the median and 90th percentile of latency (5 %), and the mean and the median
//! of TTFT and of ITL (10 %); and whether measured values lie in the intervals that the twin states.
//!
//! Runs that are in the folder already are not measured again, so that a later fit can be judged by the same
//! records.

mod runs;
mod table;

use super::levels::{self, Group};
use super::predicted::half;
use anyhow::{Context as _, Result, bail, ensure};
use dyno_engine::twin::Twin;
use dyno_fit::{Figures, Quantity, rerun};
use runs::{Part, Run, Sizes};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What is judged, and the largest error, as a share.
const GOALS: [(Quantity, &str, f64); 7] = [
    (Quantity::Rate, "req/s", 0.05),
    (Quantity::TtftMean, "TTFT mean", 0.10),
    (Quantity::TtftP50, "TTFT p50", 0.10),
    (Quantity::ItlMean, "ITL mean", 0.10),
    (Quantity::ItlP50, "ITL p50", 0.10),
    (Quantity::LatencyP50, "latency p50", 0.05),
    (Quantity::LatencyP90, "latency p90", 0.05),
];

/// A level that was predicted.
struct Predicted {
    /// Its run and its load.
    name: String,
    /// Measured and simulated values.
    values: [[f64; 2]; GOALS.len()],
    /// Whether the measured ones are in the twin's intervals.
    covered: [bool; GOALS.len()],
}

pub(super) fn run(arguments: &[String]) -> Result<()> {
    let named: Vec<&String> = arguments.iter().take_while(|of| !of.starts_with("--")).collect();
    let [url, folder] = named[..] else { bail!("URL and FOLDER?") };
    let folder = PathBuf::from(folder);
    std::fs::create_dir_all(&folder)?;
    let dyno = xtask::lab::build()?;
    let sizes = Sizes::read(&arguments[named.len()..])?;
    let ladder = Run::ladder("ladder", &sizes);
    measure(&dyno, url, &folder, &ladder)?;
    let capacity = most(&folder.join("ladder"))?;
    let rest = Run::rest(&sizes, capacity);
    for run in &rest {
        measure(&dyno, url, &folder, run)?;
    }
    let again = Run::ladder("ladder-again", &sizes);
    measure(&dyno, url, &folder, &again)?;
    let names = |part: Part| rest.iter().filter(move |run| run.part == part).map(|run| run.name);
    println!("Measured: at most {capacity:.1} req/s\n");
    let mut fitted = vec!["ladder"];
    for (title, part) in [("ladder and rates", Part::Rates), ("with mixed lengths", Part::Mixed)] {
        fitted.extend(names(part));
        let twin = fit(&dyno, &folder, &fitted)?;
        let unseen = rest.iter().map(|run| run.name).filter(|name| !fitted.contains(name));
        let unseen: Vec<Predicted> = predictions(&folder, unseen, &twin)?;
        println!("## Fitted: {title}\n\n{}", table::predicted(&unseen));
        let repeated = predictions(&folder, ["ladder-again"].into_iter(), &twin)?;
        println!("The ladder, once more\n\n{}", table::predicted(&repeated));
    }
    Ok(())
}

/// Runs `dyno bench`, unless its results are there.
fn measure(dyno: &Path, url: &str, folder: &Path, run: &Run) -> Result<()> {
    let out = folder.join(run.name);
    if out.join("summary.json").exists() {
        return Ok(());
    }
    eprintln!("{}: {}", run.name, run.flags.join(" "));
    let mut bench = Command::new(dyno);
    bench.args(["bench", url, "--quiet", "--report", "none", "--out"]).arg(&out).args(&run.flags);
    let output = bench.output()?;
    // Verdicts are looked at when levels are fitted.
    let measured = matches!(output.status.code(), Some(0 | 4 | 5 | 6));
    ensure!(measured, "{}: {}", run.name, String::from_utf8_lossy(&output.stderr));
    Ok(())
}

/// The highest throughput of a run.
fn most(run: &Path) -> Result<f64> {
    let group = levels::read(&[run.display().to_string()])?;
    let levels = group.iter().flat_map(|group| &group.levels);
    let rates = levels.filter_map(|level| Some(Figures::of(&level.trial)?.get(Quantity::Rate)));
    let most = rates.fold(0.0, f64::max);
    ensure!(most > 0.0, "the ladder has no level that can be used");
    Ok(most)
}

/// The twin that `dyno fit` writes.
fn fit(dyno: &Path, folder: &Path, runs: &[&str]) -> Result<Twin> {
    let file = xtask::lab::scratch().with_extension("toml");
    let mut fit = Command::new(dyno);
    fit.arg("fit").args(runs.iter().map(|run| folder.join(run))).arg("--out").arg(&file);
    let output = fit.output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(matches!(output.status.code(), Some(0 | 6)), "dyno fit: {said}");
    let twin = Twin::load(&file.display().to_string()).with_context(|| file.display().to_string());
    let _ = std::fs::remove_file(&file);
    twin
}

/// Each level of these runs, as the twin predicts it.
fn predictions<'a>(
    folder: &Path,
    runs: impl Iterator<Item = &'a str>,
    twin: &Twin,
) -> Result<Vec<Predicted>> {
    let paths: Vec<String> = runs.map(|run| folder.join(run).display().to_string()).collect();
    let groups = levels::read(&paths)?;
    groups
        .iter()
        .flat_map(|group| group.levels.iter().map(move |level| (group, level)))
        .map(|(Group { name, .. }, level)| {
            let measured = Figures::of(&level.trial).context("no values")?;
            let simulated = rerun(&level.trial, twin.core(1)?);
            let simulated = simulated.as_ref().and_then(Figures::of).context("not served")?;
            let value = |(quantity, _, _): (Quantity, &str, f64)| {
                [measured.get(quantity), simulated.get(quantity)]
            };
            let values = GOALS.map(value);
            let covered = std::array::from_fn(|at| {
                let [measured, simulated] = values[at];
                let own = twin.accuracy.map_or(f64::INFINITY, |of| half(&of, GOALS[at].0));
                (simulated / measured).ln().abs() <= own.ln_1p()
            });
            Ok(Predicted { name: format!("{name}: {}", level.trial.label), values, covered })
        })
        .collect()
}
