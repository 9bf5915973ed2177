//! How often the stated bound of an agent's clock contains the true offset: the table in
//! docs/concepts/clocks.md. `-- TRIALS SEED ROW`; constants are set with other seeds than that of the table.

#![allow(clippy::expect_used)]

#[path = "../tests/clocks/table.rs"]
mod table;
#[path = "../tests/clocks/trial.rs"]
mod trial;
#[path = "../tests/clocks/world.rs"]
mod world;

use table::{KINDS, row};

fn main() {
    let mut arguments = std::env::args().skip(1).map_while(|it| it.parse::<u64>().ok());
    let (trials, seed) = (arguments.next().unwrap_or(1_000), arguments.next().unwrap_or(18));
    let only = arguments.next();
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
