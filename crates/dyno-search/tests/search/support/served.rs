//! Requests that an engine serves in virtual time, in an open or a closed loop.

use dyno_engine::core::{Core, Event, Request};
use dyno_engine::virtual_time::Virtual;
use dyno_model::Nanos;
use dyno_model::units::to_s;
use dyno_stats::rng::SplitMix;

/// How requests come.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Load {
    /// At random, so many a second.
    Rate(f64),
    /// So many at a time, each when one before has ended.
    InFlight(usize),
}

/// What is sent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Traffic {
    pub(crate) load: Load,
    pub(crate) requests: usize,
    /// From so many tokens to so many.
    pub(crate) input: [u32; 2],
    /// On average: from half as many tokens to half as many again.
    pub(crate) output: u32,
}

/// What was seen of a request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seen {
    pub(crate) arrived: Nanos,
    pub(crate) first: Nanos,
    pub(crate) ended: Nanos,
    pub(crate) output: u32,
}

impl Seen {
    pub(crate) fn ttft(&self) -> Nanos {
        self.first - self.arrived
    }

    pub(crate) fn latency(&self) -> Nanos {
        self.ended - self.arrived
    }

    /// In seconds.
    pub(crate) fn tpot(&self) -> f64 {
        to_s(self.ended - self.first) / f64::from(self.output - 1)
    }
}

impl Traffic {
    /// Serves all requests, in the order in which they were sent.
    pub(crate) fn served(&self, core: Core, seed: u64) -> Vec<Seen> {
        let mut time = Virtual::new(core);
        let mut random = SplitMix::new(seed);
        let mut seen: Vec<Seen> = Vec::with_capacity(self.requests);
        let mut due = 0.0;
        let mut send = |time: &mut Virtual, seen: &mut Vec<Seen>, at: Nanos| {
            let output = self.output / 2 + random.below(self.output as usize) as u32;
            let input = match self.input {
                [least, most] if least < most => {
                    least + random.below((most - least + 1) as usize) as u32
                }
                [fixed, _] => fixed,
            };
            let request = Request { id: seen.len() as u64, input, output, hashes: &[] };
            time.submit(at, request).expect("requests that fit");
            seen.push(Seen { arrived: at, first: 0, ended: 0, output });
            -random.unit().ln()
        };
        if let Load::InFlight(slots) = self.load {
            (0..self.requests.min(slots)).for_each(|_| {
                send(&mut time, &mut seen, 0);
            });
        }
        loop {
            let until = match self.load {
                Load::Rate(rate) if seen.len() < self.requests => (due * 1e9 / rate) as Nanos,
                _ => Nanos::MAX,
            };
            match time.advance(until) {
                Some(Event::First { id, at }) => seen[id as usize].first = at,
                Some(Event::Finished { id, at }) => {
                    seen[id as usize].ended = at;
                    if matches!(self.load, Load::InFlight(_)) && seen.len() < self.requests {
                        send(&mut time, &mut seen, at);
                    }
                }
                None if until == Nanos::MAX => return seen,
                None => due += send(&mut time, &mut seen, until),
            }
        }
    }
}
