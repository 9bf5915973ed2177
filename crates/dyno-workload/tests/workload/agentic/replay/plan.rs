//! What turns wait for and for how long.

use dyno_model::{Nanos, SEC};
use dyno_workload::agentic::PromptParts;
use proptest::prelude::*;

use super::*;

fn replayed(tree: &Tree, start: TreeStart, max_gap: Option<Nanos>) -> ReplayedTree {
    let options = ReplayOptions { max_gap, ..plain() };
    let estimate = Tokenizer::estimate();
    let replayer = TreeReplayer::new(&estimate, options, Key::new(1, 1), true).unwrap();
    replayer.replay(Arc::new(tree.clone()), 0, start)
}

/// Trees of sessions that start, wait and join anywhere; times follow from gaps and durations.
fn any_tree() -> impl Strategy<Value = Tree> {
    let turn = (0_u64..8, 1_u64..9, any::<u8>(), any::<u16>(), any::<bool>());
    let session = prop::collection::vec(turn, 1..7);
    let sessions = prop::collection::vec(session, 1..6);
    (sessions, any::<bool>()).prop_map(|(sessions, timed)| {
        let turns = |all: &[(u64, u64, u8, u16, bool)]| all.iter().map(|_| turn_of(50)).collect();
        let plain = sessions.iter().map(|all| (0, turns(all))).collect();
        let mut tree = tree(PromptParts::Lengths, plain);
        // Turns in the order of their numbers, then sessions: each may wait for any before it.
        let mut before: Vec<TurnAt> = Vec::new();
        for number in 0..7 {
            for (session, all) in sessions.iter().enumerate() {
                let Some((gap, took, choice, other, joins)) = all.get(number).copied() else {
                    continue;
                };
                let at = TurnAt { session, turn: number };
                let mut waits: Vec<Wait> = tree.turn(at).unwrap().waits.clone();
                if number == 0 && session > 0 {
                    let root: Vec<_> = before.iter().filter(|on| on.session == 0).collect();
                    waits = vec![Wait { on: *root[other as usize % root.len()], why: Why::Spawn }];
                    if choice == 0 {
                        waits.clear();
                    }
                }
                if joins && !before.is_empty() {
                    let on = before[other as usize % before.len()];
                    if waits.iter().all(|wait| wait.on != on) {
                        waits.push(Wait { on, why: Why::Join });
                    }
                }
                let ends = waits.iter().map(|wait| tree.turn(wait.on).unwrap().ended.unwrap());
                let sent = ends.max().unwrap_or(0) + gap * SEC;
                let turn = &mut tree.sessions[session].turns[number];
                turn.gap = (!waits.is_empty()).then_some(gap * SEC);
                (turn.sent, turn.ended) = (Some(sent), Some(sent + took * SEC));
                turn.waits = waits;
                before.push(at);
            }
        }
        if !timed {
            for turn in tree.sessions.iter_mut().flat_map(|session| &mut session.turns) {
                (turn.sent, turn.ended) = (None, None);
            }
        }
        tree
    })
}

fn turn_of(input: u64) -> TreeTurn {
    turn(input, 5, &[])
}

fn at(planned: &dyno_model::tree::PlannedTurn) -> TurnAt {
    TurnAt { session: planned.session as usize, turn: planned.number as usize - 1 }
}

proptest! {
    #[test]
    fn every_turn_waits_for_what_it_waited_for_and_as_long(tree in any_tree(), cap in 0_u64..8) {
        let max_gap = (cap > 0).then_some(cap * SEC);
        let turns = replayed(&tree, TreeStart::Beginning, max_gap).turns();
        prop_assert_eq!(turns.len(), tree.turns());
        let mut seen = std::collections::HashSet::new();
        for (place, planned) in turns.iter().enumerate() {
            let turn = tree.turn(at(planned)).unwrap();
            prop_assert!(seen.insert(at(planned)), "twice");
            prop_assert!(planned.waits.iter().all(|on| (*on as usize) < place));
            let mut waits: Vec<_> = planned.waits.iter().map(|on| at(&turns[*on as usize])).collect();
            let mut recorded: Vec<_> = turn.waits.iter().map(|wait| wait.on).collect();
            waits.sort_unstable();
            recorded.sort_unstable();
            prop_assert_eq!(waits, recorded);
            let began = tree.all().filter_map(|(_, turn)| turn.sent).min().unwrap_or(0);
            let expected = turn.gap.unwrap_or_else(|| turn.sent.unwrap_or(0) - began);
            prop_assert_eq!(planned.gap + planned.skipped, expected);
            prop_assert!(planned.gap <= max_gap.unwrap_or(Nanos::MAX));
            prop_assert!(planned.skipped == 0 || Some(planned.gap) == max_gap);
            prop_assert_eq!(planned.recorded, turn.sent.zip(turn.ended));
            prop_assert!(!planned.warms);
        }
    }

    #[test]
    fn a_start_in_the_middle_warms_what_is_alive_and_keeps_the_rest(tree in any_tree(), share in 0_u32..=100) {
        let end = tree.all().filter_map(|(_, turn)| turn.ended).max();
        let turns = replayed(&tree, TreeStart::At(f64::from(share) / 100.0), None).turns();
        let Some(end) = end else { return Ok(()) };
        let instant = (end as f64 * (f64::from(share) / 100.0)) as Nanos;
        let behind = |turn: &TreeTurn| turn.sent.unwrap() >= instant;
        let left = tree.all().filter(|(_, turn)| behind(turn)).count();
        if left == 0 || instant == 0 {
            let all = replayed(&tree, TreeStart::Beginning, None).turns();
            prop_assert_eq!(turns, all, "all of it where nothing is before or behind");
            return Ok(());
        }
        prop_assert_eq!(turns.iter().filter(|turn| !turn.warms).count(), left);
        for (number, session) in tree.sessions.iter().enumerate() {
            let before = session.turns.iter().rposition(|turn| !behind(turn));
            let alive = before.filter(|_| session.turns.iter().any(behind));
            let warms: Vec<_> = turns.iter().filter(|one| one.warms && at(one).session == number).collect();
            prop_assert_eq!(warms.iter().map(|one| at(one).turn).collect::<Vec<_>>(), alive.into_iter().collect::<Vec<_>>());
            prop_assert!(warms.iter().all(|one| one.gap == 0 && one.waits.is_empty() && one.skipped == 0));
        }
        let planned_at = |on: TurnAt| turns.iter().position(|one| at(one) == on);
        for (place, planned) in turns.iter().enumerate().filter(|(_, one)| !one.warms) {
            let turn = tree.turn(at(planned)).unwrap();
            let mut recorded: Vec<u32> =
                turn.waits.iter().filter_map(|wait| planned_at(wait.on)).map(|on| on as u32).collect();
            recorded.sort_unstable();
            prop_assert!(planned.waits.iter().all(|on| (*on as usize) < place));
            prop_assert_eq!(planned.skipped, 0);
            if recorded.iter().any(|on| !turns[*on as usize].warms) {
                prop_assert_eq!(&planned.waits, &recorded);
                prop_assert_eq!(planned.gap, turn.gap.unwrap());
            } else {
                prop_assert_eq!(planned.gap, turn.sent.unwrap() - instant);
                let own = turns.iter().position(|one| one.warms && one.session == planned.session);
                let own = own.map(|own| own as u32);
                prop_assert!(planned.waits == recorded && !recorded.is_empty() || planned.waits == Vec::from_iter(own));
            }
        }
    }
}

#[test]
fn times_follow_from_gaps_where_there_are_none() {
    let mut sessions =
        tree(PromptParts::Lengths, vec![(0, vec![turn_of(40); 3]), (0, vec![turn_of(40); 2])]);
    for (session, turn, gap) in [(0, 1, 20), (0, 2, 20), (1, 0, 5), (1, 1, 30)] {
        sessions.sessions[session].turns[turn].gap = Some(gap * SEC);
    }
    let order: Vec<_> =
        replayed(&sessions, TreeStart::Beginning, None).turns().iter().map(at).collect();
    let named: Vec<_> = order.iter().map(ToString::to_string).collect();
    assert_eq!(named, ["1/1", "2/1", "1/2", "2/2", "1/3"]);
    // 0, 5, 20, 35 and 40 s: at 22 s both sessions have one request left.
    let later = replayed(&sessions, TreeStart::At(0.55), None).turns();
    let told: Vec<_> =
        later.iter().map(|one| (at(one).to_string(), one.gap / SEC, one.waits.clone())).collect();
    let expect = |name: &str, gap, waits: &[u32]| (name.to_owned(), gap, waits.to_vec());
    assert_eq!(
        told,
        [
            expect("1/2", 0, &[]),
            expect("2/1", 0, &[]),
            expect("2/2", 13, &[1]),
            expect("1/3", 18, &[0]),
        ]
    );
    assert!(later.iter().all(|one| one.recorded.is_none()), "durations are not known");
}

#[test]
fn turns_that_wait_for_each_other_are_left_out_rather_than_hang() {
    let mut odd = tree(PromptParts::Lengths, vec![(0, vec![turn_of(40); 3])]);
    odd.sessions[0].turns[1]
        .waits
        .push(Wait { on: TurnAt { session: 0, turn: 2 }, why: Why::Text });
    odd.sessions[0].turns[0]
        .waits
        .push(Wait { on: TurnAt { session: 9, turn: 9 }, why: Why::Text });
    for start in
        [TreeStart::Beginning, TreeStart::At(f64::NAN), TreeStart::At(7.0), TreeStart::At(-1.0)]
    {
        assert_eq!(replayed(&odd, start, None).turns().len(), 1);
    }
}
