//! Whether measuring a served twin gives what the same twin predicts: the same plan over real sockets in
//! real time, and in virtual time.

use anyhow::Result;
use xtask::lab::{self, Engine};

/// Plans with 128 output tokens or more: in shorter responses the network matters as much as the
/// engine.
const PLANS: [&str; 4] = [
    "--concurrency 1 --requests 8 --input-tokens 256 --output-tokens 128",
    "--concurrency 16 --requests 96 --input-tokens 256 --output-tokens 128",
    "--concurrency 64 --requests 256 --input-tokens 512 --output-tokens 128-256",
    "--rate 4 --duration 30s --input-tokens 128-512 --output-tokens 128",
];

pub(crate) fn run(twin: &str) -> Result<()> {
    let dyno = lab::build()?;
    println!("twin {twin}: measured ÷ predicted, bar 0.98 to 1.02");
    println!("{:<76} {:>10} {:>12} {:>8}", "plan", "throughput", "mean latency", "verdict");
    for plan in PLANS {
        let arguments: Vec<&str> = plan.split_whitespace().collect();
        let engine = Engine::with(&dyno, &["--twin", twin])?;
        let (measured, _) = lab::bench(&dyno, &engine, &arguments)?;
        drop(engine);
        let predicted = lab::predict(&dyno, twin, &arguments)?;
        let ratio =
            |pointer: &str| lab::number(&measured, pointer) / lab::number(&predicted, pointer);
        let verdict = measured.pointer("/levels/0/verdict").and_then(|v| v.as_str());
        println!(
            "{plan:<76} {:>10.4} {:>12.4} {:>8}",
            ratio("/levels/0/throughput/output_tokens_per_s"),
            ratio("/levels/0/latency_ms/mean"),
            verdict.unwrap_or("–")
        );
    }
    Ok(())
}
