//! Heat maps over the lengths of input and output, three for each load.

use super::canvas::clean;
use super::heat::{Cell, Heat};
use super::levels::{distinct, lengths, remark};
use super::page::{Chart, PagePart};
use super::sketch::{over, work};
use super::sweeps::embeds;
use super::words::Word;
use dyno_chart::{Trust, numbers};
use dyno_model::load::LoadKind;
use dyno_model::metric::Time;
use dyno_model::summary::{Basis, LevelSummary, LoadSummary, Summary};
use dyno_model::{Language, Verdict};

/// Requests/s, output tokens/s and latency per output token of every pair of lengths.
pub(super) fn matrix(summary: &Summary, language: Language) -> Option<Chart> {
    let levels: Vec<&LevelSummary> =
        summary.levels.iter().filter(|level| lengths(level).is_some()).collect();
    if distinct(levels.iter().map(|level| lengths(level))).len() < 2 {
        return None;
    }
    let loads = distinct(levels.iter().map(|level| &level.load));
    let basis = Basis::of(&summary.levels);
    let mut parts = Vec::new();
    for load in &loads {
        let own = levels.iter().copied().filter(|level| level.load == **load);
        let own: Vec<&LevelSummary> = own.collect();
        let beside = if loads.len() > 1 { load_name(load, language) } else { String::new() };
        let metrics = if embeds(summary) { OF_INPUTS } else { METRICS };
        for metric in metrics {
            parts.push(PagePart::Heat(heat(&own, metric, (&beside, basis), language)));
        }
    }
    let title = if embeds(summary) { Word::InputMatrix } else { Word::Matrix };
    let title = title.in_language(language).to_owned();
    Some(Chart { title, parts, columns: 3, height: 300.0 })
}

fn load_name(load: &LoadSummary, language: Language) -> String {
    let Some(value) = load.value.map(numbers::label) else { return String::new() };
    let kind = match load.kind {
        LoadKind::Concurrency => Word::InFlight.in_language(language),
        LoadKind::Rate => return format!("{}{value}/s", language.comma()),
        other => other.name(),
    };
    clean(&format!("{}{kind} {value}", language.comma()))
}

/// Title, unit (absent: the time that it is over), and the value of a level, steady or whole.
type MapMetric = (Word, Option<Word>, fn(&LevelSummary, Basis) -> Option<f64>);

const METRICS: [MapMetric; 3] = [
    (Word::RequestsPerSecond, None, |level, basis| {
        work(basis, |work| work.requests_per_s)(level).map(|metric| metric.value)
    }),
    (Word::OutputPerSecond, None, |level, basis| {
        work(basis, |work| work.output_tokens_per_s)(level).map(|metric| metric.value)
    }),
    (Word::LatencyPerToken, Some(Word::Milliseconds), |level, _| {
        let tokens = level.output_tokens.as_ref()?.mean;
        (tokens > 0.0).then_some(level.times[Time::Latency].as_ref()?.mean? / tokens)
    }),
];

/// The same where nothing is generated: requests/s, texts/s and latency.
const OF_INPUTS: [MapMetric; 3] = [
    METRICS[0],
    (Word::InputsPerSecond, None, |level, basis| {
        work(basis, |work| work.inputs_per_s)(level).map(|metric| metric.value)
    }),
    (Word::MeanLatency, Some(Word::Milliseconds), |level, _| {
        level.times[Time::Latency].as_ref()?.mean
    }),
];

fn heat(
    levels: &[&LevelSummary],
    (title, unit, metric): MapMetric,
    (beside, basis): (&str, Basis),
    language: Language,
) -> Heat {
    let pairs: Vec<[&str; 2]> = levels.iter().filter_map(|level| lengths(level)).collect();
    let rows = distinct(pairs.iter().map(|pair| pair[0]));
    let columns = distinct(pairs.iter().map(|pair| pair[1]));
    let (name, kind) = (title.in_language(language), title.panel_name());
    let cell = |row: &str, column: &str| {
        let is = |level: &&&LevelSummary| lengths(level) == Some([row, column]);
        let rounds: Vec<&LevelSummary> = levels.iter().filter(is).copied().collect();
        of_rounds(&rounds, &|level| metric(level, basis), name, language)
    };
    let cells = rows.iter().map(|row| columns.iter().map(|column| cell(row, column)).collect());
    let unit = language.brackets(unit.unwrap_or(over(basis)).in_language(language));
    Heat {
        name: kind,
        title: format!("{name}{unit}{beside}"),
        axes: match levels.iter().any(|level| level.has_inputs()) {
            true => [Word::TextTokens, Word::InputsPerRequest],
            false => [Word::InputTokens, Word::OutputTokens],
        },
        cells: cells.collect(),
        rows: rows.iter().map(|row| clean(row)).collect(),
        columns: columns.iter().map(|column| clean(column)).collect(),
    }
}

/// The mean of the rounds that are not invalid; of all, where all are.
fn of_rounds(
    rounds: &[&LevelSummary],
    metric: &dyn Fn(&LevelSummary) -> Option<f64>,
    name: &str,
    language: Language,
) -> Option<Cell> {
    let valid = rounds.iter().filter(|level| level.verdict != Verdict::Invalid);
    let valid: Vec<&LevelSummary> = valid.copied().collect();
    let counted = if valid.is_empty() { rounds } else { &valid };
    let first = counted.first()?;
    let values: Vec<f64> = counted.iter().filter_map(|level| metric(level)).collect();
    let value = (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64);
    let trust = counted.iter().map(|level| Trust::from(level.verdict)).max()?;
    let worst = counted.iter().max_by_key(|level| level.verdict)?;
    let shown = value.map_or_else(|| dyno_words::columns::ABSENT.to_owned(), numbers::label);
    let remark = remark(worst, language);
    let after = if remark.is_empty() { String::new() } else { format!("; {remark}") };
    let about = format!("{}: {name} {shown}{after}", clean(&first.label));
    Some(Cell { value, trust, about })
}
