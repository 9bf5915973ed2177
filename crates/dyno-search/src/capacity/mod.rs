//! The highest load that meets a service level: brackets it, then measures on both sides of where
//! it seems to be until the answer is narrow enough.

mod answer;
mod evidence;
mod posterior;

pub use answer::{Answer, Doubt};

use crate::level::{Kind, LevelWish, Measured, Next, rounded};
use evidence::{Evidence, Seen, contradicts, drift, extremes};
use posterior::Posterior;

/// The usual number of levels, and the usual width of an answer.
pub const LEVELS: usize = 12;
/// See [`Capacity::width`].
pub const WIDTH: f64 = 0.06;

/// A search ends before its last level when the chance of its answer is this, after this many
/// levels that could be judged.
const ENOUGH: f64 = 0.99;
const FEWEST: usize = 8;
/// The chance that an answer has at least, however wide it must be; and at most, however narrow.
const LEAST: f64 = 0.95;
const MOST: f64 = 0.995;
/// Levels are measured this far from the edge, on both sides, so that they tell its slope.
const SIDE: f64 = 0.025;
const FAR_SIDE: f64 = 0.05;
/// Only as long as the edge may be anywhere in a wider stretch, its middle is measured.
const WIDE: f64 = 0.2;
/// The nearest and farthest steps beyond what held, or failed, as logarithms.
const NEAREST: f64 = 0.05;
const FARTHEST: f64 = 1.5;
/// A crossing farther down than this is worth a leap.
const FAR_DOWN: f64 = 1.0;
/// How far from a guess an edge is searched, and from what a full server does, as factors.
const FAR: f64 = 64.0;
const BEYOND_MOST: f64 = 1.25;
/// The first rate, as a share of what a full server does.
const FIRST: f64 = 0.8;
/// A load that could not be judged is measured so many times in all, and then given up: a level
/// that nobody could judge has neither held nor failed, so that it is no reason to try less.
const ATTEMPTS: usize = 2;
/// Between a load that held and one above it that was given up, the search goes on in the middle
/// while they are farther apart than this, as logarithms.
const APART: f64 = 0.4;
/// Loads that differ by less, as logarithms, are the same.
const SAME: f64 = 0.05;
/// Whole numbers below the middle that an answer may begin with, at most.
const WHOLE: u32 = 1_000;
/// What a logarithm and back may cost.
const SLIGHT: f64 = 1e-6;

/// How many requests a level needs, so that ten lie beyond a percentile: 1,000 for 0.99.
pub fn needed(share: f64) -> u64 {
    let beyond = 1.0 - share.clamp(0.0, 1.0 - 1e-9);
    // Without the rounding errors of the subtraction, which would add a request.
    (10.0 / beyond - 1e-6).ceil() as u64
}

/// Where a search begins.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Start {
    /// Nothing is known: a closed loop with so many in flight tells what the server does at most.
    /// For rates only.
    Probe(u32),
    /// About here.
    Guess(f64),
    /// Nowhere but between these.
    Between([f64; 2]),
}

/// What may be a load: once in thirty years, and more than any server takes.
const LOADS: std::ops::RangeInclusive<f64> = 1e-9..=1e12;

/// A search for the highest load that meets a service level.
///
/// Each level needs arrivals of its own: with the same seed for all, they would share their luck.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Capacity {
    /// [`Kind::Rate`], or [`Kind::Concurrency`] for whole numbers.
    pub kind: Kind,
    /// Where it begins.
    pub start: Start,
    /// How wide the answer may be: with 0.06 its upper end is 6 % above the lower one.
    pub width: f64,
    /// Levels that may be measured, all in all.
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
    pub fn new(kind: Kind, start: Start) -> Self {
        Self { kind, start, width: WIDTH, levels: LEVELS, most: None }
    }

    /// What to do after these levels.
    pub fn next(&self, so_far: &[Measured]) -> Next<Answer> {
        let mut most = None;
        if let Start::Probe(in_flight) = self.start {
            let Some(probe) = so_far.iter().find(|level| level.kind == Kind::Throughput) else {
                let load = f64::from(in_flight.max(1));
                return Next::Level(LevelWish { kind: Kind::Throughput, load });
            };
            most = probe.completed_rate.filter(|rate| rate.is_finite() && *rate > 0.0);
            if most.is_none() {
                return Next::Done(Answer::Inconclusive { load: None, failed: None });
            }
        }
        let evidence = self.evidence(so_far);
        let given_up = self.given_up(so_far);
        let Some((range, first)) = self.range(&evidence, &given_up, most) else {
            return Next::Done(self.at_last(&evidence, None));
        };
        let over = so_far.len() >= self.levels;
        let is_given_up = |load: f64| given_up.iter().any(|other| (other - load).abs() < SAME);
        if evidence.is_empty() {
            let end = over || is_given_up(first);
            let last = so_far.iter().rfind(|level| level.kind == self.kind);
            let load = last.map(|level| level.load);
            let answer = Answer::Inconclusive { load, failed: None };
            return if end { Next::Done(answer) } else { self.wish(first) };
        }
        let beyond = [range[0] - 1.0, range[1] + 1.0];
        let posterior = Posterior::new(&evidence, beyond, most.map(f64::ln));
        let known = Known { range, evidence, posterior };
        if let Some(answer) = known.outside().or_else(|| self.answer(&known, over)) {
            return Next::Done(answer);
        }
        let next = known.next_load(self.kind);
        match is_given_up(next) {
            false => self.wish(next),
            // Nothing tells more than this load would, and it does not tell it.
            true => Next::Done(
                self.between(&known, true)
                    .unwrap_or_else(|| self.at_last(&known.evidence, Some(self.load(next)))),
            ),
        }
    }

    fn evidence(&self, so_far: &[Measured]) -> Vec<Evidence> {
        so_far.iter().filter(|level| level.kind == self.kind).filter_map(Evidence::of).collect()
    }

    /// Logarithms of the loads that could not be judged, however often they were measured.
    fn given_up(&self, so_far: &[Measured]) -> Vec<f64> {
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
            (Start::Guess(guess), None) => [guess / FAR, guess * FAR],
            (Start::Between([a, b]), None) => [a.min(b), a.max(b)],
            (Start::Probe(_), None) => return None,
        };
        let low = if self.kind == Kind::Concurrency { low.max(1.0) } else { low };
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
            (Start::Guess(guess), None) => guess,
            _ => (low * high).sqrt(),
        };
        let fine = LOADS.contains(&low) && LOADS.contains(&high) && low <= high;
        fine.then(|| ([low.ln(), high.ln()], first.clamp(low, high).ln()))
    }

    /// The answer, if the levels tell it well enough or no more may be measured.
    fn answer(&self, known: &Known, over: bool) -> Option<Answer> {
        let last = || over.then(|| self.at_last(&known.evidence, None));
        self.between(known, over).or_else(|| match extremes(&known.evidence) {
            (Some(_), Some(_)) => None,
            _ => last(),
        })
    }

    /// The same where some levels held and others did not.
    fn between(&self, known: &Known, over: bool) -> Option<Answer> {
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
        } else if self.kind == Kind::Rate && surest[1] - surest[0] < window[1] - window[0] {
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
            Kind::Concurrency => {
                ((low.exp() + SLIGHT).floor().max(1.0), (high.exp() - SLIGHT).ceil().max(2.0))
            }
            _ => (low.exp(), high.exp()),
        };
        Some(Answer::Between { low, high, confidence, doubt })
    }

    /// The stretch that is as wide as the answer may be and holds most of the chance, and how much
    /// that is. Whole numbers may always be two neighbours.
    fn window(&self, posterior: &Posterior) -> ([f64; 2], f64) {
        let width = self.width.max(0.0);
        if self.kind != Kind::Concurrency {
            return posterior.window(width.ln_1p());
        }
        let chance = |[low, high]: [f64; 2]| posterior.below(high) - posterior.below(low);
        // The highest that holds is from `low` to the number below `high`.
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

    /// The answer where all levels held, or none. `given_up`: a load that could not be judged kept
    /// the search from going on.
    fn at_last(&self, evidence: &[Evidence], given_up: Option<f64>) -> Answer {
        match (extremes(evidence), given_up) {
            ((Some(held), _), _) => Answer::AtLeast { load: plain(held) },
            ((None, Some(failed)), None) => never(evidence, failed),
            ((None, failed), load) => Answer::Inconclusive { load, failed: failed.map(plain) },
        }
    }

    fn wish(&self, log: f64) -> Next<Answer> {
        Next::Level(LevelWish { kind: self.kind, load: self.load(log) })
    }

    /// A load to ask for, from its logarithm.
    fn load(&self, log: f64) -> f64 {
        match self.kind {
            Kind::Concurrency => log.exp().round().max(1.0),
            _ => rounded(log.exp(), 4),
        }
    }
}

impl Known {
    /// The answer, if the edge is beyond the range.
    fn outside(&self) -> Option<Answer> {
        let [low, high] = self.range;
        match extremes(&self.evidence) {
            (Some(held), None)
                if held > high - SAME && self.posterior.below(high) < 1.0 - LEAST =>
            {
                Some(Answer::AtLeast { load: plain(held) })
            }
            (None, Some(failed)) if failed < low + SAME && self.posterior.below(low) > LEAST => {
                Some(never(&self.evidence, failed))
            }
            _ => None,
        }
    }

    /// The logarithm of the load that tells most.
    fn next_load(&self, kind: Kind) -> f64 {
        let [low, high] = self.range;
        let middle = self.posterior.quantile(0.5);
        // The next whole number may be farther away than the nearest step.
        let beyond = |from: f64, step: f64| match kind {
            Kind::Concurrency => (from.exp() + step).max(1.0).ln(),
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
                // To the side that is leaner in levels, so that their errors cancel.
                let lean = |one: &Evidence| {
                    let from_middle = one.at - middle;
                    from_middle / (1.0 + (from_middle / (3.0 * SIDE)).powi(2))
                };
                // As far as the edge itself is unsure: noise hides a slope from near by.
                let unsure = (self.posterior.quantile(0.9) - self.posterior.quantile(0.1)) / 2.0;
                let side = unsure.clamp(SIDE, FAR_SIDE);
                middle - side.copysign(self.evidence.iter().map(lean).sum())
            }
        };
        next.clamp(low, high)
    }
}

/// Where the line through the two lowest levels crosses 0, if that is far below both: where less
/// load hardly helps, there is no use in small steps.
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

fn never(evidence: &[Evidence], lowest: f64) -> Answer {
    let margin = evidence.iter().filter(|one| one.asked <= lowest).find_map(|one| match one.seen {
        Seen::Margin { margin, .. } => Some(margin),
        Seen::Sign { .. } => None,
    });
    Answer::Never { load: plain(lowest), margin }
}

/// A load from its logarithm, as it was asked for.
fn plain(log: f64) -> f64 {
    rounded(log.exp(), 6)
}
