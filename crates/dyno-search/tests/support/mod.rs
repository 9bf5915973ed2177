//! Levels of shipped twins in virtual time, what a search makes of them, and the truth.

#![allow(clippy::expect_used)]

mod labs;
mod search;
mod truth;

pub(crate) use labs::LABS;
pub(crate) use search::{Searched, search};
pub(crate) use truth::{contains, truth};

use dyno_core::Nanos;
use dyno_core::units::to_s;
use dyno_engine::core::{Event, Request};
use dyno_engine::twin::Twin;
use dyno_engine::virtual_time::Virtual;
use dyno_search::{Held, Kind, Margin, Measured};
use dyno_stats::quantile;
use dyno_stats::rng::SplitMix;

/// A figure of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Figure {
    Ttft,
    Tpot,
}

/// One term of a service level: a quantile of a figure, and its bound in seconds.
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
    pub(crate) kind: Kind,
    /// Requests of a level; a tenth as many come before as a warm-up.
    pub(crate) requests: usize,
    pub(crate) input: u32,
    /// On average: from half as many tokens to half as many again.
    pub(crate) output: u32,
}

struct Seen {
    arrived: Nanos,
    first: Nanos,
    ended: Nanos,
    output: u32,
}

impl Seen {
    fn get(&self, figure: Figure) -> f64 {
        match figure {
            Figure::Ttft => to_s(self.first - self.arrived),
            Figure::Tpot => to_s(self.ended - self.first) / f64::from(self.output - 1),
        }
    }
}

impl Lab {
    fn warmup(&self) -> usize {
        self.requests / 10
    }

    /// Measures a level: Poisson arrivals, or a closed loop.
    pub(crate) fn level(&self, kind: Kind, load: f64, seed: u64) -> Measured {
        let twin = Twin::load(self.twin).expect("a shipped twin");
        let mut time = Virtual::new(twin.core(seed).expect("a valid twin"));
        let mut random = SplitMix::new(seed);
        let total = self.requests + self.warmup();
        let mut seen: Vec<Seen> = Vec::with_capacity(total);
        let mut ended = Vec::with_capacity(total);
        let closed = kind != Kind::Rate;
        let mut due = 0.0;
        let mut send = |time: &mut Virtual, seen: &mut Vec<Seen>, at: Nanos| {
            let output = self.output / 2 + random.below(self.output as usize) as u32;
            let request = Request { id: seen.len() as u64, input: self.input, output, hashes: &[] };
            time.submit(at, request).expect("requests that fit");
            seen.push(Seen { arrived: at, first: 0, ended: 0, output });
            -random.unit().ln()
        };
        if closed {
            (0..total.min(load as usize)).for_each(|_| {
                send(&mut time, &mut seen, 0);
            });
        }
        loop {
            let until = match closed || seen.len() == total {
                true => Nanos::MAX,
                false => (due * 1e9 / load) as Nanos,
            };
            match time.advance(until) {
                Some(Event::First { id, at }) => seen[id as usize].first = at,
                Some(Event::Finished { id, at }) => {
                    seen[id as usize].ended = at;
                    ended.push(at);
                    if closed && seen.len() < total {
                        send(&mut time, &mut seen, at);
                    }
                }
                None if until == Nanos::MAX => break,
                None => due += send(&mut time, &mut seen, until),
            }
        }
        self.measured(kind, load, &seen[self.warmup()..], &ended)
    }

    fn measured(&self, kind: Kind, load: f64, seen: &[Seen], ended: &[Nanos]) -> Measured {
        let margins = self.terms.iter().filter_map(|term| {
            let mut values: Vec<f64> = seen.iter().map(|seen| seen.get(term.figure)).collect();
            values.sort_by(f64::total_cmp);
            Margin::ceiling(quantile(&values, term.share)?, term.bound)
        });
        let span = to_s(seen[seen.len() - 1].arrived - seen[0].arrived);
        let (from, to) = (ended.len() / 4, ended.len() * 3 / 4);
        let latency: f64 = seen.iter().map(|seen| to_s(seen.ended - seen.arrived)).sum();
        Measured {
            kind,
            load,
            arrived_rate: (kind == Kind::Rate).then(|| (seen.len() - 1) as f64 / span),
            completed_rate: Some((to - from) as f64 / to_s(ended[to] - ended[from])),
            steady: true,
            saturated: None,
            held: Margin::binding(margins).map_or(Held::Unsure, Held::By),
            latency: Some(latency / seen.len() as f64),
            requests: seen.len() as u64,
            failed_share: 0.0,
            valid: true,
        }
    }

    /// The margin of a level of the kind that is searched.
    pub(crate) fn margin(&self, load: f64, seed: u64) -> f64 {
        match self.level(self.kind, load, seed).held {
            Held::By(margin) => margin.log_ratio,
            _ => f64::NAN,
        }
    }
}
