//! How often the rules about several load generators are right: healthy and sick fleets, simulated with
//! seeds that were not used to choose the limits. A part of the table of docs/metrics.md is checked always;
//! `FLEETS=5 cargo test -p dyno-analysis fleet_table -- --nocapture` prints all of it, with five seeds.
#![allow(clippy::unwrap_used)]

use dyno_model::fleet::AgentEnd;
use dyno_model::frame::Ending;
use dyno_model::plan::{Arrival, Load};
use dyno_model::record::{RequestRecord, Widths};
use dyno_model::summary::LevelSummary;
use dyno_model::{MS, SEC};
use dyno_stats::rng::SplitMix;
use dyno_testing::agents::*;
use dyno_testing::runs::*;

const SECONDS: u64 = 10;
const FIRST_SEED: u64 = 180_000;
/// Findings that a fleet can cause.
const CODES: [&str; 6] = [
    "agent_lost",
    "start_skew",
    "clock_unsure",
    "shares_uneven",
    "instrument_range",
    "effective_concurrency",
];

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Even,
    Poisson,
    Closed,
}

/// What is wrong with the second agent.
#[derive(Clone, Copy, Debug)]
enum Sick {
    Nothing,
    /// It starts so many milliseconds late.
    Late(f64),
    /// Its clock is known to so many milliseconds.
    Clock(f64),
    Lost,
    /// It is stalled for three tenths of the time, for so many milliseconds at once.
    Stalls(u64),
    /// It sends, or keeps in flight, only this share of its part.
    Less(f64),
    /// Responses take so many times as long for it: no fault of its own.
    FarAway(f64),
}

struct Made {
    kind: Kind,
    agents: u32,
    ttft_ms: f64,
    sick: Sick,
    rng: SplitMix,
}

impl Made {
    fn normal(&mut self) -> f64 {
        let (a, b) = (self.rng.unit(), self.rng.unit());
        (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
    }

    /// A request of an agent that is sent at this time, and when it ended, in milliseconds.
    fn request(&mut self, agent: u32, slot: u32, index: u64, at: f64) -> (RequestRecord, f64) {
        let sick = agent == 1;
        let far = match self.sick {
            Sick::FarAway(factor) if sick => factor,
            _ => 1.0,
        };
        let ttft = (self.ttft_ms * (0.3 * self.normal()).exp() * far).max(1.0);
        let mut record = stream(index, slot, at as u64, ttft as u64, (8.0 * far) as u64, 5);
        record.agent = Some(agent);
        let mut widths = Widths { first: 50_000, last: 50_000, end: 50_000, ..Widths::default() };
        if let (Sick::Stalls(ms), true) = (self.sick, sick) {
            let mut stalled = || match self.rng.unit() < 0.3 {
                true => (self.rng.unit() * (ms * MS) as f64) as u64,
                false => 50_000,
            };
            (widths.first, widths.last) = (stalled(), stalled());
            (widths.end, widths.intended) =
                (widths.last, if self.kind == Kind::Closed { stalled() } else { 0 });
        }
        record.widths = Some(widths);
        let end = record.end as f64 / MS as f64;
        (record, end)
    }

    fn open(&mut self) -> Vec<RequestRecord> {
        let rate = 4.0 * f64::from(self.agents);
        let (mut at, mut index, mut records) = (0.0, 0, Vec::new());
        loop {
            at += match self.kind {
                Kind::Poisson => -self.rng.unit().ln() * 1e3 / rate,
                _ => 1e3 / rate,
            };
            if at >= (SECONDS * 1000) as f64 {
                return records;
            }
            let agent = match self.kind {
                Kind::Poisson => self.rng.below(self.agents as usize) as u32,
                _ => (index % u64::from(self.agents)) as u32,
            };
            let left_out =
                matches!(self.sick, Sick::Less(share) if agent == 1 && self.rng.unit() > share);
            if !left_out {
                records.push(self.request(agent, 0, index, at).0);
            }
            index += 1;
        }
    }

    fn closed(&mut self) -> Vec<RequestRecord> {
        let mut records = Vec::new();
        for slot in 0..4 * self.agents {
            let agent = slot % self.agents;
            let last = match self.sick {
                Sick::Less(share) if agent == 1 => share * (SECONDS * 1000) as f64,
                _ => (SECONDS * 1000) as f64,
            };
            let mut at = 0.0;
            while at < last {
                let (record, end) = self.request(agent, slot, records.len() as u64, at);
                records.push(record);
                at = end;
            }
        }
        records
    }

    fn end(&mut self, agent: u32, records: &[RequestRecord], on_bus: bool) -> AgentEnd {
        let scale = if on_bus { 0.25 } else { 0.03 };
        let (error, bound) = (scale * self.normal(), scale * (0.3 + self.rng.unit()));
        let mut end = agent_end(agent, records);
        (end.ending, end.planned) = (Some(Ending::Duration), None);
        end.sending_stopped = Some(SECONDS * SEC);
        let late = match self.sick {
            Sick::Late(ms) if agent == 1 => ms,
            _ => 0.0,
        };
        end.start_error_ns = Some(((error + late) * MS as f64) as i64);
        let bound = match self.sick {
            Sick::Clock(ms) if agent == 1 => ms,
            _ => bound,
        };
        end.clock.as_mut().unwrap().bound_ns = (bound * MS as f64) as u64;
        if let (Sick::Lost, 1) = (self.sick, agent) {
            end = AgentEnd {
                lost: Some(dyno_model::Message::quoted("gone")),
                ..AgentEnd::new(1, "local-1", "b")
            };
        }
        end
    }

    fn level(mut self, on_bus: bool) -> LevelSummary {
        let load = match self.kind {
            Kind::Closed => Load::Concurrency { concurrency: 4 * self.agents },
            kind => Load::Rate {
                rate: 4.0 * f64::from(self.agents),
                arrival: if kind == Kind::Even { Arrival::Constant } else { Arrival::Poisson },
            },
        };
        let records = if self.kind == Kind::Closed { self.closed() } else { self.open() };
        let agents: Vec<AgentEnd> =
            (0..self.agents).map(|agent| self.end(agent, &records, on_bus)).collect();
        let mut level = level_plan("simulated", load, None);
        level.duration_ns = Some(SECONDS * SEC);
        let lost = matches!(self.sick, Sick::Lost);
        let summary = summary_with(&plan(vec![level]), records, |end| {
            end.ending = if lost { Ending::AgentLost } else { Ending::Duration };
            (end.planned, end.sending_stopped) = (None, SECONDS * SEC);
            end.agents = agents;
        });
        summary.levels.into_iter().next().unwrap()
    }
}

/// Of so many levels: found, with the right name, and with a wrong one.
#[derive(Default, Clone, Copy)]
struct Tally {
    levels: u32,
    found: u32,
    named: u32,
    wrong: u32,
}

/// Sizes of fleets, and seeds of each.
fn extent() -> (&'static [u32], u64) {
    match std::env::var("FLEETS").ok().and_then(|seeds| seeds.parse().ok()) {
        Some(seeds) => (&[2, 4, 8, 32], seeds),
        None => (&[4], 1),
    }
}

fn tally(kind: Kind, ttft_ms: f64, sick: Sick) -> Tally {
    let mut tally = Tally::default();
    let (sizes, seeds) = extent();
    for agents in sizes.iter().copied() {
        for (seed, on_bus) in (0..seeds).flat_map(|seed| [(seed, false), (seed, true)]) {
            let mix = (u64::from(agents) << 20) | ((ttft_ms as u64) << 8) | ((kind as u64) << 4);
            let rng = SplitMix::new((FIRST_SEED + seed) ^ (mix << 20));
            let level = Made { kind, agents, ttft_ms, sick, rng }.level(on_bus);
            let found = level.reasons.iter().filter(|reason| CODES.contains(&&*reason.code));
            let texts: Vec<&str> = found.map(|reason| &*reason.what).collect();
            tally.levels += 1;
            tally.found += u32::from(!texts.is_empty());
            tally.named += u32::from(texts.iter().any(|text| text.starts_with("agent local-1: ")));
            let others = texts
                .iter()
                .any(|text| text.starts_with("agent ") && !text.starts_with("agent local-1: "));
            tally.wrong += u32::from(others);
        }
    }
    tally
}

fn row(name: &str, sick: Sick) -> [Tally; 9] {
    let loads = [Kind::Even, Kind::Poisson, Kind::Closed];
    let mut all = [Tally::default(); 9];
    for (at, cell) in all.iter_mut().enumerate() {
        *cell = tally(loads[at / 3], [40.0, 200.0, 1000.0][at % 3], sick);
    }
    let cells = all.map(|t| match t.wrong {
        0 => format!("{}/{}", t.found, t.named),
        wrong => format!("{}/{} ({wrong} wrong)", t.found, t.named),
    });
    println!("| {name} | {} |", cells.join(" | "));
    all
}

#[test]
fn healthy_fleets_are_not_accused_and_sick_ones_are_found_and_named() {
    let (sizes, seeds) = extent();
    let levels = 2 * seeds * sizes.len() as u64;
    println!("found/named of {levels} levels; TTFT 40, 200, 1000 ms");
    println!("| fleet | even | | | Poisson | | | closed | | |");
    let all = |row: [Tally; 9], of: fn(&Tally) -> bool| row.iter().all(of);
    let none = |t: &Tally| t.found == 0;
    let every = |t: &Tally| t.named == t.levels && t.wrong == 0;
    let healthy = [("healthy", Sick::Nothing), ("healthy, one agent far away", Sick::FarAway(2.0))];
    for (name, sick) in healthy {
        assert!(all(row(name, sick), none), "{name}");
    }
    row("starts 1 ms late", Sick::Late(1.0));
    row("starts 5.5 ms late", Sick::Late(5.5));
    row("starts 25 ms late", Sick::Late(25.0));
    assert!(all(row("starts 110 ms late", Sick::Late(110.0)), every));
    row("clock ± 1 ms", Sick::Clock(1.0));
    row("clock ± 6 ms", Sick::Clock(6.0));
    assert!(all(row("clock ± 110 ms", Sick::Clock(110.0)), every));
    assert!(all(row("lost", Sick::Lost), every));
    row("stalls of 20 ms", Sick::Stalls(20));
    row("stalls of 100 ms", Sick::Stalls(100));
    row("stalls of 500 ms", Sick::Stalls(500));
    row("93 % of its part", Sick::Less(0.93));
    row("70 % of its part", Sick::Less(0.7));
    assert!(all(row("20 % of its part", Sick::Less(0.2)), every));
}
