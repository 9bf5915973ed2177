//! Small cases whose times can be computed by hand.

use dyno_engine::core::{Core, Cost, Event, Policy, RefusedRequest, Request, Scheduler, Step};
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
    steps_ahead: 0,
};

/// Ten milliseconds a step and one for each prefilled token.
fn cost() -> Cost {
    Cost { base: 0.01, prefill_token: 0.001, ..Cost::default() }
}

pub(crate) fn engine(scheduler: Scheduler, cost: Cost) -> Virtual {
    let mut engine = Virtual::new(Core::new(scheduler, cost, 0).unwrap());
    engine.keep_steps(true);
    engine.keep_times(true);
    engine
}

pub(crate) fn request(id: u64, input: u32, output: u32) -> Request<'static> {
    Request { id, input, output, hashes: &[] }
}

/// Everything to the end, with the times of all tokens of each request, in milliseconds.
pub(crate) fn finish(engine: &mut Virtual) -> Vec<(u64, Vec<f64>)> {
    let (mut all, mut times) = (Vec::new(), Vec::new());
    while let Some(event) = engine.advance(Nanos::MAX) {
        if let Event::Finished { id, at } = event {
            assert!(engine.token_times(id, &mut times));
            assert_eq!(times.last(), Some(&at));
            all.push((id, times.iter().map(|at| *at as f64 / MS as f64).collect()));
        }
    }
    all.sort_by_key(|(id, _)| *id);
    all
}

/// Prefilled tokens, decoding sequences and preempted ones of each step.
fn shape(steps: &[Step]) -> Vec<(u64, u32, u32)> {
    steps.iter().map(|step| (step.prefill_tokens, step.decodes, step.preempted)).collect()
}

#[test]
fn a_single_request_takes_as_long_as_the_formula_says() {
    let cost = Cost {
        base: 0.010,
        prefill_token: 0.0001,
        attention: 1e-6,
        decode: 0.001,
        kv: 1e-5,
        prefill_base: 0.003,
        front_end: 0.002,
        ..Cost::default()
    };
    let mut engine = engine(SCHEDULER, cost);
    engine.submit(MS, request(1, 100, 3)).unwrap();
    // Queued at 3; prefill 10 + 3 + 100·0.1 + 100·50·0.001; then 10 + 1 + 0.01 a token.
    assert_eq!(finish(&mut engine), [(1, vec![31.0, 43.01, 55.03])]);
    assert_eq!(engine.steps()[0].start, 3 * MS);
    assert_eq!(engine.steps()[2].kv_tokens, 102);
}

#[test]
fn chunks_share_the_budget_with_decoding() {
    let mut engine = engine(SCHEDULER, cost());
    engine.submit(0, request(1, 90, 10)).unwrap();
    engine.submit(0, request(2, 207, 2)).unwrap();
    let times = finish(&mut engine);
    let shape = shape(engine.steps());
    assert_eq!(&shape[..4], [(100, 0, 0), (99, 1, 0), (98, 1, 0), (0, 2, 0)]);
    assert_eq!(shape.len(), 10);
    assert_eq!(times[0].1[..4], [110.0, 219.0, 327.0, 337.0]);
    assert_eq!(times[1].1, [327.0, 337.0]);
}

#[test]
fn prefill_first_makes_decoding_wait() {
    let scheduler = Scheduler { policy: Policy::PrefillFirst, ..SCHEDULER };
    let mut engine = engine(scheduler, cost());
    engine.submit(0, request(1, 10, 4)).unwrap();
    engine.submit(25 * MS, request(2, 40, 3)).unwrap();
    let times = finish(&mut engine);
    // The second comes during the first decode step.
    assert_eq!(shape(engine.steps())[..4], [(10, 0, 0), (0, 1, 0), (40, 0, 0), (0, 2, 0)]);
    assert_eq!(times, [(1, vec![20.0, 30.0, 90.0, 100.0]), (2, vec![80.0, 90.0, 100.0])]);
}

#[test]
fn prompts_longer_than_the_budget_go_alone_and_others_together() {
    let scheduler = Scheduler { policy: Policy::PrefillFirst, ..SCHEDULER };
    let mut engine = engine(scheduler, cost());
    for (id, input) in [(1, 30), (2, 60), (3, 11), (4, 150), (5, 100)] {
        engine.submit(0, request(id, input, 1)).unwrap();
    }
    finish(&mut engine);
    assert_eq!(shape(engine.steps()), [(90, 0, 0), (11, 0, 0), (150, 0, 0), (100, 0, 0)]);
}

#[test]
fn the_newest_sequence_is_preempted_and_keeps_its_tokens() {
    for (policy, steps) in [
        // Two prompts of four take a block each, and a second each to decode. After four rounds
        // the first needs a third, and the second leaves. It comes back when the first is done,
        // and computes its prompt and five tokens again.
        (Policy::Chunked, vec![(0, 1, 1), (0, 1, 0), (9, 0, 0), (0, 1, 0)]),
        (Policy::PrefillFirst, vec![(0, 1, 1), (0, 1, 0), (9, 0, 0), (0, 1, 0)]),
    ] {
        let mut engine = engine(Scheduler { policy, kv_blocks: 4, ..SCHEDULER }, cost());
        engine.submit(0, request(1, 4, 7)).unwrap();
        engine.submit(0, request(2, 4, 7)).unwrap();
        let times = finish(&mut engine);
        let shape = shape(engine.steps());
        assert_eq!(shape[..5], [(8, 0, 0), (0, 2, 0), (0, 2, 0), (0, 2, 0), (0, 2, 0)]);
        assert_eq!(shape[5..], steps);
        assert_eq!(times[0].1, [18.0, 28.0, 38.0, 48.0, 58.0, 68.0, 78.0]);
        assert_eq!(times[1].1, [18.0, 28.0, 38.0, 48.0, 58.0, 97.0, 107.0]);
        assert_eq!((engine.core().preemptions(), engine.core().kv_used()), (1, 0));
    }
}

#[test]
fn a_lone_sequence_may_fill_the_pool_to_the_last_token() {
    for policy in [Policy::Chunked, Policy::PrefillFirst] {
        let mut engine = engine(Scheduler { policy, kv_blocks: 4, ..SCHEDULER }, cost());
        // The last token of a response needs no place.
        engine.submit(0, request(1, 9, 8)).unwrap();
        assert_eq!(finish(&mut engine)[0].1.len(), 8);
        assert_eq!(engine.core().preemptions(), 0);
        let refused = engine.submit(0, request(2, 9, 9));
        assert_eq!(refused, Err(RefusedRequest::NeverFits { pool: 16, input: 9, output: 9 }));
    }
}

#[test]
fn common_prefixes_share_blocks() {
    let scheduler = Scheduler { prefix_cache: true, kv_blocks: 10, ..SCHEDULER };
    let mut engine = engine(scheduler, cost());
    let prompt = |id, hashes: &'static [u64]| Request { id, input: 12, output: 5, hashes };
    engine.submit(0, prompt(1, &[1, 2, 3])).unwrap();
    engine.submit(MS, prompt(2, &[1, 2, 3])).unwrap();
    engine.submit(MS, prompt(3, &[1, 9, 9])).unwrap();
    while engine.core().running() < 3 {
        engine.advance(engine.now() + MS);
    }
    // The last block of the second is computed again: its next token comes from there. Three
    // blocks of the first and one for its response, one of the second, two of the third.
    assert_eq!(shape(engine.steps()), [(12, 0, 0)]);
    assert_eq!(engine.core().planned().map(|step| step.prefill_tokens), Some(4 + 8));
    assert_eq!(engine.core().kv_used(), 4 + 1 + 2);
    assert_eq!((engine.core().prefix_queries(), engine.core().prefix_hits()), (36, 12));
    finish(&mut engine);
    assert_eq!(engine.core().kv_used(), 0);
    // Unused blocks are still cached.
    engine.submit(engine.now(), prompt(4, &[1, 2, 3])).unwrap();
    finish(&mut engine);
    assert_eq!(engine.core().prefix_hits(), 20);
}

#[test]
fn cancelling_frees_at_once_and_the_step_keeps_its_time() {
    let mut engine = engine(Scheduler { max_seqs: 1, ..SCHEDULER }, cost());
    engine.submit(0, request(1, 10, 50)).unwrap();
    engine.submit(0, request(2, 10, 1)).unwrap();
    assert_eq!(engine.advance(35 * MS), Some(Event::First { id: 1, at: 20 * MS }));
    assert_eq!(engine.advance(35 * MS), None);
    assert_eq!(engine.core().produced(1), Some(2));
    assert!(engine.cancel(1) && !engine.cancel(1));
    assert_eq!((engine.core().kv_used(), engine.core().waiting()), (0, 1));
    // The step from 30 to 40 runs to its end.
    assert_eq!(finish(&mut engine), [(2, vec![60.0])]);
}

#[test]
fn a_request_submitted_at_an_event_joins_the_step_that_starts_then() {
    let mut engine = engine(SCHEDULER, cost());
    engine.submit(0, request(1, 10, 1)).unwrap();
    engine.submit(0, request(2, 10, 3)).unwrap();
    let mut event = engine.advance(Nanos::MAX).unwrap();
    while event != (Event::Finished { id: 1, at: 30 * MS }) {
        event = engine.advance(Nanos::MAX).unwrap();
    }
    engine.submit(event.at(), request(3, 10, 1)).unwrap();
    assert_eq!(finish(&mut engine)[1], (3, vec![50.0]));
    assert_eq!(shape(engine.steps())[1], (10, 1, 0));
}

#[test]
fn time_stops_at_the_limit() {
    let mut engine = engine(SCHEDULER, cost());
    assert_eq!(engine.advance(7 * MS), None);
    assert_eq!(engine.now(), 7 * MS);
    engine.submit(10 * MS, request(1, 10, 2)).unwrap();
    // A step that would start just now has not started: there may be more to submit.
    assert_eq!(engine.advance(10 * MS), None);
    assert!(engine.core().planned().is_none());
    engine.submit(10 * MS, request(2, 10, 2)).unwrap();
    assert_eq!(engine.advance(40 * MS), Some(Event::First { id: 1, at: 40 * MS }));
    assert_eq!(engine.steps()[0].prefills, 2);
}

#[test]
fn impossible_requests_are_rejected_with_a_message() {
    let mut core = Core::new(Scheduler { context: Some(64), ..SCHEDULER }, cost(), 0).unwrap();
    let too_long = core.submit(request(1, 60, 5), 0).unwrap_err().to_string();
    assert!(
        too_long.starts_with("This model's maximum context length is 64 tokens."),
        "{too_long}"
    );
    assert_eq!(core.submit(request(1, 0, 5), 0), Err(RefusedRequest::NoInput));
    assert_eq!(core.submit(request(1, 5, 0), 0), Err(RefusedRequest::NoOutput));
    assert_eq!(core.submit(request(1, 60, 4), 0), Ok(()));
    assert_eq!(core.submit(request(1, 60, 4), 0), Err(RefusedRequest::Duplicate(1)));
    let huge = request(2, u32::MAX, u32::MAX);
    assert!(matches!(core.submit(huge, 0), Err(RefusedRequest::TooLong { .. })));
}

#[test]
fn a_planned_step_stays_as_it_is() {
    let mut core = Core::new(SCHEDULER, cost(), 0).unwrap();
    let mut done = Vec::new();
    core.commit(&mut done);
    assert_eq!((core.plan(), core.next_start()), (None, None));
    core.submit(request(1, 10, 2), 5).unwrap();
    let step = core.plan().unwrap();
    // A request that arrived earlier is submitted late: it joins the next step.
    core.submit(request(2, 10, 1), 3).unwrap();
    assert_eq!((core.plan(), core.planned()), (Some(step), Some(&step)));
    core.commit(&mut done);
    assert_eq!(done, [Event::First { id: 1, at: step.end }]);
    assert_eq!(core.plan().unwrap().prefills, 1);
}

#[test]
fn a_small_request_submitted_late_overtakes_one_that_finds_no_room() {
    let mut core = Core::new(Scheduler { kv_blocks: 4, ..SCHEDULER }, cost(), 0).unwrap();
    let mut done = Vec::new();
    core.submit(request(1, 8, 3), 0).unwrap();
    core.submit(request(2, 12, 1), 9).unwrap();
    for _ in 0..2 {
        core.plan().unwrap();
        core.commit(&mut done);
    }
    assert_eq!((core.running(), core.waiting()), (1, 1));
    core.submit(request(3, 4, 1), 8).unwrap();
    assert_eq!(core.plan().unwrap().prefill_tokens, 4);
}

#[test]
fn times_are_kept_as_long_as_a_request_needs_them() {
    let mut engine = engine(Scheduler { kv_blocks: 10_000, ..SCHEDULER }, cost());
    engine.submit(0, request(0, 1, 20_000)).unwrap();
    engine.submit(0, request(1, 1, 500)).unwrap();
    let (mut last, mut times) = (1, Vec::new());
    while engine.core().produced(0).is_some() {
        let event = engine.advance(Nanos::MAX).unwrap();
        let Event::Finished { id, at } = event else { continue };
        assert!(engine.token_times(id, &mut times));
        assert_eq!(times.len(), if id == 0 { 20_000 } else { 500 });
        assert!(times.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!(times.last(), Some(&at));
        last += 1;
        engine.submit(at, request(last, 1, 500)).unwrap();
    }
    // The long one took part in every step.
    assert!(times.iter().eq(engine.steps().iter().map(|step| &step.end)));
    assert!(last > 35, "{last}");
}
