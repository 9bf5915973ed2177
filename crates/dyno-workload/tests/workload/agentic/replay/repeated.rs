//! How much of a prompt a cache could hold.

use dyno_model::tree::Repeated;
use dyno_testing::tokenizers::KINDS;
use dyno_workload::agentic::PromptParts;

use super::blocks::forest;
use super::lengths::{Numbers, turns};
use super::*;

/// Compares what is said with what is in the tokens that were sent, in another order than planned.
fn check(model: &Model, options: ReplayOptions, tree: &Tree, block: usize, chat: bool) {
    let replayer = replayer(model, options, chat);
    let mut replayed = begin(&replayer, tree);
    let plan = replayed.turns();
    // Sessions one after the other, as fits their order.
    let mut order: Vec<usize> = (0..plan.len()).collect();
    order.sort_by_key(|place| (plan[*place].session % 3, plan[*place].number));
    let mut sent: Vec<(u32, Vec<u32>)> = Vec::new();
    let (mut responses, mut some) = (0, 0);
    for place in order {
        let prompt = send(&mut replayed, place);
        let tokens = model.tokens(&prompt.item);
        let longest = sent.iter().map(|(_, before)| common(before, &tokens)).max().unwrap_or(0);
        let said = prompt.repeated.unwrap();
        assert_eq!(said.of_prompts as usize, longest / block * block, "{:?}", plan[place]);
        assert!(said.with_responses >= said.of_prompts);
        assert!(said.with_responses as usize <= tokens.len());
        some += usize::from(said.of_prompts > 0);
        if said.with_responses > said.of_prompts {
            responses += 1;
            let before = sent.iter().rev().find(|(session, _)| *session == plan[place].session);
            let before = &before.unwrap().1;
            assert_eq!(common(before, &tokens), before.len(), "only behind the whole prompt");
        }
        sent.push((plan[place].session, tokens));
    }
    assert!(some > 20 && responses > 5, "{some} {responses}");
}

#[test]
fn it_is_what_the_tokens_show_in_whole_blocks() {
    let marked = ReplayOptions { marker: true, ..plain() };
    for (options, chat) in [(plain(), true), (marked, true), (plain(), false)] {
        let model = Model::new(KINDS[0], chat);
        let mut numbers = Numbers::new(4);
        let sessions = (0..4).map(|_| (0, turns(60, &mut numbers))).collect();
        check(&model, options, &tree(PromptParts::Lengths, sessions), 16, chat);
        let local = PromptParts::Blocks { size: 16, local: true };
        check(&model, options, &tree(local, forest(8)), 16, chat);
    }
}

#[test]
fn a_warmed_session_holds_no_response_but_a_token() {
    let model = Model::new(KINDS[0], true);
    let mut sessions = tree(
        PromptParts::Lengths,
        vec![(0, vec![turn(320, 64, &[]), turn(480, 64, &[]), turn(640, 64, &[])])],
    );
    for (number, turn) in sessions.sessions[0].turns.iter_mut().enumerate() {
        turn.sent = Some(number as u64 * 100);
        turn.ended = Some(number as u64 * 100 + 50);
    }
    let replayer = replayer(&model, plain(), true);
    let mut whole = begin(&replayer, &sessions);
    let all: Vec<_> = prompts(&mut whole);
    assert_eq!(
        all.iter().map(|one| one.repeated.unwrap().with_responses).collect::<Vec<_>>(),
        [0, 384, 544]
    );
    let start = TreeStart::At(0.2);
    let mut later = replayer.replay(Arc::new(sessions.clone()), 0, start);
    assert_eq!(later.turns().iter().map(|one| one.warms).collect::<Vec<_>>(), [true, false, false]);
    later.answered(0, "x");
    let warmed: Vec<_> = prompts(&mut later);
    assert_eq!(warmed[0].item.output_tokens, Some(1));
    assert_eq!(
        warmed.iter().map(|one| one.repeated.unwrap().with_responses).collect::<Vec<_>>(),
        [0, 320, 544]
    );
    for (one, other) in all.iter().zip(&warmed) {
        assert_eq!(one.item.content, other.item.content, "the history is the same");
        assert_eq!(one.growth, other.growth);
    }
    // What stands before a start in the middle was never sent.
    let mut last = replayer.replay(Arc::new(sessions), 0, TreeStart::At(0.5));
    assert_eq!(last.turns().iter().map(|one| one.warms).collect::<Vec<_>>(), [true, false]);
    let repeated: Vec<_> = prompts(&mut last).iter().map(|one| one.repeated.unwrap()).collect();
    let [none, some] = [(0, 0), (480, 480)]
        .map(|(of_prompts, with_responses)| Repeated { of_prompts, with_responses });
    assert_eq!(repeated, [none, some]);
}
