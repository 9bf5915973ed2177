//! The difference of each side from the first, for each load and metric, what can be concluded after
//! correcting for multiple comparisons, and why some are not tested.

use super::ComparisonTerms;
use super::matching::{CurvePoint, rounds};
use super::metric::Compared;
use dyno_model::load::LoadKind;
use dyno_model::summary::{LevelSummary, Summary, round6};
use dyno_stats::compare::{
    self, Basis, ComparisonVerdict, Concluded, Effect, Gated, Loop, OneRunFigure, SideOrder,
};
use dyno_stats::stability::WatchedStatistic;
use serde::Serialize;

/// A test of one side against the first.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    /// Which side: its place among them, from 1.
    pub side: usize,
    /// Which load: its place among the points.
    pub point: usize,
    /// Which metric.
    pub metric: Compared,
    /// That side divided by the first, minus 1.
    pub change: f64,
    /// The interval that decides: corrected for all tests, so that it contains 0 exactly where no
    /// difference is reported; where a difference is ruled out, the metric's own 95 % interval.
    pub interval: [f64; 2],
    /// The p-value of the test by itself.
    pub p: f64,
    /// The p-value corrected for all tests.
    pub p_corrected: f64,
    /// What the interval is based on.
    pub rests: Rests,
    /// Rounds of the first side and of this.
    pub rounds: [usize; 2],
    /// The conclusion.
    pub called: Called,
    #[serde(skip)]
    effect: Effect,
}

/// What an interval is based on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Rests {
    /// One run of each, and an assumed variation between runs.
    OneRunEach {
        /// Standard deviation between runs, as a share.
        assumed: f64,
    },
    /// One run against several.
    OneAgainstSeveral,
    /// Several runs of each.
    Rounds,
    /// Several rounds of one run of each.
    Paired,
}

/// The conclusion about a difference.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Called {
    /// It is better than the first side.
    Better,
    /// It is worse.
    Worse,
    /// There is no difference larger than this share.
    NoLargerThan {
        /// The share.
        share: f64,
    },
    /// Inconclusive.
    NotEnough {
        /// About how many more rounds of each side would decide it.
        more_rounds: Option<u32>,
    },
}

/// Whether each is worse than the first side by more than the share `most`, of all the tests of a
/// comparison: what is asked of few of them is corrected for all, as the comparison is.
pub(super) fn gates(all: &[Difference], most: f64) -> Vec<Gated> {
    let effects: Vec<_> = all.iter().map(|one| (one.effect, one.metric.better())).collect();
    compare::gate(&effects, most)
}

/// A metric that both sides have at a load, and that is not tested.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Untested {
    /// Which side: its place among them, from 1.
    pub side: usize,
    /// Which load: its place among the points.
    pub point: usize,
    /// Which metric.
    pub metric: Compared,
    /// Why.
    pub why: WhyDifferent,
}

/// Why a metric is not tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WhyDifferent {
    /// There is one run of each, and a level is too short for intervals.
    TooShort,
    /// There is one value of each, printed without an interval.
    Printed,
    /// An open loop completes what is offered.
    Offered,
    /// There is one run of each, which does not show how much the tail of an open loop varies.
    Tail,
    /// The client could not measure it precisely.
    Imprecise,
}

/// Failed and shed requests are counted, not timed: they are shown but not tested.
fn tested() -> impl Iterator<Item = Compared> {
    Compared::all().filter(|metric| !metric.is_share())
}

/// The tests of all sides, and what both sides have but is not tested.
pub(super) fn differences(
    sides: &[&Summary],
    points: &[CurvePoint],
    terms: &ComparisonTerms,
) -> (Vec<Difference>, Vec<Untested>) {
    let order = if terms.in_rounds { SideOrder::InRounds } else { SideOrder::Apart };
    let (mut found, mut effects, mut untested) = (Vec::new(), Vec::new(), Vec::new());
    for (place, point) in points.iter().enumerate() {
        let Some((first, others)) = sides.split_first() else { continue };
        let base = rounds(first, point);
        for (side, other) in (1..).zip(others) {
            let own = rounds(other, point);
            for metric in tested().filter(|metric| both_have(point, side, *metric)) {
                let figures = |levels: &[&LevelSummary]| {
                    let known = |level: &&LevelSummary| {
                        metric.of(level).filter(|_| !metric.is_unknown(level))
                    };
                    levels.iter().map(known).collect::<Option<Vec<OneRunFigure>>>()
                };
                let effect = figures(&base).zip(figures(&own)).and_then(|(a, b)| {
                    compare::compare(&a, &b, order, assumed(terms, point, metric))
                });
                match effect {
                    Some(effect) => {
                        found.push((side, place, metric));
                        effects.push(effect);
                    }
                    None => {
                        let levels = [&base[..], &own[..]].concat();
                        let printed = [first, other].iter().any(|run| run.run.origin.is_some());
                        let why = why(point, metric, &levels, printed);
                        untested.push(Untested { side, point: place, metric, why });
                    }
                }
            }
        }
    }
    let concluded = compare::conclude(&effects, terms.margin);
    let tests = found.into_iter().zip(effects.into_iter().zip(concluded));
    (tests.map(|(of, (effect, concluded))| difference(of, effect, concluded)).collect(), untested)
}

/// Whether the first side and this one measured it at a load.
fn both_have(point: &CurvePoint, side: usize, metric: Compared) -> bool {
    [0, side].iter().all(|side| {
        let cell = point.cells.get(*side).and_then(Option::as_ref);
        cell.is_some_and(|cell| !cell.interpolated && cell.figures.contains_key(&metric))
    })
}

fn why(
    point: &CurvePoint,
    metric: Compared,
    levels: &[&LevelSummary],
    printed: bool,
) -> WhyDifferent {
    let open = matches!(point.load.kind, LoadKind::Rate | LoadKind::Trace | LoadKind::Ramp);
    if levels.iter().any(|level| metric.is_unknown(level)) {
        WhyDifferent::Imprecise
    } else if open && !metric.is_time() {
        WhyDifferent::Offered
    } else if printed {
        WhyDifferent::Printed
    } else if open && metric.statistic() == WatchedStatistic::P99 {
        WhyDifferent::Tail
    } else {
        WhyDifferent::TooShort
    }
}

fn loop_of(point: &CurvePoint) -> Loop {
    if point.load.kind == LoadKind::Concurrency { Loop::Closed } else { Loop::Open }
}

/// The assumed variation between runs; absent where it is unknown.
fn assumed(terms: &ComparisonTerms, point: &CurvePoint, metric: Compared) -> Option<f64> {
    terms.between_runs.or_else(|| compare::between_runs(loop_of(point), metric.statistic()))
}

fn difference(
    (side, point, metric): (usize, usize, Compared),
    effect: Effect,
    concluded: Concluded,
) -> Difference {
    let verdict = concluded.verdict;
    let called = match (verdict, verdict.is_better(metric.better())) {
        (_, Some(true)) => Called::Better,
        (_, Some(false)) => Called::Worse,
        (ComparisonVerdict::NoLargerThan(share), _) => {
            Called::NoLargerThan { share: round6(share) }
        }
        (ComparisonVerdict::NotEnough { more_rounds }, _) => Called::NotEnough { more_rounds },
        (ComparisonVerdict::Higher | ComparisonVerdict::Lower, None) => {
            Called::NotEnough { more_rounds: None }
        }
    };
    Difference {
        side,
        point,
        metric,
        change: round6(effect.change),
        interval: concluded.interval.map(round6),
        p: round6(effect.p),
        p_corrected: round6(concluded.corrected),
        rests: match effect.basis {
            Basis::OneRunEach { assumed } => Rests::OneRunEach { assumed },
            Basis::OneAgainstSeveral => Rests::OneAgainstSeveral,
            Basis::Rounds => Rests::Rounds,
            Basis::Paired => Rests::Paired,
        },
        rounds: effect.runs,
        called,
        effect,
    }
}
