//! How often the saturation test is right, as a Markdown table: 1,000 simulated queues in each
//! cell. `QUEUES=tuned` shows the queues that its constants were set on, `QUEUES=harder` some
//! hard ones with longer levels, `RUNS=200` takes 200 queues.

use crate::queues::table::{HARDER, JUDGED_ON, TUNED_ON, said};
use dyno_testing::given;

const LOADS: [f64; 7] = [0.5, 0.9, 0.99, 1.0, 1.1, 1.2, 1.5];
const COUNTS: [usize; 4] = [1_000, 2_000, 4_000, 8_000];
const HARDER_COUNTS: [usize; 3] = [4_000, 8_000, 16_000];
const JUDGING_SEED: u64 = 0x6a75_6467_6500;
const HARDER_SEED: u64 = 0x68_6172_6400;
const TUNING_SEED: u64 = 0x74_756e_6500;

#[test]
#[ignore = "prints the table of docs/concepts/saturation.md; takes minutes"]
fn saturation_table() {
    let runs = given::number("RUNS", 1_000) as usize;
    let (kinds, counts, seed) = match std::env::var("QUEUES").as_deref() {
        Ok("tuned") => (&TUNED_ON[..], &COUNTS[..], TUNING_SEED),
        Ok("harder") => (&HARDER[..], &HARDER_COUNTS[..], HARDER_SEED),
        _ => (&JUDGED_ON[..], &COUNTS[..], JUDGING_SEED),
    };
    let loads = LOADS.map(|load| format!("{:.0} %", 100.0 * load)).join(" | ");
    println!("| queue | arrivals | {loads} |");
    println!("| --- | --: |{}", " --: |".repeat(LOADS.len()));
    for (k, queue) in kinds.iter().enumerate() {
        for count in counts.iter().copied() {
            print!("| {} | {count} |", queue.name);
            for (l, load) in LOADS.iter().enumerate() {
                let seed = seed + (k * 1_000 + l * 10) as u64 + count as u64 / 1_000;
                let got = said(queue, seed, *load, count, runs);
                match got.cannot_tell > 0.0 {
                    true => print!(" {:.1} (? {:.1}) |", got.saturated, got.cannot_tell),
                    false => print!(" {:.1} |", got.saturated),
                }
            }
            println!();
        }
    }
}
