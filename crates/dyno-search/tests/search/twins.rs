//! The search for a capacity on shipped twins in virtual time, against the truth by brute force.
//! `capacity_truth` does the same with more seeds.

#![allow(clippy::expect_used)]

use crate::support::{LABS, Lab, Searched, contains, search, truth};
use dyno_search::capacity::{CapacityAnswer, LEVELS, WIDTH};
use dyno_search::{Ladder, MeasuredLevel, NextLevel, Sweep};

/// Searches with some seeds, and how many of them are right, narrow and short.
fn good(lab: &Lab, seeds: u64, truth: f64) -> usize {
    let is_good = |Searched { answer, levels }: &Searched| {
        let narrow = match *answer {
            CapacityAnswer::Between { low, high, .. } => high / low - 1.0 <= WIDTH + 1e-9,
            _ => false,
        };
        narrow && levels.len() <= LEVELS && contains(lab, *answer, truth)
    };
    (0..seeds).filter(|seed| is_good(&search(lab, 1_000 + seed))).count()
}

fn lab(twin: &str, slo: &str, requests: usize) -> Lab {
    let found = LABS.iter().find(|lab| lab.twin == twin && lab.slo == slo);
    Lab { requests, ..*found.expect("such a lab") }
}

#[test]
fn a_latency_that_rises_gently() {
    let lab = lab("qwen2-72b-8x910b4-mindie", "tpot.p95<130ms", 2_000);
    let good = good(&lab, 10, truth(&lab, 21));
    // At 95 % for each, fewer than 7 of 10 are a chance of one in a thousand.
    assert!(good >= 7, "{good} of 10");
}

#[test]
fn a_latency_that_jumps() {
    let lab = lab("qwen1-5-7b-8x910b4-vllm", "ttft.p99<1s", 4_000);
    let good = good(&lab, 5, truth(&lab, 15));
    // Fewer than 3 of 5 likewise.
    assert!(good >= 3, "{good} of 5");
}

#[test]
fn a_sweep_goes_from_idle_to_past_the_knee() {
    let lab = lab("generic-7b-24gb", "ttft.p99<2s", 400);
    let sweep = Sweep::default();
    let mut levels: Vec<MeasuredLevel> = Vec::new();
    while let NextLevel::Level(wish) = sweep.next(&levels) {
        levels.push(lab.level(wish.kind, wish.load, levels.len() as u64));
    }
    assert_eq!(levels.len(), sweep.levels);
    let full = levels[1].completed_rate.expect("a rate");
    let mut rates: Vec<f64> = levels[2..].iter().map(|level| level.load).collect();
    rates.sort_by(f64::total_cmp);
    assert!(rates[0] > levels[0].completed_rate.expect("a rate"), "{rates:?}");
    assert!(rates[rates.len() - 1] > full, "{rates:?} {full}");
    // An even grid from idle to full would have four of the eight in the upper half.
    let upper = rates.iter().filter(|rate| **rate > full / 2.0).count();
    assert!(upper >= 5, "{rates:?} {full}");
}

#[test]
fn a_ladder_finds_how_many_run_at_once() {
    let lab = lab("generic-7b-24gb", "ttft.p99<2s", 1_000);
    let mut levels: Vec<MeasuredLevel> = Vec::new();
    let knee = loop {
        match Ladder::default().next(&levels) {
            NextLevel::Level(wish) => {
                levels.push(lab.level(wish.kind, wish.load, levels.len() as u64))
            }
            NextLevel::Done(knee) => break knee.expect("a knee"),
        }
    };
    // The twin runs at most 48 at once.
    assert!((32.0..=64.0).contains(&knee.load), "{knee:?}");
    assert!(levels.iter().all(|level| level.load <= 512.0), "{knee:?}");
}
