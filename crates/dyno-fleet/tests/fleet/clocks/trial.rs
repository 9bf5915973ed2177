//! One simulated run of up to an hour, and what became of the clocks in one of its levels.

use crate::clocks::world::{Clocks, Network, Rng, SECOND, timelines};
use dyno_fleet::{ClockStamps, ClockSync};

/// How long a run takes at most, in seconds.
const RUN: f64 = 3_600.0;
/// The order to start is given so long ahead.
const AHEAD: f64 = 2.0 * SECOND;

/// An estimate, and what was true.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Judged {
    /// By how much it was wrong at most, in nanoseconds.
    pub(crate) error: f64,
    /// The stated bound.
    pub(crate) bound: f64,
}

impl Judged {
    pub(crate) fn is_covered(&self) -> bool {
        self.error <= self.bound
    }
}

/// What became of one level.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Outcome {
    /// The fit over the level, at its worst second.
    pub(crate) level: Judged,
    /// When the agent starts, by the fit ahead of the start.
    pub(crate) start: Judged,
    /// The fit of the call with the shortest round trip, without drift: what this replaced.
    pub(crate) shortest: Judged,
    /// The mean of all offsets.
    pub(crate) mean: f64,
    /// The least one-way delay of the 20 calls before the level, taken for the offset.
    pub(crate) one_way: f64,
    pub(crate) steps: u32,
}

/// Levels of 20 s to 15 minutes, one after the other, as (start, end).
fn levels(rng: &mut Rng) -> Vec<(f64, f64)> {
    let (mut levels, mut at) = (Vec::new(), 5.0);
    while at < RUN - 60.0 {
        let length = 20.0 * 45f64.powf(rng.unit());
        let end = (at + length).min(RUN - 5.0);
        levels.push((at * SECOND, end * SECOND));
        at = end + rng.between(5.0, 20.0);
    }
    levels
}

/// Calls once a second, and 30 in quick succession before the order to start and after each level.
fn calls(levels: &[(f64, f64)], until: f64) -> Vec<f64> {
    let mut calls: Vec<f64> =
        (0..(until / SECOND) as u64 + 1).map(|at| at as f64 * SECOND).collect();
    for (start, end) in levels {
        for from in [start - AHEAD - 0.05 * SECOND, *end] {
            calls.extend((0..30).map(|number| from + f64::from(number) * 1e6));
        }
    }
    calls.retain(|at| *at <= until);
    calls.sort_by(f64::total_cmp);
    calls
}

pub(crate) fn trial(network: Network, clocks: Clocks, seed: u64) -> Outcome {
    let mut rng = Rng::new(seed);
    let levels = levels(&mut rng);
    let judged = (rng.next() % levels.len() as u64) as usize;
    let levels = &levels[..=judged];
    let (from, to) = levels[judged];
    let loaded = |at: f64| {
        let number = levels.partition_point(|(start, _)| *start <= at);
        number > 0 && at < levels[number - 1].1
    };
    let until = to + 0.5 * SECOND;
    let (ours, theirs) = timelines(clocks, RUN as usize + 10, &loaded, &mut rng);
    let truth = |at: f64| ours.read(at) as f64 - theirs.read(at) as f64;

    let mut outcome = Outcome::default();
    let (mut sync, mut samples) = (ClockSync::default(), Vec::new());
    let (mut there, mut back) = (0.0f64, 0.0f64);
    let mut started = false;
    for at in calls(levels, until) {
        if !started && at > from - AHEAD {
            started = true;
            outcome.start = started_by(&sync, ours.read(from), theirs.read(from));
            outcome.one_way = one_way(&samples, &truth, from, to);
        }
        let Some((way, way_back)) = network.delays(at, loaded(at), &mut rng) else { continue };
        // A stream keeps the order.
        there = there.max(at + way);
        let answered = there + rng.exponential(20e3);
        back = back.max(answered + way_back);
        let stamps = ClockStamps {
            sent: ours.read(at),
            received: theirs.read(there),
            answered: theirs.read(answered),
            back: ours.read(back),
        };
        sync.add(stamps);
        samples.push(stamps);
    }
    let fit = sync.fit_between(ours.read(from), ours.read(to)).expect("there are samples");
    outcome.steps = fit.steps;
    outcome.level.bound = fit.bound_ns as f64;
    let offset = |at: f64| fit.offset_at(theirs.read(at)) as f64;
    outcome.level.error = worst(from, to, |at| offset(at) - truth(at));

    let round_trip = |s: &&ClockStamps| (s.back - s.sent).saturating_sub(s.answered - s.received);
    let shortest = samples.iter().min_by_key(round_trip).expect("there are samples");
    outcome.shortest.bound = round_trip(&shortest) as f64 / 2.0 + 1.0;
    outcome.shortest.error = worst(from, to, |at| middle(shortest) - truth(at));
    let mean = samples.iter().map(middle).sum::<f64>() / samples.len() as f64;
    outcome.mean = worst(from, to, |at| mean - truth(at));
    outcome
}

/// How wrong the start is that is ordered now.
fn started_by(sync: &ClockSync, agreed: u64, theirs: u64) -> Judged {
    let fit = sync.fit_at(agreed).expect("there are samples");
    let error = (fit.to_agent(agreed) as f64 - theirs as f64).abs();
    Judged { error, bound: fit.bound_ns as f64 }
}

fn one_way(samples: &[ClockStamps], truth: &impl Fn(f64) -> f64, from: f64, to: f64) -> f64 {
    let last = samples[samples.len().saturating_sub(20)..].iter();
    let least = last.map(|s| s.sent as f64 - s.received as f64).fold(f64::MIN, f64::max);
    worst(from, to, |at| least - truth(at))
}

fn middle(s: &ClockStamps) -> f64 {
    (s.sent as f64 - s.received as f64 + s.back as f64 - s.answered as f64) / 2.0
}

/// The largest error over a level, looked at five times a second.
fn worst(from: f64, to: f64, error: impl Fn(f64) -> f64) -> f64 {
    let count = ((to - from) / SECOND * 5.0) as u64 + 1;
    let at = |number| from + (to - from) * number as f64 / count as f64;
    (0..=count).map(|number| error(at(number)).abs()).fold(0.0, f64::max)
}
