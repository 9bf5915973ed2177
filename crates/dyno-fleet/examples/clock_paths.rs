//! How often the stated bound contains the true offset between clocks that are compared over real sockets,
//! with a network between them: the second table in docs/concepts/clocks.md. `-- FITS SEED`

#![allow(clippy::expect_used)]

#[path = "../tests/clocks/proxy.rs"]
mod proxy;
#[path = "../tests/clocks/real.rs"]
mod real;
#[path = "../tests/clocks/table.rs"]
#[allow(dead_code)]
mod table;
#[path = "../tests/clocks/trial.rs"]
#[allow(dead_code)]
mod trial;
#[path = "../tests/clocks/world.rs"]
mod world;

use real::{PATHS, judged};
use table::Quality;

fn main() {
    let mut arguments = std::env::args().skip(1).map_while(|it| it.parse::<u64>().ok());
    let (fits, seed) = (arguments.next().unwrap_or(125), arguments.next().unwrap_or(18));
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
