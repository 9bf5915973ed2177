//! How often the interval at which a watch stops covers the truth, as a Markdown table. The
//! first argument is how many runs make a row, 1,000 by default.

#[path = "../tests/queues/mod.rs"]
mod queues;

use queues::watched::{ROWS, watched};

const WANTED: f64 = 0.03;

fn main() {
    let runs = std::env::args().nth(1).and_then(|a| a.parse().ok()).unwrap_or(1_000);
    println!("| samples | metric | stopped | covered | median of samples taken |");
    println!("| --- | --- | --: | --: | --: |");
    for (i, (series, statistic)) in ROWS.iter().enumerate() {
        let got = watched(*series, *statistic, WANTED, 57_000 + i as u64, runs);
        let name = format!("{statistic:?}").to_lowercase();
        println!(
            "| {series} | {name} | {:.1} % | {:.1} % | {} |",
            got.stopped, got.covered, got.median_count
        );
    }
}
