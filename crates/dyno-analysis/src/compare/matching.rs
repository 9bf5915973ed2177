//! Matches the levels of the sides: those with the same load and lengths; between two near loads of a
//! side, values are interpolated.

use super::metric::Compared;
use crate::slo::overloaded;
use dyno_model::Verdict;
use dyno_model::load::LoadKind;
use dyno_model::summary::{LevelSummary, LoadSummary, Summary};
use serde::Serialize;
use std::collections::BTreeMap;

/// A load, with the values of each side.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CurvePoint {
    /// Its label in tables.
    pub label: String,
    /// The load.
    pub load: LoadSummary,
    /// Requested input tokens, where they are the same for all.
    pub input_length: Option<u32>,
    /// Requested output tokens, where they are the same for all.
    pub output_length: Option<u32>,
    /// Texts per request, where nothing is generated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inputs_per_request: Option<f64>,
    /// The values of each side, in their order.
    pub cells: Vec<Option<ComparedCell>>,
}

impl CurvePoint {
    /// Whether at least two sides have values.
    pub fn is_shared(&self) -> bool {
        self.cells.iter().flatten().count() > 1
    }
}

/// The values of a side at a load.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparedCell {
    /// Number of rounds that were averaged.
    pub rounds: usize,
    /// Whether it is interpolated between two loads, because this one was not measured.
    pub interpolated: bool,
    /// Mean tokens of input and output, as counted.
    pub tokens: [Option<f64>; 2],
    /// Requests that completed, failed or were shed, in all rounds.
    pub requests: Option<u64>,
    /// Share of the requests that were refused at first and sent again, where there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sent_again: Option<f64>,
    /// The known values.
    pub figures: BTreeMap<Compared, f64>,
    /// Price of a million output tokens.
    pub per_million_output_tokens: Option<f64>,
}

/// The levels that are not invalid.
pub(super) fn counted(summary: &Summary) -> impl Iterator<Item = &LevelSummary> {
    summary.levels.iter().filter(|level| level.verdict != Verdict::Invalid)
}

/// The same load, and the same lengths as far as both are known. An unknown load is the same where the
/// level has the same name: other tools name a test or an endpoint.
fn same(a: &CurvePoint, level: &LevelSummary) -> bool {
    let agree = |a: Option<u32>, b: Option<u32>| a.zip(b).is_none_or(|(a, b)| a == b);
    let named = a.load.kind != LoadKind::Unknown || a.label == level.name();
    let load = a.load.kind == level.load.kind && close(a.load.value, level.load.value) && named;
    let lengths =
        agree(a.input_length, level.input_length) && agree(a.output_length, level.output_length);
    let inputs = a.inputs_per_request.zip(level.inputs_per_request);
    load && lengths && inputs.is_none_or(|(a, b)| (a - b).abs() <= OTHER_INPUTS * a.max(b))
}

/// The number of texts in a request may vary with the data a little.
const OTHER_INPUTS: f64 = 0.02;

fn close(a: Option<f64>, b: Option<f64>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => (a - b).abs() <= 1e-3 * a.abs().max(b.abs()),
        (a, b) => a == b,
    }
}

/// The rounds of one side at a load.
pub(super) fn rounds<'a>(summary: &'a Summary, point: &CurvePoint) -> Vec<&'a LevelSummary> {
    counted(summary).filter(|level| same(point, level)).collect()
}

/// The loads of all sides, with the metrics that were `asked` for by name among others, in the order of their first appearance, sorted within their kind.
pub(super) fn points(sides: &[&Summary], asked: &[Compared]) -> Vec<CurvePoint> {
    let mut points: Vec<CurvePoint> = Vec::new();
    for level in sides.iter().flat_map(|side| counted(side)) {
        if !points.iter().any(|point| same(point, level)) {
            points.push(CurvePoint {
                label: level.name().to_owned(),
                load: level.load,
                input_length: level.input_length,
                output_length: level.output_length,
                inputs_per_request: level.inputs_per_request,
                cells: Vec::new(),
            });
        }
    }
    let kinds: Vec<LoadKind> = points.iter().map(|point| point.load.kind).collect();
    let place = |point: &CurvePoint| kinds.iter().position(|kind| *kind == point.load.kind);
    points.sort_by(|a, b| {
        let load = |point: &CurvePoint| point.load.value.unwrap_or(f64::INFINITY);
        let inputs =
            |point: &CurvePoint| point.inputs_per_request.map(|inputs| inputs.round() as u64);
        let lengths = |point: &CurvePoint| (point.input_length, point.output_length, inputs(point));
        place(a).cmp(&place(b)).then(lengths(a).cmp(&lengths(b))).then(load(a).total_cmp(&load(b)))
    });
    for point in &mut points {
        let cells = sides.iter().map(|side| measured(side, point).or_else(|| between(side, point)));
        point.cells = cells.collect();
        keep_one_token_time(&mut point.cells, asked);
    }
    points
}

/// Keeps one time between tokens, by one name: that which most sides have, ITL before TPOT before the
/// gap between events. Those that were asked for are kept besides: the tests are those of a comparison
/// where nothing is asked for, and more.
fn keep_one_token_time(cells: &mut [Option<ComparedCell>], asked: &[Compared]) {
    let times: Vec<Compared> =
        Compared::all().filter(|metric| metric.is_between_tokens()).collect();
    let having =
        |time: &Compared| cells.iter().flatten().filter(|c| c.figures.contains_key(time)).count();
    // Of several maxima the last one counts.
    let most = times.into_iter().rev().max_by_key(having);
    let mut kept: Vec<Compared> =
        asked.iter().copied().filter(|metric| metric.is_between_tokens()).collect();
    kept.extend(most);
    for cell in cells.iter_mut().flatten() {
        cell.figures.retain(|metric, _| !metric.is_between_tokens() || kept.contains(metric));
    }
}

fn measured(side: &Summary, point: &CurvePoint) -> Option<ComparedCell> {
    let rounds = rounds(side, point);
    if rounds.is_empty() {
        return None;
    }
    let mean = |figure: &dyn Fn(&LevelSummary) -> Option<f64>| {
        let values: Option<Vec<f64>> = rounds.iter().map(|level| figure(level)).collect();
        values.map(|values| values.iter().sum::<f64>() / values.len() as f64)
    };
    let of = |metric: Compared| {
        mean(&|level| metric.of(level).map(|figure| figure.value)).map(|value| (metric, value))
    };
    Some(ComparedCell {
        rounds: rounds.len(),
        interpolated: false,
        tokens: [
            mean(&|level| level.input_tokens.map(|tokens| tokens.mean)),
            mean(&|level| level.output_tokens.map(|tokens| tokens.mean)),
        ],
        requests: rounds.iter().map(|level| ended(level)).sum(),
        sent_again: mean(&|level| Some(sent_again(level))).filter(|share| *share > 0.0),
        figures: Compared::all().filter_map(of).collect(),
        per_million_output_tokens: mean(&|level| level.cost?.per_million_output_tokens),
    })
}

fn ended(level: &LevelSummary) -> Option<u64> {
    Some(level.requests.completed? + level.requests.refused()?)
}

fn sent_again(level: &LevelSummary) -> f64 {
    let retried = level.overload.as_ref().and_then(|overload| overload.retried);
    retried.map_or(0.0, |retried| retried.share)
}

/// The farthest two loads between which values are interpolated, as a ratio: curves bend.
const WIDEST_GAP: f64 = 2.0;

/// The nearest loads of a side below and above, and the linear interpolation between them. Nothing
/// where they are far apart, or where the server could not keep up at the higher one: between the two
/// the curve has its knee.
fn between(side: &Summary, point: &CurvePoint) -> Option<ComparedCell> {
    let at = point.load.value?;
    let alike = |level: &&LevelSummary| {
        let loose = CurvePoint { load: level.load, ..point.clone() };
        level.load.kind == point.load.kind && same(&loose, level)
    };
    let loads: Vec<f64> = counted(side).filter(alike).filter_map(|l| l.load.value).collect();
    let below = loads.iter().copied().filter(|load| *load < at).max_by(f64::total_cmp)?;
    let above = loads.iter().copied().filter(|load| *load > at).min_by(f64::total_cmp)?;
    let mut ends = counted(side)
        .filter(alike)
        .filter(|level| level.load.value.is_some_and(|load| [below, above].contains(&load)));
    if above > WIDEST_GAP * below * (1.0 + 1e-9) || ends.any(|level| overloaded(side, level)) {
        return None;
    }
    let cell = |load: f64| {
        let load = LoadSummary { value: Some(load), ..point.load };
        measured(side, &CurvePoint { load, ..point.clone() })
    };
    let (low, high) = (cell(below)?, cell(above)?);
    let share = (at - below) / (above - below);
    let line = |a: f64, b: f64| a + (b - a) * share;
    let both = |a: Option<f64>, b: Option<f64>| Some(line(a?, b?));
    let figures = low
        .figures
        .iter()
        .filter_map(|(metric, value)| Some((*metric, line(*value, *high.figures.get(metric)?))));
    Some(ComparedCell {
        rounds: low.rounds.min(high.rounds),
        interpolated: true,
        tokens: [both(low.tokens[0], high.tokens[0]), both(low.tokens[1], high.tokens[1])],
        requests: None,
        sent_again: both(low.sent_again, high.sent_again),
        figures: figures.collect(),
        per_million_output_tokens: both(
            low.per_million_output_tokens,
            high.per_million_output_tokens,
        ),
    })
}

/// Tokens per request that differ by more than this are not the same work.
const OTHER_WORK: f64 = 0.05;

/// Whether the sides sent prompts or received responses of different lengths at some load.
pub(super) fn lengths_differ(points: &[CurvePoint]) -> bool {
    points.iter().any(|point| {
        let mut cells = point.cells.iter().flatten();
        let Some(first) = cells.next() else { return false };
        cells.any(|cell| {
            first.tokens.iter().zip(&cell.tokens).any(|(a, b)| match (a, b) {
                (Some(a), Some(b)) => (a - b).abs() > OTHER_WORK * a.max(*b),
                _ => false,
            })
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(label: &str, kind: LoadKind, lengths: [Option<u32>; 2]) -> LevelSummary {
        let load = LoadSummary { kind, value: None };
        let [input_length, output_length] = lengths;
        LevelSummary {
            label: label.into(),
            load,
            input_length,
            output_length,
            ..Default::default()
        }
    }

    fn labels(levels: [LevelSummary; 2]) -> Vec<String> {
        let summary = Summary {
            schema: String::new(),
            run: Default::default(),
            levels: levels.into(),
            repeats: Vec::new(),
            search: None,
            notes: Vec::new(),
        };
        let points = points(&[&summary, &summary], &[]);
        assert!(points.iter().all(|point| point.cells.iter().all(Option::is_some)));
        points.into_iter().map(|point| point.label).collect()
    }

    #[test]
    fn batches_of_different_sizes_are_different_levels() {
        let batch = |label: &str, inputs| LevelSummary {
            inputs_per_request: Some(inputs),
            ..level(label, LoadKind::Concurrency, [Some(64), None])
        };
        assert_eq!(labels([batch("64×8", 8.0), batch("64×1", 1.0)]), ["64×1", "64×8"]);
        assert_eq!(labels([batch("a", 8.0), batch("b", 8.01)]), ["a"]);
    }

    #[test]
    fn unknown_loads_are_told_apart_by_their_names() {
        let (prompt, output) = ([Some(512), None], [None, Some(128)]);
        let unknown = LoadKind::Unknown;
        let tests = [level("pp512", unknown, prompt), level("tg128", unknown, output)];
        assert_eq!(labels(tests), ["tg128", "pp512"]);
        let rounds = ["a", "b"].map(|label| level(label, LoadKind::Unlimited, [None, None]));
        assert_eq!(labels(rounds), ["a"]);
    }
}
