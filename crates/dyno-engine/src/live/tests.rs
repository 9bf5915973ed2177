//! The live engine against virtual time, without sockets.

use super::*;
use crate::core::{Cost, Front, Launch, Policy, Scheduler};
use crate::virtual_time::Virtual;
use dyno_model::MS;
use dyno_respond::api::AnswerFinish;
use std::collections::BTreeMap;

fn core(steps_ahead: u32, cost: Cost) -> Core {
    let scheduler = Scheduler {
        policy: Policy::Chunked,
        max_seqs: 8,
        token_budget: 64,
        block: 4,
        kv_blocks: 100,
        prefix_cache: false,
        context: None,
        steps_ahead,
    };
    Core::new(scheduler, cost, 1).unwrap()
}

fn live() -> Live {
    let core = core(0, Cost { base: 0.01, ..Cost::default() });
    Live::new(TwinBrain::new("x", core, 1_000, 8))
}

fn ask(live: &mut Live, connection: u64, output: u32, streamed: bool, at: Nanos) -> Accepted {
    let finish = AnswerFinish::Length;
    let prompts = &[prompt(3)];
    let asked = LiveRequest { connection, prompts, output, streamed, finish, salt: 0 };
    live.submit(&asked, at).unwrap()
}

fn prompt(tokens: u32) -> Prompt {
    Prompt { tokens, hashes: [].into(), end: None }
}

fn written(live: &mut Live, now: Nanos) -> Vec<(u64, u32, bool, Nanos)> {
    let all = std::iter::from_fn(|| {
        let due = live.next_write()?;
        live.wrote(&due, now);
        Some((due.connection, due.tokens, due.over, due.at))
    });
    all.collect()
}

#[test]
fn a_step_starts_after_its_moment_and_its_tokens_come_at_its_end() {
    let mut live = live();
    ask(&mut live, 7, 2, true, 100);
    ask(&mut live, 8, 2, false, 100);
    live.run(100);
    assert_eq!((live.core.planned(), live.next_due()), (None, Some(101)));
    live.run(101);
    assert_eq!(live.next_due(), Some(100 + 10 * MS));
    live.run(100 + 10 * MS - 1);
    assert_eq!(written(&mut live, 0), []);
    live.run(100 + 10 * MS);
    assert_eq!(live.next_due(), Some(0));
    assert_eq!(written(&mut live, 0), [(7, 1, false, 100 + 10 * MS)]);
    live.run(100 + 20 * MS);
    let end = 100 + 20 * MS;
    assert_eq!(written(&mut live, 0), [(7, 2, true, end), (8, 2, true, end)]);
    assert_eq!(live.next_due(), None);
    assert!(live.requests.is_empty());
}

#[test]
fn whoever_is_late_gets_all_at_once_and_the_schedule_does_not_move() {
    let mut live = live();
    ask(&mut live, 7, 3, true, 0);
    ask(&mut live, 8, 9, true, 0);
    live.run(55 * MS);
    // Late by 45 ms for what was there at 10 ms.
    assert_eq!(written(&mut live, 55 * MS), [(7, 3, true, 10 * MS), (8, 5, false, 10 * MS)]);
    let (first, last) = live.step_slips();
    assert_eq!(first.some().map(|slip| (slip.count, slip.max_ns)), Some((1, 45 * MS)));
    assert_eq!(last.some(), first.some());
    assert_eq!(live.next_due(), Some(60 * MS));
}

#[test]
fn tokens_are_written_when_virtual_time_sees_them() {
    let launch = Launch { decode: 0.001, prefill: 0.02, sequence: 0.001, ..Launch::default() };
    let front =
        |chunk, merges| Front { request: 0.002, turns: 3, chunk, merges, ..Front::default() };
    let fronts = [Front::default(), front(0.001, 0), front(0.006, 8)];
    for (steps_ahead, front) in fronts.into_iter().flat_map(|it| [(0, it), (1, it)]) {
        let core = core(steps_ahead, Cost { base: 0.01, launch, front, ..Cost::default() });
        let mut live = Live::new(TwinBrain::new("x", core.clone(), 1_000, 8));
        let mut time = Virtual::new(core);
        time.keep_times(true);
        // The tokens that each request has by a time.
        let (mut got, mut expected) = (BTreeMap::new(), BTreeMap::new());
        let mut write_until = |live: &mut Live, until: Nanos| {
            while let Some(due) = live.next_due().filter(|due| *due <= until) {
                live.run(due);
                got.extend(written(live, due).into_iter().map(|it| ((it.3, it.0), it.1)));
            }
        };
        for id in 1..=4 {
            let (at, output) = (id * 17 * MS, id as u32 * 3);
            write_until(&mut live, at);
            ask(&mut live, id, output, true, at);
            time.submit(at, Request { id, input: 3, output, hashes: &[] }).unwrap();
        }
        write_until(&mut live, Nanos::MAX);
        let mut times = Vec::new();
        while let Some(event) = time.advance(Nanos::MAX) {
            if let Event::Finished { id, .. } = event {
                assert!(time.token_times(id, &mut times));
                expected.extend(times.iter().zip(1..).map(|(at, number)| ((*at, id), number)));
            }
        }
        assert!(expected.len() > 20);
        assert_eq!(got, expected, "{steps_ahead}, {front:?}");
    }
}

#[test]
fn a_request_with_several_prompts_is_accepted_whole_or_not_at_all() {
    let mut live = live();
    let mut ask = |prompts: &[Prompt]| {
        let finish = AnswerFinish::Stop;
        let asked =
            LiveRequest { connection: 7, prompts, output: 1, streamed: false, finish, salt: 0 };
        (live.submit(&asked, 0), live.core.waiting())
    };
    // The pool holds 400 tokens.
    let (refused, waiting) = ask(&[prompt(3), prompt(401)]);
    assert!(refused.is_err() && waiting == 0, "{refused:?}");
    let (accepted, waiting) = ask(&[prompt(3), prompt(4)]);
    let accepted = accepted.unwrap();
    assert_eq!((accepted.count(), waiting), (2, 2));
    live.run(10 * MS);
    let ids: Vec<_> = std::iter::from_fn(|| live.next_write()).map(|due| due.id).collect();
    assert!(ids.len() == 2 && ids.iter().all(|id| accepted.has(*id)), "{ids:?}");
    assert!(!accepted.has(accepted.first - 1) && !accepted.has(accepted.first + 2));
}

#[test]
fn a_request_that_is_let_go_leaves_the_engine_and_its_tokens_are_for_nobody() {
    let mut live = live();
    let id = ask(&mut live, 7, 9, true, 0);
    live.run(10 * MS);
    live.forget(id, 12 * MS);
    assert_eq!((live.core.running(), live.core.kv_used()), (0, 0));
    assert_eq!(written(&mut live, 12 * MS), [(7, 0, false, 10 * MS)]);
    let text = live.prometheus("m");
    assert!(text.contains("finished_reason=\"abort\"} 1"), "{text}");
    // One that has finished is not aborted.
    let id = ask(&mut live, 7, 1, true, 30 * MS);
    live.run(50 * MS);
    live.forget(id, 51 * MS);
    assert!(live.prometheus("m").contains("finished_reason=\"abort\"} 1"));
}
