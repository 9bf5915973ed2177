//! One run of a twin, and what a report would say of it.

use crate::support::served::{Load, Seen, Traffic};
use dyno_engine::core::{Core, Cost};
use dyno_engine::twin::Twin;
use dyno_model::Nanos;
use dyno_model::units::to_s;
use dyno_stats::compare::{Better, Loop, OneRunFigure, between_runs};
use dyno_stats::{BlockTable, Counted, MIN_BLOCKS, WatchedStatistic};

const INPUT: [u32; 2] = [128, 384];
const OUTPUT: u32 = 128;
/// As reports do: at most so many blocks, of at least two median latencies.
const MOST_BLOCKS: Nanos = 40;

/// How many metrics of a run are compared.
pub(crate) const FIGURES: usize = 4;
pub(crate) const BETTER: [Better; FIGURES] =
    [Better::Higher, Better::Lower, Better::Lower, Better::Lower];
const STATISTICS: [WatchedStatistic; FIGURES] =
    [WatchedStatistic::Mean, WatchedStatistic::Mean, WatchedStatistic::P99, WatchedStatistic::Mean];

/// The metrics of a run; no throughput in an open loop.
pub(crate) type Run = [Option<OneRunFigure>; FIGURES];

/// A twin whose steps can be slowed down.
pub(crate) struct Bench {
    pub(crate) twin: Twin,
    pub(crate) load: Load,
    pub(crate) requests: usize,
}

impl Bench {
    /// What may be assumed of how a metric differs between runs.
    pub(crate) fn assumed(&self, figure: usize) -> Option<f64> {
        let kind = match self.load {
            Load::InFlight(_) => Loop::Closed,
            Load::Rate(_) => Loop::Open,
        };
        between_runs(kind, STATISTICS[figure])
    }

    /// Runs the twin with steps that take `factor` times as long. Intervals take longer than the
    /// run itself.
    pub(crate) fn run(&self, factor: f64, seed: u64, intervals: bool) -> Run {
        let cost = slowed(self.twin.cost, factor);
        let core = Core::new(self.twin.scheduler, cost, seed).expect("a valid twin");
        let warmup = self.requests / 10;
        let requests = self.requests + warmup;
        let traffic = Traffic { load: self.load, requests, input: INPUT, output: OUTPUT };
        let seen = traffic.served(core, seed);
        let mut run = figures(&seen, &seen[warmup..], intervals);
        if matches!(self.load, Load::Rate(_)) {
            // What completes is what was sent: it says nothing of the server.
            run[0] = None;
        }
        run
    }
}

/// The time of a step, not that before the queue, which is none of the engine's.
fn slowed(mut cost: Cost, factor: f64) -> Cost {
    let steps = [
        &mut cost.base,
        &mut cost.prefill_token,
        &mut cost.attention,
        &mut cost.decode,
        &mut cost.kv,
        &mut cost.prefill_base,
    ];
    steps.into_iter().for_each(|coefficient| *coefficient *= factor);
    if let Some(knee) = &mut cost.knee {
        knee.decode *= factor;
        knee.jump *= factor;
    }
    if let Some(rise) = &mut cost.rise {
        rise.time *= factor;
    }
    cost
}

fn figures(all: &[Seen], measured: &[Seen], intervals: bool) -> Run {
    let blocks = intervals.then(|| Blocks::new(measured)).flatten();
    let described = |of: fn(&Seen) -> Nanos| Described::new(measured, of, blocks);
    let latency = described(Seen::latency).mean;
    let throughput = OneRunFigure::by_latency(throughput(all, measured), latency);
    let tpot = described(|seen| (seen.tpot() * 1e9) as Nanos).mean;
    [throughput, latency, described(Seen::ttft).p99, tpot].map(Some)
}

/// Completed requests a second while all slots were busy.
fn throughput(all: &[Seen], measured: &[Seen]) -> f64 {
    let (from, to) = (measured[0].arrived, measured[measured.len() - 1].arrived);
    let completed = all.iter().filter(|seen| from < seen.ended && seen.ended <= to).count();
    completed as f64 / to_s(to - from)
}

#[derive(Clone, Copy)]
struct Blocks {
    from: Nanos,
    length: Nanos,
    count: usize,
}

impl Blocks {
    fn new(measured: &[Seen]) -> Option<Self> {
        let from = measured[0].arrived;
        let duration = measured.iter().map(|seen| seen.ended).max()? - from;
        let latencies = Counted::from_samples(measured.iter().map(Seen::latency).collect());
        let least = (2.0 * latencies.quantile(0.5)?).ceil() as Nanos;
        let length = duration.div_ceil(MOST_BLOCKS).max(least).max(1);
        let count = duration.div_ceil(length) as usize;
        (count >= MIN_BLOCKS).then_some(Self { from, length, count })
    }
}

struct Described {
    mean: OneRunFigure,
    p99: OneRunFigure,
}

impl Described {
    fn new(measured: &[Seen], of: fn(&Seen) -> Nanos, blocks: Option<Blocks>) -> Self {
        let counted = Counted::from_samples(measured.iter().map(of).collect());
        let intervals = blocks.and_then(|blocks| {
            let mut table = BlockTable::new(&counted, blocks.count)?;
            for seen in measured {
                table.add(((seen.arrived - blocks.from) / blocks.length) as usize, of(seen), 1);
            }
            table.intervals()
        });
        let figure = |value: Option<f64>, interval| OneRunFigure {
            value: value.expect("samples"),
            interval,
        };
        Self {
            mean: figure(counted.mean(), intervals.and_then(|found| found.mean)),
            p99: figure(counted.quantile(0.99), intervals.and_then(|found| found.p99)),
        }
    }
}
