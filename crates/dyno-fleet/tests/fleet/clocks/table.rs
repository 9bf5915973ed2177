//! Many trials of one kind, as a row of a table.

use crate::clocks::trial::{Judged, Outcome, trial};
use crate::clocks::world::{Clocks, DRIFTS, MS, NETWORKS, Network, Rng};

/// Trials of one kind: a network, or any of them; clocks, or any of those that keep their rates.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    network: Option<Network>,
    clocks: Option<Clocks>,
}

const fn network(name: &'static str, network: Network) -> Kind {
    Kind { name, network: Some(network), clocks: None }
}

const fn clocks(name: &'static str, clocks: Clocks) -> Kind {
    Kind { name, network: None, clocks: Some(clocks) }
}

pub(crate) const KINDS: [Kind; 17] = [
    network("constant 0.1 ms", Network::Constant),
    network("jitter 0.3 ms", Network::Jitter),
    network("bimodal 0.2 / 5 ms", Network::Bimodal),
    network("asymmetric 5 : 0.5 ms", Network::Asymmetric),
    network("20 % lost, stalls of 200 ms", Network::Lossy),
    network("bursts of 50 ms", Network::Bursts),
    network("queueing during load", Network::Queueing),
    network("distant, 40 ms", Network::Distant),
    clocks("drift 0", Clocks::Steady(0.0)),
    clocks("drift +20 ppm", Clocks::Steady(20.0)),
    clocks("drift −20 ppm", Clocks::Steady(-20.0)),
    clocks("drift +100 ppm", Clocks::Steady(100.0)),
    clocks("drift −100 ppm", Clocks::Steady(-100.0)),
    clocks("warming, random walk", Clocks::Warming),
    clocks("slewed at 500 ppm", Clocks::Slewed),
    clocks("slewed at 20–80 ppm, decaying", Clocks::SlowlySlewed),
    clocks("a jump of 5–500 ms", Clocks::Stepped),
];

/// A row of results.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) level: Quality,
    pub(crate) start: Quality,
    /// What would have been without drift, by the shortest round trip.
    pub(crate) shortest: Quality,
    /// In milliseconds, 99th percentiles.
    pub(crate) mean_error: f64,
    pub(crate) one_way_error: f64,
}

/// How good estimates and their bounds are, in milliseconds.
#[derive(Debug)]
pub(crate) struct Quality {
    pub(crate) covered: f64,
    pub(crate) median_bound: f64,
    pub(crate) p99_bound: f64,
    pub(crate) p99_error: f64,
}

impl Quality {
    pub(crate) fn of(all: impl Iterator<Item = Judged> + Clone) -> Self {
        let covered = all.clone().filter(Judged::is_covered).count() as f64;
        Self {
            covered: covered / all.clone().count() as f64,
            median_bound: percentile(all.clone().map(|it| it.bound), 0.5),
            p99_bound: percentile(all.clone().map(|it| it.bound), 0.99),
            p99_error: percentile(all.map(|it| it.error), 0.99),
        }
    }
}

pub(crate) fn percentile(values: impl Iterator<Item = f64>, at: f64) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let index = ((values.len() as f64 * at).ceil() as usize).clamp(1, values.len()) - 1;
    values[index] / MS
}

pub(crate) fn row(kind: Kind, trials: u64, seed: u64) -> Row {
    let mut seeds = Rng::new(seed);
    let outcomes: Vec<Outcome> = (0..trials)
        .map(|_| {
            let network = seeds.one_of(&NETWORKS);
            let drift = seeds.one_of(&DRIFTS);
            let clocks = kind.clocks.unwrap_or(Clocks::Steady(drift));
            trial(kind.network.unwrap_or(network), clocks, seeds.next())
        })
        .collect();
    Row {
        level: Quality::of(outcomes.iter().map(|it| it.level)),
        start: Quality::of(outcomes.iter().map(|it| it.start)),
        shortest: Quality::of(outcomes.iter().map(|it| it.shortest)),
        mean_error: percentile(outcomes.iter().map(|it| it.mean), 0.99),
        one_way_error: percentile(outcomes.iter().map(|it| it.one_way), 0.99),
    }
}
