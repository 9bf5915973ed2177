//! Many comparisons of runs whose true change is known, and how often they are right.

use super::bench::{BETTER, Bench, FIGURES, Run};
use dyno_stats::compare::{
    Better, ComparisonVerdict, Effect, GateTest, MARGIN, OneRunFigure, SideOrder, compare,
    conclude, gate,
};
use dyno_stats::rng::SplitMix;

/// Runs of a side, where there are several.
pub(crate) const RUNS: usize = 5;
/// What the gate allows.
pub(crate) const ALLOWED: f64 = 0.05;

/// How a side is measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Design {
    pub(crate) name: &'static str,
    /// Runs of A and of B.
    pub(crate) runs: [usize; 2],
    pub(crate) order: SideOrder,
}

pub(crate) const ONE: Design = Design { name: "1 and 1", runs: [1, 1], order: SideOrder::Apart };
pub(crate) const ONE_AGAINST: Design =
    Design { name: "5 and 1", runs: [RUNS, 1], order: SideOrder::Apart };
pub(crate) const SEVERAL: Design =
    Design { name: "5 and 5", runs: [RUNS, RUNS], order: SideOrder::Apart };
pub(crate) const PAIRED: Design =
    Design { name: "5 pairs", runs: [RUNS, RUNS], order: SideOrder::InRounds };

/// Runs with luck of their own.
pub(crate) struct Luck<'a> {
    pub(crate) bench: &'a Bench,
    /// The standard deviation between runs.
    pub(crate) between: f64,
    pub(crate) random: SplitMix,
}

impl Luck<'_> {
    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.random.unit().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.random.unit()).cos()
    }

    /// A run whose steps take `factor` times as long, give or take its luck.
    pub(crate) fn run(&mut self, factor: f64, intervals: bool) -> Run {
        let factor = factor * (1.0 + self.between * self.normal());
        self.bench.run(factor, self.random.next_u64(), intervals)
    }

    /// So many runs, with intervals for the first.
    pub(crate) fn side(&mut self, factor: f64, runs: usize) -> Vec<Run> {
        (0..runs).map(|i| self.run(factor, i == 0)).collect()
    }
}

/// How comparisons fared; counts.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fared {
    pub(crate) all: u32,
    /// Comparisons that have this metric.
    pub(crate) compared: [u32; FIGURES],
    /// Intervals that hold the truth.
    pub(crate) covered: [u32; FIGURES],
    /// Metrics that were called different.
    pub(crate) called: [u32; FIGURES],
    /// Comparisons in which any metric was called different the wrong way round; for equal servers
    /// there is no right way.
    pub(crate) wrong: u32,
    /// Metrics reported as not different by much.
    pub(crate) no_larger: [u32; FIGURES],
    /// Comparisons in which any metric was called different.
    pub(crate) any: u32,
    /// Passed, failed and inconclusive.
    pub(crate) gate: [[u32; 3]; FIGURES],
    /// Gates that fail, for any metric.
    pub(crate) any_fails: u32,
}

impl Fared {
    /// Compares runs of a bench, and holds the result against the true changes.
    pub(crate) fn add(
        &mut self,
        bench: &Bench,
        design: Design,
        [a, b]: [&[Run]; 2],
        truth: &[f64; FIGURES],
    ) {
        let effects: Vec<(usize, Effect)> = (0..FIGURES)
            .filter_map(|i| {
                let side = |runs: &[Run], count: usize| -> Option<Vec<OneRunFigure>> {
                    runs[..count].iter().map(|run| run[i]).collect()
                };
                let (a, b) = (side(a, design.runs[0])?, side(b, design.runs[1])?);
                Some((i, compare(&a, &b, design.order, bench.assumed(i))?))
            })
            .collect();
        let found: Vec<Effect> = effects.iter().map(|(_, effect)| *effect).collect();
        let concluded = conclude(&found, MARGIN);
        let gated: Vec<(Effect, Better)> =
            effects.iter().map(|(i, effect)| (*effect, BETTER[*i])).collect();
        let gated = gate(&gated, ALLOWED);
        self.all += 1;
        self.any_fails += u32::from(gated.iter().any(|found| found.gate == GateTest::Fail));
        let (mut any, mut wrong) = (false, false);
        for (((i, effect), said), gated) in effects.iter().zip(concluded).zip(gated) {
            let i = *i;
            self.compared[i] += 1;
            let holds = effect.low <= truth[i] && truth[i] <= effect.high;
            self.covered[i] += u32::from(holds);
            let said = said.verdict;
            let higher = match said {
                ComparisonVerdict::Higher => Some(true),
                ComparisonVerdict::Lower => Some(false),
                _ => None,
            };
            any |= higher.is_some();
            self.called[i] += u32::from(higher.is_some());
            let is_right = |higher: bool| truth[i] != 0.0 && higher == (truth[i] > 0.0);
            wrong |= higher.is_some_and(|higher| !is_right(higher));
            self.no_larger[i] += u32::from(matches!(said, ComparisonVerdict::NoLargerThan(_)));
            let at = match gated.gate {
                GateTest::Pass => 0,
                GateTest::Fail => 1,
                GateTest::Inconclusive { .. } => 2,
            };
            self.gate[i][at] += 1;
        }
        self.any += u32::from(any);
        self.wrong += u32::from(wrong);
    }
}
