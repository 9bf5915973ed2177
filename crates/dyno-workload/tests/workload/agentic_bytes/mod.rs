//! What must hold for any bytes that are given as agentic traffic: trees that can be replayed, or a reason, never with a
//! panic. For the fuzz target `agentic_reader`, and for a test that gives it the seeds.

use dyno_workload::agentic::{AgenticProfile, Tree, TreeDetail, Trees, TurnAt};

/// Reads the bytes, with and without texts, and checks what is read.
pub(crate) fn check(bytes: &[u8]) {
    let lengths: Vec<Tree> = Trees::from_bytes("f", bytes, TreeDetail::Lengths).collect();
    let texts: Vec<Tree> = Trees::from_bytes("f", bytes, TreeDetail::Texts).collect();
    assert_eq!(lengths.len(), texts.len());
    lengths.iter().chain(&texts).for_each(tree);
    match AgenticProfile::from_bytes("f", bytes) {
        Ok(profile) => {
            assert_eq!(profile.trees, lengths.len() as u64);
            let turns: usize = lengths.iter().map(Tree::turns).sum();
            assert_eq!(profile.requests, turns as u64);
            let shares = [
                profile.ideal_cache_share,
                profile.ideal_with_responses,
                profile.recorded_cache_share,
            ];
            assert!(shares.into_iter().flatten().all(|share| (0.0..=1.0).contains(&share)));
            assert!(profile.ideal_cache_share <= profile.ideal_with_responses);
            assert!(!profile.to_string().is_empty() && profile.json().is_object());
        }
        Err(error) => assert!(lengths.is_empty() && !error.to_string().is_empty()),
    }
}

/// A tree is whole: what turns wait for is there and ends, and messages are.
pub(crate) fn tree(tree: &Tree) {
    assert!(tree.sessions.iter().all(|session| !session.turns.is_empty()));
    assert!(tree.sessions.iter().enumerate().all(|(place, session)| session.parent != Some(place)));
    let mut done: Vec<usize> = vec![0; tree.sessions.len()];
    let mut left = tree.turns();
    loop {
        let before = left;
        for session in 0..done.len() {
            while let Some(turn) = tree.turn(TurnAt { session, turn: done[session] }) {
                let ready = |on: TurnAt| tree.turn(on).is_some() && done[on.session] > on.turn;
                if !turn.waits.iter().all(|wait| ready(wait.on)) {
                    break;
                }
                done[session] += 1;
                left -= 1;
            }
        }
        if left == 0 || left == before {
            break;
        }
    }
    assert_eq!(left, 0, "turns that nothing releases: {tree:?}");
    for (_, turn) in tree.all() {
        let mut said = turn.added.iter().chain(&turn.response);
        assert!(said.all(|place| tree.messages.get(*place as usize).is_some()));
        assert!(turn.ended.is_none() || turn.ended >= turn.sent);
    }
}
