//! Searches the highest load that meets an SLO: brackets it, then measures on both sides of the
//! estimate until the interval is narrow enough. Comments call that load the *edge*.

mod answer;
mod evidence;
mod posterior;

pub use answer::{CapacityAnswer, Doubt};

use crate::level::{LevelKind, LevelWish, MeasuredLevel, NextLevel, rounded};
use evidence::{Evidence, Seen, contradicts, drift, extremes};
use posterior::Posterior;

/// Default number of levels, and default width of the result.
pub const LEVELS: usize = 12;
/// See [`Capacity::width`].
pub const WIDTH: f64 = 0.06;

/// A search ends early when its result has this probability, after at least this many levels that
/// could be judged.
const ENOUGH: f64 = 0.99;
const FEWEST: usize = 8;
/// The lowest probability of a result, however wide it has to be; and the highest, however narrow.
const LEAST: f64 = 0.95;
const MOST: f64 = 0.995;
/// Levels are measured this far from the edge, on both sides, so that they show the slope.
const SIDE: f64 = 0.025;
const FAR_SIDE: f64 = 0.05;
/// While the edge is uncertain by more than this, the middle is measured.
const WIDE: f64 = 0.2;
/// The smallest and largest steps beyond a load that was met or missed, as logarithms.
const NEAREST: f64 = 0.05;
const FARTHEST: f64 = 1.5;
/// An extrapolated crossing farther down than this is tried directly.
const FAR_DOWN: f64 = 1.0;
/// The range of the search around a guess, and above the rate of a full server, as factors.
const FAR: f64 = 64.0;
const BEYOND_MOST: f64 = 1.25;
/// The first rate, as a share of the rate of a full server.
const FIRST: f64 = 0.8;
/// A load that could not be judged is measured this many times in all, and then given up. It was
/// neither met nor missed, so it is not a reason to try lower loads.
const ATTEMPTS: usize = 2;
/// Between a load that was met and a higher one that was given up, the search continues in the middle
/// while they are farther apart than this, as logarithms.
const APART: f64 = 0.4;
/// Loads that differ by less, as logarithms, are the same.
const SAME: f64 = 0.05;
/// How many whole numbers below the middle are tried as the lower end of a result.
const WHOLE: u32 = 1_000;
/// Rounding error of a logarithm and back.
const SLIGHT: f64 = 1e-6;

/// Requests that a level needs so that ten lie beyond a percentile: 1,000 for 0.99.
pub fn needed(share: f64) -> u64 {
    let beyond = 1.0 - share.clamp(0.0, 1.0 - 1e-9);
    // The subtraction's rounding error would otherwise add a request.
    (10.0 / beyond - 1e-6).ceil() as u64
}

/// Where a search begins.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SearchStart {
    /// Unknown: a closed loop with this many requests in flight measures the full rate. For rates
    /// only.
    Probe(u32),
    /// About here.
    Guess(f64),
    /// Nowhere but between these.
    Between([f64; 2]),
}

/// Valid loads: from one request in thirty years to more than any server can take.
const LOADS: std::ops::RangeInclusive<f64> = 1e-9..=1e12;

/// A search for the highest load that meets a service level.
///
/// Each level needs its own arrivals: with the same ones for all, their errors would be correlated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Capacity {
    /// [`LevelKind::Rate`], or [`LevelKind::Concurrency`] for whole numbers.
    pub kind: LevelKind,
    /// Where it begins.
    pub start: SearchStart,
    /// How wide the result may be: with 0.06 its upper end is 6 % above the lower one.
    pub width: f64,
    /// The most levels that may be measured.
    pub levels: usize,
    /// The highest load that may be asked for.
    pub most: Option<f64>,
}

/// What is known after some levels.
struct Known {
    /// Logarithms of the lowest and highest load that may be asked for.
    range: [f64; 2],
    evidence: Vec<Evidence>,
    posterior: Posterior,
}

impl Capacity {
    /// A search of the usual length and width.
    pub fn new(kind: LevelKind, start: SearchStart) -> Self {
        Self { kind, start, width: WIDTH, levels: LEVELS, most: None }
    }

    /// The next step after these levels.
    pub fn next(&self, so_far: &[MeasuredLevel]) -> NextLevel<CapacityAnswer> {
        let mut most = None;
        if let SearchStart::Probe(in_flight) = self.start {
            let Some(probe) = so_far.iter().find(|level| level.kind == LevelKind::Throughput)
            else {
                let load = f64::from(in_flight.max(1));
                return NextLevel::Level(LevelWish { kind: LevelKind::Throughput, load });
            };
            most = probe.completed_rate.filter(|rate| rate.is_finite() && *rate > 0.0);
            if most.is_none() {
                return NextLevel::Done(CapacityAnswer::Inconclusive { load: None, failed: None });
            }
        }
        let evidence = self.evidence(so_far);
        let given_up = self.given_up(so_far);
        let Some((range, first)) = self.range(&evidence, &given_up, most) else {
            return NextLevel::Done(self.at_last(&evidence, None));
        };
        let over = so_far.len() >= self.levels;
        let is_given_up = |load: f64| given_up.iter().any(|other| (other - load).abs() < SAME);
        if evidence.is_empty() {
            let end = over || is_given_up(first);
            let last = so_far.iter().rfind(|level| level.kind == self.kind);
            let load = last.map(|level| level.load);
            let answer = CapacityAnswer::Inconclusive { load, failed: None };
            return if end { NextLevel::Done(answer) } else { self.wish(first) };
        }
        let beyond = [range[0] - 1.0, range[1] + 1.0];
        let posterior = Posterior::new(&evidence, beyond, most.map(f64::ln));
        let known = Known { range, evidence, posterior };
        if let Some(answer) = known.outside().or_else(|| self.answer(&known, over)) {
            return NextLevel::Done(answer);
        }
        let next = known.next_load(self.kind);
        match is_given_up(next) {
            false => self.wish(next),
            // This load would be the most informative, but it could not be judged.
            true => NextLevel::Done(
                self.between(&known, true)
                    .unwrap_or_else(|| self.at_last(&known.evidence, Some(self.load(next)))),
            ),
        }
    }

    fn evidence(&self, so_far: &[MeasuredLevel]) -> Vec<Evidence> {
        so_far.iter().filter(|level| level.kind == self.kind).filter_map(Evidence::of).collect()
    }

    /// Logarithms of the loads that could not be judged, however often they were measured.
    fn given_up(&self, so_far: &[MeasuredLevel]) -> Vec<f64> {
        let of_kind = so_far.iter().filter(|level| level.kind == self.kind);
        let unjudged = of_kind.filter(|level| Evidence::of(level).is_none());
        let loads: Vec<f64> = unjudged.map(|level| level.load.ln()).collect();
        let attempts = |load: &&f64| loads.iter().filter(|o| (**o - **load).abs() < SAME).count();
        loads.iter().filter(|load| attempts(load) >= ATTEMPTS).copied().collect()
    }

    /// Logarithms of the loads to search between, and of the first.
    fn range(
        &self,
        evidence: &[Evidence],
        given_up: &[f64],
        most: Option<f64>,
    ) -> Option<([f64; 2], f64)> {
        let [low, high] = match (self.start, most) {
            (_, Some(most)) => [most / FAR, most * BEYOND_MOST],
            (SearchStart::Guess(guess), None) => [guess / FAR, guess * FAR],
            (SearchStart::Between([a, b]), None) => [a.min(b), a.max(b)],
            (SearchStart::Probe(_), None) => return None,
        };
        let low = if self.kind == LevelKind::Concurrency { low.max(1.0) } else { low };
        let high = self.most.map_or(high, |most| high.min(most).max(low));
        let high = match extremes(evidence).0 {
            Some(held) => {
                let above = given_up.iter().filter(|load| **load > held);
                let below = above.map(|load| match load - held > APART {
                    true => f64::midpoint(held, *load),
                    false => held,
                });
                below.fold(high, |high, below| high.min(below.exp())).max(low)
            }
            None => high,
        };
        let first = match (self.start, most) {
            (_, Some(most)) => most * FIRST,
            (SearchStart::Guess(guess), None) => guess,
            _ => (low * high).sqrt(),
        };
        let fine = LOADS.contains(&low) && LOADS.contains(&high) && low <= high;
        fine.then(|| ([low.ln(), high.ln()], first.clamp(low, high).ln()))
    }

    /// The result, if it is certain enough or no more levels may be measured.
    fn answer(&self, known: &Known, over: bool) -> Option<CapacityAnswer> {
        let last = || over.then(|| self.at_last(&known.evidence, None));
        self.between(known, over).or_else(|| match extremes(&known.evidence) {
            (Some(_), Some(_)) => None,
            _ => last(),
        })
    }

    /// The same where some levels met the SLO and others missed it.
    fn between(&self, known: &Known, over: bool) -> Option<CapacityAnswer> {
        let Known { evidence, posterior, .. } = known;
        let (Some(held), Some(failed)) = extremes(evidence) else { return None };
        let (window, mass) = self.window(posterior);
        let enough = mass >= ENOUGH && evidence.len() >= FEWEST && !contradicts(evidence);
        if !over && !enough {
            return None;
        }
        let surest = posterior.shortest(MOST);
        let ([low, high], chance) = if mass < LEAST {
            (posterior.shortest(LEAST), LEAST)
        } else if self.kind == LevelKind::Rate && surest[1] - surest[0] < window[1] - window[0] {
            (surest, MOST)
        } else {
            (window, mass)
        };
        let (low, high, doubt) = if contradicts(evidence) {
            let doubt = Doubt::Contradiction { held: plain(held), failed: plain(failed) };
            (low.min(failed), high.max(held), Some(doubt))
        } else {
            let share = drift(evidence, posterior.quantile(0.5));
            (low, high, share.map(|share| Doubt::Drift { share }))
        };
        let confidence = doubt.is_none().then_some(chance);
        let (low, high) = match self.kind {
            LevelKind::Concurrency => {
                ((low.exp() + SLIGHT).floor().max(1.0), (high.exp() - SLIGHT).ceil().max(2.0))
            }
            _ => (low.exp(), high.exp()),
        };
        Some(CapacityAnswer::Between { low, high, confidence, doubt })
    }

    /// The most probable interval of the allowed width, and its probability. Of whole numbers, two
    /// neighbours are always allowed.
    fn window(&self, posterior: &Posterior) -> ([f64; 2], f64) {
        let width = self.width.max(0.0);
        if self.kind != LevelKind::Concurrency {
            return posterior.window(width.ln_1p());
        }
        let chance = |[low, high]: [f64; 2]| posterior.below(high) - posterior.below(low);
        // The highest number that is met is from `low` to the one below `high`.
        let from = |low: f64| [low.ln(), ((low * (1.0 + width)).floor() + 1.0).ln()];
        let middle = posterior.quantile(0.5).exp().floor().max(1.0);
        let mut best = from(middle);
        for step in 1..=WHOLE {
            let low = middle - f64::from(step);
            if low < 1.0 || low * (1.0 + width) + 1.0 < middle {
                break;
            }
            if chance(from(low)) > chance(best) {
                best = from(low);
            }
        }
        (best, chance(best))
    }

    /// The result where all levels met the SLO, or none did. `given_up`: a load that could not be
    /// judged ended the search.
    fn at_last(&self, evidence: &[Evidence], given_up: Option<f64>) -> CapacityAnswer {
        match (extremes(evidence), given_up) {
            ((Some(held), _), _) => CapacityAnswer::AtLeast { load: plain(held) },
            ((None, Some(failed)), None) => never(evidence, failed),
            ((None, failed), load) => {
                CapacityAnswer::Inconclusive { load, failed: failed.map(plain) }
            }
        }
    }

    fn wish(&self, log: f64) -> NextLevel<CapacityAnswer> {
        NextLevel::Level(LevelWish { kind: self.kind, load: self.load(log) })
    }

    /// A load to ask for, from its logarithm.
    fn load(&self, log: f64) -> f64 {
        match self.kind {
            LevelKind::Concurrency => log.exp().round().max(1.0),
            _ => rounded(log.exp(), 4),
        }
    }
}

impl Known {
    /// The result, if the edge is beyond the range.
    fn outside(&self) -> Option<CapacityAnswer> {
        let [low, high] = self.range;
        match extremes(&self.evidence) {
            (Some(held), None)
                if held > high - SAME && self.posterior.below(high) < 1.0 - LEAST =>
            {
                Some(CapacityAnswer::AtLeast { load: plain(held) })
            }
            (None, Some(failed)) if failed < low + SAME && self.posterior.below(low) > LEAST => {
                Some(never(&self.evidence, failed))
            }
            _ => None,
        }
    }

    /// The logarithm of the most informative load.
    fn next_load(&self, kind: LevelKind) -> f64 {
        let [low, high] = self.range;
        let middle = self.posterior.quantile(0.5);
        // The next whole number may be farther away than the nearest step.
        let beyond = |from: f64, step: f64| match kind {
            LevelKind::Concurrency => (from.exp() + step).max(1.0).ln(),
            _ => from,
        };
        let next = match extremes(&self.evidence) {
            (Some(held), None) => {
                let next = middle.clamp(held + NEAREST, held + FARTHEST).max(beyond(held, 1.0));
                if next > high - SAME { high } else { next }
            }
            (None, Some(failed)) => {
                let next = middle.clamp(failed - FARTHEST, failed - NEAREST);
                let next = next.min(crossing(&self.evidence)).min(beyond(failed, -1.0));
                if next < low + SAME { low } else { next }
            }
            _ if self.posterior.quantile(0.9) - self.posterior.quantile(0.1) > WIDE => middle,
            _ => {
                // On the side with fewer levels, so that their errors cancel.
                let lean = |one: &Evidence| {
                    let from_middle = one.at - middle;
                    from_middle / (1.0 + (from_middle / (3.0 * SIDE)).powi(2))
                };
                // As far away as the edge is uncertain: nearer levels show the slope badly.
                let unsure = (self.posterior.quantile(0.9) - self.posterior.quantile(0.1)) / 2.0;
                let side = unsure.clamp(SIDE, FAR_SIDE);
                middle - side.copysign(self.evidence.iter().map(lean).sum())
            }
        };
        next.clamp(low, high)
    }
}

/// Where the line through the two lowest levels crosses 0, if that is far below both: where less load
/// hardly helps, small steps are useless.
fn crossing(evidence: &[Evidence]) -> f64 {
    let mut margins: Vec<(f64, f64)> = evidence
        .iter()
        .filter_map(|one| match one.seen {
            Seen::Margin { margin, .. } => Some((one.at, margin)),
            Seen::Sign { .. } => None,
        })
        .collect();
    margins.sort_by(|a, b| a.0.total_cmp(&b.0));
    let [(at, margin), (above, above_margin), ..] = margins[..] else { return f64::INFINITY };
    let slope = (above_margin - margin) / (above - at);
    let down = if slope > 0.0 { margin / slope } else { f64::INFINITY };
    if above > at && down > FAR_DOWN { at - down } else { f64::INFINITY }
}

fn never(evidence: &[Evidence], lowest: f64) -> CapacityAnswer {
    let margin = evidence.iter().filter(|one| one.asked <= lowest).find_map(|one| match one.seen {
        Seen::Margin { margin, .. } => Some(margin),
        Seen::Sign { .. } => None,
    });
    CapacityAnswer::Never { load: plain(lowest), margin }
}

/// A load from its logarithm, as it was asked for.
fn plain(log: f64) -> f64 {
    rounded(log.exp(), 6)
}
