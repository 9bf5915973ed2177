//! A batch that is full: its limit is seen in the steps.

use super::*;

const LIMIT: u32 = 8;
const REQUESTS: usize = 120;

/// As many requests, however many are in flight, of an engine with a limit.
fn limited(slots: usize) -> Trial {
    let requests = (0..REQUESTS).map(|place| match place.checked_sub(slots) {
        None => sent(TrialTime::At(place as Nanos * MS), true),
        Some(request) => sent(TrialTime::After { request, pause: 20_000 }, true),
    });
    let label = format!("concurrency {slots}");
    let load = Trial { label, kind: TrialKind::Closed, requests: requests.collect(), until: None };
    let scheduler = Scheduler { max_seqs: LIMIT, ..scheduler() };
    rerun(&load, Core::new(scheduler, cost(), 7).unwrap()).unwrap()
}

#[test]
fn a_limit_is_seen_although_every_level_has_as_many_requests() {
    let trials = [limited(2), limited(24)];
    let steps = trials.each_ref().map(steps_of);
    assert_eq!(steps.each_ref().map(|level| level.most_in_flight), [2, 24]);
    let steps = steps.map(Some);
    assert_eq!(Start::of(&trials, &steps).max_seqs, Some(LIMIT));
    // Batches of two are no limit: no more were in flight.
    assert_eq!(Start::of(&trials[..1], &steps[..1]).max_seqs, None);
}
