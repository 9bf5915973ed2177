//! What all users get together against what each of them gets.

use super::levels::{Value, all_steady, distinct, lengths, point};
use super::numbers;
use super::page::{Chart, Part};
use super::panel::{Panel, Ticks};
use super::series::Series;
use super::sketch::work;
use super::theme::STYLES;
use super::words::{Language, Word};
use crate::summary::{LevelSummary, Summary};

/// Output tokens per second that one user sees: the inverse of the median TPOT.
fn per_user(level: &LevelSummary) -> Option<f64> {
    let tpot = level.tpot_ms.as_ref()?.p50?;
    (tpot > 0.0).then_some(1e3 / tpot)
}

/// Output tokens/s, for each GPU where their number is known, over tokens/s for each user.
/// Levels in flight and rates; bursts have no lasting throughput.
pub(super) fn frontier(summary: &Summary, language: Language) -> Option<Chart> {
    let word = |word: Word| word.in_language(language);
    let has_place =
        |level: &&LevelSummary| ["concurrency", "rate"].contains(&level.load.kind.as_str());
    let levels: Vec<&LevelSummary> =
        summary.levels.iter().filter(has_place).filter(|level| per_user(level).is_some()).collect();
    let steady = all_steady(&levels);
    let gpus = summary.run.gpus.filter(|gpus| *gpus > 0);
    let figure = work(steady, |work| work.output_tokens_per_s);
    let share = |value: Value| Value::plain(value.value / f64::from(gpus.unwrap_or(1)));
    let known = levels.iter().filter(|level| figure(level).is_some()).count();
    if known < 2 {
        return None;
    }
    let groups = distinct(levels.iter().map(|level| (level.load.kind.as_str(), lengths(level))));
    let mut series = Vec::new();
    for (kind, pair) in &groups {
        let is = |level: &&LevelSummary| level.load.kind == *kind && lengths(level) == *pair;
        let mut own: Vec<&LevelSummary> = levels.iter().copied().filter(is).collect();
        own.sort_by(|a, b| a.load.value.total_cmp(&b.load.value));
        let points = own.iter().filter_map(|level| {
            let value = figure(level).map(share);
            let load = numbers::label(level.load.value);
            let label = if *kind == "rate" { format!("{load}/s") } else { load };
            let mut point = point(level, per_user(level)?, value);
            if pair.is_none() || groups.len() == 1 {
                point.label = label;
            }
            Some(point)
        });
        series.push(Series { name: name(kind, *pair, language), points: points.collect() });
    }
    let left_out = series.len().saturating_sub(STYLES);
    series.truncate(STYLES);
    let panel = Panel {
        title: word(if gpus.is_some() { Word::OutputPerGpu } else { Word::OutputPerSecond })
            .to_owned(),
        unit: word(if steady { Word::SteadyWindow } else { Word::WholeRun }).to_owned(),
        x_title: word(Word::PerUser).to_owned(),
        ticks: Ticks::Round,
        series,
        left_out,
        marks: vec![],
        diagonal: false,
        named: true,
        may_be_log: false,
    };
    Some(Chart {
        name: "frontier".to_owned(),
        title: word(Word::Frontier).to_owned(),
        parts: vec![Part::Plot(panel)],
        columns: 1,
        height: 400.0,
    })
}

fn name(kind: &str, pair: Option<[&str; 2]>, language: Language) -> String {
    let kind = match kind {
        "rate" => Word::Offered.in_language(language),
        _ => Word::InFlight.in_language(language),
    };
    match pair {
        Some([input, output]) => super::canvas::clean(&format!("{input}→{output}, {kind}")),
        None => kind.to_owned(),
    }
}
