//! How fast predictions are: a million requests of 16 output tokens, simulated, recorded and
//! summarised. The prompts have the default length, so that making them counts as well.

use anyhow::{Context, Result, bail};
use std::process::{Command, Stdio};
use std::time::Instant;
use xtask::lab::{build, scratch};

/// Seconds that it may take.
const BAR: f64 = 6.0;
const LOAD: &str = "--concurrency 256 --requests 1000000 --output-tokens 16 --seed 1";

/// Runs the prediction a few times and prints wall and CPU time of each: on a busy machine CPU time
/// is the better measure.
pub(crate) fn run() -> Result<()> {
    let dyno = build()?;
    println!("dyno predict {LOAD} --report none: wall and CPU seconds (bar {BAR} s of wall time)");
    let mut fastest = f64::INFINITY;
    for round in 1..=3 {
        let out = scratch();
        let load = LOAD.split(' ');
        let (start, cpu) = (Instant::now(), children_s()?);
        let status = Command::new(&dyno)
            .arg("predict")
            .args(load)
            .args(["--report", "none", "--quiet", "--out"])
            .arg(&out)
            .stdout(Stdio::null())
            .status();
        let (wall, cpu) = (start.elapsed().as_secs_f64(), children_s()? - cpu);
        let _ = std::fs::remove_dir_all(&out);
        if !status?.success() {
            bail!("the prediction failed");
        }
        println!("{round:>4} {wall:>7.2} {cpu:>7.2}");
        fastest = fastest.min(wall);
    }
    println!("fastest: {fastest:.2} s");
    Ok(())
}

/// CPU seconds of the child processes that have ended so far.
fn children_s() -> Result<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    // The name may contain blanks and is in parentheses; cutime and cstime are fields 16 and 17.
    let (_, fields) = stat.rsplit_once(')').context("no process name in /proc/self/stat")?;
    let ticks = fields.split_whitespace().skip(13).take(2).filter_map(|f| f.parse::<f64>().ok());
    // USER_HZ is 100 on every Linux that Dyno runs on.
    Ok(ticks.sum::<f64>() / 100.0)
}
