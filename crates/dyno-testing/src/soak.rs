//! Soaks on the engine in virtual time, with its noise, and a server that may get slower.

use crate::runs::{level_plan, plan, summary_with, usage};
use dyno_engine::core::{Event, Request};
use dyno_engine::twin::Twin;
use dyno_engine::virtual_time::Virtual;
use dyno_model::Summary;
use dyno_model::frame::Ending;
use dyno_model::outcome::Outcome;
use dyno_model::plan::{Arrival, Load, Plan};
use dyno_model::record::{Phase, RequestRecord};
use dyno_model::{Nanos, SEC};
use dyno_stats::rng::SplitMix;

/// What is soaked, and how the server changes meanwhile.
#[derive(Debug, Clone, Copy)]
pub struct Soak {
    /// How requests come.
    pub load: Load,
    /// Of each step of the engine: the standard deviation of its logarithm.
    pub noise: f64,
    /// How much the whole server's speed sways, for about a fiftieth of the run at a time.
    pub sway: f64,
    /// How much slower the server is at the end.
    pub drift: f64,
    /// How many are sent.
    pub requests: u64,
}

/// Eight in flight.
pub const CLOSED: Load = Load::Concurrency { concurrency: 8 };
/// Five a second, at random.
pub const OPEN: Load = Load::Rate { rate: 5.0, arrival: Arrival::Poisson };

impl Soak {
    /// The findings about drift of one such soak.
    pub fn findings(&self, seed: u64) -> Vec<String> {
        let level = self.summary(seed).levels.remove(0);
        let codes = level.reasons.iter().chain(&level.notes).map(|reason| reason.code.clone());
        codes.filter(|code| code.starts_with("drift")).collect()
    }

    /// How many of `runs` soaks have a finding, and what they say.
    pub fn count(&self, runs: std::ops::Range<u64>) -> (usize, Vec<String>) {
        let all: Vec<Vec<String>> = runs.map(|seed| self.findings(seed)).collect();
        let found = all.iter().filter(|codes| !codes.is_empty()).count();
        let mut kinds: Vec<String> = all.into_iter().flatten().collect();
        kinds.sort();
        kinds.dedup();
        (found, kinds)
    }

    /// The summary of one such soak.
    pub fn summary(&self, seed: u64) -> Summary {
        let (plan, records, stopped) = self.run(seed);
        summary_with(&plan, records, |end| {
            end.ending = Ending::Duration;
            end.sending_stopped = stopped;
            end.starved = Some(stopped);
        })
    }

    fn run(&self, seed: u64) -> (Plan, Vec<RequestRecord>, Nanos) {
        let mut level = level_plan("soak", self.load, None);
        level.soak = true;
        let (mut records, stopped) = self.simulate(seed);
        let speed = Speed::new(self, stopped, seed);
        let closed = matches!(self.load, Load::Concurrency { .. });
        records.iter_mut().for_each(|record| speed.apply(record, closed));
        let stopped = if closed { speed.warped(stopped) } else { stopped };
        for record in records.iter_mut().filter(|record| record.end > stopped) {
            record.phase = Phase::Drain;
        }
        level.duration_ns = Some(stopped);
        (plan(vec![level]), records, stopped)
    }

    /// As the engine does it; and when sending stopped.
    fn simulate(&self, seed: u64) -> (Vec<RequestRecord>, Nanos) {
        let (_, text) = Twin::shipped().iter().find(|(n, _)| *n == Twin::default_name()).unwrap();
        assert!(text.contains("noise = 0.03"));
        let text = text.replace("noise = 0.03", &format!("noise = {}", self.noise));
        let mut time = Virtual::new(Twin::parse(&text, "twin").unwrap().core(seed).unwrap());
        let mut rng = SplitMix::new(seed ^ 0x50ac);
        let mut records: Vec<RequestRecord> = Vec::new();
        let mut stopped = 0;
        let mut send = |time: &mut Virtual, records: &mut Vec<RequestRecord>, at: Nanos| {
            let index = records.len() as u64;
            let (input, output) = (64 + rng.below(192) as u32, 16 + rng.below(32) as u32);
            time.submit(at, Request { id: index, input, output, hashes: &[] }).unwrap();
            let mut record = RequestRecord::new(0, index, 0, Phase::Measured, at);
            record.widths = Some(Default::default());
            (record.dispatched, record.sent) = (Some(at), Some(at));
            (record.input, record.output) = (usage(input.into()), usage(output.into()));
            records.push(record);
        };
        let end = |records: &mut Vec<RequestRecord>, event: Event| -> Option<(u32, Nanos)> {
            match event {
                Event::First { id, at } => records[id as usize].first = Some(at),
                Event::Finished { id, at } => {
                    let record = &mut records[id as usize];
                    (record.last, record.end) = (Some(at), at);
                    (record.streamed, record.terminal) = (true, true);
                    record.outcome = Outcome::Completed;
                    return Some((record.slot, at));
                }
            }
            None
        };
        match self.load {
            Load::Concurrency { concurrency } => {
                for slot in 0..concurrency {
                    send(&mut time, &mut records, 0);
                    records[slot as usize].slot = slot;
                }
                while let Some(event) = time.advance(Nanos::MAX) {
                    if let Some((slot, at)) = end(&mut records, event)
                        && (records.len() as u64) < self.requests
                    {
                        stopped = at;
                        send(&mut time, &mut records, at + 1_000);
                        records.last_mut().unwrap().slot = slot;
                    }
                }
            }
            load => {
                let mut due = 0.0;
                let mut gaps = SplitMix::new(seed ^ 0x9a55);
                for _ in 0..self.requests {
                    due -= gaps.unit().ln() / load.value();
                    stopped = (due * SEC as f64) as Nanos;
                    while let Some(event) = time.advance(stopped) {
                        end(&mut records, event);
                    }
                    send(&mut time, &mut records, stopped);
                }
                while let Some(event) = time.advance(Nanos::MAX) {
                    end(&mut records, event);
                }
            }
        }
        (records, stopped)
    }
}

const PARTS: usize = 1_000;

/// How slow the server is as time goes by, and what time it then is.
struct Speed {
    whole: Nanos,
    slowness: Vec<f64>,
    reached: Vec<f64>,
}

impl Speed {
    fn new(soak: &Soak, whole: Nanos, seed: u64) -> Self {
        let mut rng = SplitMix::new(seed ^ 0x5e1f);
        let mut normal = || (0..12).map(|_| rng.unit()).sum::<f64>() - 6.0;
        let keep: f64 = 1.0 - 50.0 / PARTS as f64;
        let mut state = normal();
        let (mut slowness, mut reached) = (Vec::new(), vec![0.0]);
        for part in 0..PARTS {
            state = keep * state + (1.0 - keep * keep).sqrt() * normal();
            let slow = 1.0 + soak.drift * part as f64 / PARTS as f64 + soak.sway * state;
            slowness.push(slow.max(0.1));
            reached.push(reached[part] + slow.max(0.1));
        }
        Self { whole, slowness, reached }
    }

    fn part(&self, at: Nanos) -> (usize, f64) {
        let place = at as f64 / self.whole as f64 * PARTS as f64;
        let part = (place as usize).min(PARTS - 1);
        (part, place - part as f64)
    }

    /// When it is done if all the server did took longer.
    fn warped(&self, at: Nanos) -> Nanos {
        let (part, rest) = self.part(at);
        let reached = self.reached[part] + rest * self.slowness[part];
        (reached / PARTS as f64 * self.whole as f64) as Nanos
    }

    fn apply(&self, record: &mut RequestRecord, closed: bool) {
        let sent = record.sent.unwrap();
        let slowness = self.slowness[self.part(sent).0];
        // A closed loop waits for the server; arrivals of an open one come by themselves.
        let later = |at: Nanos| match closed {
            true => self.warped(at),
            false => sent + ((at - sent) as f64 * slowness) as Nanos,
        };
        record.first = record.first.map(later);
        record.last = record.last.map(later);
        record.end = later(record.end);
        record.sent = record.sent.map(later);
        record.dispatched = record.sent;
        record.intended = later(record.intended);
    }
}
