//! Records of simulated engines whose steps are known, behind a front end that delays.

use dyno_engine::core::{Core, Cost, Event, Policy, Request, Scheduler, Step};
use dyno_engine::virtual_time::Virtual;
use dyno_model::outcome::Outcome;
use dyno_model::record::{Phase, RequestRecord, TokenCount, TokenSource};
use dyno_model::server::ServerSample;
use dyno_model::{MS, Nanos, SEC};
use dyno_stats::rng::SplitMix;
use std::collections::BTreeMap;

/// From the end of a response to the next request.
const THINKING: Nanos = MS;

/// An engine, its front end and the client.
#[derive(Debug, Clone)]
pub(super) struct Setup {
    pub(super) scheduler: Scheduler,
    pub(super) cost: Cost,
    pub(super) seed: u64,
    /// Mean time of the front end for a chunk. Half of it is constant, half exponential.
    pub(super) chunk: Nanos,
    /// The output of a step waits until the next one has been launched, if that prefills.
    pub(super) ahead: bool,
    pub(super) load: Load,
    pub(super) requests: usize,
    /// Shortest and longest prompt.
    pub(super) prompt: [u32; 2],
    /// Shortest and longest response.
    pub(super) output: [u32; 2],
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Load {
    Closed(usize),
    Poisson(f64),
}

/// The coefficients of a server like the one measured on an H200.
pub(super) fn cost() -> Cost {
    Cost {
        base: 4.4e-3,
        prefill_token: 20e-6,
        decode: 12e-6,
        kv: 15e-9,
        prefill_base: 2e-3,
        noise: 0.04,
        ..Cost::default()
    }
}

impl Setup {
    pub(super) fn new(load: Load, requests: usize) -> Self {
        let scheduler = Scheduler {
            policy: Policy::Chunked,
            max_seqs: 256,
            token_budget: 8192,
            block: 16,
            kv_blocks: 1_000_000,
            prefix_cache: false,
            context: None,
            steps_ahead: 0,
        };
        let (seed, chunk) = (1, 50_000);
        let (prompt, output) = ([512; 2], [128; 2]);
        Self { scheduler, cost: cost(), seed, chunk, ahead: false, load, requests, prompt, output }
    }

    pub(super) fn run(&self) -> Run {
        let mut draws = SplitMix::new(self.seed);
        let lengths: Vec<[u32; 2]> = (0..self.requests)
            .map(|_| {
                [self.prompt, self.output].map(|[low, high]| low + below(&mut draws, high - low))
            })
            .collect();
        let mut engine = Virtual::new(Core::new(self.scheduler, self.cost, self.seed).unwrap());
        engine.keep_times(true);
        engine.keep_steps(true);
        let mut sent: Vec<Nanos> = Vec::new();
        let submit = |engine: &mut Virtual, sent: &mut Vec<Nanos>, at: Nanos| {
            let Some([input, output]) = lengths.get(sent.len()).copied() else { return };
            let request = Request { id: sent.len() as u64, input, output, hashes: &[] };
            engine.submit(at, request).unwrap();
            sent.push(at);
        };
        match self.load {
            // Not all at once: the first ones are spread over a while.
            Load::Closed(slots) => {
                (0..slots).for_each(|slot| submit(&mut engine, &mut sent, slot as u64 * 7 * MS))
            }
            Load::Poisson(rate) => {
                let mut at = 0.0;
                for _ in 0..self.requests {
                    at -= draws.unit().ln() / rate;
                    submit(&mut engine, &mut sent, (at * 1e9) as Nanos);
                }
            }
        }
        let mut times: Vec<Vec<Nanos>> = vec![Vec::new(); self.requests];
        while let Some(event) = engine.advance(Nanos::MAX) {
            let Event::Finished { id, at } = event else { continue };
            assert!(engine.token_times(id, &mut times[id as usize]));
            if let Load::Closed(_) = self.load {
                submit(&mut engine, &mut sent, at + THINKING);
            }
        }
        let steps = engine.steps().to_vec();
        let arrived = self.front_end(&times, &self.shown(&steps), &mut draws);
        let records = (0..self.requests).map(|id| record(id, sent[id], lengths[id], &arrived[id]));
        let records: Vec<RequestRecord> = records.collect();
        let firsts = times.iter().map(|times| times[0]).collect();
        let samples = samples(&sent, &times);
        Run { records, samples, steps, firsts }
    }

    /// When the engine passes on the output of each step, by the end of the step.
    fn shown(&self, steps: &[Step]) -> BTreeMap<Nanos, Nanos> {
        let mut shown: BTreeMap<Nanos, Nanos> =
            steps.iter().map(|step| (step.end, step.end)).collect();
        for pair in steps.windows(2).filter(|pair| self.ahead && pair[1].prefills > 0) {
            let launched = pair[1].start + (pair[1].end - pair[1].start) * 8 / 10;
            shown.insert(pair[0].end, launched.max(pair[0].end));
        }
        shown
    }

    /// When each token reaches the client: one after another, in the order of requests.
    fn front_end(
        &self,
        times: &[Vec<Nanos>],
        shown: &BTreeMap<Nanos, Nanos>,
        draws: &mut SplitMix,
    ) -> Vec<Vec<Nanos>> {
        let mut tokens: Vec<(Nanos, usize, usize)> = Vec::new();
        for (id, times) in times.iter().enumerate() {
            tokens.extend(times.iter().enumerate().map(|(token, at)| (shown[at], id, token)));
        }
        tokens.sort_unstable();
        let mut arrived: Vec<Vec<Nanos>> = times.to_vec();
        let mut free = 0;
        for (at, id, token) in tokens {
            let half = 0.5 * self.chunk as f64;
            free = at.max(free) + (half - half * draws.unit().ln()) as Nanos;
            arrived[id][token] = free;
        }
        arrived
    }
}

fn below(draws: &mut SplitMix, bound: u32) -> u32 {
    draws.below(bound as usize + 1) as u32
}

fn record(id: usize, sent: Nanos, [input, output]: [u32; 2], arrived: &[Nanos]) -> RequestRecord {
    let usage = |tokens| TokenCount { tokens: u64::from(tokens), source: TokenSource::Usage };
    let mut record = RequestRecord::new(0, id as u64, 0, Phase::Measured, sent);
    record.outcome = Outcome::Completed;
    record.sent = Some(sent);
    (record.first, record.last) = (arrived.first().copied(), arrived.last().copied());
    record.end = record.last.unwrap_or(sent);
    record.chunk_tokens_known = true;
    (record.input, record.output) = (Some(usage(input)), Some(usage(output)));
    arrived.iter().for_each(|at| record.chunks.push(*at, false, 1));
    record
}

/// The server metrics, ten times a second.
fn samples(sent: &[Nanos], times: &[Vec<Nanos>]) -> Vec<ServerSample> {
    let last = times.iter().filter_map(|times| times.last()).max().copied().unwrap_or(0);
    let at_times = (1..).map(|tenth| tenth * SEC / 10).take_while(|at| *at < last);
    let sample = |at| {
        let spans = sent.iter().zip(times).map(|(sent, times)| (*sent, times[times.len() - 1]));
        let running = spans.filter(|(sent, end)| *sent <= at && at < *end).count() as u64;
        ServerSample { at, running: Some(running), waiting: Some(0), ..ServerSample::default() }
    };
    at_times.map(sample).collect()
}

/// What was recorded, and the truth.
pub(super) struct Run {
    pub(super) records: Vec<RequestRecord>,
    pub(super) samples: Vec<ServerSample>,
    /// The steps of the engine.
    pub(super) steps: Vec<Step>,
    /// When the engine produced the first token of each request.
    pub(super) firsts: Vec<Nanos>,
}
