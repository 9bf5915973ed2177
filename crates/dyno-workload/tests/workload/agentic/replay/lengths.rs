//! Prompts have the recorded lengths, whatever follows what.

use dyno_model::tree::Growth;
use dyno_testing::tokenizers::KINDS;
use dyno_workload::agentic::replay::Responses;
use dyno_workload::agentic::{PromptParts, growth_of};

use super::*;

/// Numbers in no order, always the same.
pub(super) struct Numbers(u64);

impl Numbers {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) fn below(&mut self, most: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }
}

/// Turns that grow, grow by less than the response, shrink and jump.
pub(super) fn turns(count: usize, numbers: &mut Numbers) -> Vec<TreeTurn> {
    let mut before = 40_u64;
    let mut output = 0;
    (0..count)
        .map(|_| {
            let input = match numbers.below(8) {
                0..=2 => before + output + numbers.below(40),
                3 => before + numbers.below(output + 4),
                4 => before + numbers.below(14),
                5 => before.saturating_sub(numbers.below(30)),
                6 => numbers.below(before + 1),
                _ => before,
            };
            let input = if input > 500 { 30 + numbers.below(60) } else { input };
            output = numbers.below(60);
            before = input;
            turn(input, output, &[])
        })
        .collect()
}

#[test]
fn ten_thousand_growths_have_the_recorded_lengths() {
    for kind in KINDS {
        for (template, chat) in [(true, true), (false, true), (false, false), (true, false)] {
            let model = Model::new(kind, template);
            let replayer = replayer(&model, plain(), chat);
            assert!(replayer.is_exact(), "{kind} {template} {chat}");
            let mut numbers = Numbers::new(5);
            let (count, sessions) = if template && chat { (100, 34) } else { (50, 6) };
            let sessions = (0..sessions).map(|_| (0, turns(count, &mut numbers))).collect();
            let tree = tree(PromptParts::Lengths, sessions);
            let mut replayed = begin(&replayer, &tree);
            let plan = replayed.turns();
            assert_eq!(plan.len(), tree.turns());
            let mut raised = 0;
            for (number, prompt) in prompts(&mut replayed).into_iter().enumerate() {
                let planned = &plan[number];
                let recorded = &tree.sessions[planned.session as usize].turns;
                let asked = recorded[planned.number as usize - 1].input.unwrap() as u32;
                let expected = asked.max(replayer.minimum());
                raised += usize::from(asked < expected);
                let what = format!("{kind} {template} {chat} {number} {asked}");
                let counted = model.tokenizer.count_content(&prompt.item.content, chat).unwrap();
                assert_eq!(counted, expected, "{what}: {:?}", prompt.item);
                assert_eq!(prompt.item.input_tokens, Some(expected), "{what}");
                if let Content::Messages(messages) = &prompt.item.content {
                    let roles = messages.iter().map(|one| one.role.as_str());
                    assert!(
                        roles.eq(["user", "assistant"].into_iter().cycle().take(messages.len()))
                    );
                    assert_eq!(messages.len() % 2, 1, "{what}: the user speaks last");
                    assert!(messages.iter().all(|one| !one.content.is_empty()), "{what}");
                }
            }
            assert!(raised < tree.turns() / 5, "{raised}");
        }
    }
}

#[test]
fn a_prompt_that_grows_keeps_the_one_before_it_token_by_token() {
    for kind in KINDS {
        let model = Model::new(kind, true);
        let replayer = replayer(&model, plain(), true);
        let mut numbers = Numbers::new(9);
        let tree = tree(PromptParts::Lengths, vec![(0, turns(300, &mut numbers))]);
        let prompts = prompts(&mut begin(&replayer, &tree));
        let (after_text, between) = model.around();
        let mut whole = 0;
        for pair in prompts.windows(2) {
            let [before, after] = [0, 1].map(|one: usize| model.tokens(&pair[one].item));
            let shared = common(&before, &after);
            let kept = before.len().min(after.len());
            // The end of a prompt that is cut or goes on in the same message is another; a response that leaves no
            // room for a message is gone.
            let end = after_text + between + 1;
            assert!(shared + 2 * end >= kept, "{kind}: {shared} of {kept}");
            if after.len() > before.len() + end {
                assert_eq!(shared, before.len(), "{kind}");
                whole += 1;
            }
        }
        assert!(whole > 80, "{whole}");
    }
}

#[test]
fn a_response_is_as_long_as_recorded_or_as_there_is_room_for() {
    let model = Model::new(KINDS[0], true);
    let replayer = replayer(&model, plain(), true);
    let (after_text, between) = model.around();
    let (pair, least) = (after_text + between, (after_text + between + 11) as u64);
    let turns =
        vec![turn(100, 30, &[]), turn(200, 8, &[]), turn(300, 50, &[]), turn(300 + least, 0, &[])];
    let tree = tree(PromptParts::Lengths, vec![(0, turns)]);
    let prompts = prompts(&mut begin(&replayer, &tree));
    let words = |prompt: &SentPrompt| match &prompt.item.content {
        Content::Messages(messages) => {
            let words = |text: &str| model.tokenizer.count(text).unwrap();
            messages.iter().map(|one| words(&one.content)).collect::<Vec<_>>()
        }
        other => panic!("{other:?}"),
    };
    let around = replayer.minimum() - 1;
    let pair = pair as u32;
    assert_eq!(words(&prompts[0]), [100 - around]);
    assert_eq!(words(&prompts[1])[1..], [30, 100 - pair - 30], "all of the response");
    assert_eq!(words(&prompts[2])[3..], [8, 100 - pair - 8]);
    assert_eq!(words(&prompts[3])[5..], [10, 1], "trimmed to the room");
    let asked: Vec<_> = prompts.iter().map(|prompt| prompt.item.output_tokens.unwrap()).collect();
    assert_eq!(asked, [30, 8, 50, 1], "0 is replayed as 1");
}

#[test]
fn trims_and_cuts_are_those_of_the_recording() {
    let model = Model::new(KINDS[0], true);
    let replayer = replayer(&model, plain(), true);
    let (after_text, between) = model.around();
    let room = (after_text + between + 1) as u64;
    let tree = tree(PromptParts::Lengths, vec![(0, turns(400, &mut Numbers::new(12)))]);
    let turns = &tree.sessions[0].turns;
    let sent = prompts(&mut begin(&replayer, &tree));
    let mut found = [0; 3];
    for (number, pair) in sent.windows(2).enumerate() {
        let (old, new) = (&turns[number], &turns[number + 1]);
        let growth = growth_of(old, new, tree.prompts);
        assert_eq!(pair[1].growth, growth);
        let [before, after] = [0, 1].map(|one: usize| model.tokens(&pair[one].item));
        // The shortest prompts are longer than recorded.
        if before.len() as u64 > old.input.unwrap() {
            continue;
        }
        let kept = common(&before, &after) == before.len();
        let Content::Messages(messages) = &pair[1].item.content else { panic!() };
        let answer = messages.len().checked_sub(2).map_or("", |last| &messages[last].content);
        let answer = u64::from(model.tokenizer.count(answer).unwrap());
        let whole = old.output.unwrap().max(1);
        let grows = new.input.unwrap().saturating_sub(old.input.unwrap());
        match growth.unwrap() {
            // What the template puts between messages takes its room from the response.
            Growth::Whole if grows >= whole + room => {
                assert!(kept && answer == whole, "{number}: {answer} of {whole}");
                found[0] += 1;
            }
            Growth::Trimmed if grows > room => {
                assert!(kept && answer < whole, "{number}: {answer} of {whole}");
                found[1] += 1;
            }
            Growth::Cut if before.len() > after.len() => {
                assert!(!kept);
                found[2] += 1;
            }
            _ => {}
        }
    }
    assert!(found.iter().all(|count| *count > 10), "{found:?}");
    assert_eq!(sent[0].growth, None);
}

#[test]
fn live_responses_stand_where_the_recorded_ones_would() {
    for kind in KINDS {
        let model = Model::new(kind, true);
        let options = ReplayOptions { responses: Responses::Live, ..plain() };
        let replayer = replayer(&model, options, true);
        let turns =
            vec![turn(100, 20, &[]), turn(180, 20, &[]), turn(240, 20, &[]), turn(330, 9, &[])];
        let tree = tree(PromptParts::Lengths, vec![(0, turns)]);
        let mut replayed = begin(&replayer, &tree);
        let answers = ["white horse near the river", &"story of the night ".repeat(30), ""];
        let mut sent = Vec::new();
        for number in 0..4 {
            sent.push(replayed.prompt(number).unwrap().item);
            if let Some(answer) = answers.get(number as usize) {
                replayed.answered(number, answer);
            }
        }
        let Content::Messages(last) = &sent[3].content else { panic!("{sent:?}") };
        assert_eq!(last[1].content, answers[0], "{kind}");
        let long = &last[3].content;
        assert!(answers[1].starts_with(long.as_str()) && long.len() > 15, "{kind}: {long}");
        assert!(!last[5].content.is_empty(), "an empty response is not repeated");
        for (item, input) in sent.iter().zip([100, 180, 240, 330]) {
            assert_eq!(model.tokens(item).len(), input, "{kind}");
            assert_eq!(item.input_tokens, Some(input as u32));
        }
        for pair in sent.windows(2) {
            let [before, after] = [0, 1].map(|one: usize| model.tokens(&pair[one]));
            assert_eq!(common(&before, &after), before.len());
        }
    }
}
