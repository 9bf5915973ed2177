//! Levels over their load: concurrency, rates, bursts.

use super::levels::{LevelValue, ends_of_sweep, lengths, load, of, of_kind};
use super::page::{Chart, PagePart};
use super::panel::{Mark, Panel, Ticks};
use super::sketch::{Sketch, found};
use super::words::Word;
use dyno_model::Language;
use dyno_model::load::LoadKind;
use dyno_model::metric::{Statistic, Time};
use dyno_model::summary::{Basis, LevelSummary, Summary};

/// Six panels over the concurrency: total time, requests/s, mean latency, output tokens/s,
/// p50 and p90 of the latency.
pub(super) fn concurrency(summary: &Summary, language: Language) -> Option<Chart> {
    let sketch = Sketch {
        levels: of_kind(summary, LoadKind::Concurrency),
        x: load,
        x_title: if summary.has_trees() { Word::Agents } else { Word::InFlight },
        ticks: Ticks::Loads,
        marks: found(summary, "in flight", language),
        beside: vec![],
        basis: Basis::of(&summary.levels),
        language,
    };
    let grid = sketch.levels.iter().filter(|level| lengths(level).is_some()).count() > 1;
    // A grid under one load is not a sweep.
    let enough = sketch.loads() > usize::from(grid) && !ends_of_sweep(summary);
    enough.then(|| Chart {
        title: sketch.say(Word::Concurrency).to_owned(),
        parts: vec![
            duration(&sketch, false),
            sketch.work(Word::RequestsPerSecond, |work| work.requests_per_s),
            sketch.times(
                Word::MeanLatency,
                &[(sketch.say(Word::Mean), of(Time::Latency, Statistic::Mean))],
            ),
            match embeds(summary) {
                true => sketch.work(Word::InputsPerSecond, |work| work.inputs_per_s),
                false => sketch.work(Word::OutputPerSecond, |work| work.output_tokens_per_s),
            },
            sketch.times(Word::LatencyP50, &[("p50", of(Time::Latency, Statistic::P50))]),
            sketch.times(Word::LatencyP90, &[("p90", of(Time::Latency, Statistic::P90))]),
        ],
        columns: 3,
        height: 264.0,
    })
}

/// Texts are embedded or ranked, and nothing is streamed.
pub(super) fn embeds(summary: &Summary) -> bool {
    summary.levels.iter().any(LevelSummary::has_inputs)
}

fn duration(sketch: &Sketch, may_be_log: bool) -> PagePart {
    let unit = sketch.say(Word::Seconds);
    let took = |level: &LevelSummary| level.duration_s.map(LevelValue::plain);
    let panel = sketch.panel(Word::TotalTime, unit, &[("", Box::new(took))]);
    PagePart::Plot(Panel { may_be_log, ..panel })
}

/// The offered rate of a level: as it was, else as it was planned.
fn offered(level: &LevelSummary) -> f64 {
    level.offered_per_s.unwrap_or(load(level))
}

/// Between the highest rate that the server kept up with and the lowest that it did not.
fn knee(levels: &[&LevelSummary], language: Language) -> Option<Mark> {
    let rates = |state: bool| {
        let is = move |level: &&&LevelSummary| level.saturated == Some(state);
        levels.iter().filter(is).map(|level| offered(level))
    };
    let to = rates(true).min_by(f64::total_cmp)?;
    let from = rates(false).filter(|rate| *rate < to).max_by(f64::total_cmp).unwrap_or(to);
    Some(Mark { from, to, name: Word::Knee.in_language(language).to_owned() })
}

/// Four panels over the offered rate: completed requests, TTFT, ITL, latency.
pub(super) fn rates(summary: &Summary, language: Language) -> Option<Chart> {
    let levels = of_kind(summary, LoadKind::Rate);
    let searched = found(summary, "req/s", language);
    let marks = match searched.is_empty() {
        true => knee(&levels, language).into_iter().collect(),
        false => searched,
    };
    let beside =
        if ends_of_sweep(summary) { of_kind(summary, LoadKind::Concurrency) } else { vec![] };
    let (x_title, ticks) = (Word::Offered, Ticks::Round);
    let basis = Basis::of(&summary.levels);
    let sketch = Sketch { levels, x: offered, x_title, ticks, marks, beside, basis, language };
    let completed = sketch.say(Word::Completed);
    let mut carried =
        sketch.work_of(Word::CompletedPerSecond, completed, |work| work.requests_per_s);
    carried.diagonal = true;
    let mut parts = vec![PagePart::Plot(carried)];
    parts.extend(match embeds(summary) {
        true => vec![sketch.work(Word::InputsPerSecond, |work| work.inputs_per_s)],
        false => vec![
            sketch.spread(Word::Ttft, summary, Time::Ttft, &[Statistic::P50, Statistic::P99]),
            sketch.times(Word::Itl, &[("p50", of(Time::Itl, Statistic::P50))]),
        ],
    });
    let ends = [Statistic::P50, Statistic::P99];
    parts.push(sketch.spread(Word::Latency, summary, Time::Latency, &ends));
    (!sketch.levels.is_empty()).then(|| Chart {
        title: sketch.say(Word::Rates).to_owned(),
        parts,
        columns: 2,
        height: 290.0,
    })
}

/// Three panels over the size of the burst: total time, TTFT, TPOT.
pub(super) fn bursts(summary: &Summary, language: Language) -> Option<Chart> {
    let sketch = Sketch {
        levels: of_kind(summary, LoadKind::Burst),
        x: load,
        x_title: Word::Burst,
        ticks: Ticks::Doubling,
        marks: vec![],
        beside: vec![],
        basis: Basis::of(&summary.levels),
        language,
    };
    // A grid of lengths under one burst is in the matrix.
    let grid = sketch.levels.iter().filter(|level| lengths(level).is_some()).count() > 1;
    let enough = sketch.loads() > usize::from(grid);
    let spread = |title: Word, time: Time| {
        sketch.spread(title, summary, time, &[Statistic::P50, Statistic::Max])
    };
    enough.then(|| Chart {
        title: sketch.say(Word::Bursts).to_owned(),
        parts: match embeds(summary) {
            true => vec![
                duration(&sketch, true),
                sketch.work(Word::InputsPerSecond, |work| work.inputs_per_s),
                spread(Word::Latency, Time::Latency),
            ],
            false => vec![
                duration(&sketch, true),
                spread(Word::Ttft, Time::Ttft),
                sketch.times(Word::Tpot, &[("p50", of(Time::Tpot, Statistic::P50))]),
            ],
        },
        columns: 3,
        height: 290.0,
    })
}
