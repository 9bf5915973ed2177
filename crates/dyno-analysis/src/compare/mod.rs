//! Compares runs level by level: their values, their differences, and whether these are significant. It
//! works on summaries, so that Dyno's own runs and other tools' results can be compared with each
//! other. The first side is the reference for the others.

mod capacity;
mod differences;
mod frontier;
mod gate;
mod matching;
mod metric;
mod refused;

pub use capacity::{AtSlo, HeldCapacity, NotServed};
pub use differences::{Called, Difference, Rests, Untested, WhyDifferent};
pub use frontier::{Speed, frontier};
pub use gate::{GateAnswer, GateCheck, Gated, gated};
pub use matching::{ComparedCell, CurvePoint};
pub use metric::Compared;

use dyno_model::Verdict;
use dyno_model::slo::Slo;
use dyno_model::summary::{Basis, LevelSummary, Origin, RunSummary, Summary, ThroughputRanges};
use serde::Serialize;

/// Version tag of the saved form.
pub const COMPARISON_SCHEMA: &str = "dyno.comparison/1";

/// One of the compared runs.
#[derive(Debug, Clone, Copy)]
pub struct ComparedSide<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its results.
    pub summary: &'a Summary,
}

/// How to compare.
#[derive(Debug, Clone)]
pub struct ComparisonTerms {
    /// A difference up to this share does not matter.
    pub margin: f64,
    /// The assumed variation between runs where there is one of each; absent: the usual one for such a
    /// load and metric.
    pub between_runs: Option<f64>,
    /// Whether the sides alternated level by level, so that their rounds are paired.
    pub in_rounds: bool,
    /// The SLO for capacities.
    pub slo: Option<Slo>,
    /// Metrics that were asked for by name; empty: the usual ones.
    pub asked: Vec<Compared>,
}

impl Default for ComparisonTerms {
    fn default() -> Self {
        Self {
            margin: dyno_stats::compare::MARGIN,
            between_runs: None,
            in_rounds: false,
            slo: None,
            asked: Vec::new(),
        }
    }
}

/// Runs side by side.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// [`COMPARISON_SCHEMA`].
    pub schema: &'static str,
    /// The runs; the first is the reference.
    pub sides: Vec<SideSummary>,
    /// A difference up to this share does not matter.
    pub margin: f64,
    /// Whether the rounds of both sides are paired.
    pub in_rounds: bool,
    /// Loads with the values of each side.
    pub points: Vec<CurvePoint>,
    /// Tests of each side against the first, over all loads and metrics.
    pub differences: Vec<Difference>,
    /// What both sides have, and why it is not tested.
    pub untested: Vec<Untested>,
    /// The capacity of each side, where an SLO was given.
    pub capacity: Option<AtSlo>,
    /// Per-user speed and throughput of each side.
    pub frontier: Vec<Vec<Speed>>,
    /// Notes for the reader.
    pub notes: Vec<ComparisonNote>,
}

/// One of the runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SideSummary {
    /// Its name.
    pub name: String,
    /// Identity of the run.
    pub run: String,
    /// The model.
    pub model: Option<String>,
    /// The API that was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api: Option<String>,
    /// The server's URL, or the engine's name.
    pub target: Option<String>,
    /// The tool that measured it, where it was not Dyno.
    pub origin: Option<Origin>,
    /// Whether it is simulated.
    pub simulated: bool,
    /// Number of levels used, and of invalid ones left out.
    pub levels: [usize; 2],
    /// Those of them that are suspect, by their labels.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub suspect: Vec<String>,
    /// Those of them about which `dyno lint` has an error, by their labels.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inconsistent: Vec<String>,
}

/// A note about a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ComparisonNote {
    /// Some values are interpolated between two loads.
    Interpolated,
    /// Some levels are invalid and left out.
    InvalidLeftOut,
    /// Some levels are suspect.
    Suspect,
    /// Some levels contradict themselves, by `dyno lint`.
    Inconsistent,
    /// Some loads are those of one side only.
    OneSided,
    /// The models have different names.
    OtherModel,
    /// The prompts or responses have different lengths.
    OtherLengths,
    /// There is one run of each: the variation between runs was assumed.
    OneRunEach,
    /// Some metrics are from other tools, whose definitions may differ.
    OtherTools,
    /// A side is simulated.
    Simulated,
    /// The sides were measured with different APIs.
    OtherApi,
    /// The server shed a different share of the requests of each side.
    Shed,
    /// Refused requests were sent again on some sides only.
    SentAgain,
    /// The sides have no load in common.
    NothingInCommon,
}

impl ComparisonNote {
    /// Whether it makes the sides different work, so that it matters to a gate, too.
    pub fn is_caveat(self) -> bool {
        matches!(self, Self::OtherApi | Self::Shed | Self::SentAgain)
    }
}

impl Comparison {
    /// The test of a side against the first, at a load and for a metric.
    pub fn test(&self, side: usize, point: usize, metric: Compared) -> Option<&Difference> {
        self.place(side, point, metric).map(|at| &self.differences[at])
    }

    /// Its place among the differences.
    fn place(&self, side: usize, point: usize, metric: Compared) -> Option<usize> {
        let is =
            |test: &Difference| test.side == side && test.point == point && test.metric == metric;
        self.differences.iter().position(is)
    }

    /// Why a side is not tested against the first, at a load and for a metric that both have.
    pub fn untested(&self, side: usize, point: usize, metric: Compared) -> Option<WhyDifferent> {
        let is = |one: &&Untested| one.side == side && one.point == point && one.metric == metric;
        self.untested.iter().find(is).map(|one| one.why)
    }
}

fn side(side: &ComparedSide<'_>) -> SideSummary {
    let run: &RunSummary = &side.summary.run;
    let all = side.summary.levels.len();
    let counted = || matching::counted(side.summary);
    let good = counted().count();
    let errors = crate::lint::errors(side.summary);
    let labels = |is: &dyn Fn(&LevelSummary) -> bool| {
        let mut labels: Vec<String> =
            counted().filter(|level| is(level)).map(|level| level.name().to_owned()).collect();
        labels.dedup();
        labels
    };
    SideSummary {
        name: side.name.to_owned(),
        run: run.id.clone(),
        model: run.model.clone(),
        api: run.api.clone(),
        target: run.target.clone().or_else(|| run.engine.clone()),
        origin: run.origin.clone(),
        simulated: run.simulated,
        levels: [good, all - good],
        suspect: labels(&|level| level.verdict == Verdict::Suspect),
        inconsistent: labels(&|level| errors.contains(&level.label)),
    }
}

/// Compares runs.
pub fn compare(sides: &[ComparedSide<'_>], terms: &ComparisonTerms) -> Comparison {
    let basis = Basis::of(sides.iter().flat_map(|side| &side.summary.levels));
    let summaries: Vec<Summary> = sides.iter().map(|side| on_basis(side.summary, basis)).collect();
    let summaries: Vec<&Summary> = summaries.iter().collect();
    let points = matching::points(&summaries, &terms.asked);
    let (differences, untested) = differences::differences(&summaries, &points, terms);
    let infos: Vec<SideSummary> = sides.iter().map(side).collect();
    let notes = notes(&infos, &points, &differences);
    Comparison {
        schema: COMPARISON_SCHEMA,
        sides: infos,
        margin: terms.margin,
        in_rounds: terms.in_rounds,
        capacity: terms.slo.as_ref().map(|slo| capacity::at(&summaries, slo)),
        frontier: summaries.iter().map(|summary| frontier(summary, basis)).collect(),
        points,
        differences,
        untested,
        notes,
    }
}

/// A side whose throughput is over the same as that of the others: without steady windows where some level of some
/// side has none.
fn on_basis(side: &Summary, basis: Basis) -> Summary {
    let mut side = side.clone();
    if basis == Basis::Whole {
        for level in side.levels.iter_mut().filter(|level| level.steady.is_some()) {
            level.steady = None;
            // Its instrument range is that of the steady window.
            if let Some(instrument) = &mut level.instrument {
                instrument.throughput = ThroughputRanges::default();
            }
        }
    }
    side
}

fn notes(
    sides: &[SideSummary],
    points: &[CurvePoint],
    differences: &[Difference],
) -> Vec<ComparisonNote> {
    let models: Vec<&String> = sides.iter().filter_map(|side| side.model.as_ref()).collect();
    let one_each = |difference: &Difference| matches!(difference.rests, Rests::OneRunEach { .. });
    let all = [
        (ComparisonNote::NothingInCommon, !points.iter().any(CurvePoint::is_shared)),
        (
            ComparisonNote::OneSided,
            points.iter().any(CurvePoint::is_shared) && !points.iter().all(CurvePoint::is_shared),
        ),
        (ComparisonNote::InvalidLeftOut, sides.iter().any(|side| side.levels[1] > 0)),
        (ComparisonNote::Suspect, sides.iter().any(|side| !side.suspect.is_empty())),
        (ComparisonNote::Inconsistent, sides.iter().any(|side| !side.inconsistent.is_empty())),
        (ComparisonNote::Simulated, sides.iter().any(|side| side.simulated)),
        (ComparisonNote::OtherTools, sides.iter().any(|side| side.origin.is_some())),
        (ComparisonNote::OtherApi, other_apis(sides)),
        (ComparisonNote::Shed, refused::shed_differs(points)),
        (ComparisonNote::SentAgain, refused::sent_again_differs(points)),
        (ComparisonNote::OtherModel, models.windows(2).any(|pair| pair[0] != pair[1])),
        (ComparisonNote::OtherLengths, matching::lengths_differ(points)),
        (
            ComparisonNote::Interpolated,
            points.iter().flat_map(|p| p.cells.iter().flatten()).any(|c| c.interpolated),
        ),
        (ComparisonNote::OneRunEach, differences.iter().any(one_each)),
    ];
    all.into_iter().filter(|(_, applies)| *applies).map(|(note, _)| note).collect()
}

/// Other tools name APIs in their own words.
fn other_apis(sides: &[SideSummary]) -> bool {
    let own = sides.iter().filter(|side| side.origin.is_none());
    let apis: Vec<&String> = own.filter_map(|side| side.api.as_ref()).collect();
    apis.windows(2).any(|pair| pair[0] != pair[1])
}
