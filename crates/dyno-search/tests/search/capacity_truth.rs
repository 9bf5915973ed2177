//! How good the search for a capacity is: each twin and service level is searched with many seeds,
//! and the answers are compared with the true capacity, found by brute force. Run it with
//! `SEEDS=200 FIRST=0 ROW=3 cargo test --release -p dyno-search capacity_truth -- --ignored --nocapture`,
//! without ROW for all rows.

use crate::support::{LABS, Lab, Searched, contains, search, truth};
use dyno_search::LevelKind;
use dyno_search::capacity::{CapacityAnswer, LEVELS, WIDTH};
use dyno_stats::quantile;
use dyno_testing::given;

const SEEDS: u64 = 200;
const TRUTH_SEEDS: usize = 201;

/// From the lowest to the highest load that may be the capacity.
fn width(lab: &Lab, answer: CapacityAnswer) -> f64 {
    match answer {
        // `high` does not hold, so the highest whole number that may is the one below.
        CapacityAnswer::Between { low, high, .. } if lab.kind == LevelKind::Concurrency => {
            (high - 1.0) / low - 1.0
        }
        CapacityAnswer::Between { low, high, .. } => high / low - 1.0,
        _ => f64::INFINITY,
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    quantile(&values, 0.5).unwrap_or(f64::NAN)
}

fn row(lab: &Lab, seeds: u64, first: u64) {
    let truth = truth(lab, TRUTH_SEEDS);
    let all: Vec<Searched> = (first..first + seeds).map(|seed| search(lab, seed)).collect();
    let share = |good: &dyn Fn(&Searched) -> bool| {
        100.0 * all.iter().filter(|one| good(one)).count() as f64 / seeds as f64
    };
    let contained = |one: &Searched| contains(lab, one.answer, truth);
    let good = |one: &Searched| {
        contained(one) && width(lab, one.answer) <= WIDTH + 1e-9 && one.levels.len() <= LEVELS
    };
    let load = match lab.kind {
        LevelKind::Concurrency => format!("{truth:.0} in flight"),
        _ => format!("{truth:.3}/s"),
    };
    println!(
        "| {} | {} | {} | {load} | {:.1} % | {:.1} % | {:.0} | {:.1} % |",
        lab.twin,
        lab.slo,
        lab.requests,
        share(&contained),
        100.0 * median(all.iter().map(|one| width(lab, one.answer)).collect()),
        median(all.iter().map(|one| one.levels.len() as f64).collect()),
        share(&good),
    );
}

#[test]
#[ignore = "prints the table of docs/concepts/capacity.md; ten minutes in release mode"]
fn capacity_truth() {
    let seeds = given::number("SEEDS", SEEDS).max(1);
    let (first, only) = (given::number("FIRST", 0), given::optional("ROW"));
    println!(
        "{seeds} searches each, from seed {first} on. All three: contains the truth, at most {:.0} % wide, at most \
         {LEVELS} levels.\n",
        100.0 * WIDTH
    );
    println!(
        "| twin | service level | requests a level | true capacity | contains it | median width \
         | median levels | all three |"
    );
    println!("|{}", " --- |".repeat(8));
    for (number, lab) in LABS.iter().enumerate() {
        if only.is_none_or(|only| only == number as u64) {
            row(lab, seeds, first);
        }
    }
}
