//! How often a comparison of runs is right: pairs of twins in virtual time, one of them slower by
//! a known share, each run with luck of its own, against the truth by brute force. Run it with
//! `cargo run --release -p dyno-search --example compare_truth -- [pairs] [seed]`.

#![allow(clippy::expect_used)]

mod bench;
#[path = "../../tests/support/served.rs"]
mod served;
mod trials;

use bench::{Bench, FIGURES, NAMES};
use dyno_engine::twin::Twin;
use dyno_stats::compare::{BETWEEN_RUNS, Order};
use dyno_stats::rng::SplitMix;
use trials::{ALLOWED, Design, Fared, Luck, ONE, ONE_AGAINST, PAIRED, RUNS, SEVERAL};

const PAIRS: u32 = 2_000;
const SLOWER: [f64; 4] = [0.0, 0.02, 0.05, 0.10];
/// By how much both sides slow down over ten runs.
const DRIFT: f64 = 0.10;
const LONG: usize = 8_000;
const SHORT: usize = 1_000;
/// Requests of a run that gives the truth, and how many such runs there are.
const TRUTH: usize = 1_000_000;
const TRUTH_RUNS: u64 = 4;

/// A row of the tables.
struct Row {
    what: String,
    runs: &'static str,
    requests: usize,
    fared: Fared,
}

fn twin() -> Twin {
    Twin::load("generic-7b-24gb").expect("a shipped twin")
}

/// The true changes when all steps take so much longer.
fn truth(slower: f64) -> [f64; FIGURES] {
    let bench = Bench { twin: twin(), requests: TRUTH };
    let mean = |factor: f64| {
        let mut logs = [0.0; FIGURES];
        for seed in 0..TRUTH_RUNS {
            let run = bench.run(factor, seed, false);
            logs.iter_mut().zip(run).for_each(|(log, figure)| *log += figure.value.ln());
        }
        logs.map(|log| log / TRUTH_RUNS as f64)
    };
    if slower == 0.0 {
        return [0.0; FIGURES];
    }
    let (before, after) = (mean(1.0), mean(1.0 + slower));
    std::array::from_fn(|i| (after[i] - before[i]).exp_m1())
}

/// One row for each share and design; A is the same for all shares.
fn slower(rows: &mut Vec<Row>, bench: &Bench, pairs: u32, seed: u64, truths: &[[f64; FIGURES]]) {
    let designs = [ONE, ONE_AGAINST, SEVERAL, PAIRED];
    let mut fared = vec![designs.map(|_| Fared::default()); truths.len()];
    let mut luck = Luck { bench, between: BETWEEN_RUNS, random: SplitMix::new(seed) };
    for _ in 0..pairs {
        let a = luck.side(1.0, RUNS);
        for ((slower, truth), fared) in SLOWER.iter().zip(truths).zip(&mut fared) {
            let b = luck.side(1.0 + slower, RUNS);
            for (design, fared) in designs.into_iter().zip(fared) {
                fared.add(design, &a, &b, truth);
            }
        }
    }
    for (slower, fared) in SLOWER.iter().zip(fared) {
        for (design, fared) in designs.into_iter().zip(fared) {
            let what = match *slower {
                0.0 => "equal".to_owned(),
                slower => format!("{:.0} % slower", 100.0 * slower),
            };
            rows.push(Row { what, runs: design.name, requests: bench.requests, fared });
        }
    }
}

/// Equal servers that both slow down from run to run, measured in several orders.
fn drifting(rows: &mut Vec<Row>, bench: &Bench, pairs: u32, seed: u64) {
    let orders = [
        ("AAAAABBBBB", Order::Apart),
        ("ABABABABAB", Order::InRounds),
        ("ABBAABBAAB", Order::InRounds),
    ];
    for (sides, order) in orders {
        let design = Design { order, ..SEVERAL };
        let mut fared = Fared::default();
        let mut luck = Luck { bench, between: BETWEEN_RUNS, random: SplitMix::new(seed) };
        for _ in 0..pairs {
            let (mut a, mut b) = (Vec::new(), Vec::new());
            for (i, side) in sides.bytes().enumerate() {
                let factor = 1.0 + DRIFT * i as f64 / (sides.len() - 1) as f64;
                let run = luck.run(factor, false);
                if side == b'A' { a.push(run) } else { b.push(run) }
            }
            fared.add(design, &a, &b, &[0.0; FIGURES]);
        }
        let runs = if order == Order::Apart { SEVERAL.name } else { PAIRED.name };
        let what = format!("equal, both slowing down by {:.0} %, {sides}", 100.0 * DRIFT);
        rows.push(Row { what, runs, requests: bench.requests, fared });
    }
}

/// Equal servers whose runs differ by more, or less, than is assumed.
fn unlike(rows: &mut Vec<Row>, bench: &Bench, pairs: u32, seed: u64) {
    for between in [0.0, 0.02] {
        let mut fared = Fared::default();
        let mut luck = Luck { bench, between, random: SplitMix::new(seed) };
        for _ in 0..pairs {
            let (a, b) = (luck.side(1.0, 1), luck.side(1.0, 1));
            fared.add(ONE, &a, &b, &[0.0; FIGURES]);
        }
        let what = format!("equal, runs differ by {:.0} %", 100.0 * between);
        rows.push(Row { what, runs: ONE.name, requests: bench.requests, fared });
    }
}

fn table(rows: &[Row], columns: &[&str], cells: &dyn Fn(&Fared) -> Vec<String>) {
    println!("| B against A | runs | requests a run | {} |", columns.join(" | "));
    println!("| --- | --- | --: |{}", " --: |".repeat(columns.len()));
    for Row { what, runs, requests, fared } in rows {
        println!("| {what} | {runs} | {requests} | {} |", cells(fared).join(" | "));
    }
    println!();
}

fn main() {
    let mut arguments = std::env::args().skip(1).filter_map(|argument| argument.parse().ok());
    let pairs = arguments.next().map_or(PAIRS, |pairs: u64| (pairs as u32).max(1));
    let seed = arguments.next().unwrap_or(1);
    let truths = SLOWER.map(truth);
    println!("True changes:\n\n| B against A | {} |", NAMES.join(" | "));
    println!("| --- |{}", " --: |".repeat(FIGURES));
    for (slower, truth) in SLOWER.iter().zip(truths) {
        let cells = truth.map(|change| format!("{:+.2} %", 100.0 * change));
        println!("| {:.0} % slower | {} |", 100.0 * slower, cells.join(" | "));
    }
    println!();

    let long = Bench { twin: twin(), requests: LONG };
    let short = Bench { twin: twin(), requests: SHORT };
    let mut rows = Vec::new();
    slower(&mut rows, &long, pairs, seed, &truths);
    drifting(&mut rows, &long, pairs.div_ceil(4), seed + 1);
    slower(&mut rows, &short, pairs, seed + 2, &truths);
    unlike(&mut rows, &short, pairs, seed + 3);

    println!("The 95 % interval holds the true change:\n");
    table(&rows, &NAMES, &|fared| fared.covered.map(|count| fared.percent(count)).to_vec());
    println!("Called different:\n");
    let columns = [&NAMES[..], &["any of them", "the wrong way round"]].concat();
    table(&rows, &columns, &|fared| {
        let wrong = fared.wrong.into_iter().max().unwrap_or_default();
        let last = [fared.any, wrong];
        fared.called.iter().chain(&last).map(|count| fared.percent(*count)).collect()
    });
    println!("Said to have no difference larger than 5 %:\n");
    table(&rows, &NAMES, &|fared| fared.no_larger.map(|count| fared.percent(count)).to_vec());
    println!("A gate that allows {:.0} %: passes / fails / cannot tell\n", 100.0 * ALLOWED);
    table(&rows, &NAMES, &|fared| {
        fared.gate.map(|counts| counts.map(|count| fared.percent(count)).join(" / ")).to_vec()
    });
}
