//! The prompts of traces count to the token what was recorded, and share what was shared.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

use crate::traces_made::{AZURE, MOONCAKE, trace};
use dyno_model::prompt::{ChatMessage, Content, Item};
use dyno_testing::tokenizers::{KINDS, TEMPLATE, templated, trained, write_folder};
use dyno_workload::random::RandomError;
use dyno_workload::random::key::Key;
use dyno_workload::random::lengths::Lengths;
use dyno_workload::tokenizer::{Ask, Tokenizer};
use dyno_workload::trace::{
    SessionPrompts, Starts, Trace, TraceLimits, TracePrompts, TraceSessions,
};
use proptest::prelude::*;
use tempfile::TempDir;

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

fn all(prompts: &TracePrompts) -> Vec<Item> {
    (0..prompts.trace().len()).map(|i| prompts.prompt(i).expect("made").expect("there")).collect()
}

fn common<T: PartialEq>(a: &[T], b: &[T]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

/// A response of exactly so many tokens in a conversation.
fn response(tokenizer: &Tokenizer, words: &str, tokens: u32) -> String {
    let own = |text: &str| {
        let counted =
            |text: &str| tokenizer.count_messages(&[ChatMessage::user(text)]).expect("count");
        counted(text) - counted("")
    };
    let words: Vec<&str> = words.split(' ').collect();
    let texts = (1..=words.len()).map(|count| words[..count].join(" "));
    texts.into_iter().find(|text| own(text) == tokens).expect("a text of that length")
}

#[test]
fn conversations_of_sessions_have_the_recorded_lengths_with_every_kind_of_tokenizer() {
    let text = r#"{"session_id": 1, "timestamp": 0, "input_length": 300, "output_length": 12}
{"session_id": 1, "delay": 5, "input_length": 400, "output_length": 30}
{"session_id": 1, "delay": 5, "input_length": 470, "output_length": 7}
{"session_id": 1, "delay": 5, "input_length": 900, "output_length": 7}"#;
    let spec = "trace:t".parse().expect("good");
    let limits = TraceLimits::default();
    let sessions =
        TraceSessions::from_bytes("t", text.as_bytes(), &spec, &limits, Starts::Recorded);
    let sessions = sessions.expect("a session");
    for kind in KINDS {
        let (_place, tokenizer) = loaded(&trained(kind), Some(TEMPLATE));
        let (output, key) = (Lengths::fixed(1), Key::new(5, 0));
        let prompts = SessionPrompts::new(&tokenizer, sessions.clone(), output, key, false);
        let talk = prompts.expect("prompts").conversation(0).expect("made");
        let (mut messages, mut lengths) = (Vec::new(), Vec::new());
        for turn in &talk.turns {
            messages.extend(turn.messages.clone());
            lengths.push(tokenizer.count_messages(&messages).expect("count"));
            let words = response(&tokenizer, &turn.messages[0].content, turn.output_tokens);
            messages.push(ChatMessage { role: "assistant".into(), content: words });
        }
        assert_eq!(lengths, [300, 400, 470, 900], "{kind}");
    }
}

#[test]
fn lengths_are_exact_and_beginnings_shared_with_every_kind_of_tokenizer() {
    for kind in KINDS {
        let encoder = trained(kind);
        let ids = |text: &str| encoder.encode(text, true).expect("encode").get_ids().to_vec();
        for chat in [false, true] {
            let (_place, tokenizer) = loaded(&encoder, chat.then_some(TEMPLATE));
            let read = trace(MOONCAKE, "trace:t");
            let prompts =
                TracePrompts::new(&tokenizer, read, Key::new(5, 0), chat, false).expect("prompts");
            assert!(prompts.from_pieces());
            let made = all(&prompts);
            let tokens: Vec<Vec<u32>> = made
                .iter()
                .map(|item| if chat { ids(&templated(text(item))) } else { ids(text(item)) })
                .collect();
            for (request, (item, tokens)) in
                prompts.trace().requests().zip(made.iter().zip(&tokens))
            {
                assert_eq!(tokens.len(), request.input as usize, "{kind} {chat}");
                assert_eq!(item.input_tokens, Some(request.input));
                assert_eq!(item.output_tokens, Some(request.output));
            }
            // What the template puts before the text is shared by all.
            let before =
                if chat { common(&ids(&templated("a")), &ids(&templated("b"))) } else { 0 };
            let shared = |one: usize, other: usize| common(&tokens[one], &tokens[other]) - before;
            for (one, other, blocks) in [(0, 1, 1), (1, 2, 2), (0, 2, 1), (0, 4, 0), (0, 5, 0)] {
                let shared = shared(one, other);
                let wanted = blocks * 512..blocks * 512 + 6;
                assert!(wanted.contains(&shared), "{kind} {chat}: {one} and {other}: {shared}");
            }
            // The same ids to the end: the shorter one is the beginning of the longer one.
            assert!(text(&made[3]).starts_with(text(&made[0])), "{kind} {chat}");
            let checks = prompts.checks();
            assert_eq!((checks.checked, checks.wrong), (1, 0), "{kind} {chat}");
        }
    }
}

#[test]
fn requests_without_ids_or_to_be_unique_share_nothing() {
    let tokenizer = Tokenizer::estimate();
    let azure: String = (0..3_000)
        .map(|i| format!("2023-11-16 18:{:02}:{:02},4,1\n", i / 60, i % 60))
        .fold("TIMESTAMP,ContextTokens,GeneratedTokens\n".into(), |text, row| text + &row);
    let mooncake: String = (0..3_000)
        .map(|i| {
            format!(
                "{{\"timestamp\":{i},\"input_length\":4,\"output_length\":1,\"hash_ids\":[7]}}\n"
            )
        })
        .collect();
    for (file, text_of, unique) in [("a.csv", azure, false), ("t", mooncake.clone(), true)] {
        let read = trace(&text_of, &format!("trace:{file}"));
        let prompts =
            TracePrompts::new(&tokenizer, read, Key::new(1, 0), true, unique).expect("prompts");
        let texts: HashSet<String> = all(&prompts).iter().map(|i| text(i).to_owned()).collect();
        assert_eq!(texts.len(), 3_000, "{file}");
    }
    let same = trace(&mooncake, "trace:t");
    let prompts =
        TracePrompts::new(&tokenizer, same, Key::new(1, 0), true, false).expect("prompts");
    let texts: HashSet<String> = all(&prompts).iter().map(|i| text(i).to_owned()).collect();
    assert_eq!(texts.len(), 1, "the same id is the same text");
}

#[test]
fn blocks_without_an_id_are_the_requests_own_and_surplus_ids_are_ignored() {
    let rows = r#"{"timestamp":0,"input_length":40,"output_length":1,"hash_ids":[1,2]}
        {"timestamp":1,"input_length":40,"output_length":1,"hash_ids":[1,2]}
        {"timestamp":2,"input_length":40,"output_length":1,"hash_ids":[1,2,3,4]}
        {"timestamp":3,"input_length":40,"output_length":1,"hash_ids":[1,2,3,4,5,6]}"#;
    let read = trace(rows, "trace:t,block=10");
    assert_eq!(read.tally().mismatched, 3);
    let prompts = TracePrompts::new(&Tokenizer::estimate(), read, Key::new(1, 0), false, false)
        .expect("made");
    let made = all(&prompts);
    let words: Vec<Vec<&str>> = made.iter().map(|item| text(item).split(' ').collect()).collect();
    assert!(words.iter().all(|words| words.len() == 40));
    for (one, other) in [(0, 1), (0, 2)] {
        assert!((20..23).contains(&common(&words[one], &words[other])), "{one} {other}");
    }
    assert_eq!(words[2], words[3]);
}

#[test]
fn the_same_seed_and_index_give_the_same_prompt_in_any_order() {
    let (_place, tokenizer) = loaded(&trained("unigram"), Some(TEMPLATE));
    let prompts = |seed| {
        TracePrompts::new(&tokenizer, trace(MOONCAKE, "trace:t"), Key::new(seed, 0), true, false)
            .expect("made")
    };
    let (one, other) = (prompts(3), prompts(3));
    let forth = all(&one);
    let back: Vec<Item> = (0..6).rev().map(|i| other.prompt(i).unwrap().unwrap()).collect();
    assert!(forth.iter().eq(back.iter().rev()));
    assert_eq!(one.prompt(6), Ok(None));
    // Speed and cuts change when a prompt is sent, not what it says.
    let part = one.again(trace(MOONCAKE, "trace:t,from=3s,to=4s,speed=9"), Key::new(3, 0));
    assert_eq!(part.prompt(0).unwrap().unwrap(), forth[2]);
    assert_ne!(text(&prompts(4).prompt(0).unwrap().unwrap()), text(&forth[0]));
}

#[test]
fn prompts_below_the_template_are_sent_at_the_minimum() {
    let encoder = trained("WordPiece");
    let (_place, tokenizer) = loaded(&encoder, Some(TEMPLATE));
    let rows = "Timestamp,Request tokens,Response tokens\n1,3,1\n2,90,1\n3,1,1\n4,400,1\n";
    let read = trace(rows, "trace:b.csv");
    let prompts =
        TracePrompts::new(&tokenizer, read, Key::new(1, 0), true, false).expect("prompts");
    let minimum = prompts.minimum();
    assert!(minimum > 3 && minimum < 90, "{minimum}");
    let lengths: Vec<u32> = all(&prompts)
        .iter()
        .map(|item| encoder.encode(templated(text(item)), false).expect("encode").len() as u32)
        .collect();
    assert_eq!(lengths, [minimum, 90, minimum, 400]);
    assert_eq!([0, 1, 2, 3, 4, 99].map(|sent| prompts.raised(sent)), [0, 1, 1, 2, 2, 2]);
}

/// Pairs of letters and spaces are tokens, wherever they stand: no word is independent.
fn pairing_tokenizer() -> tokenizers::Tokenizer {
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
fn without_independent_pieces_lengths_are_exact_and_sharing_is_about_right() {
    let encoder = pairing_tokenizer();
    let (_place, tokenizer) = loaded(&encoder, None);
    let prompts =
        TracePrompts::new(&tokenizer, trace(MOONCAKE, "trace:t"), Key::new(1, 0), false, false)
            .expect("made");
    assert!(!prompts.from_pieces());
    let made = all(&prompts);
    for (request, item) in prompts.trace().requests().zip(&made) {
        let counted = encoder.encode(text(item), false).expect("encode").len();
        assert_eq!(counted, request.input as usize);
    }
    for (one, other, tokens) in [(0, 1, 512), (1, 2, 1_024), (0, 5, 0)] {
        // A token is two characters of the text.
        let shared = common(text(&made[one]).as_bytes(), text(&made[other]).as_bytes()) / 2;
        assert!(shared.abs_diff(tokens) <= 60, "{one} and {other} share {shared}");
    }
}

#[test]
fn a_servers_tokenizer_is_asked_before_and_not_again() {
    let encoder = trained("byte-level BPE");
    let (_place, local) = loaded(&encoder, Some(TEMPLATE));
    let asked = Arc::new(std::sync::atomic::AtomicU32::new(0));
    let counting = Arc::clone(&asked);
    let server = Tokenizer::by_asking(Box::new(move |ask| {
        counting.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        match ask {
            Ask::Text(text) => local.count(text),
            Ask::Messages(messages) => local.count_messages(messages),
            Ask::Recorded(prompt) => local.count_recorded(prompt),
        }
        .map_err(|error| dyno_model::Message::of(&error))
    }));
    let read = trace(AZURE, "trace:a.csv");
    let prompts = TracePrompts::new(&server, read, Key::new(1, 0), true, false).expect("prompts");
    let at_first = asked.load(std::sync::atomic::Ordering::Relaxed);
    for (item, length) in all(&prompts).iter().zip([4808, 3180, 110]) {
        assert_eq!(encoder.encode(templated(text(item)), false).expect("encode").len(), length);
    }
    assert_eq!(asked.load(std::sync::atomic::Ordering::Relaxed), at_first);
    let bytes = Tokenizer::by_asking(Box::new(|ask| match ask {
        Ask::Text(text) => Ok(text.len() as u32),
        _ => Err(dyno_model::Message::quoted("no messages here")),
    }));
    let refused =
        TracePrompts::new(&bytes, trace(AZURE, "trace:a.csv"), Key::new(1, 0), false, false);
    assert_eq!(refused.expect_err("bytes"), RandomError::NothingCountsAsOne);
}

/// Prompts with the estimate, prepared once.
fn prepared(read: Trace, seed: u64) -> TracePrompts {
    static ONCE: OnceLock<TracePrompts> = OnceLock::new();
    let once = ONCE.get_or_init(|| {
        let any = trace(MOONCAKE, "trace:t");
        TracePrompts::new(&Tokenizer::estimate(), any, Key::new(0, 0), false, false)
            .expect("prompts")
    });
    once.again(read, Key::new(seed, 0))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Few ids, so that many beginnings are shared; at least six tokens in each block, so that
    /// two blocks are the same by chance once in more than 10^14 times.
    #[test]
    fn equal_ids_are_equal_text_and_the_next_block_differs(
        block in 6_u32..40,
        seed: u64,
        requests in prop::collection::vec(
            (prop::collection::vec(prop::sample::select(vec![0_u64, 1, 2, u64::MAX]), 1..6), 6_u32..40),
            2..12,
        ),
    ) {
        let rows: String = requests
            .iter()
            .map(|(ids, last)| {
                let input = block * (ids.len() as u32 - 1) + last.min(&block);
                format!("{{\"timestamp\":0,\"input_length\":{input},\"output_length\":1,\"hash_ids\":{ids:?}}}\n")
            })
            .collect();
        let prompts = prepared(trace(&rows, &format!("trace:t,block={block}")), seed);
        let made = all(&prompts);
        let words: Vec<Vec<&str>> =
            made.iter().map(|item| text(item).split(' ').collect()).collect();
        let block = block as usize;
        for (one, first) in prompts.trace().requests().enumerate() {
            prop_assert_eq!(words[one].len(), first.input as usize);
            for (other, second) in prompts.trace().requests().enumerate().skip(one + 1) {
                let ids = common(first.hashes, second.hashes);
                let equal = common(&words[one], &words[other]);
                let shorter = first.input.min(second.input) as usize;
                prop_assert!(equal >= (ids * block).min(shorter), "{one} and {other}");
                if first.hashes.len() > ids && second.hashes.len() > ids {
                    prop_assert!(equal < ids * block + 6, "{one} and {other} share {equal}");
                }
            }
        }
    }
}
