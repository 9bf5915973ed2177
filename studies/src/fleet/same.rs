//! Whether four agents report what a single client does at the same load, against an engine whose times vary:
//! every mean, median and p99, each with its interval.

use anyhow::{Result, ensure};
use serde_json::Value;
use xtask::lab::{Engine, bench, build, number};

const ROUNDS: usize = 3;
/// A model that is far from saturated by these loads.
const TWIN: [&str; 2] = ["--twin", "generic-7b-24gb"];
const LOADS: [&str; 2] = ["--concurrency 8 --duration 45s --warmup 5s", "--rate 4 --duration 60s"];
const COMMON: &str = "--input-tokens 64 --output-tokens 32 --drain 10s --seed 18";
const TIMES: [(&str, &str); 4] =
    [("TTFT", "ttft_ms"), ("ITL", "itl_ms"), ("TPOT", "tpot_ms"), ("latency", "latency_ms")];

/// A value and its interval.
fn read(level: &Value, time: &str, statistic: &str) -> (f64, Option<[f64; 2]>) {
    let interval = level.pointer(&format!("/{time}/ci95/{statistic}"));
    let ends = interval.and_then(|ends| Some([ends[0].as_f64()?, ends[1].as_f64()?]));
    (number(level, &format!("/{time}/{statistic}")), ends)
}

/// Whether the difference of two values is within their intervals.
fn within(a: (f64, Option<[f64; 2]>), b: (f64, Option<[f64; 2]>)) -> Option<bool> {
    let ([a_low, a_high], [b_low, b_high]) = (a.1?, b.1?);
    // Each end is as far from its value as chance takes it.
    let apart = if a.0 < b.0 {
        ((a_high - a.0).powi(2) + (b.0 - b_low).powi(2)).sqrt()
    } else {
        ((a.0 - a_low).powi(2) + (b_high - b.0).powi(2)).sqrt()
    };
    Some((a.0 - b.0).abs() <= apart)
}

fn shown((value, interval): (f64, Option<[f64; 2]>)) -> String {
    match interval {
        Some([low, high]) => format!("{value:>9.3} [{low:>9.3}, {high:>9.3}]"),
        None => format!("{value:>9.3} {:>22}", "no interval"),
    }
}

pub(crate) fn run() -> Result<()> {
    let dyno = build()?;
    let engine = Engine::on_any_core(&dyno, &TWIN)?;
    let (mut inside, mut of) = (0, 0);
    for load in LOADS {
        println!("{load} {COMMON}, on an engine with {}", TWIN.join(" "));
        for round in 1..=ROUNDS {
            let level = |agents: &str| -> Result<Value> {
                let arguments = format!("{load} {COMMON} {agents}");
                let arguments: Vec<&str> = arguments.split_whitespace().collect();
                Ok(bench(&dyno, &engine, &arguments)?.0["levels"][0].clone())
            };
            let (one, four) = match round % 2 {
                1 => (level("")?, level("--agents 4")?),
                _ => {
                    let four = level("--agents 4")?;
                    (level("")?, four)
                }
            };
            println!("round {round}: {:<20} {:<38} --agents 4", "", "single client");
            for (name, time) in TIMES {
                for statistic in ["mean", "p50", "p99"] {
                    let (a, b) = (read(&one, time, statistic), read(&four, time, statistic));
                    let verdict = within(a, b);
                    of += usize::from(verdict.is_some());
                    inside += usize::from(verdict == Some(true));
                    let verdict = match verdict {
                        Some(true) => "within",
                        Some(false) => "OUTSIDE",
                        None => "–",
                    };
                    let apart = (b.0 / a.0 - 1.0) * 100.0;
                    let name = format!("{name} {statistic}");
                    println!("  {name:<14} {}   {} {apart:>+7.2} % {verdict}", shown(a), shown(b));
                }
            }
            for (name, at) in [
                ("requests/s", "/throughput/requests_per_s"),
                ("tokens/s", "/throughput/output_tokens_per_s"),
            ] {
                let [a, b] = [&one, &four].map(|level| number(level, at));
                println!(
                    "  {name:<14} {a:>9.3} {:>25} {b:>9.3} {:>30.2} %",
                    "",
                    (b / a - 1.0) * 100.0
                );
            }
            println!("  verdicts {}, {}", one["verdict"], four["verdict"]);
        }
    }
    println!("{inside} of {of} differences within the intervals (95 % each; bar 90 % of all)");
    ensure!(inside * 10 >= of * 9, "too many differences are outside of their intervals");
    Ok(())
}
