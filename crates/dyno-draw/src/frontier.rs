//! Throughput of all users together against the speed that each user sees.

use super::canvas::clean;
use super::levels::{LevelValue, distinct, ends_of_sweep, lengths, load, of_kind, point};
use super::page::{Chart, PagePart};
use super::panel::{Panel, Ticks};
use super::sketch::{over, work};
use super::theme::STYLES;
use super::words::Word;
use dyno_chart::{Point, Series, numbers};
use dyno_model::Language;
use dyno_model::load::LoadKind;
use dyno_model::metric::Time;
use dyno_model::summary::{Basis, LevelSummary, Summary};

/// Output tokens per second that one user sees: the inverse of the median TPOT.
fn per_user(level: &LevelSummary) -> Option<f64> {
    let tpot = level.times[Time::Tpot].as_ref()?.p50?;
    (tpot > 0.0).then_some(1e3 / tpot)
}

/// Output tokens/s (per GPU where their number is known) over tokens/s per user, for closed loops and
/// rates. Bursts have no lasting throughput.
pub(super) fn frontier(summary: &Summary, language: Language) -> Option<Chart> {
    let word = |word: Word| word.in_language(language);
    let mut levels =
        if ends_of_sweep(summary) { vec![] } else { of_kind(summary, LoadKind::Concurrency) };
    levels.extend(of_kind(summary, LoadKind::Rate));
    levels.retain(|level| per_user(level).is_some());
    let basis = Basis::of(&summary.levels);
    let gpus = summary.run.gpus.filter(|gpus| *gpus > 0);
    let metric = work(basis, |work| work.output_tokens_per_s);
    let share = |value: LevelValue| LevelValue::plain(value.value / f64::from(gpus.unwrap_or(1)));
    let groups = distinct(levels.iter().map(|level| (level.load.kind, lengths(level))));
    let (mut series, mut several) = (Vec::new(), false);
    for (kind, pair) in &groups {
        let is = |level: &&LevelSummary| level.load.kind == *kind && lengths(level) == *pair;
        let mut own: Vec<&LevelSummary> = levels.iter().copied().filter(is).collect();
        own.sort_by(|a, b| load(a).total_cmp(&load(b)));
        let points = own.iter().filter_map(|level| {
            let value = metric(level).map(share);
            let load = numbers::label(level.load.value?);
            let label = if *kind == LoadKind::Rate { format!("{load}/s") } else { load };
            Some(Point { label, ..point(level, per_user(level)?, value, language) })
        });
        several |= distinct(own.iter().map(|level| level.load.value)).len() > 1;
        series.push(Series { name: name(*kind, *pair, language), points: points.collect() });
    }
    if !several {
        return None;
    }
    let left_out = series.len().saturating_sub(STYLES);
    series.truncate(STYLES);
    let panel = Panel {
        over: word(over(basis)).to_owned(),
        left_out,
        named: true,
        ..Panel::of(
            if gpus.is_some() { Word::OutputPerGpu } else { Word::OutputPerSecond },
            language,
            word(Word::PerUser).to_owned(),
            Ticks::Round,
            series,
        )
    };
    Some(Chart {
        title: word(Word::Frontier).to_owned(),
        parts: vec![PagePart::Plot(panel)],
        columns: 1,
        height: 400.0,
    })
}

fn name(kind: LoadKind, pair: Option<[&str; 2]>, language: Language) -> String {
    let kind = match kind {
        LoadKind::Rate => Word::Offered.in_language(language),
        _ => Word::InFlight.in_language(language),
    };
    match pair {
        Some([input, output]) => clean(&format!("{input}→{output}{}{kind}", language.comma())),
        None => kind.to_owned(),
    }
}
