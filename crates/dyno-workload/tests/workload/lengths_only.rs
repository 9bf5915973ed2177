//! Prompts without text have the lengths of those with text.

use dyno_model::prompt::{Content, Item};
use dyno_workload::random::key::Key;
use dyno_workload::random::{RandomOptions, RandomPrompts};
use dyno_workload::tokenizer::Tokenizer;

#[test]
fn lengths_are_those_of_the_prompts() {
    let options = RandomOptions { output: Some("3-50".parse().unwrap()), ..Default::default() };
    let input = "40-400".parse().unwrap();
    let prompts =
        RandomPrompts::new(&Tokenizer::estimate(), input, Key::new(9, 2), options).unwrap();
    let lengths: Vec<Item> = (0..200).map(|index| prompts.lengths(index)).collect();
    for (index, item) in (0..).zip(&lengths) {
        let prompt = prompts.prompt(index).unwrap();
        assert_eq!(item.content, Content::Text(String::new()));
        assert_eq!(
            (item.input_tokens, item.output_tokens),
            (prompt.input_tokens, prompt.output_tokens)
        );
    }
    assert!(lengths.iter().any(|item| item.input_tokens != lengths[0].input_tokens));
}
