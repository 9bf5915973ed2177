//! CPU time per token of the whole process: the slope between a small and a large run, so that
//! start-up does not count. Alternates with the bare receiver.

use anyhow::Result;
use std::path::PathBuf;
use xtask::lab::{Engine, Ran, bare, bench, build, median, number};

const PAIRS: usize = 5;

struct Load {
    title: &'static str,
    script: &'static str,
    streams: u32,
    tokens: u32,
    small: u32,
    large: u32,
}

const EACH_ITS_PACKET: Load = Load {
    title: "every token in its own packet (256 streams, 20 ms per token)",
    script: "ttft=100ms,itl=20ms,tokens=128",
    streams: 256,
    tokens: 128,
    small: 256,
    large: 1024,
};

const MANY: Load = Load {
    title: "many streams, every token in its own packet (1,000 streams, 50 ms per token)",
    script: "ttft=100ms,itl=50ms,tokens=64",
    streams: 1000,
    tokens: 64,
    small: 1000,
    large: 3000,
};

const FLAT_OUT: Load = Load {
    title: "full speed, 16 events per packet (16 streams)",
    script: "ttft=1ms,itl=0ms,tokens=4096,batch=16",
    streams: 16,
    tokens: 4096,
    small: 64,
    large: 1024,
};

/// CPU microseconds and socket reads per token.
struct Slope {
    cpu_us: f64,
    reads: f64,
}

fn slope(load: &Load, mut measure: impl FnMut(u32) -> Result<(f64, Ran)>) -> Result<Slope> {
    let (small_reads, small) = measure(load.small)?;
    let (large_reads, large) = measure(load.large)?;
    let tokens = f64::from(load.large - load.small) * f64::from(load.tokens);
    Ok(Slope {
        cpu_us: (large.cpu_s - small.cpu_s) * 1e6 / tokens,
        reads: (large_reads - small_reads) / tokens,
    })
}

fn measure_bare(load: &Load, engine: &Engine) -> Result<Slope> {
    slope(load, |requests| {
        let (figures, ran) = bare(engine, load.streams, requests, load.tokens, 0)?;
        Ok((number(&figures, "/reads"), ran))
    })
}

fn measure_dyno(load: &Load, dyno: &PathBuf, engine: &Engine) -> Result<Slope> {
    slope(load, |requests| {
        let [streams, requests, tokens] =
            [load.streams, requests, load.tokens].map(|n| n.to_string());
        let arguments = [
            "--concurrency",
            &streams,
            "--requests",
            &requests,
            "--output-tokens",
            &tokens,
            "--input-tokens",
            "16",
        ];
        let (summary, ran) = bench(dyno, engine, &arguments)?;
        Ok((number(&summary, "/levels/0/client/read_delay_ms/count"), ran))
    })
}

fn compare(load: &Load, dyno: &PathBuf) -> Result<(f64, f64)> {
    let engine = Engine::start(dyno, load.script)?;
    println!("{}:", load.title);
    println!("pair   bare µs  dyno µs   ratio   reads per token: bare  dyno");
    let (mut ratios, mut costs) = (Vec::new(), Vec::new());
    for pair in 1..=PAIRS {
        let (plain, ours) = if pair % 2 == 1 {
            let plain = measure_bare(load, &engine)?;
            (plain, measure_dyno(load, dyno, &engine)?)
        } else {
            let ours = measure_dyno(load, dyno, &engine)?;
            (measure_bare(load, &engine)?, ours)
        };
        let ratio = ours.cpu_us / plain.cpu_us;
        println!(
            "{pair:>4} {:>9.3}{:>9.3}{ratio:>8.2}{:>21.3}{:>6.3}",
            plain.cpu_us, ours.cpu_us, plain.reads, ours.reads
        );
        ratios.push(ratio);
        costs.push(ours.cpu_us);
    }
    Ok((median(ratios), median(costs)))
}

pub(crate) fn run() -> Result<()> {
    let dyno = build()?;
    for load in [&EACH_ITS_PACKET, &MANY] {
        let (ratio, cost) = compare(load, &dyno)?;
        println!("median: {ratio:.2} × the bare receiver (bar 1.2), {cost:.2} µs per token\n");
    }
    let (ratio, cost) = compare(&FLAT_OUT, &dyno)?;
    println!("median: {cost:.2} µs per token (bar 0.9), {ratio:.2} × the bare receiver");
    Ok(())
}
