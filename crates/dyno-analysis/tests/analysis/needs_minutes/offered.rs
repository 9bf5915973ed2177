//! What is said of an open loop that completes less than it offers, against engines in virtual time whose capacity is
//! known: `LEVELS=100 cargo test --release -p dyno-analysis offered -- --nocapture` prints the table of
//! docs/concepts/saturation.md.
#![allow(clippy::unwrap_used)]

use dyno_engine::core::{Event, Request};
use dyno_engine::twin::Twin;
use dyno_engine::virtual_time::Virtual;
use dyno_model::frame::Ending;
use dyno_model::outcome::Outcome;
use dyno_model::plan::{Arrival, Load};
use dyno_model::record::{Phase, RequestRecord};
use dyno_model::summary::LevelSummary;
use dyno_model::{Nanos, SEC};
use dyno_stats::rng::SplitMix;
use dyno_testing::runs::*;

/// Seeds that were not used to set the rule.
const FIRST_SEED: u64 = 910_000;
const LOADS: [f64; 6] = [0.5, 0.8, 0.9, 1.1, 1.2, 1.5];
const COUNTS: [u64; 5] = [60, 125, 250, 500, 1_000];
const ENGINES: [&str; 3] = ["generic-7b-24gb", "qwen2-7b-4xt4-vllm", "qwen2-72b-8xl20-sglang"];

/// Of each response.
const CHUNKS: u64 = 8;

/// An engine in virtual time, and requests for it.
struct Server {
    time: Virtual,
    lengths: SplitMix,
    records: Vec<RequestRecord>,
}

impl Server {
    fn new(engine: &str, seed: u64) -> Self {
        let (_, text) = Twin::shipped().iter().find(|(name, _)| *name == engine).unwrap();
        let core = Twin::parse(text, "twin").unwrap().core(seed).unwrap();
        let lengths = SplitMix::new(seed ^ 0x1e45);
        Self { time: Virtual::new(core), lengths, records: Vec::new() }
    }

    fn send(&mut self, at: Nanos) {
        self.until(at);
        let id = self.records.len() as u64;
        let (input, output) =
            (128 + self.lengths.below(256) as u32, 32 + self.lengths.below(192) as u32);
        self.time.submit(at, Request { id, input, output, hashes: &[] }).unwrap();
        let mut record = RequestRecord::new(0, id, 0, Phase::Measured, at);
        record.widths = Some(Default::default());
        (record.dispatched, record.sent) = (Some(at), Some(at));
        (record.input, record.output) = (usage(input.into()), usage(output.into()));
        self.records.push(record);
    }

    fn until(&mut self, time: Nanos) {
        while let Some(event) = self.time.advance(time) {
            match event {
                Event::First { id, at } => self.records[id as usize].first = Some(at),
                Event::Finished { id, at } => {
                    let record = &mut self.records[id as usize];
                    (record.last, record.end) = (Some(at), at);
                    (record.streamed, record.terminal) = (true, true);
                    record.outcome = Outcome::Completed;
                    let (first, tokens) = (record.first.unwrap(), record.output.unwrap().tokens);
                    // In a few chunks, which is quick and nearly as exact.
                    for n in 0..CHUNKS {
                        let time = first + (at - first) * n / (CHUNKS - 1);
                        let count = tokens * (n + 1) / CHUNKS - tokens * n / CHUNKS;
                        record.chunks.push(time, false, count as u32);
                    }
                }
            }
        }
    }
}

/// Requests per second of a server that always has a backlog.
fn capacity(engine: &str) -> f64 {
    const BACKLOG: usize = 4_000;
    let mut server = Server::new(engine, 1);
    (0..BACKLOG).for_each(|_| server.send(0));
    server.until(Nanos::MAX);
    let mut ends: Vec<Nanos> = server.records.iter().map(|record| record.end).collect();
    ends.sort_unstable();
    let [from, to] = [BACKLOG / 4, BACKLOG * 3 / 4];
    (to - from) as f64 * SEC as f64 / (ends[to] - ends[from]) as f64
}

/// A level of `count` random arrivals.
fn level(engine: &str, rate: f64, count: u64, seed: u64) -> LevelSummary {
    let mut server = Server::new(engine, seed);
    let mut rng = SplitMix::new(seed ^ 0x9a55);
    let time = count as f64 / rate;
    let mut due: Vec<Nanos> =
        (0..count).map(|_| (rng.unit() * time * SEC as f64) as Nanos).collect();
    due.sort_unstable();
    due.into_iter().for_each(|at| server.send(at));
    server.until(Nanos::MAX);
    let mut plan =
        plan(vec![level_plan("r", Load::Rate { rate, arrival: Arrival::Poisson }, None)]);
    plan.levels[0].duration_ns = Some((time * SEC as f64) as Nanos);
    summary_with(&plan, server.records, |end| end.ending = Ending::Duration).levels.remove(0)
}

/// In per cent of the levels: with a finding that counts for the verdict, with a note, with neither.
fn said(engine: &str, rate: f64, count: u64, seeds: std::ops::Range<u64>) -> [f64; 3] {
    let share = 100.0 / (seeds.end - seeds.start) as f64;
    let mut all = [0.0; 3];
    for seed in seeds {
        let level = level(engine, rate, count, seed);
        let (reasons, notes) = (codes(&level.reasons), codes(&level.notes));
        let kind = match (reasons.contains(&"no_steady_window"), notes.contains(&"behind_offered"))
        {
            (true, _) => 0,
            (false, true) => 1,
            (false, false) => 2,
        };
        all[kind] += share;
    }
    all
}

#[test]
fn an_overload_does_not_pass_without_a_word() {
    let levels: u64 = std::env::var("LEVELS").map_or(4, |levels| levels.parse().unwrap());
    let loads = LOADS.map(|load| format!("{:.0} %", 100.0 * load)).join(" | ");
    println!("| engine | arrivals | {loads} |\n| --- | --: |{}", " --: |".repeat(LOADS.len()));
    let (mut noted_below, mut silent_above, mut cells) = (0.0, 0.0, [0.0; 2]);
    for (number, engine) in (0..).zip(ENGINES) {
        let capacity = capacity(engine);
        for count in COUNTS {
            print!("| {engine} | {count} |");
            for load in LOADS {
                let first = FIRST_SEED + 10_000 * number + 1_000 * (load * 10.0) as u64 + count;
                let [found, noted, silent] =
                    said(engine, load * capacity, count, first..first + levels);
                print!(" {found:.0} / {noted:.0} / {silent:.0} |");
                if load < 0.9 {
                    (noted_below, cells[0]) = (noted_below + noted, cells[0] + 1.0);
                }
                if load > 1.1 {
                    (silent_above, cells[1]) = (silent_above + silent, cells[1] + 1.0);
                }
            }
            println!();
        }
    }
    let [noted, silent] = [noted_below / cells[0], silent_above / cells[1]];
    println!("noted below capacity: {noted:.1} %; silent from 120 % on: {silent:.1} %");
    assert!(noted < 5.0 && silent < 10.0, "{noted} {silent}");
}
