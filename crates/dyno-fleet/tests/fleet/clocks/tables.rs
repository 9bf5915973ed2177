//! The tables of docs/concepts/clocks.md; constants are set with other seeds than theirs.
//! `TRIALS=1000 SEED=18 ROW=3 cargo test -p dyno-fleet clock_table -- --ignored --nocapture`, without ROW for all
//! rows; `FITS=125 SEED=18 cargo test -p dyno-fleet clock_paths -- --ignored --nocapture`.

use super::real::{PATHS, judged};
use super::table::{KINDS, Quality, row};
use dyno_testing::given;

/// How often the stated bound of an agent's clock contains the true offset, in a simulated world.
#[test]
#[ignore = "prints the first table of docs/concepts/clocks.md; takes minutes"]
fn clock_table() {
    let (trials, seed) = (given::number("TRIALS", 1_000), given::number("SEED", 18));
    let only = given::optional("ROW");
    println!(
        "| network or clocks | covered | bound: median | p99 | error: p99 | start covered | bound: p99 | error: p99 | shortest round trip: covered | error: p99 | mean | one way |"
    );
    println!("| --- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |");
    for (number, kind) in (1..).zip(KINDS) {
        if only.is_some_and(|only| only != number) {
            continue;
        }
        let row = row(kind, trials, seed);
        let (level, start, shortest) = (row.level, row.start, row.shortest);
        println!(
            "| {} | {:.1} % | {:.2} | {:.2} | {:.2} | {:.1} % | {:.2} | {:.2} | {:.1} % | {:.2} | {:.2} | {:.2} |",
            kind.name,
            level.covered * 100.0,
            level.median_bound,
            level.p99_bound,
            level.p99_error,
            start.covered * 100.0,
            start.p99_bound,
            start.p99_error,
            shortest.covered * 100.0,
            shortest.p99_error,
            row.mean_error,
            row.one_way_error,
        );
    }
}

/// The same between clocks that are compared over real sockets, with a network between them.
#[test]
#[ignore = "prints the second table of docs/concepts/clocks.md; takes minutes"]
fn clock_paths() {
    let (fits, seed) = (given::number("FITS", 125), given::number("SEED", 18));
    println!("| network | fits | covered | bound: median | p99 | error: p99 |");
    println!("| --- | --: | --: | --: | --: | --: |");
    for ((name, ..), judged) in PATHS.iter().zip(judged(fits, seed)) {
        let Quality { covered, median_bound, p99_bound, p99_error } =
            Quality::of(judged.iter().copied());
        let (count, covered) = (judged.len(), covered * 100.0);
        println!(
            "| {name} | {count} | {covered:.1} % | {median_bound:.2} | {p99_bound:.2} | {p99_error:.2} |"
        );
    }
}
