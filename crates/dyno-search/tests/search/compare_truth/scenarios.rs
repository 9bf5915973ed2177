//! What is compared: servers that differ, equal ones, ones that drift, runs that differ more than
//! is assumed.

use super::bench::{Bench, FIGURES};
use super::trials::{Design, Fared, Luck, ONE, PAIRED, RUNS, SEVERAL};
use dyno_stats::compare::BETWEEN_RUNS;
use dyno_stats::rng::SplitMix;

/// By how much both sides slow down over ten runs.
const DRIFT: f64 = 0.10;

/// A row of the tables.
pub(crate) struct Row {
    pub(crate) what: String,
    pub(crate) runs: &'static str,
    pub(crate) requests: usize,
    pub(crate) fared: Fared,
}

/// By how much B is slower, and the resulting changes of its metrics.
pub(crate) type Slower = (f64, [f64; FIGURES]);

/// Servers of which one is slower: a row for each share and design. The runs of A are the same for
/// all of them.
pub(crate) fn slower(
    bench: &Bench,
    cases: &[Slower],
    designs: &[Design],
    pairs: u32,
    seed: u64,
) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for (slower, _) in cases {
        let what = match slower {
            0.0 => "equal".to_owned(),
            slower => format!("{:.0} % slower", 100.0 * slower),
        };
        let row = |design: &Design| Row {
            what: what.clone(),
            runs: design.name,
            requests: bench.requests,
            fared: Fared::default(),
        };
        rows.extend(designs.iter().map(row));
    }
    let mut luck = Luck { bench, between: BETWEEN_RUNS, random: SplitMix::new(seed) };
    for _ in 0..pairs {
        let a = luck.side(1.0, RUNS);
        for ((slower, truth), rows) in cases.iter().zip(rows.chunks_mut(designs.len())) {
            let b = luck.side(1.0 + slower, RUNS);
            for (design, row) in designs.iter().zip(rows) {
                row.fared.add(bench, *design, [&a, &b], truth);
            }
        }
    }
    rows
}

/// Equal servers that both slow down from run to run, measured in several orders.
pub(crate) fn drifting(bench: &Bench, pairs: u32, seed: u64) -> Vec<Row> {
    let orders = [
        ("AAAAABBBBB", SEVERAL),
        ("ABABABABAB", SEVERAL),
        ("ABABABABAB", PAIRED),
        ("ABBAABBAAB", PAIRED),
    ];
    let row = |(order, design): (&str, Design)| {
        let mut fared = Fared::default();
        let mut luck = Luck { bench, between: BETWEEN_RUNS, random: SplitMix::new(seed) };
        for _ in 0..pairs {
            let (mut a, mut b) = (Vec::new(), Vec::new());
            for (i, side) in order.bytes().enumerate() {
                let factor = 1.0 + DRIFT * i as f64 / (order.len() - 1) as f64;
                let run = luck.run(factor, false);
                if side == b'A' { a.push(run) } else { b.push(run) }
            }
            fared.add(bench, design, [&a, &b], &[0.0; FIGURES]);
        }
        let what = format!("equal, both slow down by {:.0} %, {order}", 100.0 * DRIFT);
        Row { what, runs: design.name, requests: bench.requests, fared }
    };
    orders.map(row).into()
}

/// Equal servers whose runs differ by more, or less, than is assumed.
pub(crate) fn unlike(bench: &Bench, pairs: u32, seed: u64) -> Vec<Row> {
    let row = |between: f64| {
        let mut fared = Fared::default();
        let mut luck = Luck { bench, between, random: SplitMix::new(seed) };
        for _ in 0..pairs {
            let (a, b) = (luck.side(1.0, 1), luck.side(1.0, 1));
            fared.add(bench, ONE, [&a, &b], &[0.0; FIGURES]);
        }
        let what = format!("equal, runs differ by {:.0} %", 100.0 * between);
        Row { what, runs: ONE.name, requests: bench.requests, fared }
    };
    [0.0, 0.02].map(row).into()
}

/// The same rows, of an open loop.
pub(crate) fn open(rows: Vec<Row>, rate: f64) -> impl Iterator<Item = Row> {
    rows.into_iter()
        .map(move |row| Row { what: format!("open loop, {rate}/s: {}", row.what), ..row })
}
