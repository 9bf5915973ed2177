//! How fast the core is in virtual time, in CPU time: a closed loop of requests, and how the time
//! grows with their number. Run it with `cargo run --release --example core_speed`.

use dyno_engine::core::{ConfigError, Core, Cost, Event, Policy, Request, Scheduler};
use dyno_engine::virtual_time::Virtual;
use dyno_model::Nanos;
use dyno_stats::rng::SplitMix;
use rustix::time::{ClockId, clock_gettime};
use std::hint::black_box;

const INPUT: u32 = 128;
const OUTPUT: u32 = 240;

/// A closed loop.
#[derive(Clone, Copy)]
struct Closed {
    requests: u64,
    parallel: u64,
    noise: f64,
    times: bool,
    /// Whether answers have from 1 to 479 tokens instead of 240 each.
    mixed: bool,
}

impl Closed {
    fn request(&self, id: u64) -> Request<'static> {
        let output = match self.mixed {
            true => 1 + SplitMix::new(id).below(2 * OUTPUT as usize - 1) as u32,
            false => OUTPUT,
        };
        Request { id, input: INPUT, output, hashes: &[] }
    }
}

fn core(noise: f64) -> Result<Core, ConfigError> {
    let scheduler = Scheduler {
        policy: Policy::Chunked,
        max_seqs: 256,
        token_budget: 8192,
        block: 16,
        kv_blocks: 10_000,
        prefix_cache: false,
        context: Some(4096),
        steps_ahead: 0,
    };
    let cost = Cost {
        base: 0.015,
        prefill_token: 5e-5,
        attention: 1e-9,
        decode: 1e-4,
        kv: 2e-8,
        front_end: 0.002,
        noise,
        ..Cost::default()
    };
    Core::new(scheduler, cost, 1)
}

/// Runs the loop to its end; gives the tokens and the virtual time.
fn run(load: Closed) -> Result<(u64, Nanos), Box<dyn std::error::Error>> {
    let mut engine = Virtual::new(core(load.noise)?);
    engine.keep_times(load.times);
    let mut sent = load.requests.min(load.parallel);
    for id in 0..sent {
        engine.submit(0, load.request(id))?;
    }
    let (mut tokens, mut times) = (0, Vec::new());
    while let Some(event) = engine.advance(Nanos::MAX) {
        let Event::Finished { id, at } = event else { continue };
        if engine.token_times(id, &mut times) {
            black_box(&times);
        }
        tokens += u64::from(load.request(id).output);
        if sent < load.requests {
            engine.submit(at, load.request(sent))?;
            sent += 1;
        }
    }
    Ok((tokens, engine.now()))
}

fn cpu() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Prints the least CPU time of some runs, and how much more it is than the last.
fn measure(name: &str, load: Closed, last: Option<f64>) -> Result<f64, Box<dyn std::error::Error>> {
    let repeats = if load.requests > 100_000 { 1 } else { 5 };
    let mut least = f64::INFINITY;
    let mut result = (0, 0);
    for _ in 0..repeats {
        let before = cpu();
        result = run(load)?;
        least = least.min(cpu() - before);
    }
    let (tokens, end) = result;
    let growth = last.map_or("–".to_owned(), |last| format!("×{:.2}", least / last));
    println!(
        "{name:<24} {:>9} × {OUTPUT} at {:>4} {:>10.2} ms CPU {growth:>8}  {:>6.1} ns a token, \
         {:.1} s simulated",
        load.requests,
        load.parallel,
        least * 1e3,
        least * 1e9 / tokens as f64,
        end as f64 / 1e9,
    );
    Ok(least)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let load = Closed { requests: 1_000, parallel: 256, noise: 0.0, times: false, mixed: false };
    let mut last = None;
    for requests in [1_000, 10_000, 100_000, 1_000_000] {
        last = Some(measure("closed loop", Closed { requests, ..load }, last)?);
    }
    last = None;
    for requests in [1_000, 10_000, 100_000, 1_000_000] {
        let load = Closed { requests, mixed: true, ..load };
        last = Some(measure("answers of any length", load, last)?);
    }
    println!("bars: under 5 ms for 1,000 requests, under 10 s for 1,000,000\n");
    measure("one at a time", Closed { parallel: 1, ..load }, None)?;
    measure("all at once", Closed { requests: 100_000, parallel: 100_000, ..load }, None)?;
    measure("with noise", Closed { noise: 0.05, ..load }, None)?;
    measure("with noise, one a time", Closed { noise: 0.05, parallel: 1, ..load }, None)?;
    measure("with all token times", Closed { times: true, ..load }, None)?;
    Ok(())
}
