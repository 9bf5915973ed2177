//! A load sent to the true engine and recorded as a client would: with slow steps now and then, and each
//! chunk a little late.

use super::random::Draws;
use super::system::System;
use dyno_fit::steps::{LevelRecords, LevelSteps, level_steps};
use dyno_fit::{
    SentRequest, Shared, Trial, TrialChunk, TrialKind, TrialTime, rerun, sent_times, trial,
};
use dyno_model::Nanos;
use dyno_model::outcome::Outcome;
use dyno_model::plan::{Arrival, LevelPlan, Load};
use dyno_model::record::{Phase, RequestRecord, TokenCount, TokenSource};

/// Mean delay of a chunk, in nanoseconds.
const LATE: f64 = 25_000.0;
/// No chunk is later than this.
const LATEST: f64 = 300_000.0;
/// Steps between two slow ones, on average.
const SLOW_EVERY: f64 = 250.0;
/// A slow step has at most so many tokens more to prefill.
const SLOWEST: f64 = 400.0;

/// What was measured of a level.
pub(super) struct Measured {
    pub(super) trial: Trial,
    /// The steps, where the records show them.
    pub(super) steps: Option<LevelSteps>,
}

/// Sends a load to a system; nothing if the records cannot be used.
pub(super) fn measure(system: &System, load: &Trial, level: u64) -> Option<Measured> {
    recovered(load, &recorded(system, load, level)?)
}

/// The records of a load that is sent to a system.
pub(super) fn recorded(system: &System, load: &Trial, level: u64) -> Option<Vec<RequestRecord>> {
    let mut draws = Draws::new(system.seed, 100 + level);
    let count = load.requests.len();
    let late: Vec<Nanos> = (0..count).map(|_| lateness(&mut draws)).collect();
    let mut sent = load.clone();
    for request in &mut sent.requests {
        if let TrialTime::After { request, pause } = &mut request.when {
            *pause += late[*request];
        }
    }
    let lasts = ends(&rerun(&sent, system.core(level)?)?);
    sent.requests.extend(slow_steps(system, lasts, &mut draws));
    let mut found = rerun(&sent, system.core(level)?)?;
    found.requests.truncate(count);
    Some(records(&found, &late, &mut draws))
}

/// What the records of a load show; nothing if they cannot be used.
pub(super) fn recovered(load: &Trial, records: &[RequestRecord]) -> Option<Measured> {
    let steps = level_steps(LevelRecords { requests: records, samples: &[], shared: false }).ok();
    let trial = trial(&plan(load), records).ok()?;
    Some(Measured { trial: Trial { label: load.label.clone(), ..trial }, steps })
}

fn lateness(draws: &mut Draws) -> Nanos {
    draws.exponential(LATE).min(LATEST) as Nanos
}

/// Work that the client does not know of: it makes a step slow now and then.
fn slow_steps(system: &System, lasts: Nanos, draws: &mut Draws) -> Vec<SentRequest> {
    let every = 1e9 * SLOW_EVERY * system.cost.base;
    let mut at = 0.0;
    let mut all = Vec::new();
    loop {
        at += draws.exponential(every);
        if at >= lasts as f64 {
            return all;
        }
        let longer = system.cost.base * draws.between(0.5, 2.0);
        let input = (longer / system.cost.prefill_token).clamp(1.0, SLOWEST) as u32;
        let when = TrialTime::At(at as Nanos);
        let shared = Shared::Nothing;
        all.push(SentRequest { when, input, output: 1, shared, measured: false, seen: Vec::new() });
    }
}

fn last(sent: &SentRequest) -> Nanos {
    sent.seen.last().map_or(0, |chunk| chunk.after)
}

/// When the last token came.
fn ends(trial: &Trial) -> Nanos {
    let ends = sent_times(trial).into_iter().zip(&trial.requests).map(|(at, sent)| at + last(sent));
    ends.max().unwrap_or(0)
}

fn records(found: &Trial, late: &[Nanos], draws: &mut Draws) -> Vec<RequestRecord> {
    let slots = found.requests.iter().filter(|sent| matches!(sent.when, TrialTime::At(_))).count();
    let closed = found.kind == TrialKind::Closed;
    let all = found.requests.iter().zip(sent_times(found)).zip(late).enumerate();
    let record = |(place, ((request, sent), late)): (usize, ((&SentRequest, Nanos), &Nanos))| {
        let slot = if closed { place % slots } else { 0 };
        let phase = if request.measured { Phase::Measured } else { Phase::Warmup };
        let mut record = RequestRecord::new(0, place as u64, slot as u32, phase, sent);
        let usage = |tokens| TokenCount { tokens: u64::from(tokens), source: TokenSource::Usage };
        record.outcome = Outcome::Completed;
        record.sent = Some(sent);
        record.chunk_tokens_known = true;
        (record.input, record.output) = (Some(usage(request.input)), Some(usage(request.output)));
        let mut at = 0;
        for (number, TrialChunk { after, tokens }) in request.seen.iter().enumerate() {
            let last = number + 1 == request.seen.len();
            let late = if last { *late } else { lateness(draws) };
            at = (sent + after + late).max(at);
            record.chunks.push(at, false, *tokens);
            record.first.get_or_insert(at);
        }
        record.last = Some(at);
        record.end = at;
        record
    };
    all.map(record).collect()
}

fn plan(load: &Trial) -> LevelPlan {
    let alone = load.requests.iter().filter(|sent| matches!(sent.when, TrialTime::At(_))).count();
    LevelPlan::new(match load.kind {
        TrialKind::Closed | TrialKind::Sessions => Load::Concurrency { concurrency: alone as u32 },
        TrialKind::Open => Load::Rate { rate: 1.0, arrival: Arrival::Poisson },
        TrialKind::Burst => Load::Burst { requests: alone as u64 },
    })
}
