//! The tables that are printed.

use super::errors::{COMPARED, Errors, Means, mean};
use crate::twins::levels::Group;
use std::fmt::Write as _;

/// What is shown of each run: TTFT and median latency.
const BY_RUN: [usize; 2] = [1, 3];

/// All tables: errors on fitted, left-out and predicted levels, and on the predicted ones of each run.
pub(super) fn all(found: &[(&str, Errors)], predicted: &[Group]) -> String {
    let mut text = String::new();
    let heads: Vec<&str> = COMPARED.iter().map(|(_, name)| *name).collect();
    let mut add = |title: &str, of: &dyn Fn(&Errors) -> Means| {
        table(&mut text, title, &heads, found, |errors| of(errors).to_vec());
    };
    add("Fitted levels", &|errors| errors.fitted);
    add("Left-out levels", &|errors| errors.left_out);
    if predicted.is_empty() {
        return text;
    }
    add("Predicted levels", &|errors| mean(&errors.predicted.concat()));
    for at in BY_RUN {
        let title = format!("Predicted levels of each run: {}", COMPARED[at].1);
        let heads: Vec<&str> = predicted.iter().map(|group| group.name.as_str()).collect();
        let of_run = |levels: &Vec<Means>| mean(levels)[at];
        table(&mut text, &title, &heads, found, |errors| {
            errors.predicted.iter().map(of_run).collect()
        });
    }
    text
}

/// One table: a row for each term that was left out.
fn table(
    text: &mut String,
    title: &str,
    heads: &[&str],
    found: &[(&str, Errors)],
    values: impl Fn(&Errors) -> Vec<f64>,
) {
    let _ = writeln!(text, "{title}\n\n| without | {} |", heads.join(" | "));
    let _ = writeln!(text, "| --- |{}", " --- |".repeat(heads.len()));
    for (name, errors) in found {
        let cells: Vec<String> =
            values(errors).iter().map(|share| format!("{:.1} %", 100.0 * share)).collect();
        let _ = writeln!(text, "| {name} | {} |", cells.join(" | "));
    }
    text.push('\n');
}
