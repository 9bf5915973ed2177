//! The length matrix for documents: a table for each metric, input lengths down, output lengths across.

use super::cells::row;
use crate::messages::Label;
use crate::selection::LevelColumn;
use crate::text::{ABSENT, number};
use dyno_model::load::LoadSummary;
use dyno_model::metric::{Metric, Statistic, Time};
use dyno_model::summary::{Basis, LevelSummary, Summary, Tokens};
use dyno_model::{Language, Verdict};

/// The metrics, one table each: throughput, then the medians of times.
fn metrics(levels: &[LevelSummary]) -> Vec<LevelColumn> {
    let has_itl = |level: &LevelSummary| {
        level.times[Time::Itl].is_some() || level.times[Time::Tpot].is_none()
    };
    let between = if levels.iter().all(has_itl) { Time::Itl } else { Time::Tpot };
    let rates = [Metric::RequestRate, Metric::OutputRate, Metric::InputTokenRate];
    let times = [Time::Ttft, between, Time::Latency];
    let times = times.map(|time| LevelColumn::Statistic(time, Statistic::P50));
    let all = rates.map(LevelColumn::Value).into_iter().chain(times);
    all.filter(|column| column.is_known(levels)).collect()
}

/// A table for each metric, and for each load where there are several.
pub(super) fn matrix(summary: &Summary, language: Language) -> String {
    let mut loads: Vec<LoadSummary> = Vec::new();
    for level in &summary.levels {
        if !loads.contains(&level.load) {
            loads.push(level.load);
        }
    }
    // The same in all tables, so that they can be compared.
    let basis = Basis::of(&summary.levels);
    let mut tables = Vec::new();
    for load in &loads {
        let levels: Vec<&LevelSummary> =
            summary.levels.iter().filter(|level| level.load == *load).collect();
        for column in metrics(&summary.levels) {
            let title = match (loads.len(), load.value) {
                (1, _) => heading(column, basis, language),
                (_, Some(value)) => {
                    format!("{} {value}, {}", load.kind, heading(column, basis, language))
                }
                (_, None) => format!("{}, {}", load.kind, heading(column, basis, language)),
            };
            tables.push(format!("**{title}**\n\n{}", table(column, &levels, basis, language)));
        }
    }
    tables.join("\n")
}

fn heading(column: LevelColumn, basis: Basis, language: Language) -> String {
    let title = column.title(language);
    match column {
        LevelColumn::Value(_) if basis.is_steady() => {
            format!("{title}{}{}", language.comma(), Label::Steady.text(language))
        }
        _ => title,
    }
}

/// Requested lengths, or else the mean of the counted ones, as whole tokens.
fn lengths(level: &LevelSummary) -> [Option<u64>; 2] {
    let length = |asked: Option<u32>, counted: Option<Tokens>| {
        asked.map(u64::from).or(counted.map(|tokens| tokens.mean.round() as u64))
    };
    [
        length(level.input_length, level.input_tokens),
        length(level.output_length, level.output_tokens),
    ]
}

fn value(column: LevelColumn, level: &LevelSummary, basis: Basis) -> Option<f64> {
    match column {
        LevelColumn::Value(metric) => basis.rate(level, metric),
        LevelColumn::Statistic(time, which) => level.times[time].as_ref()?.get(which),
        LevelColumn::Requests | LevelColumn::Time(_) | LevelColumn::Whole(_) => None,
    }
}

fn table(
    column: LevelColumn,
    levels: &[&LevelSummary],
    basis: Basis,
    language: Language,
) -> String {
    let axis = |which: usize| {
        let mut all: Vec<Option<u64>> = levels.iter().map(|level| lengths(level)[which]).collect();
        all.sort_by_key(|length| length.unwrap_or(u64::MAX));
        all.dedup();
        all
    };
    let name = |length: &Option<u64>| {
        length.map_or_else(|| ABSENT.to_owned(), |length| length.to_string())
    };
    let (inputs, outputs) = (axis(0), axis(1));
    let mut head = vec![Label::InputByOutput.text(language).to_owned()];
    head.extend(outputs.iter().map(name));
    let mut out = row(&head) + &row(&vec!["---:".to_owned(); head.len()]);
    for input in &inputs {
        let mut cells = vec![format!("**{}**", name(input))];
        for output in &outputs {
            let here = levels.iter().filter(|level| lengths(level) == [*input, *output]);
            cells.push(cell(&here.copied().collect::<Vec<_>>(), column, basis));
        }
        out.push_str(&row(&cells));
    }
    out
}

/// The mean of the rounds that count; struck out where none does.
fn cell(rounds: &[&LevelSummary], column: LevelColumn, basis: Basis) -> String {
    let counted = |level: &&&LevelSummary| level.verdict != Verdict::Invalid;
    let valid: Vec<&LevelSummary> = rounds.iter().filter(counted).copied().collect();
    let shown = if valid.is_empty() { rounds } else { &valid };
    let values: Vec<f64> = shown.iter().filter_map(|level| value(column, level, basis)).collect();
    if values.is_empty() {
        return ABSENT.to_owned();
    }
    let mean = number(values.iter().sum::<f64>() / values.len() as f64);
    if valid.is_empty() { format!("~~{mean}~~") } else { mean }
}
