//! The table that is printed, in Markdown.

use super::{GOALS, Predicted};
use std::fmt::Write as _;

/// Each level: measured values, and how far the prediction is from them. `!` marks those outside of the twin's
/// interval. Below, how many are within the goal and the interval.
pub(super) fn predicted(levels: &[Predicted]) -> String {
    let heads: Vec<&str> = GOALS.iter().map(|(_, name, _)| *name).collect();
    let mut text = format!("| level | {} |\n", heads.join(" | "));
    let _ = writeln!(text, "| --- |{}", " --- |".repeat(GOALS.len()));
    for level in levels {
        let cells: Vec<String> = (0..GOALS.len()).map(|at| cell(level, at)).collect();
        let _ = writeln!(text, "| {} | {} |", level.name, cells.join(" | "));
    }
    let share = |title: &str, text: &mut String, holds: &dyn Fn(&Predicted, usize) -> bool| {
        let cells: Vec<String> = (0..GOALS.len())
            .map(|at| {
                let known = || levels.iter().filter(|level| error(level, at).is_finite());
                let held = known().filter(|level| holds(level, at)).count();
                format!("{held} of {}", known().count())
            })
            .collect();
        let _ = writeln!(text, "| {title} | {} |", cells.join(" | "));
    };
    share("within 5 or 10 %", &mut text, &|level, at| error(level, at).abs() <= GOALS[at].2);
    share("within the interval", &mut text, &|level, at| level.covered[at]);
    text
}

/// Predicted over measured, less 1.
fn error(level: &Predicted, at: usize) -> f64 {
    let [measured, simulated] = level.values[at];
    simulated / measured - 1.0
}

fn cell(level: &Predicted, at: usize) -> String {
    let [measured, _] = level.values[at];
    let error = error(level, at);
    if !error.is_finite() {
        return "–".to_owned();
    }
    let mark = if level.covered[at] { "" } else { " !" };
    format!("{measured:.3} {:+.1} %{mark}", 100.0 * error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_outside_of_their_interval_are_marked_and_absent_ones_not_counted() {
        let mut values = [[100.0, 104.0]; GOALS.len()];
        values[1] = [100.0, 120.0];
        values[3] = [f64::NAN; 2];
        let mut covered = [true; GOALS.len()];
        covered[1] = false;
        let text = predicted(&[Predicted { name: "rate 4".to_owned(), values, covered }]);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[2].contains("| 100.000 +4.0 % | 100.000 +20.0 % ! |"), "{text}");
        assert!(
            lines[3].starts_with("| within 5 or 10 % | 1 of 1 | 0 of 1 | 1 of 1 | 0 of 0 |"),
            "{text}"
        );
        assert!(lines[4].contains("1 of 1 | 0 of 1"), "{text}");
    }
}
