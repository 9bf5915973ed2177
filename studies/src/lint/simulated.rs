//! Simulated runs: arrivals, a server of a few slots with a queue, and what became of each request. The
//! more slots are busy, the longer a token takes.

use super::random::Random;
use std::collections::BinaryHeap;

/// How requests are offered.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Load {
    /// Poisson arrivals per second.
    Rate(f64),
    /// A closed loop.
    Concurrency(u32),
    /// All at once.
    Burst,
}

/// A request as its client saw it; times in seconds.
#[derive(Debug, Clone, Default)]
pub(super) struct Request {
    pub(super) sent: f64,
    pub(super) end: f64,
    pub(super) ttft: f64,
    pub(super) input: u32,
    pub(super) output: u32,
    /// Between output events.
    pub(super) gaps: Vec<f64>,
    pub(super) failed: bool,
}

impl Request {
    pub(super) fn latency(&self) -> f64 {
        self.end - self.sent
    }
}

/// Lengths in tokens: the median, and the deviation of its logarithm.
#[derive(Debug, Clone, Copy)]
struct Lengths(f64, f64);

impl Lengths {
    fn draw(self, random: &mut Random) -> u32 {
        (self.0 * random.lognormal(self.1)).round().clamp(1.0, 20_000.0) as u32
    }
}

/// A server and what is asked of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Setting {
    input: Lengths,
    output: Lengths,
    /// Requests that are served at the same time.
    slots: usize,
    prefill_s: f64,
    per_input_s: f64,
    per_token_s: f64,
    /// Output tokens in an event, at most.
    per_event: u32,
    failing: f64,
    /// What a response waits after its first token, on average: prompts of others come first.
    stall_s: f64,
    /// The share of responses that take twenty times as long.
    stragglers: f64,
    /// Arrivals in groups: the shape of the gamma distribution between them, as vLLM states it.
    pub(super) burstiness: f64,
    pub(super) requests: usize,
}

impl Setting {
    /// One of many; some of them let requests fail.
    pub(super) fn draw(random: &mut Random, may_fail: bool) -> Self {
        let requests = random.scale(50.0, 2_000.0) as usize;
        let varied = random.one_of(&[0.0, 0.0, 0.3, 0.7, 1.0]);
        // Long runs of long responses would only take longer.
        let longest = if requests > 500 { 150.0 } else { 500.0 };
        Self {
            input: Lengths(random.scale(32.0, 4_000.0), random.one_of(&[0.0, 0.3, 1.0])),
            output: Lengths(random.scale(16.0, longest).round(), varied),
            slots: random.scale(4.0, 256.0) as usize,
            prefill_s: random.scale(0.01, 0.1),
            per_input_s: random.scale(1e-5, 3e-4),
            per_token_s: random.scale(0.004, 0.06),
            per_event: random.one_of(&[1, 1, 1, 2, 5]),
            failing: if may_fail && random.chance(0.3) { random.scale(0.002, 0.2) } else { 0.0 },
            stall_s: random.one_of(&[0.0, 0.0, 0.05, 0.5]),
            stragglers: random.one_of(&[0.0, 0.0, 0.0, 0.002]),
            burstiness: 1.0,
            requests,
        }
    }

    /// Requests per second that it can serve, about.
    pub(super) fn capacity(&self) -> f64 {
        let mean = |lengths: Lengths| lengths.0 * (lengths.1 * lengths.1 / 2.0).exp();
        let prefill = self.prefill_s + self.per_input_s * mean(self.input);
        self.slots as f64 / (prefill + 1.5 * self.per_token_s * mean(self.output))
    }

    /// The requested output length, where all are the same.
    pub(super) fn output_length(&self) -> Option<u32> {
        (self.output.1 == 0.0).then_some(self.output.0 as u32)
    }

    /// All responses of the same length.
    pub(super) fn fix_output(&mut self) {
        self.output.1 = 0.0;
    }

    fn serve(&self, random: &mut Random, sent: f64, starts: f64, busy: f64) -> Request {
        let (input, output) = (self.input.draw(random), self.output.draw(random));
        let prefill = self.prefill_s + self.per_input_s * f64::from(input);
        let ttft = starts - sent + prefill * random.lognormal(0.2);
        let request = Request { sent, ttft, input, output, ..Request::default() };
        if random.chance(self.failing) {
            return Request { failed: true, end: starts + random.scale(0.01, 5.0), ..request };
        }
        let straggles = if random.chance(self.stragglers) { 20.0 } else { 1.0 };
        let speed = self.per_token_s * (1.0 + busy) * random.lognormal(0.08) * straggles;
        let (mut gaps, mut left) = (Vec::new(), output - 1);
        while left > 0 {
            let most = f64::from(2 * self.per_event - 1);
            let tokens = (random.between(1.0, most + 1.0) as u32).clamp(1, left);
            gaps.push(speed * f64::from(tokens) * random.lognormal(0.15));
            left -= tokens;
        }
        if let Some(first) = gaps.first_mut() {
            *first += self.stall_s * random.exponential();
        }
        let end = sent + ttft + gaps.iter().sum::<f64>();
        Request { end, gaps, ..request }
    }
}

/// A time in a heap whose earliest comes first.
#[derive(PartialEq)]
struct At(f64);

impl Eq for At {}

impl PartialOrd for At {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for At {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        other.0.total_cmp(&self.0)
    }
}

/// Runs a load, in the order of sending.
pub(super) fn run(setting: &Setting, load: Load, random: &mut Random) -> Vec<Request> {
    let mut free: BinaryHeap<At> = (0..setting.slots).map(|_| At(0.0)).collect();
    let users = match load {
        Load::Concurrency(users) => users as usize,
        _ => 0,
    };
    let mut ready: BinaryHeap<At> = (0..users).map(|_| At(0.0)).collect();
    let overhead = random.between(0.0, 0.003);
    let (mut sent, mut all) = (0.0, Vec::new());
    for index in 0..setting.requests {
        sent = match load {
            Load::Rate(rate) if index > 0 => sent + random.gap(setting.burstiness) / rate,
            Load::Rate(_) | Load::Burst => sent,
            Load::Concurrency(_) => ready.pop().map_or(sent, |at| at.0),
        };
        let starts = free.pop().map_or(sent, |at| at.0).max(sent);
        let busy = free.iter().filter(|at| at.0 > starts).count() as f64 / setting.slots as f64;
        let request = setting.serve(random, sent, starts, busy);
        free.push(At(request.end));
        ready.push(At(request.end + overhead));
        all.push(request);
    }
    all
}
