//! How often a comparison of runs is right: pairs of twins in virtual time, one of them slower by
//! a known share, each run with luck of its own, against the truth by brute force. Run it with
//! `cargo run --release -p dyno-search --example compare_truth -- [pairs] [seed]`.

#![allow(clippy::expect_used)]

mod bench;
mod scenarios;
#[path = "../../tests/support/served.rs"]
mod served;
mod trials;

use bench::{Bench, FIGURES, NAMES};
use dyno_engine::twin::Twin;
use scenarios::{Row, Slower, drifting, open, slower, unlike};
use served::Load;
use trials::{ALLOWED, Fared, ONE, ONE_AGAINST, PAIRED, SEVERAL, percent};

const PAIRS: u32 = 2_000;
const SLOWER: [f64; 4] = [0.0, 0.02, 0.05, 0.10];
const CLOSED: Load = Load::InFlight(32);
const RATE: f64 = 8.0;
const LONG: usize = 12_000;
const SHORT: usize = 1_000;
/// Requests of a run that gives the truth, and how many such runs there are.
const TRUTH: usize = 500_000;
const TRUTH_RUNS: u64 = 4;
/// Where the mean latency and the p99 TTFT are among the figures.
const SHOWN: [usize; 2] = [1, 2];

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

fn print_truths(what: &str, cases: &[Slower]) {
    for (slower, truth) in cases {
        let cells = truth.map(|change| match change.is_nan() {
            true => "–".to_owned(),
            false => format!("{:+.2} %", 100.0 * change),
        });
        println!("| {what}: {:.0} % slower | {} |", 100.0 * slower, cells.join(" | "));
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

fn print(rows: &[Row]) {
    let all = |fared: &Fared, counts: &[u32; FIGURES]| -> Vec<String> {
        (0..FIGURES).map(|i| fared.of_figure(i, counts)).collect()
    };
    println!("The 95 % interval holds the true change:\n");
    table(rows, &NAMES, &|fared| all(fared, &fared.covered));
    println!("Called different:\n");
    let columns = [&NAMES[..], &["any of them", "the wrong way round"]].concat();
    table(rows, &columns, &|fared| {
        let mut cells = all(fared, &fared.called);
        cells.push(percent(fared.any, fared.all));
        cells.push(percent(fared.wrong, fared.all));
        cells
    });
    println!(
        "Said to have no difference larger than 5 %, and a gate that allows {:.0} %: passes / \
         fails / cannot tell\n",
        100.0 * ALLOWED
    );
    let names = SHOWN.map(|i| NAMES[i]);
    let columns = names.map(|name| format!("no larger: {name}"));
    let gates = names.map(|name| format!("gate: {name}"));
    let columns: Vec<&str> = columns.iter().chain(&gates).map(String::as_str).collect();
    table(rows, &columns, &|fared| {
        let no_larger = SHOWN.map(|i| fared.of_figure(i, &fared.no_larger));
        no_larger.into_iter().chain(SHOWN.map(|i| fared.of_gate(i))).collect()
    });
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
