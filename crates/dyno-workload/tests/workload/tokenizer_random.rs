//! Random prompts count to the token what was asked for, whatever the tokenizer.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use dyno_model::prompt::{Content, Item};
use dyno_testing::tokenizers::{KINDS, TEMPLATE, templated, trained, write_folder};
use dyno_workload::random::key::Key;
use dyno_workload::random::lengths::Lengths;
use dyno_workload::random::{RandomError, RandomOptions, RandomPrompts};
use dyno_workload::tokenizer::{Ask, Tokenizer};
use tempfile::TempDir;

const LENGTHS: [u32; 7] = [1, 2, 7, 80, 512, 10_000, 128_000];

fn loaded(encoder: &tokenizers::Tokenizer, template: Option<&str>) -> (TempDir, Tokenizer) {
    let place = tempfile::tempdir().expect("folder");
    write_folder(place.path(), encoder, template);
    let tokenizer = Tokenizer::load(place.path()).expect("load");
    (place, tokenizer)
}

fn text(item: &Item) -> &str {
    match &item.content {
        Content::Text(text) => text,
        other => panic!("{other:?}"),
    }
}

fn plain() -> RandomOptions {
    RandomOptions { chat: false, ..RandomOptions::default() }
}

fn prompts(tokenizer: &Tokenizer, lengths: &str, options: RandomOptions) -> RandomPrompts {
    let lengths = lengths.parse().expect("lengths");
    RandomPrompts::new(tokenizer, lengths, Key::new(1, 0), options).expect("prompts")
}

#[test]
fn every_length_is_met_exactly_with_every_kind_of_tokenizer() {
    for kind in KINDS {
        let encoder = trained(kind);
        let counted = |text: &str| encoder.encode(text, true).expect("encode").len() as u32;
        for chat in [false, true] {
            let (_place, tokenizer) = loaded(&encoder, chat.then_some(TEMPLATE));
            let options = RandomOptions { chat, ..RandomOptions::default() };
            let template = if chat { counted(&templated("")) } else { 0 };
            for length in LENGTHS {
                let made = RandomPrompts::new(
                    &tokenizer,
                    Lengths::fixed(length),
                    Key::new(9, 0),
                    options.clone(),
                );
                if length <= template {
                    let error = made.expect_err("below the template").to_string();
                    let minimum = format!("the shortest possible is {} tokens", template + 1);
                    assert!(error.contains(&minimum), "{kind}: {error}");
                    assert!(error.contains("the chat template's own"), "{error}");
                    continue;
                }
                let made = made.expect("prompts");
                assert!(made.from_pieces(), "{kind}");
                assert_eq!(made.minimum(), template + 1);
                for index in if length > 1_000 { 1..3 } else { 1..12 } {
                    let item = made.prompt(index).expect("prompt");
                    let whole = if chat { templated(text(&item)) } else { text(&item).to_owned() };
                    assert_eq!(counted(&whole), length, "{kind} {chat} {index}");
                    assert_eq!(item.input_tokens, Some(length));
                    assert!(!whole.contains('\u{fffd}') && !text(&item).is_empty());
                }
            }
        }
    }
}

#[test]
fn tokens_that_the_tokenizer_adds_count_too() {
    let mut encoder = trained("byte-level BPE");
    let processor: tokenizers::PostProcessorWrapper = serde_json::from_value(serde_json::json!({
        "type": "TemplateProcessing",
        "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}},
                   {"Sequence": {"id": "A", "type_id": 0}}],
        "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}],
        "special_tokens": {"<s>": {"id": "<s>", "ids": [2], "tokens": ["<s>"]}},
    }))
    .expect("processor");
    encoder.with_post_processor(Some(processor));
    let (_place, tokenizer) = loaded(&encoder, None);
    let error = RandomPrompts::new(&tokenizer, Lengths::fixed(1), Key::new(0, 0), plain());
    let error = error.expect_err("below the opening token");
    assert!(error.to_string().contains("shortest possible is 2 tokens, of which 1"), "{error}");
    for length in [2, 3, 80] {
        let item = prompts(&tokenizer, &length.to_string(), plain()).prompt(0).expect("prompt");
        assert_eq!(encoder.encode(text(&item), true).expect("encode").len(), length);
    }
}

/// Pairs of letters and spaces are tokens, wherever they stand: no word is independent.
pub(crate) fn pairing_tokenizer() -> tokenizers::Tokenizer {
    let alphabet: Vec<char> = ('a'..='z').chain([' ']).collect();
    let mut vocab = vec![("<unk>".to_owned(), -20.0)];
    vocab.extend(alphabet.iter().map(|c| (c.to_string(), -10.0)));
    for first in &alphabet {
        vocab.extend(alphabet.iter().map(|second| (format!("{first}{second}"), -4.0)));
    }
    let model = serde_json::json!({"type": "Unigram", "unk_id": 0, "vocab": vocab});
    let file = serde_json::json!({"version": "1.0", "added_tokens": [], "model": model});
    file.to_string().parse().expect("tokenizer")
}

#[test]
fn without_independent_pieces_prompts_are_corrected_until_they_are_exact() {
    let encoder = pairing_tokenizer();
    let (_place, tokenizer) = loaded(&encoder, None);
    for length in [1, 2, 7, 80, 512, 10_000] {
        let made = prompts(&tokenizer, &length.to_string(), plain());
        assert!(!made.from_pieces());
        let item = made.prompt(3).expect("prompt");
        assert_eq!(encoder.encode(text(&item), false).expect("encode").len(), length);
    }
}

#[test]
fn the_same_seed_level_and_index_give_the_same_prompt_in_any_order() {
    let (_place, tokenizer) = loaded(&trained("unigram"), Some(TEMPLATE));
    let make = |seed, level| {
        let lengths = "normal(120,20)".parse().expect("lengths");
        let output = Some("8-64".parse().expect("lengths"));
        let options = RandomOptions { output, ..RandomOptions::default() };
        RandomPrompts::new(&tokenizer, lengths, Key::new(seed, level), options).expect("prompts")
    };
    let (one, other) = (make(5, 2), make(5, 2));
    let forth: Vec<Item> = (0..50).map(|i| one.prompt(i).expect("prompt")).collect();
    let mut back: Vec<Item> = (0..50).rev().map(|i| other.prompt(i).expect("prompt")).collect();
    back.reverse();
    assert_eq!(forth, back);
    assert!(forth.iter().all(|item| (8..=64).contains(&item.output_tokens.unwrap_or(0))));
    let lengths: HashSet<_> = forth.iter().map(|item| item.input_tokens).collect();
    assert!(lengths.len() > 10);
    for others in [make(6, 2), make(5, 3)] {
        assert_ne!(text(&others.prompt(7).expect("prompt")), text(&forth[7]));
    }
}

#[test]
fn drawn_lengths_are_met_and_end_at_the_shortest_prompt() {
    let encoder = trained("WordPiece");
    let (_place, tokenizer) = loaded(&encoder, Some(TEMPLATE));
    let made = prompts(&tokenizer, "normal(20,30)", RandomOptions::default());
    let mut shortest = 0;
    for index in 0..200 {
        let item = made.prompt(index).expect("prompt");
        let whole = encoder.encode(templated(text(&item)), false).expect("encode").len() as u32;
        assert_eq!(item.input_tokens, Some(whole));
        shortest += u32::from(whole == made.minimum());
    }
    assert!(shortest > 20, "{shortest}");
    for (lengths, fits) in [("normal(3,1)", false), ("5-90", false), ("zipf(1.1,1-90)", false)]
        .into_iter()
        .chain([("normal(90,1)", true), ("40-90", true)])
    {
        let lengths = lengths.parse().expect("lengths");
        let made =
            RandomPrompts::new(&tokenizer, lengths, Key::new(0, 0), RandomOptions::default());
        assert_eq!(made.is_ok(), fits, "{lengths}");
    }
}

#[test]
fn groups_share_their_prefix_and_nothing_else() {
    let encoder = trained("byte-level BPE");
    let (_place, tokenizer) = loaded(&encoder, None);
    let options = RandomOptions { prefix: 100, groups: 3, ..plain() };
    let made = prompts(&tokenizer, "160", options.clone());
    let ids: Vec<Vec<u32>> = (0..9)
        .map(|index| made.prompt(index).expect("prompt"))
        .map(|item| encoder.encode(text(&item), false).expect("encode").get_ids().to_vec())
        .collect();
    let common = |a: &[u32], b: &[u32]| a.iter().zip(b).take_while(|(a, b)| a == b).count();
    for (one, first) in ids.iter().enumerate() {
        assert_eq!(first.len(), 160);
        for (other, second) in ids.iter().enumerate().skip(one + 1) {
            let shared = common(first, second);
            let wanted = if one % 3 == other % 3 { 100..110 } else { 0..10 };
            assert!(wanted.contains(&shared), "{one} and {other} share {shared}");
        }
    }
    let short =
        RandomPrompts::new(&tokenizer, Lengths::fixed(100), Key::new(0, 0), options.clone());
    let error = short.expect_err("no room beside the prefix").to_string();
    assert!(error.contains("101 tokens") && error.contains("100 the shared prefix"), "{error}");
    let none = RandomOptions { groups: 0, ..options.clone() };
    let both = RandomOptions { unique: true, ..options };
    for (options, wanted) in
        [(none, RandomError::NoGroups(100)), (both, RandomError::SharedAndUnique(100))]
    {
        let made = RandomPrompts::new(&tokenizer, Lengths::fixed(160), Key::new(0, 0), options);
        assert_eq!(made.expect_err("refused"), wanted);
    }
}

#[test]
fn unique_prompts_begin_each_in_its_own_way() {
    let encoder = trained("byte-level BPE");
    let (_place, tokenizer) = loaded(&encoder, None);
    let made = prompts(&tokenizer, "4", RandomOptions { unique: true, ..plain() });
    let mut seen = HashSet::new();
    for index in 0..20_000 {
        let item = made.prompt(index).expect("prompt");
        let begin: Vec<&str> = text(&item).split(' ').take(3).collect();
        assert!(seen.insert(begin.join(" ")), "{index} begins as another did");
    }
}

#[test]
fn one_prompt_in_a_thousand_is_counted_again() {
    let (_place, tokenizer) = loaded(&trained("WordPiece"), None);
    let made = prompts(&tokenizer, "20", plain());
    for index in 0..3_001 {
        made.prompt(index).expect("prompt");
    }
    assert_eq!((made.checks().checked, made.checks().wrong), (4, 0));
}

#[test]
fn a_server_is_asked_a_handful_of_times_and_never_again() {
    let encoder = trained("byte-level BPE");
    let (_place, local) = loaded(&encoder, Some(TEMPLATE));
    let asked = Arc::new(AtomicU32::new(0));
    let (counting, behind) = (Arc::clone(&asked), local.clone());
    let server = Tokenizer::by_asking(Box::new(move |ask| {
        counting.fetch_add(1, Ordering::Relaxed);
        match ask {
            Ask::Text(text) => behind.count(text),
            Ask::Messages(messages) => behind.count_messages(messages),
            Ask::Recorded(prompt) => behind.count_recorded(prompt),
        }
        .map_err(|error| dyno_model::Message::of(&error))
    }));
    let made = prompts(&server, "300", RandomOptions::default());
    let at_first = asked.load(Ordering::Relaxed);
    assert!(at_first <= 30, "{at_first} questions");
    for index in 0..2_500 {
        let item = made.prompt(index).expect("prompt");
        if index % 50 == 0 {
            let whole = templated(text(&item));
            assert_eq!(encoder.encode(whole, false).expect("encode").len(), 300);
        }
    }
    let later = made.again(Lengths::fixed(50), Key::new(1, 1)).expect("another level");
    let item = later.prompt(0).expect("prompt");
    assert_eq!(encoder.encode(templated(text(&item)), false).expect("encode").len(), 50);
    assert!(made.again(Lengths::fixed(1), Key::new(1, 1)).is_err());
    assert_eq!(asked.load(Ordering::Relaxed), at_first);

    let odd = Tokenizer::by_asking(Box::new(|ask| match ask {
        Ask::Text(text) => Ok(text.len() as u32),
        _ => Err(dyno_model::Message::quoted("no messages here")),
    }));
    let bytes = RandomPrompts::new(&odd, Lengths::fixed(300), Key::new(0, 0), plain());
    assert_eq!(bytes.expect_err("bytes"), RandomError::NothingCountsAsOne);
    let failed =
        RandomPrompts::new(&odd, Lengths::fixed(300), Key::new(0, 0), RandomOptions::default());
    assert!(failed.expect_err("asked").to_string().contains("no messages here"));
}

#[test]
fn a_template_without_the_message_is_told() {
    let (_place, tokenizer) = loaded(&trained("WordPiece"), Some("the same for all"));
    let made = RandomPrompts::new(
        &tokenizer,
        Lengths::fixed(90),
        Key::new(0, 0),
        RandomOptions::default(),
    );
    assert_eq!(made.expect_err("refused"), RandomError::PromptLeftOut);
}

#[test]
fn the_estimate_is_met_by_its_own_count() {
    let tokenizer = Tokenizer::estimate();
    for length in LENGTHS {
        let made = prompts(&tokenizer, &length.to_string(), RandomOptions::default());
        for index in 0..3 {
            let item = made.prompt(index).expect("prompt");
            assert_eq!(tokenizer.count(text(&item)), Ok(length));
        }
    }
}
