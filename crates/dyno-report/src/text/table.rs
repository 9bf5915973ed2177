//! The table of levels, one line each, within 80 columns.

use super::TextOptions;
use super::layout::{ABSENT, cut_middle, millis, number, whole, width};
use super::paint::verdict;
use super::slices::slices;
use super::turns::turns;
use crate::escape::escape;
use crate::summary::{Distribution, LevelSummary};

const COLUMNS: usize = 8;
const LABEL_AT_LEAST: usize = 6;

/// What the marks mean, for those that were used.
#[derive(Debug, Default)]
pub(super) struct Marks {
    steady: bool,
    few: bool,
    absent: bool,
}

impl Marks {
    /// Some figure carries a mark, or is absent.
    pub(super) fn note(&mut self, few: bool, absent: bool) {
        self.few |= few;
        self.absent |= absent;
    }

    fn lines(&self) -> String {
        [
            (self.steady, STEADY),
            (self.few, "? fewer than 10 samples lie beyond this percentile\n"),
            (self.absent, "– there is no such figure\n"),
        ]
        .iter()
        .filter(|(used, _)| *used)
        .map(|(_, line)| *line)
        .collect()
    }
}

/// ITL where every stream of every level has it, else TPOT.
fn token_time(
    levels: &[LevelSummary],
) -> (&'static str, fn(&LevelSummary) -> &Option<Distribution>) {
    let all_have = levels.iter().all(|level| level.itl_ms.is_some() || level.tpot_ms.is_none());
    if all_have { ("ITL ms", |level| &level.itl_ms) } else { ("TPOT ms", |level| &level.tpot_ms) }
}

fn pair(figure: &Option<Distribution>, marks: &mut Marks) -> String {
    let Some(figure) = figure else {
        marks.absent = true;
        return ABSENT.to_owned();
    };
    let mut one = |name, value| percentile(Some(figure), name, value, marks);
    format!("{}/{}", one("p50", figure.p50), one("p99", figure.p99))
}

/// A percentile of a figure in milliseconds, with its mark.
pub(super) fn percentile(
    figure: Option<&Distribution>,
    name: &str,
    value: Option<f64>,
    marks: &mut Marks,
) -> String {
    let few = figure.is_some_and(|figure| figure.marked.iter().any(|marked| marked == name));
    let Some(value) = value else {
        marks.absent = true;
        return ABSENT.to_owned();
    };
    marks.few |= few;
    format!("{}{}", millis(value), if few { "?" } else { "" })
}

fn rate(whole: Option<f64>, steady: Option<f64>, marks: &mut Marks) -> String {
    match (steady, whole) {
        (Some(value), _) => {
            marks.steady = true;
            format!("{}*", number(value))
        }
        (None, Some(value)) => number(value),
        (None, None) => {
            marks.absent = true;
            ABSENT.to_owned()
        }
    }
}

/// What a figure of the steady window is marked with, and where the others are.
pub(super) const STEADY: &str = "* over the steady window; the whole run stands below\n";

/// The table with its footnotes.
pub(super) fn table(levels: &[LevelSummary], options: &TextOptions) -> String {
    let mut marks = Marks::default();
    let (token_title, token_figure) = token_time(levels);
    let mut rows = vec![
        [
            "level",
            "ok/failed",
            "req/s",
            "out tok/s",
            "TTFT ms",
            token_title,
            "latency ms",
            "verdict",
        ]
        .map(str::to_owned),
        ["", "", "", "", "p50/p99", "p50/p99", "p50/p99", ""].map(str::to_owned),
    ];
    for level in levels {
        let steady = level.steady.map(|steady| steady.throughput);
        let done = level.throughput;
        rows.push([
            escape(&level.label, 40),
            format!("{}/{}", whole(level.requests.completed), whole(level.requests.failed)),
            rate(done.requests_per_s, steady.and_then(|s| s.requests_per_s), &mut marks),
            rate(done.output_tokens_per_s, steady.and_then(|s| s.output_tokens_per_s), &mut marks),
            pair(&level.ttft_ms, &mut marks),
            pair(token_figure(level), &mut marks),
            pair(&level.latency_ms, &mut marks),
            level.verdict.to_string(),
        ]);
    }
    // The marks of what stands below the table are explained here, too.
    levels.iter().for_each(|level| drop(turns(level, &mut marks) + &slices(level, &mut marks)));
    let widths = widths(&rows, options.width);
    let mut out = String::new();
    for (i, row) in rows.iter().enumerate() {
        let level = i.checked_sub(2).and_then(|i| levels.get(i));
        let mut line = String::new();
        for (column, text) in row.iter().enumerate() {
            let text = cut_middle(text, widths[column]);
            let pad = " ".repeat(widths[column] - width(&text));
            match (column, level) {
                (0, _) => line.push_str(&format!("{text}{pad}")),
                (7, Some(level)) => line.push_str(&format!(" {}", verdict(level.verdict, options))),
                (7, None) => line.push_str(&format!(" {text}")),
                _ => line.push_str(&format!(" {pad}{text}")),
            }
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out + &marks.lines()
}

/// Columns as wide as their content, with the labels cut where the table would be too wide.
fn widths(rows: &[[String; COLUMNS]], limit: usize) -> [usize; COLUMNS] {
    let mut widths = [0; COLUMNS];
    for row in rows {
        for (column, text) in row.iter().enumerate() {
            widths[column] = widths[column].max(width(text));
        }
    }
    let total = widths.iter().sum::<usize>() + COLUMNS - 1;
    let over = total.saturating_sub(limit);
    widths[0] = widths[0].saturating_sub(over).max(LABEL_AT_LEAST.min(widths[0]));
    widths
}
