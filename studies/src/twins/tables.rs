//! The tables of the study.

use super::found::Setting;
use super::judged::Judged;
use super::predicted::{GOALS, Prediction};
use dyno_fit::Quantity;
use std::collections::BTreeMap;

/// One system in detail.
pub(super) fn system(judged: &Judged) {
    let Judged { system, residual, seconds, with_steps, .. } = judged;
    println!(
        "system {}: {} in, {} out, noise {:.3}, residual {:.3}, {with_steps} levels with steps, {seconds:.1} s",
        system.seed, system.input, system.output, system.cost.noise, residual
    );
    println!("  front turns {} merges {}", system.cost.front.turns, system.cost.front.merges);
    for of in &judged.settings {
        let mark = if of.truth == of.found { "" } else { " !" };
        let named = if of.named { " (named)" } else { "" };
        println!("  {:<20} {} found {}{mark}{named}", of.name, of.truth, of.found);
    }
    for of in &judged.coefficients {
        let mark = if of.is_within() { "" } else { " !" };
        let named = if of.named { " (named)" } else { "" };
        let [low, high] = of.interval;
        println!(
            "  {:<20} {:9.3} found {:9.3} ({low:.3} to {high:.3}){mark}{named}",
            of.name, of.truth, of.found
        );
    }
    let mut before = "";
    for rows in judged.predictions.chunks(GOALS.len()) {
        let cells: Vec<String> = rows
            .iter()
            .map(|of| {
                let mark = if of.error.abs() > of.goal { "!" } else { " " };
                format!("{:+6.1}{mark}", 100.0 * of.error)
            })
            .collect();
        let load = rows[0].load;
        println!("  {:<20}{}", if load == before { "" } else { load }, cells.join(" "));
        before = load;
    }
}

/// The result.
pub(super) fn all(judged: &[Judged]) {
    coefficients(judged);
    for name in ["policy", "steps_ahead", "captured", "max_seqs", "token_budget"] {
        setting(judged, name);
    }
    predictions(judged);
    let slowest = judged.iter().map(|of| of.seconds).fold(0.0, f64::max);
    let mean = judged.iter().map(|of| of.seconds).sum::<f64>() / judged.len().max(1) as f64;
    println!("\nfits took {mean:.1} s on average, {slowest:.1} s at most, with one thread");
}

fn percent(part: usize, of: usize) -> String {
    if of == 0 { "–".to_owned() } else { format!("{:.0} %", 100.0 * part as f64 / of as f64) }
}

fn coefficients(judged: &[Judged]) {
    println!(
        "\n| coefficient | named | judged | within | of these, only bounded above |\n| --- | --- | --- | --- | --- |"
    );
    let mut names: Vec<&str> = Vec::new();
    judged.iter().flat_map(|of| &of.coefficients).for_each(|of| {
        if !names.contains(&of.name) {
            names.push(of.name);
        }
    });
    let mut sums = [0; 4];
    for name in names {
        let rows: Vec<_> =
            judged.iter().flat_map(|of| &of.coefficients).filter(|of| of.name == name).collect();
        let named = rows.iter().filter(|of| of.named).count();
        let told = || rows.iter().filter(|of| !of.named);
        let (count, within) = (told().count(), told().filter(|of| of.is_within()).count());
        let bounded = told().filter(|of| of.interval[0] <= 0.0).count();
        println!("| `{name}` | {named} | {count} | {} | {bounded} |", percent(within, count));
        sums[0] += named;
        sums[1] += count;
        sums[2] += within;
        sums[3] += bounded;
    }
    let [named, count, within, bounded] = sums;
    println!(
        "| all | {named} ({}) | {count} | {} | {bounded} |",
        percent(named, named + count),
        percent(within, count)
    );
}

fn setting(judged: &[Judged], name: &str) {
    let rows: Vec<&Setting> =
        judged.iter().flat_map(|of| &of.settings).filter(|of| of.name == name).collect();
    let named = rows.iter().filter(|of| of.named).count();
    let told: Vec<&&Setting> = rows.iter().filter(|of| !of.named).collect();
    let right = told.iter().filter(|of| of.truth == of.found).count();
    let mut wrong: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    told.iter().filter(|of| of.truth != of.found).for_each(|of| {
        *wrong.entry((of.truth.as_str(), of.found.as_str())).or_default() += 1;
    });
    let wrong: Vec<String> =
        wrong.iter().map(|((truth, found), n)| format!("{n} × {truth} found as {found}")).collect();
    println!(
        "\n{name}: {} right of {} ({}), {named} named; {}",
        right,
        told.len(),
        percent(right, told.len()),
        wrong.join(", ")
    );
}

fn predictions(judged: &[Judged]) {
    let all: Vec<&Prediction> = judged.iter().flat_map(|of| &of.predictions).collect();
    let mut loads: Vec<&str> = Vec::new();
    all.iter().for_each(|of| {
        if !loads.contains(&of.load) {
            loads.push(of.load);
        }
    });
    let heads: Vec<String> = GOALS.iter().map(|(quantity, _)| head(*quantity).to_owned()).collect();
    println!(
        "\n| predicted | {} | all |\n| --- |{}",
        heads.join(" | "),
        " --- |".repeat(GOALS.len() + 1)
    );
    let row = |name: &str, of: &[&Prediction], is_within: fn(&Prediction) -> Option<bool>| {
        let share = |wanted: &dyn Fn(&Prediction) -> bool| {
            let these = of.iter().filter(|one| wanted(one));
            let judged: Vec<bool> = these.filter_map(|one| is_within(one)).collect();
            percent(judged.iter().filter(|within| **within).count(), judged.len())
        };
        let cells: Vec<String> =
            GOALS.iter().map(|(quantity, _)| share(&|one| one.quantity == *quantity)).collect();
        println!("| {name} | {} | {} |", cells.join(" | "), share(&|_| true));
    };
    for load in loads {
        let of: Vec<&Prediction> = all.iter().copied().filter(|one| one.load == load).collect();
        row(load, &of, near);
    }
    row("all", &all, near);
    let sure: Vec<&Prediction> = all.iter().copied().filter(|one| !one.named).collect();
    row("those with narrow intervals", &sure, near);
    row("the true engine, with other noise", &all, |one| Some(one.again.abs() <= one.goal));
    row("within the interval of the fit", &all, |one| one.covered);
    let named = all.len() - sure.len();
    println!(
        "\n{named} of {} predictions ({}) have wide intervals",
        all.len(),
        percent(named, all.len())
    );
}

/// Whether a prediction is within the goal.
fn near(one: &Prediction) -> Option<bool> {
    Some(one.error.abs() <= one.goal)
}

fn head(quantity: Quantity) -> &'static str {
    match quantity {
        Quantity::Rate => "req/s",
        Quantity::LatencyP50 => "latency p50",
        Quantity::LatencyP90 => "p90",
        Quantity::TtftP50 => "TTFT p50",
        Quantity::TtftP90 => "p90",
        Quantity::ItlP50 => "ITL p50",
        Quantity::ItlP90 => "p90",
        Quantity::TtftMean => "TTFT mean",
        Quantity::ItlMean => "ITL mean",
        Quantity::LatencyMean => "latency mean",
    }
}
