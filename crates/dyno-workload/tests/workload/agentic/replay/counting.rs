//! Tokenizers without words of one token each, and servers that count.

use std::sync::atomic::{AtomicU32, Ordering};

use dyno_testing::tokenizers::KINDS;
use dyno_workload::agentic::PromptParts;
use dyno_workload::tokenizer::Ask;

use super::lengths::{Numbers, turns};
use super::*;

fn growing() -> Tree {
    tree(PromptParts::Lengths, vec![(0, turns(60, &mut Numbers::new(3)))])
}

#[test]
fn a_server_that_counts_is_asked_at_the_beginning_and_not_again() {
    let model = Arc::new(Model::new(KINDS[0], true));
    let asked = Arc::new(AtomicU32::new(0));
    let (counted, of) = (Arc::clone(&asked), Arc::clone(&model));
    let tokenizer = Tokenizer::by_asking(Box::new(move |ask| {
        counted.fetch_add(1, Ordering::Relaxed);
        Ok(match ask {
            Ask::Text(text) => of.tokenizer.count(text).unwrap(),
            Ask::Messages(messages) => of.tokenizer.count_messages(messages).unwrap(),
            Ask::Recorded(prompt) => panic!("{prompt:?}"),
        })
    }));
    let replayer = TreeReplayer::new(&tokenizer, ReplayOptions::default(), Key::new(1, 1), true);
    let replayer = replayer.unwrap();
    assert!(replayer.is_exact());
    let before = asked.load(Ordering::Relaxed);
    assert!(before < 40, "{before}");
    let tree = growing();
    for prompt in prompts(&mut begin(&replayer.again(Key::new(1, 2)), &tree)) {
        let counted = model.tokens(&prompt.item).len() as u32;
        assert_eq!(prompt.item.input_tokens, Some(counted));
    }
    assert_eq!(asked.load(Ordering::Relaxed), before, "nothing more is asked");
}

#[test]
fn prompts_without_independent_words_are_about_as_long_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    write_folder(folder.path(), &crate::tokenizer_random::pairing_tokenizer(), None);
    let tokenizer = Tokenizer::load(folder.path()).unwrap();
    let replayer = TreeReplayer::new(&tokenizer, plain(), Key::new(1, 1), false).unwrap();
    assert!(!replayer.is_exact());
    let tree = growing();
    for (prompt, turn) in prompts(&mut begin(&replayer, &tree)).iter().zip(&tree.sessions[0].turns)
    {
        let counted = tokenizer.count_content(&prompt.item.content, false).unwrap();
        assert_eq!(prompt.item.input_tokens, Some(counted));
        let asked = f64::from(turn.input.unwrap() as u32);
        assert!((f64::from(counted) - asked).abs() < 12.0 + asked * 0.15, "{counted} for {asked}");
    }
}
