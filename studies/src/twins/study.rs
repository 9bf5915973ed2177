//! The study: many systems, two at a time.

use super::judged::{Judged, Runs, judge};
use super::system::System;
use super::tables;
use anyhow::Result;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

pub(super) fn run(systems: u64, seed: u64, runs: Runs, verbose: bool) -> Result<()> {
    let began = std::time::Instant::now();
    let threads = std::thread::available_parallelism()?.get();
    let next = AtomicU64::new(0);
    let all: Mutex<Vec<(u64, Option<Judged>)>> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Relaxed);
                    if number >= systems {
                        break;
                    }
                    let judged = judge(System::random(1_000_000 * seed + number), runs);
                    if let Ok(mut all) = all.lock() {
                        all.push((number, judged));
                    }
                }
            });
        }
    });
    let mut all = all.into_inner().unwrap_or_default();
    all.sort_by_key(|(number, _)| *number);
    let failed: Vec<u64> =
        all.iter().filter(|(_, judged)| judged.is_none()).map(|(number, _)| *number).collect();
    let judged: Vec<Judged> = all.into_iter().filter_map(|(_, judged)| judged).collect();
    if verbose {
        judged.iter().for_each(tables::system);
    }
    println!("{} systems, seed {seed}; not fitted: {failed:?}", judged.len());
    tables::all(&judged);
    println!("{:.0} s with {threads} threads", began.elapsed().as_secs_f64());
    Ok(())
}
