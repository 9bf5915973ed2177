//! Long sessions take time and room for what is new in them.

use std::time::{Duration, Instant};

use dyno_workload::agentic::PromptParts;

use super::*;

/// Far more than it takes, even on a busy machine; far less than work that grows with the square.
const PATIENCE: Duration = Duration::from_secs(120);

fn estimate(chat: bool) -> TreeReplayer {
    TreeReplayer::new(&Tokenizer::estimate(), plain(), Key::new(3, 1), chat).unwrap()
}

#[test]
fn a_long_session_holds_every_text_once() {
    let turns: Vec<TreeTurn> =
        (1..=67).map(|number| turn(number * 120_000 / 67, 400, &[])).collect();
    let tree = tree(PromptParts::Lengths, vec![(0, turns)]);
    let began = Instant::now();
    let mut replayed = begin(&estimate(true), &tree);
    let all = prompts(&mut replayed);
    println!("67 prompts of up to 120,000 tokens: {:?}", began.elapsed());
    assert_eq!(all[66].item.input_tokens, Some(120_000));
    let (held, sent) = (
        replayed.size(),
        all.iter().map(|one| match &one.item.content {
            Content::Messages(messages) => {
                messages.iter().map(|one| one.content.len()).sum::<usize>()
            }
            other => panic!("{other:?}"),
        }),
    );
    // A token is a word and where it ends.
    let last = sent.clone().next_back().unwrap();
    assert!(held < last + 4 * 121_000, "{held} for {last}");
    assert!(sent.sum::<usize>() > 30 * last);
    assert!(began.elapsed() < PATIENCE);
}

#[test]
fn a_million_turns_take_a_million_times_as_long_as_one() {
    let turns: Vec<TreeTurn> = (0..1_000_000_u64)
        .map(|number| turn(20 + (number * number) % 13, 1 + number % 5, &[]))
        .collect();
    let tree = tree(PromptParts::Lengths, vec![(0, turns)]);
    let began = Instant::now();
    let mut replayed = begin(&estimate(false), &tree);
    let count = replayed.turns().len() as u32;
    assert_eq!(count, 1_000_000);
    for number in 0..count {
        let prompt = replayed.prompt(number).unwrap();
        let expected = 20 + (u64::from(number) * u64::from(number)) % 13;
        assert_eq!(prompt.item.input_tokens.map(u64::from), Some(expected));
    }
    println!("a million turns: {:?}", began.elapsed());
    assert!(began.elapsed() < PATIENCE);
    // The last of them begins in the middle, where its history has to be made first.
    let mut later = estimate(false).replay(Arc::new(tree), 0, TreeStart::At(1.0));
    let last = later.turns().len() as u32 - 1;
    assert!(later.prompt(last).is_ok());
    assert!(began.elapsed() < 2 * PATIENCE);
}

#[test]
fn lengths_that_no_model_takes_are_cut_instead_of_filling_the_memory() {
    let tree = tree(PromptParts::Lengths, vec![(0, vec![turn(1 << 62, 1 << 62, &[])])]);
    let mut replayed = begin(&estimate(false), &tree);
    let prompt = replayed.prompt(0).unwrap();
    assert_eq!(prompt.item.input_tokens, Some(1 << 24));
    assert_eq!(prompt.item.output_tokens, Some(1 << 24));
}
