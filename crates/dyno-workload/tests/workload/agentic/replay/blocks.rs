//! What ids say is shared is the same text, and what they do not say is another.

use dyno_testing::tokenizers::KINDS;
use dyno_workload::agentic::PromptParts;

use super::lengths::Numbers;
use super::*;

const SIZE: u64 = 16;

/// Sessions whose prompts grow, fork off any earlier prompt, are rewritten and cut.
pub(super) fn forest(seed: u64) -> Vec<(usize, Vec<TreeTurn>)> {
    let mut numbers = Numbers::new(seed);
    let mut next = 1_u64;
    let mut all: Vec<TreeTurn> = Vec::new();
    let mut sessions = Vec::new();
    for session in 0..6 {
        let mut turns: Vec<TreeTurn> = Vec::new();
        for _ in 0..12 {
            let from = match (turns.last(), numbers.below(5)) {
                (Some(last), 0..=3) => Some(last.clone()),
                _ if all.is_empty() => None,
                _ => Some(all[numbers.below(all.len() as u64) as usize].clone()),
            };
            let (old, ids) = from.map_or((0, Vec::new()), |one| (one.input.unwrap(), one.ids));
            let kept = match numbers.below(6) {
                0..=3 => ids.len(),
                4 => ids.len().saturating_sub(1),
                _ => numbers.below(ids.len() as u64 + 1) as usize,
            };
            let mut ids = ids[..kept].to_vec();
            let base = if kept as u64 == old / SIZE { old } else { kept as u64 * SIZE };
            let input = base + 1 + numbers.below(120);
            while (ids.len() as u64) < input / SIZE {
                ids.push(next);
                next += 1;
            }
            turns.push(turn(input, 1 + numbers.below(50), &ids));
            all.push(turns.last().unwrap().clone());
        }
        sessions.push((session, turns));
    }
    sessions
}

#[test]
fn what_ids_share_is_equal_to_the_token_and_the_rest_is_not() {
    for (kind, chat) in KINDS.into_iter().flat_map(|kind| [(kind, true), (kind, false)]) {
        let model = Model::new(kind, chat);
        let replayer = replayer(&model, plain(), chat);
        let (mut whole, mut parts) = (0, 0);
        for seed in 1..4 {
            let local = PromptParts::Blocks { size: SIZE as u32, local: true };
            let tree = tree(local, forest(seed));
            let mut replayed = begin(&replayer, &tree);
            let plan = replayed.turns();
            let sent: Vec<(TreeTurn, Vec<u32>)> = prompts(&mut replayed)
                .iter()
                .zip(plan.iter())
                .map(|(prompt, planned)| {
                    let turns = &tree.sessions[planned.session as usize].turns;
                    let turn = turns[planned.number as usize - 1].clone();
                    assert_eq!(
                        model.tokens(&prompt.item).len() as u64,
                        turn.input.unwrap().max(u64::from(replayer.minimum()))
                    );
                    (turn, model.tokens(&prompt.item))
                })
                .collect();
            let (after_text, between) = model.around();
            let (pair, size) = (after_text + between, SIZE as usize);
            for (number, (turn, tokens)) in sent.iter().enumerate().skip(1) {
                let (mut best, mut found) = (0, 0);
                for (earlier, before) in &sent[..number] {
                    let ids = common(&earlier.ids, &turn.ids);
                    let shared = common(before, tokens);
                    (best, found) = (best.max(ids), found.max(shared));
                    let other = ids < earlier.ids.len().min(turn.ids.len());
                    parts += usize::from(ids > 0 && other);
                    whole += usize::from(ids > 0 && !other);
                    // What the template puts between texts is always the same.
                    let most = (ids + 1) * size + pair;
                    assert!(!other || shared < most, "{kind} {seed} {number}: {shared} for {ids}");
                }
                // The end of a prompt is another than what follows there in a longer one.
                let most = tokens.len().saturating_sub(pair + after_text + 2);
                let expected = most.min(best * size);
                assert!(found >= expected, "{kind} {seed} {number}: {found} of {expected}");
            }
        }
        assert!(whole > 500 && parts > 500, "{whole} {parts}");
    }
}
