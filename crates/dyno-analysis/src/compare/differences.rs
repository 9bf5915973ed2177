//! The difference of each side from the first, for each load and metric, and what can be concluded
//! after correcting for multiple comparisons.

use super::Terms;
use super::matching::{Point, rounds};
use super::metric::Compared;
use dyno_model::load::LoadKind;
use dyno_model::summary::{LevelSummary, Summary, round6};
use dyno_stats::compare::{self, Basis, Effect, Figure, Gate, Loop, Order, Verdict};
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
    /// Its 95 % interval.
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
        /// About how many more runs of each side would decide it.
        more_runs: Option<u32>,
    },
}

impl Difference {
    /// Whether it is worse than the first side by more than the share `most`.
    pub fn gate(&self, most: f64) -> Gate {
        compare::gate(&self.effect, self.metric.better(), most)
    }
}

/// Failed and shed requests are counted, not timed: they are shown but not tested.
fn tested() -> impl Iterator<Item = Compared> {
    Compared::all().filter(|metric| !metric.is_share())
}

pub(super) fn differences(sides: &[&Summary], points: &[Point], terms: &Terms) -> Vec<Difference> {
    let order = if terms.in_rounds { Order::InRounds } else { Order::Apart };
    let mut found = Vec::new();
    for (place, point) in points.iter().enumerate() {
        let Some((first, others)) = sides.split_first() else { continue };
        let base = rounds(first, point);
        for (side, other) in (1..).zip(others) {
            let own = rounds(other, point);
            for metric in tested() {
                let figures = |levels: &[&LevelSummary]| {
                    let known = |level: &&LevelSummary| {
                        metric.of(level).filter(|_| !metric.is_unknown(level))
                    };
                    levels.iter().map(known).collect::<Option<Vec<Figure>>>()
                };
                let effect = figures(&base).zip(figures(&own)).and_then(|(a, b)| {
                    compare::compare(&a, &b, order, assumed(terms, point, metric))
                });
                found.extend(effect.map(|effect| (side, place, metric, effect)));
            }
        }
    }
    let chances: Vec<f64> = found.iter().map(|(.., effect)| effect.p).collect();
    let corrected = compare::holm(&chances);
    let tested = found.into_iter().zip(corrected);
    tested.map(|(found, corrected)| difference(found, corrected, terms.margin)).collect()
}

/// The assumed variation between runs; absent where it is unknown.
fn assumed(terms: &Terms, point: &Point, metric: Compared) -> Option<f64> {
    let kind = if point.load.kind == LoadKind::Concurrency { Loop::Closed } else { Loop::Open };
    terms.between_runs.or_else(|| compare::between_runs(kind, metric.statistic()))
}

fn difference(
    (side, point, metric, effect): (usize, usize, Compared, Effect),
    corrected: f64,
    margin: f64,
) -> Difference {
    let verdict = compare::verdict(&effect, corrected, margin);
    let called = match (verdict, verdict.is_better(metric.better())) {
        (_, Some(true)) => Called::Better,
        (_, Some(false)) => Called::Worse,
        (Verdict::NoLargerThan(share), _) => Called::NoLargerThan { share: round6(share) },
        (Verdict::NotEnough { more_runs }, _) => Called::NotEnough { more_runs },
        (Verdict::Higher | Verdict::Lower, None) => Called::NotEnough { more_runs: None },
    };
    Difference {
        side,
        point,
        metric,
        change: round6(effect.change),
        interval: [round6(effect.low), round6(effect.high)],
        p: round6(effect.p),
        p_corrected: round6(corrected),
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
