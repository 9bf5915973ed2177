//! A batch that is full: its limit is seen in the steps.

use super::*;
use crate::steps::{LevelRecords, LevelSteps, level_steps};
use dyno_model::outcome::Outcome;
use dyno_model::record::{Phase, RequestRecord, TokenCount, TokenSource};

const LIMIT: u32 = 8;
const REQUESTS: usize = 120;

/// As many requests, however many are in flight, of an engine with a limit.
fn limited(slots: usize) -> Trial {
    let requests = (0..REQUESTS).map(|place| match place.checked_sub(slots) {
        None => sent(When::At(place as Nanos * MS), true),
        Some(request) => sent(When::After { request, pause: 20_000 }, true),
    });
    let label = format!("concurrency {slots}");
    let load = Trial { label, kind: Kind::Closed, requests: requests.collect() };
    let scheduler = Scheduler { max_seqs: LIMIT, ..scheduler() };
    rerun(&load, Core::new(scheduler, cost(), 7).unwrap()).unwrap()
}

fn steps(trial: &Trial) -> LevelSteps {
    let mut ends: Vec<Nanos> = Vec::new();
    let mut records: Vec<RequestRecord> = Vec::new();
    for (index, request) in trial.requests.iter().enumerate() {
        let at = match request.when {
            When::At(at) => at,
            When::After { request, pause } => ends[request] + pause,
        };
        let mut record = RequestRecord::new(0, index as u64, 0, Phase::Measured, at);
        let usage = |tokens| TokenCount { tokens: u64::from(tokens), source: TokenSource::Usage };
        (record.outcome, record.sent) = (Outcome::Completed, Some(at));
        (record.input, record.output) = (Some(usage(request.input)), Some(usage(request.output)));
        record.chunk_tokens_known = true;
        for chunk in &request.seen {
            record.chunks.push(at + chunk.after, false, chunk.tokens);
            record.first.get_or_insert(at + chunk.after);
        }
        record.end = at + request.seen.last().unwrap().after;
        record.last = Some(record.end);
        ends.push(record.end);
        records.push(record);
    }
    level_steps(LevelRecords { requests: &records, samples: &[], shared: false }).unwrap()
}

#[test]
fn a_limit_is_seen_although_every_level_has_as_many_requests() {
    let trials = [limited(2), limited(24)];
    let steps = trials.each_ref().map(steps);
    assert_eq!(steps.each_ref().map(|level| level.most_in_flight), [2, 24]);
    let steps = steps.map(Some);
    assert_eq!(Start::of(&trials, &steps).max_seqs, Some(LIMIT));
    // Batches of two are no limit: no more were in flight.
    assert_eq!(Start::of(&trials[..1], &steps[..1]).max_seqs, None);
}
