//! EvalScope's report of a test with several loads: a table with a row for each, and another one with what
//! its requests took: tokens, or since 1.9 all metrics of each load below one another.

use super::percentiles::time;
use crate::level::blank;
use crate::text::invocation::is_plausible;
use crate::text::part::{Stated, TextPart, label, put, report, whole};
use crate::text::quantity::{Cell, Measure, cell, name};
use dyno_form::lines::TextLine;
use dyno_form::table::{Row, Table, cells, table};
use dyno_model::load::LoadKind;
use dyno_model::metric::Time;
use dyno_model::summary::{LevelExtras, LoadSummary, Recognised, RequestCounts, Tokens};
use dyno_model::{Diagnostic, LevelSummary};

/// Between the two tables there are empty lines and a title.
const BETWEEN: usize = 6;

/// Up to this many requests, one that failed shows in a rate of successes with one decimal.
const EXACT: u64 = 1000;

/// Reads the tables that start with the first of these lines; returns how many lines they take.
pub(crate) fn read(lines: &[TextLine], before: &[String]) -> Option<(TextPart, usize)> {
    let (first, mut taken) = table(lines)?;
    let heads = first.heads();
    let names: Vec<String> = heads.iter().map(|head| name(head).0).collect();
    let has = |wanted: &str| names.iter().any(|name| name == wanted);
    let detail = ["avg lat.", "gen/s"].into_iter().find(|detail| has(detail));
    let detail = detail.filter(|_| has("rps") && names.first().is_some_and(|n| n == "conc."))?;
    let line = first.rows.first()?.line;
    let mut part =
        TextPart::new("evalscope", "table", line, Recognised::certain(["Conc.", detail]));
    part.model = model(before);
    for row in body(&first) {
        if row.has_cells(heads.len(), &mut part.findings).is_some() {
            let level = level(&heads, row, &mut part.findings);
            part.levels.push((level, LevelExtras::default()));
        }
    }
    let next = lines[taken..].iter().take(BETWEEN).position(|line| line.text.starts_with('|'));
    let below = next.and_then(|next| Some((next, table(&lines[taken + next..])?)));
    if let Some((next, (second, rows))) = below
        && (add_tokens(&second, &mut part) || add_metrics(&second, &mut part))
    {
        taken += next + rows;
    }
    Some((part, taken))
}

/// The rows below the header.
fn body(table: &Table) -> impl Iterator<Item = &Row> {
    table.rows.iter().skip(table.header.max(1))
}

/// The model, from the table of basic information above.
fn model(before: &[String]) -> Option<String> {
    let named = before.iter().rev().filter(|line| line.starts_with('|')).find_map(|line| {
        let cells = cells(line);
        let [key, name] = cells.as_slice() else { return None };
        (key == "Model").then(|| name.clone())
    });
    named.filter(|name| is_plausible(name))
}

fn level(heads: &[String], row: &Row, findings: &mut Vec<Diagnostic>) -> LevelSummary {
    let mut level = LevelSummary::default();
    let (mut slots, mut rate, mut success) = (None, None, None);
    let mut rounded = false;
    for (head, value) in heads.iter().zip(&row.cells) {
        let stated = Stated { line: row.line, name: head, value };
        let number = match cell(value) {
            Cell::Number(number) => number,
            // `INF` stands for no limit.
            _ => continue,
        };
        report(&mut level, row.line, head, number);
        let (metric, _) = name(head);
        match metric.as_str() {
            "conc." => slots = Some(number.value),
            "rate" => {
                rate = Some(number.value);
                rounded = number.decimals == 0;
            }
            "num" => level.requests.planned = whole(number.value),
            "rps" => level.throughput.requests_per_s = Some(number.value),
            "gen. toks/s" | "gen/s" => level.throughput.output_tokens_per_s = Some(number.value),
            "success rate" | "success" => success = Some(number.value),
            metric => {
                let Some((statistic, metric)) = metric.split_once(' ') else { continue };
                let time = match metric {
                    "lat." => Time::Latency,
                    "ttft" => Time::Ttft,
                    "tpot" => Time::Tpot,
                    _ => continue,
                };
                if let Some(millis) = stated.converted(Measure::Seconds, findings) {
                    put(&mut level.times[time], statistic, millis);
                }
            }
        }
    }
    level.load = load(rate, slots);
    if rounded && level.load.kind == LoadKind::Rate {
        // Some versions print whole numbers only, whatever the rate was.
        level.load.value = None;
    }
    level.label = label(level.load.kind, level.load.value);
    let planned = level.requests.planned.filter(|planned| *planned <= EXACT);
    if success == Some(100.0) && planned.is_some() {
        (level.requests.completed, level.requests.failed) = (planned, Some(0));
    }
    super::percentiles::settle(&mut level, row.line, findings);
    level
}

fn load(rate: Option<f64>, slots: Option<f64>) -> LoadSummary {
    match (rate.filter(|rate| *rate > 0.0), slots) {
        (Some(rate), _) => blank::load(LoadKind::Rate, Some(rate)),
        (None, Some(slots)) => blank::load(LoadKind::Concurrency, Some(slots)),
        (None, None) => blank::load(LoadKind::Unknown, None),
    }
}

/// Adds the tokens of the second table; false where it is another one.
fn add_tokens(table: &Table, part: &mut TextPart) -> bool {
    let heads = table.heads();
    if !heads.iter().any(|head| head == "Avg In Toks") || body(table).count() != part.levels.len() {
        return false;
    }
    for (row, (level, _)) in body(table).zip(&mut part.levels) {
        for (head, value) in heads.iter().zip(&row.cells) {
            let Cell::Number(number) = cell(value) else { continue };
            report(level, row.line, head, number);
            let place = match head.as_str() {
                "Avg In Toks" => &mut level.input_tokens,
                "Avg Out Toks" => &mut level.output_tokens,
                _ => continue,
            };
            *place = Some(Tokens { total: None, mean: number.value });
        }
    }
    true
}

/// Adds the metrics of the second table since 1.9; false where it is another one. The load stands in the first
/// of its rows only.
fn add_metrics(table: &Table, part: &mut TextPart) -> bool {
    let heads = table.heads();
    let ["Conc.", "Rate", "Metric", statistics @ ..] =
        &heads.iter().map(String::as_str).collect::<Vec<_>>()[..]
    else {
        return false;
    };
    let starts = |row: &&Row| !row.name().is_empty();
    if body(table).filter(starts).count() != part.levels.len() {
        return false;
    }
    let mut levels = part.levels.iter_mut();
    let mut current = None;
    for row in body(table) {
        if starts(&row) {
            current = levels.next();
        }
        let (Some((level, _)), Some(metric)) = (current.as_mut(), row.cells.get(2)) else {
            continue;
        };
        for (statistic, value) in statistics.iter().zip(row.cells.iter().skip(3)) {
            let stated = Stated { line: row.line, name: metric, value };
            let Cell::Number(number) = cell(value) else { continue };
            report(level, row.line, &format!("{metric} {statistic}"), number);
            let mean = Tokens { total: None, mean: number.value };
            match (metric.as_str(), *statistic) {
                ("Input Tokens", "avg") => level.input_tokens = Some(mean),
                ("Output Tokens", "avg") => level.output_tokens = Some(mean),
                // Several turns are one of what was counted above, and several requests.
                ("Turns/Req", _) => level.requests = RequestCounts::default(),
                _ => {
                    let Some(time) = time(metric) else { continue };
                    if let Some(millis) = stated.converted(Measure::Seconds, &mut part.findings) {
                        put(&mut level.times[time], statistic, millis);
                    }
                }
            }
        }
    }
    true
}
