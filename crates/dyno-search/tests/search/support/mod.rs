//! Levels of shipped twins in virtual time, what a search makes of them, and the truth.

#![allow(clippy::expect_used)]

mod labs;
mod search;
pub(crate) mod served;
mod truth;

pub(crate) use labs::LABS;
pub(crate) use search::{Searched, search};
pub(crate) use truth::{contains, truth};

use dyno_engine::twin::Twin;
use dyno_model::Nanos;
use dyno_model::units::to_s;
use dyno_search::{HeldLoad, LevelKind, Margin, MeasuredLevel};
use dyno_stats::quantile;
use served::{Load, Seen, Traffic};

/// A metric of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Figure {
    Ttft,
    Tpot,
}

/// One term of a service level: a quantile of a metric, and its bound in seconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Term {
    pub(crate) figure: Figure,
    pub(crate) share: f64,
    pub(crate) bound: f64,
}

/// A twin under a service level, and how long its levels are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lab {
    pub(crate) twin: &'static str,
    pub(crate) slo: &'static str,
    pub(crate) terms: &'static [Term],
    pub(crate) kind: LevelKind,
    /// Requests of a level; a tenth as many come before as a warm-up.
    pub(crate) requests: usize,
    pub(crate) input: u32,
    /// On average: from half as many tokens to half as many again.
    pub(crate) output: u32,
}

fn get(seen: &Seen, figure: Figure) -> f64 {
    match figure {
        Figure::Ttft => to_s(seen.ttft()),
        Figure::Tpot => seen.tpot(),
    }
}

impl Lab {
    fn warmup(&self) -> usize {
        self.requests / 10
    }

    /// Measures a level: Poisson arrivals, or a closed loop.
    pub(crate) fn level(&self, kind: LevelKind, load: f64, seed: u64) -> MeasuredLevel {
        let twin = Twin::load(self.twin).expect("a shipped twin");
        let core = twin.core(seed).expect("a valid twin");
        let traffic = Traffic {
            load: if kind == LevelKind::Rate {
                Load::Rate(load)
            } else {
                Load::InFlight(load as usize)
            },
            requests: self.requests + self.warmup(),
            input: [self.input; 2],
            output: self.output,
        };
        let seen = traffic.served(core, seed);
        self.measured(kind, load, &seen)
    }

    fn measured(&self, kind: LevelKind, load: f64, all: &[Seen]) -> MeasuredLevel {
        let mut ended: Vec<Nanos> = all.iter().map(|seen| seen.ended).collect();
        ended.sort_unstable();
        let seen = &all[self.warmup()..];
        let margins = self.terms.iter().filter_map(|term| {
            let mut values: Vec<f64> = seen.iter().map(|seen| get(seen, term.figure)).collect();
            values.sort_by(f64::total_cmp);
            Margin::ceiling(quantile(&values, term.share)?, term.bound)
        });
        let span = to_s(seen[seen.len() - 1].arrived - seen[0].arrived);
        let (from, to) = (ended.len() / 4, ended.len() * 3 / 4);
        let latency: f64 = seen.iter().map(|seen| to_s(seen.latency())).sum();
        MeasuredLevel {
            kind,
            load,
            arrived_rate: (kind == LevelKind::Rate).then(|| (seen.len() - 1) as f64 / span),
            completed_rate: Some((to - from) as f64 / to_s(ended[to] - ended[from])),
            steady: true,
            saturated: None,
            held: Margin::binding(margins).map_or(HeldLoad::Unsure, HeldLoad::By),
            latency: Some(latency / seen.len() as f64),
            requests: seen.len() as u64,
            failed_share: 0.0,
            valid: true,
        }
    }

    /// The margin of a level of the kind that is searched.
    pub(crate) fn margin(&self, load: f64, seed: u64) -> f64 {
        match self.level(self.kind, load, seed).held {
            HeldLoad::By(margin) => margin.log_ratio,
            _ => f64::NAN,
        }
    }
}
