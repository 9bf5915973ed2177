//! Simulated queues for the tests and tables of the detectors: arrivals in, ends out.

pub(crate) mod table;
pub(crate) mod watched;

use dyno_stats::rng::SplitMix;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A time of mean 1, as a shape.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Shape {
    /// Always the same.
    Constant,
    /// Exponential.
    Exponential,
    /// A sum of this many exponentials.
    Erlang(u32),
    /// Nine in ten are short, one is long: squared coefficient of variation 2.
    Mixed,
    /// Lognormal with this coefficient of variation.
    Lognormal(f64),
}

impl Shape {
    pub(crate) fn draw(self, rng: &mut SplitMix) -> f64 {
        match self {
            Self::Constant => 1.0,
            Self::Exponential => exponential(rng),
            Self::Erlang(k) => (0..k).map(|_| exponential(rng)).sum::<f64>() / f64::from(k),
            Self::Mixed => {
                // Means 2/3 and 4 with weights 0.9 and 0.1: mean 1, second moment 4.
                exponential(rng) * if rng.unit() < 0.9 { 2.0 / 3.0 } else { 4.0 }
            }
            Self::Lognormal(cv) => {
                let variance = (1.0 + cv * cv).ln();
                (variance.sqrt() * normal(rng) - variance / 2.0).exp()
            }
        }
    }
}

pub(crate) fn exponential(rng: &mut SplitMix) -> f64 {
    -rng.unit().ln()
}

pub(crate) fn normal(rng: &mut SplitMix) -> f64 {
    (-2.0 * rng.unit().ln()).sqrt() * (std::f64::consts::TAU * rng.unit()).cos()
}

/// What serves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Server {
    /// So many alike, first come, first served.
    Many { servers: usize },
    /// A batch of at most `cap`, in which every request advances once in `base + each · n`; the rest
    /// waits in line. A request needs `steps` of them on average.
    Batch { cap: usize, base: f64, each: f64, steps: f64 },
}

/// A kind of queue.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Queue {
    pub(crate) name: &'static str,
    pub(crate) arrivals: Shape,
    pub(crate) service: Shape,
    pub(crate) server: Server,
}

/// What a level would see, both sorted, in seconds.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Seen {
    pub(crate) arrivals: Vec<f64>,
    pub(crate) ends: Vec<f64>,
    /// Time from arrival to end, in the order of the arrivals.
    pub(crate) latencies: Vec<f64>,
}

impl Queue {
    /// Requests a second that can be carried.
    pub(crate) fn capacity(&self) -> f64 {
        match self.server {
            Server::Many { servers } => servers as f64,
            Server::Batch { cap, base, each, steps } => {
                cap as f64 / ((base + each * cap as f64) * steps)
            }
        }
    }

    /// `count` arrivals at `load` times the capacity, beginning with an empty server.
    pub(crate) fn run(&self, rng: &mut SplitMix, load: f64, count: usize) -> Seen {
        let rate = load * self.capacity();
        let mut at = 0.0;
        let arrivals: Vec<f64> = (0..count)
            .map(|_| {
                at += self.arrivals.draw(rng) / rate;
                at
            })
            .collect();
        let works: Vec<f64> = (0..count).map(|_| self.service.draw(rng)).collect();
        let ended = match self.server {
            Server::Many { servers } => many(&arrivals, &works, servers),
            Server::Batch { cap, base, each, steps } => {
                batch(&arrivals, &works, cap, |n| 1.0 / ((base + each * n as f64) * steps))
            }
        };
        let latencies = ended.iter().zip(&arrivals).map(|(end, at)| end - at).collect();
        let mut ends = ended;
        ends.sort_by(f64::total_cmp);
        Seen { arrivals, ends, latencies }
    }
}

#[derive(PartialEq)]
struct At(f64, usize);

impl Eq for At {}

impl PartialOrd for At {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for At {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0).then(self.1.cmp(&other.1))
    }
}

fn many(arrivals: &[f64], works: &[f64], servers: usize) -> Vec<f64> {
    let mut free: BinaryHeap<Reverse<At>> = (0..servers).map(|i| Reverse(At(0.0, i))).collect();
    let serve = |(at, work): (&f64, &f64)| {
        let Some(Reverse(At(since, server))) = free.pop() else { return *at };
        let end = since.max(*at) + work;
        free.push(Reverse(At(end, server)));
        end
    };
    arrivals.iter().zip(works).map(serve).collect()
}

/// `speed` is what each of `n` in the batch gets done in a second, in works of 1.
fn batch(arrivals: &[f64], works: &[f64], cap: usize, speed: impl Fn(usize) -> f64) -> Vec<f64> {
    let mut ends = vec![0.0; arrivals.len()];
    let mut running: BinaryHeap<Reverse<At>> = BinaryHeap::new();
    // `done` is the work that a request in the batch from the beginning would have had done.
    let (mut now, mut done, mut next, mut waiting) = (0.0_f64, 0.0_f64, 0, 0);
    while next < arrivals.len() || !running.is_empty() {
        let pace = speed(running.len().max(1));
        let end = running.peek().map(|Reverse(At(at, _))| now + (at - done).max(0.0) / pace);
        match arrivals.get(next).filter(|at| end.is_none_or(|end| **at < end)) {
            Some(at) => {
                done += if running.is_empty() { 0.0 } else { (at - now) * pace };
                now = *at;
                next += 1;
            }
            None => {
                let Some(Reverse(At(at, who))) = running.pop() else { break };
                (now, done) = (end.unwrap_or(now), at);
                ends[who] = now;
            }
        }
        while running.len() < cap && waiting < next {
            running.push(Reverse(At(done + works[waiting], waiting)));
            waiting += 1;
        }
    }
    ends
}
