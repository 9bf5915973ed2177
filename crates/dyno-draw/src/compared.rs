//! Several runs over each other, by load.

use super::canvas::clean;
use super::levels::{LevelValue, MetricFn, ends_of_sweep, limited, lines, load, of, of_kind};
use super::page::{Chart, PagePart};
use super::panel::{Panel, Ticks};
use super::sketch;
use super::sweeps::embeds;
use super::words::Word;
use dyno_analysis::compare::Speed;
use dyno_chart::{Point, Series, Trust};
use dyno_model::Language;
use dyno_model::load::LoadKind;
use dyno_model::metric::{Statistic, Time};
use dyno_model::summary::{Basis, LevelSummary, Summary, Throughput};

/// A chart for each kind of load that some side was swept over, and the frontier.
pub(super) fn compared(sides: &[(&str, &Summary)], language: Language) -> Vec<(String, Chart)> {
    let axes = [
        ("concurrency", LoadKind::Concurrency, [Word::Concurrency, Word::InFlight], Ticks::Loads),
        ("rates", LoadKind::Rate, [Word::Rates, Word::Offered], Ticks::Loads),
        ("bursts", LoadKind::Burst, [Word::Bursts, Word::Burst], Ticks::Doubling),
    ];
    let swept = |kind: LoadKind| sides.iter().any(|(_, side)| joined(side, kind).len() > 1);
    let mut charts: Vec<(String, Chart)> = axes
        .into_iter()
        .filter(|(_, kind, ..)| swept(*kind))
        .map(|(name, kind, [title, axis], ticks)| {
            (name.to_owned(), over(sides, kind, (title, axis, ticks), language))
        })
        .collect();
    charts.extend(frontier(sides, language).map(|chart| ("frontier".to_owned(), chart)));
    charts
}

/// The levels that a line goes through. Nothing was measured between the two ends of a sweep over rates.
fn joined(side: &Summary, kind: LoadKind) -> Vec<&LevelSummary> {
    let ends = kind == LoadKind::Concurrency && ends_of_sweep(side);
    if ends { vec![] } else { of_kind(side, kind) }
}

/// The style of each line: that of its side, so that it looks the same in all panels; none where sides
/// have several lines.
fn styles(lines: &[Vec<Series>]) -> Vec<usize> {
    let several = lines.iter().any(|own| own.len() > 1);
    let own = lines.iter().enumerate().filter(|(_, own)| !several && !own.is_empty());
    own.map(|(side, _)| side).collect()
}

/// Streamed responses only: otherwise TTFT would repeat the latency.
fn streamed(time: Time) -> MetricFn<'static> {
    let mean = of(time, Statistic::Mean);
    Box::new(move |level| mean(level).filter(|_| !level.is_whole()))
}

/// The time between tokens that most sides have, so that one chart has one metric: ITL, else TPOT,
/// else the gap between events.
fn token_time(sides: &[(&str, &Summary)]) -> (Time, Word) {
    let has = |side: &Summary, time: Time| {
        side.levels.iter().any(|level| level.times[time].is_some() && !level.is_whole())
    };
    let count =
        |(time, _): &(Time, Word)| sides.iter().filter(|(_, side)| has(side, *time)).count();
    let itl = (Time::Itl, Word::MeanItl);
    // Of several maxima the last one counts.
    let times = [(Time::ChunkGap, Word::MeanGap), (Time::Tpot, Word::MeanTpot), itl];
    times.into_iter().max_by_key(count).unwrap_or(itl)
}

/// Shares in percent; where a side knows failures but not the number of requests, their count.
fn failures(sides: &[(&str, &Summary)], language: Language) -> (MetricFn<'static>, String) {
    let share = |level: &LevelSummary| level.requests.failure_share();
    let counted = |level: &LevelSummary| level.requests.failed.is_some() && share(level).is_none();
    if sides.iter().flat_map(|(_, side)| &side.levels).any(counted) {
        let failed =
            |level: &LevelSummary| level.requests.refused().map(|n| LevelValue::plain(n as f64));
        return (Box::new(failed), String::new());
    }
    let percent = Word::Percent.in_language(language).to_owned();
    (Box::new(move |level| share(level).map(|share| LevelValue::plain(share * 100.0))), percent)
}

fn over(
    sides: &[(&str, &Summary)],
    kind: LoadKind,
    (heading, x_title, ticks): (Word, Word, Ticks),
    language: Language,
) -> Chart {
    let axis = (x_title, ticks);
    let panel =
        |title: Word, metric: &MetricFn<'_>| plot(sides, kind, axis, title, metric, language);
    let times = |title: Word, metric: &MetricFn<'_>| panel(title, metric).of_times(language);
    // The same for all sides.
    let basis = Basis::of(sides.iter().flat_map(|(_, side)| &side.levels));
    let work = |title: Word, which: fn(&Throughput) -> Option<f64>| {
        let over = sketch::over(basis).in_language(language).to_owned();
        Panel { over, ..panel(title, &sketch::work(basis, which)) }
    };
    let (between_tokens, between_title) = token_time(sides);
    let (failed, unit) = failures(sides, language);
    let shed = |level: &LevelSummary| level.requests.shed > Some(0);
    let failed_word = match sides.iter().flat_map(|(_, side)| &side.levels).any(shed) {
        true => Word::FailedOrShed,
        false => Word::FailedRequests,
    };
    let failures = panel(failed_word, &failed);
    let values = failures.series.iter().flat_map(|one| &one.points).filter_map(|point| point.y);
    // A panel of zeros says nothing.
    let none = values.clone().next().is_some() && values.clone().all(|value| value == 0.0);
    let mut panels = vec![
        work(Word::RequestsPerSecond, |done| done.requests_per_s),
        times(Word::MeanLatency, &of(Time::Latency, Statistic::Mean)),
        match sides.iter().all(|(_, side)| embeds(side)) {
            true => work(Word::InputsPerSecond, |done| done.inputs_per_s),
            false => work(Word::OutputPerSecond, |done| done.output_tokens_per_s),
        },
        Panel { unit, only_on_request: none, ..failures },
        times(Word::MeanTtft, &streamed(Time::Ttft)),
        times(between_title, &streamed(between_tokens)),
    ];
    // The first four are always drawn, the others only where a side has them.
    let drawn = |panel: &Panel| panel.series.iter().flat_map(|s| &s.points).any(|p| p.y.is_some());
    let more = panels.split_off(4);
    panels.extend(more.into_iter().filter(drawn));
    Chart {
        title: heading.in_language(language).to_owned(),
        parts: panels.into_iter().map(PagePart::Plot).collect(),
        columns: 2,
        height: 300.0,
    }
}

fn plot(
    sides: &[(&str, &Summary)],
    kind: LoadKind,
    (x_title, ticks): (Word, Ticks),
    title: Word,
    metric: &MetricFn<'_>,
    language: Language,
) -> Panel {
    let own = |(name, side): &(&str, &Summary)| {
        lines(&joined(side, kind), &load, &clean(name), metric, language)
    };
    let lines: Vec<Vec<Series>> = sides.iter().map(own).collect();
    let styles = styles(&lines);
    let (series, left_out) = limited(lines);
    Panel {
        left_out,
        styles,
        ..Panel::of(title, language, x_title.in_language(language).to_owned(), ticks, series)
    }
}

/// Throughput against per-user speed, where more than one level has both.
fn frontier(sides: &[(&str, &Summary)], language: Language) -> Option<Chart> {
    let point = |speed: &Speed| Point {
        label: clean(&speed.label),
        ..Point::of(speed.per_user, Some(speed.output_tokens_per_s), Trust::Good)
    };
    let basis = Basis::of(sides.iter().flat_map(|(_, side)| &side.levels));
    let speeds = |(name, side): &(&str, &Summary)| {
        let speeds = dyno_analysis::compare::frontier(side, basis);
        (clean(name), speeds)
    };
    let mut all: Vec<(String, Vec<Speed>)> = sides.iter().map(speeds).collect();
    all.iter_mut().filter(|(_, speeds)| speeds.len() < 2).for_each(|(_, speeds)| speeds.clear());
    let per_gpu = all.iter().flat_map(|(_, speeds)| speeds).all(|speed| speed.per_gpu);
    let title = if per_gpu { Word::OutputPerGpu } else { Word::OutputPerSecond };
    let line = |(name, speeds): &(String, Vec<Speed>)| {
        let points: Vec<Point> = speeds.iter().map(point).collect();
        let one = (!points.is_empty()).then(|| Series { name: name.clone(), points });
        one.into_iter().collect()
    };
    let lines: Vec<Vec<Series>> = all.iter().map(line).collect();
    let styles = styles(&lines);
    let (series, left_out) = limited(lines);
    let any = !series.is_empty();
    let panel = Panel {
        left_out,
        styles,
        named: true,
        ..Panel::of(
            title,
            language,
            Word::PerUser.in_language(language).to_owned(),
            Ticks::Round,
            series,
        )
    };
    any.then(|| Chart {
        title: Word::Frontier.in_language(language).to_owned(),
        parts: vec![PagePart::Plot(panel)],
        columns: 1,
        height: 380.0,
    })
}
