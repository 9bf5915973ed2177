//! Steps decided ahead, launches and the front end, in small cases whose times can be computed by hand.

use super::by_hand::{engine, finish, request};
use dyno_engine::core::{Cost, Event, Front, Launch, Policy, Scheduler};
use dyno_engine::virtual_time::Virtual;
use dyno_model::{MS, Nanos};

const SCHEDULER: Scheduler = Scheduler {
    policy: Policy::Chunked,
    max_seqs: 8,
    token_budget: 100,
    block: 4,
    kv_blocks: 1_000,
    prefix_cache: false,
    context: None,
    steps_ahead: 1,
};

/// On the device, 10 ms a step and 1 ms for each prefilled token. To launch, 2 ms if it only
/// decodes, otherwise 20 ms and 1 ms for each sequence.
fn cost() -> Cost {
    let launch = Launch { decode: 0.002, prefill: 0.02, sequence: 0.001, ..Launch::default() };
    Cost { base: 0.01, prefill_token: 0.001, launch, ..Cost::default() }
}

/// When each step was decided and handed out, in milliseconds.
fn steps(engine: &Virtual) -> Vec<(u64, u64)> {
    engine.steps().iter().map(|step| (step.start / MS, step.end / MS)).collect()
}

#[test]
fn a_launch_may_take_longer_than_the_step() {
    let mut engine = engine(Scheduler { steps_ahead: 0, ..SCHEDULER }, cost());
    engine.submit(0, request(1, 10, 3)).unwrap();
    // The device needs 20 ms for the prompt, its launch 21 ms; a decode step takes 10 ms.
    assert_eq!(finish(&mut engine), [(1, vec![21.0, 31.0, 41.0])]);
}

#[test]
fn the_next_step_is_decided_before_the_last_one_is_done() {
    let mut engine = engine(SCHEDULER, cost());
    engine.submit(0, request(1, 10, 3)).unwrap();
    // 0: the prompt is launched until 21, which the device needs, too: it is done at 21.
    // 21: a decode step is launched until 23; the first token is handed out then. Done at 31.
    // 23: another is launched until 25; the second token is handed out at 31. Done at 41.
    // 31: nothing is left to decide, so the engine waits until 41.
    assert_eq!(finish(&mut engine), [(1, vec![23.0, 31.0, 41.0])]);
    assert_eq!(steps(&engine), [(0, 23), (21, 31), (23, 41)]);
}

#[test]
fn a_prefill_delays_the_tokens_of_the_step_before_it() {
    let mut engine = engine(SCHEDULER, cost());
    engine.submit(0, request(1, 10, 3)).unwrap();
    engine.submit(22 * MS, request(2, 10, 2)).unwrap();
    // As before until 23. Then the third token of the first and the prompt of the second are
    // launched until 23 + 20 + 2·1 = 45, so the token that is ready at 31 is handed out at 45.
    // The device is done at 31 + 20 = 51.
    // 45: the second decodes; launched at 47, so that the step before is handed out at 51.
    // 51: nothing to decide; the device is done at 61.
    let expected = [(1, vec![23.0, 45.0, 51.0]), (2, vec![51.0, 61.0])];
    assert_eq!(finish(&mut engine), expected);
    assert_eq!(steps(&engine), [(0, 23), (21, 45), (23, 51), (45, 61)]);
}

#[test]
fn a_prompt_that_just_misses_a_step_waits_for_one_more() {
    let mut engine = engine(SCHEDULER, cost());
    engine.submit(0, request(1, 10, 3)).unwrap();
    engine.submit(24 * MS, request(2, 10, 2)).unwrap();
    // The step of 23 is decided without it. The next is decided at 31 and launched until 52, so the
    // last token of the first, ready at 41, is handed out at 52. Done at 41 + 20 = 61.
    // 52: the second decodes, done at 71.
    let expected = [(1, vec![23.0, 31.0, 52.0]), (2, vec![61.0, 71.0])];
    assert_eq!(finish(&mut engine), expected);
}

#[test]
fn a_request_cancelled_while_its_last_token_is_on_its_way_does_not_finish() {
    let mut engine = engine(SCHEDULER, cost());
    engine.submit(0, request(1, 10, 3)).unwrap();
    engine.submit(0, request(2, 10, 9)).unwrap();
    assert_eq!(engine.advance(Nanos::MAX).map(|event| event.id()), Some(1));
    while engine.core().running() == 2 {
        engine.advance(engine.now() + MS);
    }
    // Its place is free for the next step, but its last token is not handed out yet.
    assert_eq!(engine.core().produced(1), Some(2));
    assert!(engine.submit(engine.now(), request(1, 1, 1)).is_err());
    assert!(engine.cancel(1) && !engine.cancel(1));
    assert!(finish(&mut engine).iter().all(|(id, times)| *id == 2 && times.len() == 9));
    assert_eq!(engine.core().kv_used(), 0);
}

#[test]
fn a_sequence_preempted_while_its_token_is_on_its_way_still_gets_it() {
    // Two prompts of a block each; after four rounds the pool of four blocks is full.
    let mut engine = engine(Scheduler { kv_blocks: 4, ..SCHEDULER }, cost());
    engine.submit(0, request(1, 4, 7)).unwrap();
    engine.submit(0, request(2, 4, 7)).unwrap();
    let times = finish(&mut engine);
    assert_eq!(engine.core().preemptions(), 1);
    // 0: launched until 22, done then. 22: decode, launched at 24, when the prompt is handed out,
    // and done at 32. From then on every 10 ms. The fifth token is ready at 62, after the second
    // was preempted at 52.
    assert_eq!(times[0].1, [24.0, 32.0, 42.0, 52.0, 62.0, 72.0, 93.0]);
    assert_eq!(times[1].1[..5], [24.0, 32.0, 42.0, 52.0, 62.0]);
    // 72: the first has all its tokens, of which the last is ready at 82. The second computes its
    // nine tokens again, launched until 72 + 21 = 93, which delays that token. Done at 82 + 19.
    assert_eq!(times[1].1[5..], [101.0, 111.0]);
}

/// 10 ms a step; 2 ms of the front end for each request, and 1 ms for each token.
fn front() -> Cost {
    let front = Front { request: 0.002, chunk: 0.001, ..Front::default() };
    Cost { base: 0.01, front, ..Cost::default() }
}

const SIMPLE: Scheduler = Scheduler { steps_ahead: 0, ..SCHEDULER };

/// The first multiple of the golden ratio: the place of the first request.
const FIRST_PLACE: f64 = 0.618_033_988_749_894_9;

fn near(times: &[f64], expected: &[f64]) {
    let close = times.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-5);
    assert!(close && times.len() == expected.len(), "{times:?}, {expected:?}");
}

#[test]
fn the_front_end_works_before_and_after_the_engine() {
    let mut engine = engine(SIMPLE, Cost { front_end: 0.003, ..front() });
    engine.submit(0, request(1, 1, 3)).unwrap();
    // 2 ms of work and 3 ms of latency; a first token is last of its step, others are somewhere.
    near(&finish(&mut engine)[0].1, &[16.0, 25.0 + FIRST_PLACE, 35.0 + FIRST_PLACE]);
    assert_eq!(steps(&engine), [(5, 15), (15, 25), (25, 35)]);
}

#[test]
fn requests_wait_for_tokens_in_the_front_end() {
    let mut engine = engine(SIMPLE, front());
    for id in 1..=4 {
        engine.submit(0, request(id, 1, 1)).unwrap();
    }
    engine.submit(13 * MS, request(5, 1, 1)).unwrap();
    let times = finish(&mut engine);
    // Queued at 2, 4, 6 and 8: the first goes alone, from 2 to 12. Its token takes until 13.
    // The fifth is queued at 15. The others are in the step from 12 to 22; their tokens until 25.
    let firsts: Vec<f64> = times.iter().map(|(_, times)| times[0]).collect();
    assert_eq!(firsts, [13.0, 25.0, 25.0, 25.0, 33.0]);
}

#[test]
fn a_backlog_grows_while_the_engine_does_not_wait_and_the_client_reacts_to_what_it_sees() {
    let slow = Front { chunk: 0.02, request: 0.0, ..front().front };
    let mut engine = engine(SIMPLE, Cost { front: slow, ..front() });
    engine.submit(0, request(1, 1, 2)).unwrap();
    // Tokens at 10 and 20; the second waits for the first, until 30, and is seen at 30 + 12.4.
    assert_eq!(engine.advance(Nanos::MAX), Some(Event::First { id: 1, at: 30 * MS }));
    assert_eq!(engine.core().produced(1), None);
    let mut times = Vec::new();
    assert!(engine.token_times(1, &mut times));
    assert_eq!(times, [30 * MS]);
    // A request as a reaction: in the front end behind the second token.
    engine.submit(30 * MS, request(2, 1, 1)).unwrap();
    let times = finish(&mut engine);
    near(&times[0].1, &[30.0, 30.0 + 20.0 * FIRST_PLACE]);
    // Queued when the front end is free, at 50; its step ends at 60.
    near(&times[1].1, &[80.0]);
}

#[test]
fn cancelling_what_is_still_in_the_front_end_withholds_it() {
    let slow = Front { chunk: 0.02, request: 0.0, ..front().front };
    let mut engine = engine(SIMPLE, Cost { front: slow, ..front() });
    engine.submit(0, request(1, 1, 2)).unwrap();
    assert_eq!(engine.advance(Nanos::MAX).map(|event| event.at()), Some(30 * MS));
    assert!(engine.cancel(1) && !engine.cancel(1));
    assert_eq!(engine.advance(Nanos::MAX), None);
}
