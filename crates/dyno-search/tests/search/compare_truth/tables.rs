//! The tables.

use super::bench::FIGURES;
use super::scenarios::{Row, Slower};
use super::trials::{ALLOWED, Fared};

pub(crate) const NAMES: [&str; FIGURES] =
    ["requests per second", "mean latency", "p99 TTFT", "mean TPOT"];
/// Where the mean latency and the p99 TTFT are among the metrics.
const SHOWN: [usize; 2] = [1, 2];

/// The changes that are true.
pub(crate) fn print_truths(what: &str, cases: &[Slower]) {
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

/// How comparisons fared: coverage, calls, gates.
pub(crate) fn print(rows: &[Row]) {
    let all = |fared: &Fared, counts: &[u32; FIGURES]| -> Vec<String> {
        (0..FIGURES).map(|i| of_figure(fared, i, counts)).collect()
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
    let mut columns: Vec<&str> = columns.iter().chain(&gates).map(String::as_str).collect();
    columns.push("gate: any of four fails");
    table(rows, &columns, &|fared| {
        let no_larger = SHOWN.map(|i| of_figure(fared, i, &fared.no_larger));
        let gates = SHOWN.map(|i| of_gate(fared, i));
        let any = percent(fared.any_fails, fared.all);
        no_larger.into_iter().chain(gates).chain([any]).collect()
    });
}

/// A dash where there is nothing.
fn percent(count: u32, all: u32) -> String {
    match all {
        0 => "–".to_owned(),
        _ => format!("{:.1} %", 100.0 * f64::from(count) / f64::from(all)),
    }
}

fn of_figure(fared: &Fared, i: usize, counts: &[u32; FIGURES]) -> String {
    percent(counts[i], fared.compared[i])
}

fn of_gate(fared: &Fared, i: usize) -> String {
    match fared.compared[i] {
        0 => "–".to_owned(),
        all => fared.gate[i].map(|count| percent(count, all)).join(" / "),
    }
}
