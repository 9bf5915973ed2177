//! Trees of sessions against a simulated server in virtual time: who waits for whom, and for how long.
#![allow(clippy::unwrap_used)]

use crate::simulated::{Simulated, level, reconciles, run_work};
use dyno_drive::{
    LevelOutcome, Lookahead, Payload, Prepare, Sending, StopSignal, TreePrompt, TreePrompts, Turns,
};
use dyno_model::frame::Ending;
use dyno_model::outcome::Outcome;
use dyno_model::plan::{Arrival, LevelPlan, Load, Shard};
use dyno_model::prompt::{Content, Conversation, Item};
use dyno_model::record::{Phase, RequestRecord};
use dyno_model::tree::{Growth, PlannedTurn, Repeated};
use dyno_model::{MS, Nanos, SEC};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Prompts that say which tree and turn they are of, and what was answered before.
struct Named {
    tree: u64,
    turns: Arc<[PlannedTurn]>,
    /// The last turn of each session that a prompt was made of.
    made: BTreeMap<u32, u32>,
    /// The turn that is too long.
    overflows: Option<u32>,
    /// Whether prompts repeat the last answer.
    answered: Option<String>,
}

impl TreePrompts for Named {
    fn turns(&self) -> Arc<[PlannedTurn]> {
        Arc::clone(&self.turns)
    }

    fn prompt(&mut self, turn: u32) -> Option<TreePrompt> {
        let session = self.turns[turn as usize].session;
        let before = self.made.insert(session, turn);
        assert!(before.is_none_or(|before| before < turn), "made once, and in order");
        let answer = self.answered.as_deref().unwrap_or_default();
        Some(TreePrompt {
            item: Item::text(format!("{}/{turn}{answer}", self.tree)),
            growth: (turn > 0).then_some(Growth::Trimmed),
            overflows: self.overflows == Some(turn),
        })
    }

    fn sent(&mut self, turn: u32) -> Option<Repeated> {
        Some(Repeated { of_prompts: turn, with_responses: turn + 1 })
    }

    fn contain_answers(&self) -> bool {
        self.answered.is_some()
    }

    fn answered(&mut self, _turn: u32, answer: &str) {
        self.answered = self.answered.as_ref().map(|_| answer.to_owned());
    }

    fn size(&self) -> usize {
        100
    }
}

struct AsText;

impl Prepare for AsText {
    type Body = Vec<u8>;

    fn single(&self, item: &Item, _output_tokens: u32) -> Payload<Vec<u8>> {
        let Content::Text(text) = &item.content else { panic!("text") };
        Payload { body: text.clone().into_bytes(), ..Payload::default() }
    }

    fn conversation(&self, _conversation: &Conversation) -> Option<Turns<Vec<u8>>> {
        None
    }
}

fn turn(session: u32, number: u32, waits: &[u32], gap: Nanos) -> PlannedTurn {
    PlannedTurn { session, number, waits: waits.to_vec(), gap, ..PlannedTurn::default() }
}

/// A root of three turns; the first one starts two sub-agents, and the last one waits for both and for the second.
fn joining() -> Vec<PlannedTurn> {
    vec![
        turn(0, 1, &[], 0),
        turn(0, 2, &[0], 10 * MS),
        turn(1, 1, &[0], MS),
        turn(2, 1, &[0], 2 * MS),
        turn(2, 2, &[3], 30 * MS),
        turn(0, 3, &[1, 2, 4], 5 * MS),
    ]
}

/// So many trees, or endless ones.
fn trees(
    turns: Vec<PlannedTurn>,
    count: Option<u64>,
    overflows: Option<u32>,
) -> Lookahead<Vec<u8>> {
    let turns: Arc<[PlannedTurn]> = turns.into();
    let make = move |tree| {
        let turns = Arc::clone(&turns);
        let made = BTreeMap::new();
        let named = || Named { tree, turns, made, overflows, answered: None };
        count.is_none_or(|count| tree < count).then(|| Sending::Tree(Box::new(named())))
    };
    Lookahead::prepare(4, make, AsText).unwrap()
}

fn run(
    plan: &LevelPlan,
    server: &mut Simulated,
    work: Lookahead<Vec<u8>>,
) -> (LevelOutcome, Vec<RequestRecord>) {
    let done = run_work(plan, server, Shard::WHOLE, &StopSignal::new(), work, true, None);
    reconciles(&done.0, &done.1);
    done
}

fn by_tree(records: &[RequestRecord]) -> BTreeMap<u64, Vec<&RequestRecord>> {
    let mut trees: BTreeMap<u64, Vec<&RequestRecord>> = BTreeMap::new();
    for record in records {
        trees.entry(record.tree.as_ref().unwrap().tree).or_default().push(record);
    }
    trees
}

/// Every turn that was sent is due exactly its gap after the latest end that it waits for, and says so.
fn in_order(planned: &[PlannedTurn], records: &[RequestRecord]) {
    for records in by_tree(records).values() {
        let of = |turn: &PlannedTurn| {
            records.iter().find(|record| {
                let place = record.turn.unwrap();
                (place.session, place.number) == (turn.session.into(), turn.number)
            })
        };
        for turn in planned {
            let Some(record) = of(turn) else { continue };
            let tree = record.tree.as_ref().unwrap();
            assert_eq!(tree.turns as usize, planned.len());
            assert_eq!(record.slot, records[0].slot);
            let awaited: Vec<_> =
                turn.waits.iter().map(|on| of(&planned[*on as usize]).unwrap()).collect();
            assert!(awaited.iter().all(|awaited| awaited.is_completed()));
            let Some(last) = awaited.iter().map(|awaited| awaited.end).max() else { continue };
            assert_eq!(record.intended, last + tree.gap);
            assert_eq!(tree.gap + tree.skipped, turn.gap + turn.skipped);
            assert!(record.dispatched.unwrap() >= record.intended);
            let others =
                awaited.iter().filter(|one| one.turn.unwrap().session != u64::from(turn.session));
            let ends: Vec<Nanos> = others.map(|one| one.end).collect();
            let span = ends.iter().max().zip(ends.iter().min()).map(|(last, first)| last - first);
            assert_eq!(tree.join_wait, span.filter(|_| ends.len() > 1));
        }
    }
}

fn closed(concurrency: u32) -> LevelPlan {
    level(Load::Concurrency { concurrency })
}

#[test]
fn sub_agents_run_in_parallel_and_meet_again() {
    let mut server = Simulated::new(100 * MS, 0);
    server.once = true;
    let (outcome, records) = run(&closed(1), &mut server, trees(joining(), Some(3), None));
    assert_eq!((outcome.end.ending, records.len()), (Ending::Requests, 18));
    in_order(&joining(), &records);
    assert_eq!(server.peak, 3);
    let last = records.iter().find(|record| record.turn.unwrap().number == 3).unwrap();
    // The second sub-agent takes longest: 2 + 100 + 30 + 100 ms, and then the gap.
    assert_eq!(last.intended - records[0].end, 237 * MS);
    assert_eq!(last.tree.as_ref().unwrap().growth, Some(Growth::Trimmed));
    assert_eq!(last.tree.as_ref().unwrap().repeated.unwrap().with_responses, 6);
    // The next tree begins when the whole of the one before is over.
    let trees = by_tree(&records);
    for (before, after) in trees.values().zip(trees.values().skip(1)) {
        let over = before.iter().map(|record| record.end).max().unwrap();
        assert_eq!(after.iter().map(|record| record.intended).min(), Some(over));
    }
}

#[test]
fn a_slot_is_a_tree() {
    let mut server = Simulated::new(100 * MS, 0);
    let plan = LevelPlan { duration_ns: Some(5 * SEC), ..closed(4) };
    let (outcome, records) = run(&plan, &mut server, trees(joining(), None, None));
    assert_eq!(outcome.end.ending, Ending::Duration);
    in_order(&joining(), &records);
    let trees = by_tree(&records);
    let alive = |at: Nanos| {
        let lives = |of: &&Vec<&RequestRecord>| {
            of.iter().map(|record| record.intended).min().unwrap() <= at
                && of.iter().map(|record| record.end).max().unwrap() > at
        };
        trees.values().filter(lives).count()
    };
    for at in 0..49 {
        assert_eq!(alive(outcome.started + at * 100 * MS + MS), 4);
    }
    assert!(server.peak > 4);
}

#[test]
fn a_failure_ends_its_session_and_what_waits_for_it() {
    for fails in 1..=6 {
        let mut server = Simulated::new(100 * MS, fails);
        server.recovers_after = Some(6);
        server.once = true;
        let (outcome, records) = run(&closed(1), &mut server, trees(joining(), Some(2), None));
        assert_eq!(outcome.end.ending, Ending::Requests);
        in_order(&joining(), &records);
        let failed = records.iter().filter(|record| !record.is_completed()).count();
        assert!(failed >= 1, "one of every {fails} fails");
        let trees = by_tree(&records);
        let over = trees[&0].iter().map(|record| record.end).max().unwrap();
        assert_eq!(trees[&1].iter().map(|record| record.intended).min(), Some(over));
    }
}

#[test]
fn a_turn_that_is_too_long_ends_its_tree() {
    let mut server = Simulated::new(100 * MS, 0);
    server.once = true;
    // The second sub-agent: the root and the first one are in flight and end, and nothing follows.
    let (outcome, records) = run(&closed(1), &mut server, trees(joining(), Some(2), Some(3)));
    assert_eq!((outcome.end.ending, outcome.end.issued), (Ending::Requests, 6));
    let over: Vec<_> = records.iter().filter(|record| !record.is_completed()).collect();
    assert_eq!(over.len(), 2);
    for record in over {
        assert_eq!(record.outcome, Outcome::Dropped(Outcome::OVERFLOW.to_owned()));
        assert_eq!((record.dispatched, record.turn.unwrap().session), (None, 2));
    }
    // One that is too long from the start leaves nothing to wait for.
    let (outcome, records) = run(&closed(1), &mut server, trees(joining(), Some(3), Some(0)));
    assert_eq!((outcome.end.ending, records.len()), (Ending::Requests, 3));
}

#[test]
fn time_in_which_nothing_happens_is_skipped() {
    let turns = vec![turn(0, 1, &[], 0), turn(0, 2, &[0], 3600 * SEC), turn(0, 3, &[1], 5 * SEC)];
    let mut server = Simulated::new(100 * MS, 0);
    (server.once, server.max_idle) = (true, Some(10 * SEC));
    let (outcome, records) = run(&closed(2), &mut server, trees(turns.clone(), Some(2), None));
    in_order(&turns, &records);
    let gap = |number: u32| {
        let of = records.iter().find(|record| record.turn.unwrap().number == number).unwrap();
        let tree = of.tree.as_ref().unwrap();
        (tree.gap, tree.skipped)
    };
    assert_eq!((gap(2), gap(3)), ((10 * SEC, 3590 * SEC), (5 * SEC, 0)));
    assert_eq!(outcome.end.client.skipped_idle_ns, 3590 * SEC);
}

#[test]
fn trees_that_start_in_the_middle_warm_the_cache_first() {
    let warming = PlannedTurn { warms: true, ..turn(0, 4, &[], 0) };
    let turns = vec![warming, turn(0, 5, &[0], 30 * MS), turn(1, 1, &[], 7 * MS)];
    let mut server = Simulated::new(100 * MS, 0);
    server.once = true;
    let (outcome, records) = run(&closed(1), &mut server, trees(turns.clone(), Some(1), None));
    in_order(&turns, &records);
    assert_eq!((outcome.end.warmup, outcome.end.issued), (1, 2));
    assert_eq!((records[0].phase, records[0].tree.as_ref().unwrap().warms), (Phase::Warmup, true));
    assert_eq!(
        records[1].intended,
        outcome.started + 107 * MS,
        "what was between two requests goes on"
    );
}

/// Requests of trees that are ready would otherwise queue behind what warms the cache for others.
#[test]
fn nothing_else_is_sent_while_the_cache_is_warmed() {
    let warming = |session| PlannedTurn { warms: true, ..turn(session, 1, &[], 0) };
    let turns = vec![warming(0), warming(1), turn(0, 2, &[0], 3 * MS), turn(1, 2, &[1], 9 * MS)];
    for failing in [0, 5] {
        let mut server = Simulated::new(100 * MS, failing);
        (server.once, server.recovers_after) = (true, Some(6));
        server.takes = Some(|sent| if sent == b"1/1" { 900 * MS } else { 100 * MS });
        let (outcome, records) = run(&closed(3), &mut server, trees(turns.clone(), Some(3), None));
        assert_eq!(outcome.end.warmup, 6);
        let (warming, others): (Vec<_>, Vec<_>) =
            records.iter().partition(|record| record.tree.as_ref().unwrap().warms);
        assert_eq!(others.len(), if failing == 0 { 6 } else { 5 }, "one waits for what failed");
        assert!(warming.iter().all(|record| record.intended == outcome.started));
        for record in others {
            let gap = record.tree.as_ref().unwrap().gap;
            assert_eq!(record.intended, outcome.started + 900 * MS + gap);
        }
    }
    // A tree that is too long for the server holds nobody back.
    let mut server = Simulated::new(100 * MS, 0);
    server.once = true;
    let (outcome, records) = run(&closed(1), &mut server, trees(turns, Some(2), Some(0)));
    assert_eq!((outcome.end.ending, records.len()), (Ending::Requests, 2));
}

#[test]
fn trees_arrive_at_a_rate() {
    let load = Load::Rate { rate: 5.0, arrival: Arrival::Constant };
    let plan = LevelPlan { duration_ns: Some(4 * SEC), ..level(load) };
    let mut server = Simulated::new(100 * MS, 0);
    let (outcome, records) = run(&plan, &mut server, trees(joining(), None, None));
    in_order(&joining(), &records);
    let starts: Vec<Nanos> = by_tree(&records)
        .values()
        .map(|of| of.iter().map(|record| record.intended).min().unwrap() - outcome.started)
        .collect();
    assert_eq!(starts, (0..20).map(|tree| tree * 200 * MS).collect::<Vec<_>>());
}

#[test]
fn live_answers_are_in_the_next_prompt() {
    let turns: Arc<[PlannedTurn]> = vec![turn(0, 1, &[], 0), turn(0, 2, &[0], 0)].into();
    let mut server = Simulated::new(100 * MS, 0);
    server.once = true;
    let make = move |tree| {
        let turns = Arc::clone(&turns);
        let (made, answered) = (BTreeMap::new(), Some(String::new()));
        let named = Named { tree, turns, made, overflows: None, answered };
        (tree == 0).then(|| Sending::Tree(Box::new(named)))
    };
    let work = Lookahead::prepare(4, make, AsText).unwrap();
    run(&closed(1), &mut server, work);
    assert_eq!(server.got, [&b"0/0"[..], b"0/1<3>"]);
}

#[test]
fn a_long_session_takes_no_longer_for_each_turn() {
    let turns: Vec<PlannedTurn> =
        (0..200_000_u32).map(|at| turn(0, at + 1, at.checked_sub(1).as_slice(), MS)).collect();
    let mut server = Simulated::new(MS, 0);
    server.once = true;
    let (_, records) = run(&closed(1), &mut server, trees(turns, Some(1), None));
    assert_eq!(records.len(), 200_000);
    assert_eq!(records[199_999].end - records[0].intended, 200_000 * MS + 199_999 * MS);
}

/// Trees whose turns wait for any of those before them, in as many sessions as there are.
fn any_tree() -> impl Strategy<Value = Vec<PlannedTurn>> {
    let one = (0..4_u32, prop::collection::vec(any::<prop::sample::Index>(), 0..4), 0..500_u64);
    prop::collection::vec(one, 1..14).prop_map(|all| {
        let (mut turns, mut last): (Vec<PlannedTurn>, BTreeMap<u32, u32>) = Default::default();
        for (at, (session, waits, gap)) in (0_u32..).zip(all) {
            let before = last.insert(session, at);
            let number = before.map_or(1, |before| turns[before as usize].number + 1);
            let others = waits.iter().filter(|_| at > 0).map(|on| on.index(at as usize) as u32);
            let mut waits: Vec<u32> = before.into_iter().chain(others).collect();
            waits.sort_unstable();
            waits.dedup();
            turns.push(PlannedTurn { skipped: gap, ..turn(session, number, &waits, gap * MS) });
        }
        turns
    })
}

proptest! {
    #[test]
    fn every_turn_is_sent_its_gap_after_what_it_waits_for(
        turns in any_tree(),
        slots in 1_u32..4,
        fails in prop::option::of(2_u64..9),
        idle in prop::option::of(1_u64..200),
    ) {
        let mut server = Simulated::new(0, fails.unwrap_or(0));
        server.takes = Some(|body| {
            let seed = body.iter().fold(7_u64, |seed, byte| seed.wrapping_mul(31) + u64::from(*byte));
            (1 + seed % 300) * MS
        });
        (server.once, server.max_idle) = (true, idle.map(|idle| idle * MS));
        let (outcome, records) = run(&closed(slots), &mut server, trees(turns.clone(), Some(5), None));
        prop_assert_eq!(outcome.end.ending, Ending::Requests);
        in_order(&turns, &records);
        if fails.is_none() {
            prop_assert_eq!(records.len(), 5 * turns.len());
        }
        prop_assert!(idle.is_some() || outcome.end.client.skipped_idle_ns == 0);
    }
}
