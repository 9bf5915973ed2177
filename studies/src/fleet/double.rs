//! Whether two agents do twice of what one does.

use super::all_met;
use anyhow::Result;
use std::path::PathBuf;
use xtask::lab::{Engine, bench, build, median, number};

const ROUNDS: usize = 5;
const SCRIPT: &str = "ttft=100ms,itl=20ms,tokens=64";
const COMMON: &str = "--output-tokens 64 --input-tokens 16 --drain 5s";
const BAR: std::ops::RangeInclusive<f64> = 1.96..=2.04;
const RATE: &str = "/throughput/output_tokens_per_s";

fn measured(dyno: &PathBuf, engine: &Engine, load: &str) -> Result<serde_json::Value> {
    let arguments = format!("{load} {COMMON}");
    let arguments: Vec<&str> = arguments.split_whitespace().collect();
    Ok(bench(dyno, engine, &arguments)?.0["levels"][0].clone())
}

fn verdict(level: &serde_json::Value) -> &str {
    level["verdict"].as_str().unwrap_or("?")
}

/// Two agents with twice the load, compared with one; the bar, if it is missed.
fn doubled(dyno: &PathBuf, engine: &Engine, one: &str, two: &str) -> Result<Option<String>> {
    println!("one: {one}\ntwo: {two}");
    println!("round      one tok/s       two tok/s    ratio  verdicts");
    let mut ratios = Vec::new();
    for round in 1..=ROUNDS {
        let (a, b) = if round % 2 == 1 {
            let a = measured(dyno, engine, one)?;
            (a, measured(dyno, engine, two)?)
        } else {
            let b = measured(dyno, engine, two)?;
            (measured(dyno, engine, one)?, b)
        };
        let [x, y] = [&a, &b].map(|level| number(level, RATE));
        println!("{round:>5} {x:>14.1} {y:>15.1} {:>8.4}  {}, {}", y / x, verdict(&a), verdict(&b));
        ratios.push(y / x);
    }
    let ratio = median(ratios);
    println!("median: {ratio:.4} (bar {} to {})\n", BAR.start(), BAR.end());
    Ok((!BAR.contains(&ratio)).then(|| format!("{two}: {ratio:.4} times as much as one agent")))
}

pub(crate) fn run() -> Result<()> {
    let dyno = build()?;
    let engine = Engine::start(&dyno, SCRIPT)?;
    let closed = doubled(
        &dyno,
        &engine,
        "--agents 1 --concurrency 8 --duration 6s",
        "--agents 2 --concurrency 16 --duration 6s",
    )?;
    let open = doubled(
        &dyno,
        &engine,
        "--agents 1 --rate 10 --arrival constant --duration 6s",
        "--agents 2 --rate 20 --arrival constant --duration 6s",
    )?;
    all_met(&closed.into_iter().chain(open).collect::<Vec<_>>())
}
