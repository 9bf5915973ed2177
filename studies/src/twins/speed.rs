//! How long a fit takes: 10 levels of 1,000 requests.

use super::loads::{Lengths, closed, open};
use super::measured::{measure, recorded, recovered};
use super::random::Draws;
use super::system::System;
use anyhow::{Context, Result};
use dyno_engine::core::{Cost, Front, Launch, Policy};
use dyno_fit::{CalibrateOptions, Figures, FitSettings, Quantity, calibrate};
use std::sync::Arc;
use std::time::Instant;

/// Requests of a level.
const REQUESTS: usize = 1_000;

pub(super) fn run() -> Result<()> {
    let system = like_real();
    let lengths = Lengths::fixed(system.input, system.output);
    let mut draws = Draws::new(system.seed, 2);
    let mut all = Vec::new();
    let mut most: f64 = 0.0;
    for slots in [1, 4, 16, 32, 64, 128] {
        let load = closed(&mut draws, slots, REQUESTS, lengths);
        let level = measure(&system, &load, all.len() as u64).context("a closed loop")?;
        most = most.max(Figures::of(&level.trial).map_or(0.0, |of| of.get(Quantity::Rate)));
        let records = recorded(&system, &load, all.len() as u64).context("a closed loop")?;
        all.push((load, records));
    }
    for share in [0.2, 0.4, 0.6, 0.8] {
        let load = open(&mut draws, share * most, REQUESTS, lengths);
        let records = recorded(&system, &load, all.len() as u64).context("an open loop")?;
        all.push((load, records));
    }
    let requests: usize = all.iter().map(|(_, records)| records.len()).sum();
    let threads = std::thread::available_parallelism()?.get();
    let options = CalibrateOptions { threads, progress: Arc::default(), without: Vec::new() };
    // Recovering the steps is part of a fit.
    let (began, cpu) = (Instant::now(), cpu_seconds());
    let levels = all.iter().filter_map(|(load, records)| recovered(load, records));
    let (trials, steps): (Vec<_>, Vec<_>) = levels.map(|level| (level.trial, level.steps)).unzip();
    let found =
        calibrate(&trials, &steps, &FitSettings::default(), &options).context("no engine")?;
    let (wall, cpu) = (began.elapsed().as_secs_f64(), cpu_seconds() - cpu);
    println!(
        "{} levels, {requests} requests: {wall:.1} s with {threads} threads, {cpu:.1} s of CPU time; \
         typical error {:.1} % (goal: 30 s on two cores)",
        trials.len(),
        100.0 * found.residual()
    );
    Ok(())
}

/// An engine like a vLLM 0.26 with a 7B model on an H200.
fn like_real() -> System {
    let mut system = System::random(1);
    system.scheduler.policy = Policy::Chunked;
    system.scheduler.steps_ahead = 1;
    system.scheduler.max_seqs = 256;
    system.scheduler.token_budget = 8192;
    system.cost = Cost {
        base: 4.4e-3,
        decode: 12e-6,
        kv: 15e-9,
        prefill_token: 20e-6,
        attention: 0.5e-9,
        launch: Launch { decode: 1e-3, prefill: 2e-3, sequence: 9e-5, captured: 512, large: 21e-3 },
        front_end: 1e-3,
        front: Front { request: 1.5e-3, input: 0.0, turns: 12, chunk: 75e-6, merges: 128 },
        noise: 0.03,
        ..Cost::default()
    };
    (system.input, system.output) = (512, 128);
    system
}

/// CPU time of this process, in seconds.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after = stat.rsplit(')').next().unwrap_or_default();
    let fields: Vec<f64> =
        after.split_whitespace().filter_map(|field| field.parse().ok()).collect();
    // The state is no number; user and system time are the 14th and 15th field of all.
    fields.get(10..12).map_or(0.0, |times| times.iter().sum::<f64>() / 100.0)
}
