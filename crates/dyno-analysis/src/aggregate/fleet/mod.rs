//! Several load generators: each is judged as the one client of a run is, by its own records and its own
//! health, and by how its clock and its start fit those of the others. How the load was shared is in
//! `shares`, and which of them stands for many with the same finding in `worst`.

mod shares;
mod start;
mod worst;

use super::client::{client, exact_lag};
use super::concurrency::Flight;
use super::gather::Gathered;
use super::judge::{Arrived, clock_stepped, delays, out_of_limits, verdict};
use super::overload::nothing_completed;
use super::running_level::{LevelTerms, RunningLevel};
use super::trust;
use dyno_model::fleet::{AgentEnd, merged_health};
use dyno_model::metric::{PerTime, Time};
use dyno_model::outcome::Outcome;
use dyno_model::plan::{LevelPlan, Load};
use dyno_model::record::RequestRecord;
use dyno_model::summary::{AgentClock, AgentSummary, Concurrency, round6};
use dyno_model::units::to_ms;
use dyno_model::{Diagnostic, Severity};
use dyno_words::FleetFinding;
use dyno_words::escape::escape;
use shares::SlotTime;
use std::collections::BTreeMap;
use worst::{Facts, Found, of_level};

/// The longest name of an agent or of its machine.
const LONGEST_NAME: usize = 80;
/// The longest reason why one was lost.
const LONGEST_REASON: usize = 300;
/// The instrument ranges of an agent with fewer completed requests say nothing about the level, whose own
/// ranges include them.
const ENOUGH_COMPLETED: u64 = 20;
/// So many requests must have failed, with none completed, for the agent to be the one that cannot reach
/// the server.
const ENOUGH_FAILED: u64 = 10;

/// The agents of a level between the two readings.
pub(super) struct Fleet {
    ends: Vec<AgentEnd>,
    parts: BTreeMap<u32, Part>,
    capped: bool,
}

/// The records of one agent.
#[derive(Default)]
struct Part {
    running: RunningLevel,
    sent: u64,
    unsent: u64,
    warmup_records: u64,
    turns: bool,
    send_lag: Vec<u64>,
    connect: Vec<u64>,
    flight: Flight,
    slot_time: SlotTime,
}

/// An agent's part of a closed loop: slot i belongs to agent i mod n.
fn slots(concurrency: u32, agent: u32, agents: u32) -> u32 {
    (concurrency + agents.saturating_sub(1 + agent)) / agents.max(1)
}

impl Fleet {
    /// Nothing where one client sent everything. Makes one client of the agents, too, for what is shown
    /// of the level as a whole.
    pub(super) fn new(plan: &LevelPlan, gathered: &mut Gathered) -> Option<Self> {
        let end = gathered.end.as_mut().filter(|end| !end.agents.is_empty())?;
        end.client = merged_health(end.agents.iter().map(|agent| &agent.client));
        let ends = end.agents.clone();
        let stopped = ends.iter().filter_map(|agent| agent.sending_stopped).min();
        let window = gathered.span.first_sent.zip(stopped.or(Some(end.sending_stopped)));
        let count = ends.len() as u32;
        let part = |agent: &AgentEnd| {
            let load = match plan.load {
                Load::Concurrency { concurrency } => {
                    Load::Concurrency { concurrency: slots(concurrency, agent.agent, count) }
                }
                load => load,
            };
            // The capacity of a twin is that of the whole.
            let level = LevelPlan { load, capacity: None, ..plan.clone() };
            let terms = LevelTerms { level: Some(level.into()), ..LevelTerms::default() };
            let started = gathered.agents_started.get(&agent.agent).copied();
            let running = RunningLevel::new(terms).since(started.unwrap_or_default());
            let slot_time = SlotTime::within(window);
            (agent.agent, Part { running, slot_time, ..Part::default() })
        };
        let parts = ends.iter().map(part).collect();
        Some(Self { ends, parts, capped: plan.max_concurrency.is_some() })
    }

    /// Second reading.
    pub(super) fn add(&mut self, record: &RequestRecord) {
        let part = record.agent.and_then(|agent| self.parts.get_mut(&agent));
        if let Some(part) = part {
            part.add(record, self.capped);
        }
    }

    /// The agents, and the findings about them that count for their level, each with a name.
    pub(super) fn finish(
        self,
        plan: &LevelPlan,
        level: &Gathered,
        medians: &PerTime<Option<f64>>,
    ) -> (Vec<AgentSummary>, Vec<Diagnostic>) {
        let Self { ends, mut parts, .. } = self;
        let expected = shares::expected(plan.load, &ends);
        let turns = parts.values().any(|part| part.turns);
        let slot_times: Vec<SlotTime> = ends
            .iter()
            .map(|end| parts.get(&end.agent).map(|part| part.slot_time).unwrap_or_default())
            .collect();
        let uneven = match turns {
            true => vec![None; ends.len()],
            false => shares::uneven(plan.load, &ends, &expected, &slot_times),
        };
        let median = medians[Time::Ttft].or(medians[Time::Latency]);
        let limit = start::limit_ns(plan.load, median);
        let issued: u64 = ends.iter().map(|end| end.issued).sum();
        let completed = level.counts.completed;
        let mut agents = Vec::new();
        let mut counting = Vec::new();
        for ((end, expected), uneven) in ends.iter().zip(expected).zip(uneven) {
            let mut part = parts.remove(&end.agent).unwrap_or_default();
            let send_lag = exact_lag(std::mem::take(&mut part.send_lag));
            let connect = exact_lag(std::mem::take(&mut part.connect));
            let own = part.running.level();
            let client = client(send_lag, connect, Some(&end.client));
            let mut findings: Vec<Diagnostic> = Vec::new();
            if let Some(why) = &end.lost {
                findings.push(
                    FleetFinding::AgentLost.with([why.map(|why| escape(why, LONGEST_REASON))]),
                );
            } else {
                findings.extend(start::findings(end, limit));
                findings.extend(
                    part.arrived(end).map(|arrived| arrived.findings()).unwrap_or_default(),
                );
                let load = part.running.load().unwrap_or(plan.load);
                let imprecise = trust::findings(&own, load);
                let precise = imprecise.is_empty();
                findings.extend(imprecise);
                findings.extend(trust::spread(plan.load, send_lag, medians[Time::Latency]));
                findings.extend(uneven);
                let counts = part.running.counts();
                if counts.completed == 0 && counts.bad() >= ENOUGH_FAILED && completed > 0 {
                    findings.push(nothing_completed(counts));
                }
                findings.extend(delays(&client, medians));
                findings.extend(out_of_limits(&end.client));
                findings.extend(clock_stepped(&end.client));
                findings.extend(trust::notes(&end.client, precise));
            }
            findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
            let few = part.running.counts().completed < ENOUGH_COMPLETED;
            let counts = findings.iter().filter(|finding| counts_for_level(finding, few));
            let name = escape(&end.name, LONGEST_NAME);
            let facts = Facts { load: plan.load, end, part: &part, own: &own, client: &client };
            counting.extend(counts.map(|finding| Found {
                agent: name.clone(),
                weight: facts.weight(finding),
                said: finding.clone(),
            }));
            let share = (issued > 0).then(|| round6(end.issued as f64 / issued as f64));
            let flight = part.in_flight(level);
            agents.push(AgentSummary {
                name,
                share,
                expected_share: expected.map(round6),
                client,
                effective_concurrency: own.instrument.and_then(|of| of.effective_concurrency),
                in_flight_mean: flight.map(|flight| flight.mean),
                in_flight_peak: flight.map(|flight| flight.peak),
                ..part.summary(end, findings)
            });
        }
        (agents, of_level(counting))
    }
}

/// Whether a finding about an agent is one about its level. The level's own instrument ranges include
/// those of every agent, so that an agent's own count only where it measured nothing well.
fn counts_for_level(finding: &Diagnostic, few: bool) -> bool {
    finding.code != "instrument_range" || finding.is_error() && !few
}

impl Part {
    fn add(&mut self, record: &RequestRecord, capped: bool) {
        self.running.add(record);
        self.slot_time.add(record);
        if let Some(sent) = record.sent {
            self.flight.add(sent, record.end);
        }
        if !record.phase.is_measured() {
            self.warmup_records += 1;
            return;
        }
        self.sent += u64::from(record.sent.is_some());
        self.turns |= record.turn.is_some();
        self.unsent += u64::from(match record.outcome {
            Outcome::Dropped(_) => !record.outcome.is_overflow(),
            // Those that waited for a slot did so by the user's wish.
            Outcome::Censored if capped => record.dispatched.is_none() && record.admitted.is_some(),
            Outcome::Censored => record.dispatched.is_none(),
            _ => false,
        });
        if let Some(dispatched) = record.dispatched {
            self.send_lag.push(dispatched.saturating_sub(record.sendable()));
            if let Some(connected) = record.connected.filter(|_| !record.reused) {
                self.connect.push(connected.saturating_sub(dispatched));
            }
        }
    }

    /// What it says it issued, and the records of it.
    fn arrived(&self, end: &AgentEnd) -> Option<Arrived> {
        let counts = self.running.counts();
        Some(Arrived {
            ending: end.ending?,
            planned: end.planned,
            issued: end.issued,
            warmup: end.warmup,
            records: counts.records(),
            warmup_records: self.warmup_records,
            unsent: self.unsent,
            behind_ns: end.client.behind_ns,
        })
    }

    /// Its requests in flight over the measured time of its level.
    fn in_flight(&mut self, level: &Gathered) -> Option<Concurrency> {
        let (from, to) = level.span.first_sent.zip(level.span.last_in_flight)?;
        self.flight.sort();
        self.flight.over(from, to)
    }

    fn summary(&self, end: &AgentEnd, findings: Vec<Diagnostic>) -> AgentSummary {
        let counts = self.running.counts();
        let ttft = self.running.ttft();
        let verdict = verdict(&findings);
        let (notes, reasons) =
            findings.into_iter().partition(|finding| finding.severity == Some(Severity::Note));
        AgentSummary {
            agent: end.agent,
            host: escape(&end.host, LONGEST_NAME),
            verdict,
            reasons,
            notes,
            lost: end.lost.as_ref().map(|why| escape(&why.to_string(), LONGEST_REASON)),
            ending: end.ending,
            sent: self.sent,
            completed: counts.completed,
            failed: counts.failed_or_unconfirmed(),
            shed: counts.shed,
            ttft_p50_ms: ttft.p50.map(round6),
            ttft_p99_ms: ttft.p99.map(round6),
            clock: end.clock.map(|clock| AgentClock {
                offset_ns: clock.offset_ns,
                bound_ms: round6(to_ms(clock.bound_ns)),
                drift_ppm: round6(clock.drift_ppb as f64 / 1e3),
                round_trip_ms: round6(to_ms(clock.round_trip_ns)),
            }),
            start_error_ms: end.start_error_ns.map(|ns| round6(ns as f64 / 1e6)),
            beats: end.beats,
            longest_silence_ms: round6(to_ms(end.longest_silence_ns)),
            ..AgentSummary::default()
        }
    }
}
