//! Whether agents together do what one client does: twice the load by two, and the same load by four.

use crate::lab::{Engine, bench, build, median, number};
use anyhow::Result;
use std::path::PathBuf;

const ROUNDS: usize = 5;
const SCRIPT: &str = "ttft=100ms,itl=20ms,tokens=64";
const COMMON: &str = "--output-tokens 64 --input-tokens 16 --drain 5s";
const RATE: &str = "/throughput/output_tokens_per_s";

fn measured(dyno: &PathBuf, engine: &Engine, load: &str) -> Result<serde_json::Value> {
    let arguments = format!("{load} {COMMON}");
    let arguments: Vec<&str> = arguments.split_whitespace().collect();
    Ok(bench(dyno, engine, &arguments)?.0["levels"][0].clone())
}

fn verdict(level: &serde_json::Value) -> &str {
    level["verdict"].as_str().unwrap_or("?")
}

/// Two agents with twice the load, compared with one.
fn doubled(dyno: &PathBuf, engine: &Engine, one: &str, two: &str) -> Result<()> {
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
    println!("median: {:.4} (bar 1.96 to 2.04)\n", median(ratios));
    Ok(())
}

/// Whether the values of four agents lie within the intervals of a single client, and the other way.
fn pairs(dyno: &PathBuf, engine: &Engine) -> Result<()> {
    let load = "--concurrency 32 --duration 8s --warmup 1s";
    println!("a single client and --agents 4: {load}");
    println!("pair  metric           single       four   difference  intervals overlap");
    for pair in 1..=ROUNDS {
        let four = format!("{load} --agents 4");
        let (a, b) = if pair % 2 == 1 {
            let a = measured(dyno, engine, load)?;
            (a, measured(dyno, engine, &four)?)
        } else {
            let b = measured(dyno, engine, &four)?;
            (measured(dyno, engine, load)?, b)
        };
        for (name, at, interval) in [
            ("TTFT mean", "/ttft_ms/mean", "/ttft_ms/ci95/mean"),
            ("TTFT p99", "/ttft_ms/p99", "/ttft_ms/ci95/p99"),
            ("ITL mean", "/itl_ms/mean", "/itl_ms/ci95/mean"),
            ("ITL p99", "/itl_ms/p99", "/itl_ms/ci95/p99"),
            ("latency mean", "/latency_ms/mean", "/latency_ms/ci95/mean"),
            ("tokens per s", RATE, "/throughput/none"),
        ] {
            let [x, y] = [&a, &b].map(|level| number(level, at));
            let bounds = |level: &serde_json::Value| {
                Some([
                    level.pointer(interval)?.get(0)?.as_f64()?,
                    level.pointer(interval)?.get(1)?.as_f64()?,
                ])
            };
            let overlap = match (bounds(&a), bounds(&b)) {
                (Some(a), Some(b)) if a[0] <= b[1] && b[0] <= a[1] => "yes",
                (Some(_), Some(_)) => "no",
                _ => "no interval",
            };
            println!(
                "{pair:>4}  {name:<12} {x:>10.3} {y:>10.3} {:>+11.2} %  {overlap}",
                (y / x - 1.0) * 100.0
            );
        }
        println!("      verdicts {}, {}", verdict(&a), verdict(&b));
    }
    Ok(())
}

pub(crate) fn run() -> Result<()> {
    let dyno = build()?;
    let engine = Engine::start(&dyno, SCRIPT)?;
    doubled(
        &dyno,
        &engine,
        "--agents 1 --concurrency 8 --duration 6s",
        "--agents 2 --concurrency 16 --duration 6s",
    )?;
    doubled(
        &dyno,
        &engine,
        "--agents 1 --rate 10 --arrival constant --duration 6s",
        "--agents 2 --rate 20 --arrival constant --duration 6s",
    )?;
    pairs(&dyno, &engine)
}
