//! How often a comparison of runs is right: pairs of twins in virtual time, one of them slower by
//! a known share, each run with luck of its own, against the truth by brute force. Run it with
//! `cargo run --release -p dyno-search --example compare_truth -- [pairs] [seed]`.

#![allow(clippy::expect_used)]

mod bench;
mod scenarios;
#[path = "../../tests/support/served.rs"]
mod served;
mod tables;
mod trials;

use bench::{Bench, FIGURES};
use dyno_engine::twin::Twin;
use scenarios::{Slower, drifting, open, slower, unlike};
use served::Load;
use tables::{NAMES, print, print_truths};
use trials::{ONE, ONE_AGAINST, PAIRED, SEVERAL};

const PAIRS: u32 = 2_000;
const SLOWER: [f64; 4] = [0.0, 0.02, 0.05, 0.10];
const CLOSED: Load = Load::InFlight(32);
const RATE: f64 = 8.0;
const LONG: usize = 12_000;
const SHORT: usize = 1_000;
/// Requests of a run that gives the truth, and how many such runs there are.
const TRUTH: usize = 500_000;
const TRUTH_RUNS: u64 = 4;

fn bench(load: Load, requests: usize) -> Bench {
    Bench { twin: Twin::load("generic-7b-24gb").expect("a shipped twin"), load, requests }
}

/// The true changes when all steps take so much longer.
fn truth(load: Load, shares: &[f64]) -> Vec<Slower> {
    let bench = bench(load, TRUTH);
    let logarithms = |slower: f64| {
        let mut sums = [0.0; FIGURES];
        for seed in 0..TRUTH_RUNS {
            let run = bench.run(1.0 + slower, seed, false);
            for (sum, figure) in sums.iter_mut().zip(run) {
                *sum += figure.map_or(f64::NAN, |figure| figure.value.ln());
            }
        }
        sums.map(|sum| sum / TRUTH_RUNS as f64)
    };
    let before = logarithms(0.0);
    let change = |slower: &f64| {
        let after = logarithms(*slower);
        (*slower, std::array::from_fn(|i| (after[i] - before[i]).exp_m1()))
    };
    shares.iter().map(change).collect()
}

fn main() {
    let mut arguments = std::env::args().skip(1).filter_map(|argument| argument.parse().ok());
    let pairs = arguments.next().map_or(PAIRS, |pairs: u64| (pairs as u32).max(1));
    let seed = arguments.next().unwrap_or(1);
    let closed = truth(CLOSED, &SLOWER);
    let opened = truth(Load::Rate(RATE), &[0.0, 0.05]);
    println!("True changes:\n\n| B against A | {} |", NAMES.join(" | "));
    println!("| --- |{}", " --: |".repeat(FIGURES));
    print_truths("closed loop", &closed);
    print_truths("open loop", &opened);
    println!();

    let (long, short) = (bench(CLOSED, LONG), bench(CLOSED, SHORT));
    let few = pairs.div_ceil(4);
    let mut rows = slower(&long, &closed, &[ONE, ONE_AGAINST, SEVERAL, PAIRED], pairs, seed);
    rows.extend(drifting(&long, few, seed + 1));
    rows.extend(slower(&short, &closed, &[ONE, SEVERAL], pairs, seed + 2));
    rows.extend(unlike(&short, pairs, seed + 3));
    let at_rate = bench(Load::Rate(RATE), LONG);
    rows.extend(open(slower(&at_rate, &opened, &[ONE, SEVERAL], few, seed + 4), RATE));
    print(&rows);
}
