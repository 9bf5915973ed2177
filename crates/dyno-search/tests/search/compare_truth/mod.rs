//! How often a comparison of runs is right: pairs of twins in virtual time, one of them slower by
//! a known share, each run with luck of its own, against the truth by brute force. Run it with
//! `PAIRS=2000 SEED=1 PART=0 cargo test --release -p dyno-search compare_truth -- --ignored --nocapture`;
//! without PART all of them: the parts are 0 long runs, 1 drift, 2 short runs, 3 runs unlike what is assumed, 4 open loops.

#![allow(clippy::expect_used)]

pub(crate) mod bench;
mod scenarios;
mod tables;
pub(crate) mod trials;

use crate::support::served::Load;
use bench::{Bench, FIGURES};
use dyno_engine::twin::Twin;
use dyno_testing::given;
use scenarios::{Slower, drifting, open, slower, unlike};
use tables::{NAMES, print, print_truths};
use trials::{ONE, ONE_AGAINST, PAIRED, SEVERAL};

const PAIRS: u64 = 2_000;
const SLOWER: [f64; 4] = [0.0, 0.02, 0.05, 0.10];
const CLOSED: Load = Load::InFlight(32);
/// It carries about 9.7 a second.
const RATES: [f64; 2] = [8.0, 9.0];
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

#[test]
#[ignore = "prints the tables of docs/concepts/comparing.md; about 13 minutes of one core in release mode"]
fn compare_truth() {
    let pairs = given::number("PAIRS", PAIRS).max(1) as u32;
    let (seed, only) = (given::number("SEED", 1), given::optional("PART"));
    let closed = truth(CLOSED, &SLOWER);
    let opened = RATES.map(|rate| (rate, truth(Load::Rate(rate), &[0.0, 0.05])));
    println!("True changes:\n\n| B against A | {} |", NAMES.join(" | "));
    println!("| --- |{}", " --: |".repeat(FIGURES));
    print_truths("closed loop", &closed);
    for (rate, cases) in &opened {
        print_truths(&format!("open loop, {rate}/s"), cases);
    }
    println!();

    let (long, short) = (bench(CLOSED, LONG), bench(CLOSED, SHORT));
    let few = pairs.div_ceil(4);
    let every = [ONE, ONE_AGAINST, SEVERAL, PAIRED];
    let mut rows = Vec::new();
    for part in (0..5).filter(|part| only.is_none_or(|only| only == *part)) {
        match part {
            0 => rows.extend(slower(&long, &closed, &every, pairs, seed)),
            1 => rows.extend(drifting(&long, few, seed + 1)),
            2 => rows.extend(slower(&short, &closed, &[ONE, SEVERAL], pairs, seed + 2)),
            3 => rows.extend(unlike(&short, pairs, seed + 3)),
            _ => {
                for (rate, cases) in &opened {
                    let at_rate = bench(Load::Rate(*rate), LONG);
                    let found = slower(&at_rate, cases, &[ONE, SEVERAL], few, seed + 4);
                    rows.extend(open(found, *rate));
                }
            }
        }
    }
    print(&rows);
}
