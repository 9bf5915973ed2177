//! The length matrix for documents: a table for each metric, input lengths down, output lengths across.

use super::cells::row;
use crate::messages::Message;
use crate::selection::LevelColumn;
use crate::text::{ABSENT, number};
use dyno_model::load::LoadSummary;
use dyno_model::metric::{Metric, Statistic, Time};
use dyno_model::summary::{LevelSummary, Summary, Tokens};
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
    let mut tables = Vec::new();
    for load in &loads {
        let levels: Vec<&LevelSummary> =
            summary.levels.iter().filter(|level| level.load == *load).collect();
        for column in metrics(&summary.levels) {
            let title = match (loads.len(), load.value) {
                (1, _) => heading(column, &levels, language),
                (_, Some(value)) => {
                    format!("{} {value}, {}", load.kind, heading(column, &levels, language))
                }
                (_, None) => format!("{}, {}", load.kind, heading(column, &levels, language)),
            };
            tables.push(format!("**{title}**\n\n{}", table(column, &levels, language)));
        }
    }
    tables.join("\n")
}

/// Every level that counts has a steady window, so that throughput is that of the windows.
fn steady(levels: &[&LevelSummary]) -> bool {
    levels.iter().all(|level| level.steady.is_some() || level.verdict == Verdict::Invalid)
}

fn heading(column: LevelColumn, levels: &[&LevelSummary], language: Language) -> String {
    let title = column.title(language);
    match column {
        LevelColumn::Value(_) if steady(levels) => {
            format!("{title}{}{}", language.comma(), Message::Steady.text(language))
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

fn value(column: LevelColumn, level: &LevelSummary, steady: bool) -> Option<f64> {
    match column {
        LevelColumn::Value(metric) => match (steady, level.steady) {
            (true, Some(window)) => window.throughput.rate(metric),
            _ => level.throughput.rate(metric),
        },
        LevelColumn::Statistic(time, which) => level.times[time].as_ref()?.get(which),
        LevelColumn::Whole(metric) => level.throughput.rate(metric),
        LevelColumn::Requests | LevelColumn::Time(_) => None,
    }
}

fn table(column: LevelColumn, levels: &[&LevelSummary], language: Language) -> String {
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
    let steady = steady(levels);
    let mut head = vec![Message::InputByOutput.text(language).to_owned()];
    head.extend(outputs.iter().map(name));
    let mut out = row(&head) + &row(&vec!["---:".to_owned(); head.len()]);
    for input in &inputs {
        let mut cells = vec![format!("**{}**", name(input))];
        for output in &outputs {
            let here = levels.iter().filter(|level| lengths(level) == [*input, *output]);
            cells.push(cell(&here.copied().collect::<Vec<_>>(), column, steady));
        }
        out.push_str(&row(&cells));
    }
    out
}

/// The mean of the rounds that count; struck out where none does.
fn cell(rounds: &[&LevelSummary], column: LevelColumn, steady: bool) -> String {
    let counted = |level: &&&LevelSummary| level.verdict != Verdict::Invalid;
    let valid: Vec<&LevelSummary> = rounds.iter().filter(counted).copied().collect();
    let shown = if valid.is_empty() { rounds } else { &valid };
    let values: Vec<f64> = shown.iter().filter_map(|level| value(column, level, steady)).collect();
    if values.is_empty() {
        return ABSENT.to_owned();
    }
    let mean = number(values.iter().sum::<f64>() / values.len() as f64);
    if valid.is_empty() { format!("~~{mean}~~") } else { mean }
}
