//! How often the interval at which a watch stops covers the truth, as a Markdown table. `RUNS`
//! is how many runs make a row, 1,000 by default.

use crate::queues::watched::{ROWS, watched};
use dyno_testing::given;

const WANTED: f64 = 0.03;

#[test]
#[ignore = "prints the table of docs/concepts/stability.md; takes minutes"]
fn stability_table() {
    let runs = given::number("RUNS", 1_000) as usize;
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
