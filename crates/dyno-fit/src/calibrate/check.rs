//! Whether a server is still what its twin says.

use super::evidence::{Evidence, EvidenceLevel, repeated};
use super::explain::{Explanation, explanations};
use super::miss;
use crate::model::Model;
use crate::trial::{Figures, Quantity, Trial, TrialKind};
use dyno_engine::twin::Twin;
use dyno_engine::twin::profile::Accuracy;
use dyno_engine::twin::reference::ReferenceValue;
use std::collections::{BTreeMap, BTreeSet};

/// Differences below this share are no difference: runs repeat no better.
const SAME: f64 = 0.05;
/// The same for times between tokens, and for the 90th percentile of latency.
const SAME_TOKEN: f64 = 0.10;
/// The same for times to the first token, which depend on how the requests of a closed loop fall together.
const SAME_FIRST: f64 = 0.25;
/// How many times the twin's own error a value may be off.
const OWN_ERRORS: f64 = 3.0;
/// The deviation of normal errors over the mean of their sizes.
const MEAN_TO_DEVIATION: f64 = 1.25;
/// What all levels have in common may be smaller to be seen: chance does not repeat itself.
const COMMON: f64 = 0.045;
/// The same for times to the first token.
const COMMON_FIRST: f64 = 0.10;
/// Standard errors that the mean of all levels may be off.
const ERRORS_OF_MEAN: f64 = 3.0;
/// How often stated errors are widened by a fifth, at most.
const WIDENED: usize = 16;
/// The fewest levels that have something in common.
const TOGETHER: usize = 3;

/// What is compared.
const COMPARED: [Quantity; 5] = [
    Quantity::Rate,
    Quantity::TtftP50,
    Quantity::ItlP50,
    Quantity::LatencyP50,
    Quantity::LatencyP90,
];

/// A twin against a run.
#[derive(Debug, Clone, PartialEq)]
pub struct FitCheck {
    /// The levels, in order.
    pub levels: Vec<CheckedLevel>,
    /// What differs in all levels together, even if in none of them alone.
    pub shifts: Vec<Shift>,
    /// Changes of the twin that would explain what differs, the best first.
    pub explanations: Vec<Explanation>,
}

impl FitCheck {
    /// Whether nothing differs.
    pub fn same(&self) -> bool {
        self.shifts.is_empty() && self.levels.iter().all(|level| level.differs.is_empty())
    }
}

/// A level of a run beside the twin.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckedLevel {
    /// Its label.
    pub label: String,
    /// Measured and simulated values; the latter is absent if the twin cannot serve the level.
    pub figures: BTreeMap<Quantity, (f64, Option<f64>)>,
    /// The values that differ by more than runs and the twin's own errors do.
    pub differs: Vec<Quantity>,
}

/// A value that is larger or smaller in all levels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shift {
    /// Which one.
    pub quantity: Quantity,
    /// The mean logarithm of measured over simulated values.
    pub by: f64,
}

/// Compares a twin with the levels of a run.
pub fn check(twin: &Twin, trials: &[Trial]) -> FitCheck {
    let model = Model::of(twin);
    let mut evidence = Evidence::new(trials, &[]);
    let of = |level: &EvidenceLevel| Compared::of(level, &repeated(&level.trial, &model), twin);
    let compared: Vec<Compared> = evidence.whole.iter().map(of).collect();
    let shifts: Vec<Shift> = COMPARED.iter().filter_map(|of| shift(*of, &compared)).collect();
    let levels: Vec<CheckedLevel> = compared.into_iter().map(|of| of.level).collect();
    let mut found = FitCheck { levels, shifts, explanations: Vec::new() };
    if !found.same() {
        evidence.weigh(&model);
        found.explanations = explanations(&model, &evidence.brief);
    }
    found
}

/// Widens the errors that a twin's file states until the twin agrees with the levels that it was fitted to: what it
/// misses there is its own error, and no change of the server.
pub(super) fn allow_for_misfit(twin: &mut Twin, trials: &[Trial]) {
    let model = Model::of(twin);
    let evidence = Evidence::new(trials, &[]);
    let runs: Vec<(&EvidenceLevel, Vec<Figures>)> =
        evidence.whole.iter().map(|level| (level, repeated(&level.trial, &model))).collect();
    for _ in 0..WIDENED {
        let compared: Vec<Compared> =
            runs.iter().map(|(level, runs)| Compared::of(level, runs, twin)).collect();
        let shifted: Vec<Quantity> =
            COMPARED.into_iter().filter(|quantity| shift(*quantity, &compared).is_some()).collect();
        let mut missed: BTreeSet<(TrialKind, Quantity)> = BTreeSet::new();
        for ((level, _), compared) in runs.iter().zip(&compared) {
            let all = compared.level.differs.iter().chain(&shifted);
            missed.extend(all.map(|quantity| (level.trial.kind, *quantity)));
        }
        if missed.is_empty() {
            return;
        }
        for (kind, quantity) in missed {
            if let Some(stated) = twin.errors.kinds.get_mut(kind.name()) {
                widen(stated, quantity);
            }
        }
    }
}

/// By a fifth, in tenths of a percent.
fn widen(stated: &mut Accuracy, quantity: Quantity) {
    let part = match quantity {
        Quantity::Rate => &mut stated.rate,
        Quantity::LatencyMean | Quantity::LatencyP50 | Quantity::LatencyP90 => &mut stated.latency,
        Quantity::TtftMean | Quantity::TtftP50 | Quantity::TtftP90 => &mut stated.ttft,
        Quantity::ItlMean | Quantity::ItlP50 | Quantity::ItlP90 => match &mut stated.itl {
            Some(itl) => itl,
            None => return,
        },
    };
    *part = (12.0 * *part + 1.0).ceil() / 10.0;
}

/// A level with how far its values are off.
struct Compared {
    level: CheckedLevel,
    /// Logarithms of measured over simulated values, and the twin's own error of each.
    off: BTreeMap<Quantity, (f64, f64)>,
}

impl Compared {
    fn of(level: &EvidenceLevel, runs: &[Figures], twin: &Twin) -> Self {
        let found = runs.first();
        let kind = level.trial.kind;
        let measured = |quantity: &Quantity| level.measured.get(*quantity).is_finite();
        let all = || COMPARED.into_iter().filter(measured);
        let figures = all().map(|quantity| {
            let simulated = found.map(|figures| figures.get(quantity));
            (quantity, (level.measured.get(quantity), simulated))
        });
        let off = all().filter_map(|quantity| {
            let off = -miss(&level.measured, found?, quantity);
            let own = own_error(quantity, kind, twin);
            Some((quantity, (off, own.hypot(apart(runs, quantity)))))
        });
        let off: BTreeMap<Quantity, (f64, f64)> = off.collect();
        let differs = |quantity: &Quantity| match off.get(quantity) {
            Some((off, _)) => {
                let chance = OWN_ERRORS * apart(runs, *quantity);
                off.abs() > tolerance(*quantity, kind, twin).hypot(chance)
            }
            // The twin cannot serve it.
            None => true,
        };
        let differs = all().filter(differs).collect();
        let label = level.trial.label.clone();
        Self { level: CheckedLevel { label, figures: figures.collect(), differs }, off }
    }
}

/// How far apart two runs of the same engine are, as a standard deviation of logarithms: waves of a closed
/// loop, or few requests, may take another course with other noise.
fn apart(runs: &[Figures], quantity: Quantity) -> f64 {
    let logs = runs.iter().map(|of| of.get(quantity).ln()).filter(|log| log.is_finite());
    let logs: Vec<f64> = logs.collect();
    let count = logs.len() as f64;
    let mean = logs.iter().sum::<f64>() / count;
    let squares = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>();
    if logs.len() < 2 { 0.0 } else { (2.0 * squares / (count - 1.0)).sqrt() }
}

/// What the twin's file says of its errors on levels of this kind that were left out.
fn of_kind(twin: &Twin, kind: TrialKind) -> Option<&Accuracy> {
    twin.errors.kinds.get(kind.name())
}

/// The share of an accuracy that concerns a quantity.
fn part(accuracy: &Accuracy, quantity: Quantity) -> Option<f64> {
    let percent = match quantity {
        Quantity::Rate => Some(accuracy.rate),
        Quantity::LatencyMean | Quantity::LatencyP50 | Quantity::LatencyP90 => {
            Some(accuracy.latency)
        }
        Quantity::TtftMean | Quantity::TtftP50 | Quantity::TtftP90 => Some(accuracy.ttft),
        Quantity::ItlMean | Quantity::ItlP50 | Quantity::ItlP90 => accuracy.itl,
    };
    percent.map(|percent| 0.01 * percent)
}

/// By how much runs differ at least before it is a difference.
fn repeats(quantity: Quantity) -> f64 {
    match quantity {
        Quantity::Rate | Quantity::LatencyMean | Quantity::LatencyP50 => SAME,
        Quantity::TtftMean | Quantity::TtftP50 | Quantity::TtftP90 => SAME_FIRST,
        _ => SAME_TOKEN,
    }
}

/// The twin's error on rows of a table, as a deviation: those that it was not fitted to, where there are any.
fn of_rows(quantity: Quantity, twin: &Twin) -> Option<f64> {
    let figures: &[ReferenceValue] = match quantity {
        Quantity::Rate => &[
            ReferenceValue::CompletedRate,
            ReferenceValue::OutputTokensPerS,
            ReferenceValue::DurationS,
        ],
        Quantity::LatencyMean | Quantity::LatencyP50 | Quantity::LatencyP90 => {
            &[ReferenceValue::LatencyS, ReferenceValue::P50S, ReferenceValue::P90S]
        }
        Quantity::TtftMean | Quantity::TtftP50 | Quantity::TtftP90 => {
            &[ReferenceValue::TtftMs, ReferenceValue::TtftP50Ms]
        }
        Quantity::ItlMean | Quantity::ItlP50 | Quantity::ItlP90 => &[
            ReferenceValue::ItlMs,
            ReferenceValue::TpotMs,
            ReferenceValue::ItlP50Ms,
            ReferenceValue::TpotP50Ms,
        ],
    };
    let errors = [&twin.errors.held_out, &twin.errors.fitted];
    let known = errors.iter().find_map(|of| figures.iter().find_map(|figure| of.get(figure)));
    known.map(|percent| MEAN_TO_DEVIATION * 0.01 * percent)
}

/// What the twin's file says of its errors on such a level, as shares.
#[derive(Debug, Clone, Copy)]
struct Own {
    /// A standard deviation.
    typical: f64,
    /// How far off is no difference.
    allowed: f64,
}

/// By levels of its kind that were left out, else by its interval of predictions, which is 2 deviations wide on
/// each side, else by the rows of its tables.
fn own(quantity: Quantity, kind: TrialKind, twin: &Twin) -> Option<Own> {
    let deviation = |typical: f64| Own { typical, allowed: OWN_ERRORS * typical };
    let known = of_kind(twin, kind).and_then(|of| part(of, quantity)).map(deviation);
    let predicted = || twin.accuracy.as_ref().and_then(|of| part(of, quantity));
    let predicted = || predicted().map(|wide| Own { typical: 0.5 * wide, allowed: wide });
    known.or_else(predicted).or_else(|| of_rows(quantity, twin).map(deviation))
}

/// The typical error of the twin on such a level, as a share.
fn own_error(quantity: Quantity, kind: TrialKind, twin: &Twin) -> f64 {
    own(quantity, kind, twin).map_or(repeats(quantity) / OWN_ERRORS, |own| own.typical)
}

/// How far a value may be from the twin's, as a logarithm.
fn tolerance(quantity: Quantity, kind: TrialKind, twin: &Twin) -> f64 {
    let allowed = own(quantity, kind, twin).map_or(0.0, |own| own.allowed);
    (1.0 + repeats(quantity).max(allowed)).ln()
}

/// Whether a value is off in all levels together: the twin errs here and there, and not everywhere by as much.
fn shift(quantity: Quantity, levels: &[Compared]) -> Option<Shift> {
    let off: Vec<(f64, f64)> =
        levels.iter().filter_map(|level| level.off.get(&quantity).copied()).collect();
    if off.len() < TOGETHER {
        return None;
    }
    let count = off.len() as f64;
    let by = off.iter().map(|(off, _)| off).sum::<f64>() / count;
    let scatter = off.iter().map(|(off, _)| (off - by).powi(2)).sum::<f64>() / (count - 1.0);
    let own = off.iter().map(|(_, own)| own * own).sum::<f64>() / count;
    let error = (scatter.max(own) / count).sqrt();
    let least = match quantity {
        Quantity::TtftMean | Quantity::TtftP50 | Quantity::TtftP90 => COMMON_FIRST,
        _ => COMMON,
    };
    (by.abs() > least.max(ERRORS_OF_MEAN * error)).then_some(Shift { quantity, by })
}
