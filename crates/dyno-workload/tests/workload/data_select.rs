//! Order, bounds, limits, repeats and unique prefixes; the same seed gives the same sequence.
#![allow(clippy::expect_used)]

use std::collections::BTreeSet;
use std::sync::atomic::{self, AtomicU32};

use dyno_model::prompt::{Content, Item};
use dyno_workload::data::{Count, DataError, DataOrder, DataSet, Outside, PromptSelection};
use proptest::prelude::*;

fn numbered(count: usize) -> DataSet {
    let lines: Vec<String> = (0..count).map(|n| format!("{} {n}", "word ".repeat(n % 7))).collect();
    DataSet::from_bytes("n.txt", lines.join("\n").as_bytes(), &"n.txt".parse().expect("good"))
        .expect("opens")
}

/// A word is a token.
fn words<'a>() -> Option<Count<'a>> {
    Some(Box::new(|content| {
        let text = |text: &str| text.split_whitespace().count() as u32;
        Ok(match content {
            Content::Text(said) => text(said),
            Content::Messages(messages) => messages.iter().map(|m| text(&m.content) + 3).sum(),
            Content::Body(body) => text(&serde_json::Value::Object(body.clone()).to_string()),
            Content::Texts(texts) => text(&texts.joined()),
            Content::Recorded(prompt) => text(&prompt.text()),
        })
    }))
}

fn text(item: &Item) -> &str {
    match &item.content {
        Content::Text(text) => text,
        other => panic!("not text: {other:?}"),
    }
}

fn taken(selection: &PromptSelection, data: &DataSet, count: usize) -> Vec<String> {
    let items = selection.of(data, words()).expect("starts");
    items.take(count).map(|item| text(&item.expect("good")).to_string()).collect()
}

#[test]
fn file_order_repeats_from_the_start() {
    let data = numbered(5);
    let mut items = PromptSelection::default().of(&data, None).expect("starts");
    let texts: Vec<Item> = items.by_ref().take(12).map(|item| item.expect("good")).collect();
    assert_eq!(texts[..5], texts[5..10]);
    let tally = items.tally();
    assert_eq!((tally.read, tally.given, tally.repeats, tally.distinct), (5, 12, 2, 5));
    let once = PromptSelection { repeat: false, ..PromptSelection::default() };
    assert_eq!(once.of(&data, None).expect("starts").count(), 5);
}

#[test]
fn a_shuffle_is_a_permutation_that_depends_on_the_seed() {
    let data = numbered(1_000);
    let shuffled = |seed| {
        let selection = PromptSelection {
            order: DataOrder::Shuffle,
            seed,
            repeat: false,
            ..PromptSelection::default()
        };
        taken(&selection, &data, 2_000)
    };
    let (one, same, other) = (shuffled(1), shuffled(1), shuffled(2));
    assert_eq!(one, same);
    assert_ne!(one, other);
    let in_file_order =
        taken(&PromptSelection { repeat: false, ..PromptSelection::default() }, &data, 2_000);
    assert_ne!(one, in_file_order);
    let sorted = |texts: &[String]| texts.iter().cloned().collect::<BTreeSet<String>>();
    assert_eq!((one.len(), sorted(&one)), (1_000, sorted(&in_file_order)));
}

#[test]
fn a_limit_takes_that_many_records_and_repeats_those() {
    let data = numbered(100);
    for order in [DataOrder::File, DataOrder::Shuffle] {
        let selection =
            PromptSelection { order, seed: 3, limit: Some(10), ..PromptSelection::default() };
        let texts = taken(&selection, &data, 25);
        assert_eq!(texts[..10], texts[10..20]);
        assert_eq!(texts.iter().collect::<BTreeSet<_>>().len(), 10);
    }
}

#[test]
fn bounds_drop_or_cut() {
    let data = numbered(70);
    let bounds = PromptSelection {
        min_input: Some(2),
        max_input: Some(4),
        repeat: false,
        ..PromptSelection::default()
    };
    let mut items = bounds.of(&data, words()).expect("starts");
    let kept: Vec<Item> = items.by_ref().map(|item| item.expect("good")).collect();
    assert!(kept.iter().all(|item| matches!(item.input_tokens, Some(2..=4))));
    let tally = items.tally();
    assert_eq!(
        (tally.read, tally.dropped_short, tally.dropped_long, tally.given),
        (70, 10, 30, 30)
    );
    let bounds = PromptSelection { outside: Outside::Truncate, ..bounds };
    let mut items = bounds.of(&data, words()).expect("starts");
    let kept: Vec<Item> = items.by_ref().map(|item| item.expect("good")).collect();
    assert!(kept.iter().all(|item| matches!(item.input_tokens, Some(2..=4))));
    let tally = items.tally();
    assert_eq!((tally.truncated, tally.dropped_long, tally.given), (30, 0, 60));
}

#[test]
fn conversations_are_cut_in_what_the_user_says_last() {
    let bytes = br#"[{"role":"system","content":"a b"},{"role":"user","content":"c d e f g h"}]"#;
    let data = DataSet::from_bytes("m", bytes, &"lines:m".parse().expect("good")).expect("opens");
    let cut = |max| PromptSelection {
        max_input: Some(max),
        outside: Outside::Truncate,
        repeat: false,
        ..PromptSelection::default()
    };
    let items: Vec<Item> =
        cut(10).of(&data, words()).expect("starts").map(|item| item.expect("good")).collect();
    let Content::Messages(messages) = &items[0].content else { panic!("messages") };
    assert_eq!((&*messages[0].content, messages[1].content.trim()), ("a b", "c d"));
    let error = cut(8).of(&data, words()).expect("starts").next().expect("one").expect_err("none");
    assert_eq!(
        error.to_string(),
        "m has nothing left to send: 1 of 1 records have more than 8 input tokens; they do not fit \
         even when cut; raise the maximum"
    );
}

#[test]
fn nothing_left_says_why() {
    let data = numbered(7);
    let none = |selection: PromptSelection| {
        let mut items = selection.of(&data, words()).expect("starts");
        let error = items.next().expect("something").expect_err("nothing");
        assert!(items.next().is_none());
        error.to_string()
    };
    assert_eq!(
        none(PromptSelection {
            min_input: Some(4),
            max_input: Some(3),
            ..PromptSelection::default()
        }),
        "n.txt has nothing left to send: 4 of 7 records have more than 3 input tokens; raise the \
         maximum, or have them truncated; 3 of 7 records have fewer than 4 input tokens; lower the \
         minimum"
    );
    assert_eq!(
        none(PromptSelection { limit: Some(0), ..PromptSelection::default() }),
        "n.txt has nothing left to send: the limit is 0; set it to at least 1"
    );
    let unbounded = PromptSelection { max_input: Some(3), ..PromptSelection::default() };
    assert!(matches!(unbounded.of(&data, None).err(), Some(DataError::NoCounter)));
}

#[test]
fn a_count_that_fails_is_an_error() {
    let data = numbered(3);
    let count: Count<'_> = Box::new(|_| Err(dyno_model::Message::quoted("no such token")));
    let error = PromptSelection::default().of(&data, Some(count)).expect("starts").next();
    assert_eq!(
        error.expect("one").expect_err("fails").to_string(),
        "n.txt: the tokens of prompt 1 could not be counted: no such token"
    );
}

#[test]
fn unique_prefixes_differ_over_repeats_and_come_first() {
    let data = numbered(3);
    let selection = PromptSelection { unique_prefix: true, seed: 9, ..PromptSelection::default() };
    let texts = taken(&selection, &data, 300);
    let prefixes: BTreeSet<&str> = texts.iter().map(|text| &text[..16]).collect();
    assert_eq!(prefixes.len(), 300);
    assert_eq!(texts[0][17..], texts[3][17..]);
    let mut items = selection.of(&data, None).expect("starts");
    items.by_ref().take(300).for_each(drop);
    assert_eq!(items.tally().distinct, 300);
    let bytes =
        br#"{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]}"#;
    let data = DataSet::from_bytes("b", bytes, &"lines:b".parse().expect("good")).expect("opens");
    let item = selection.of(&data, None).expect("starts").next().expect("one").expect("good");
    let Content::Body(body) = item.content else { panic!("a body") };
    let text = body["messages"][0]["content"][0]["text"].as_str().expect("text");
    assert!(text.len() == 19 && text.ends_with(" hi"), "{text}");
}

#[test]
fn skipped_records_and_blank_lines_are_in_the_tally() {
    let bytes = b"{\"prompt\":\"a\"}\n\n{bad\n{\"prompt\":\"a\"}\n";
    let spec = "d,skip_bad=true".parse().expect("good");
    let data = DataSet::from_bytes("d", bytes, &spec).expect("opens");
    let mut items = PromptSelection::default().of(&data, None).expect("starts");
    items.by_ref().take(5).for_each(drop);
    let tally = items.tally();
    assert_eq!((tally.read, tally.skipped, tally.blank, tally.distinct), (2, 1, 1, 1));
}

proptest! {
    #[test]
    fn same_seed_same_sequence(
        seed in any::<u64>(),
        count in 1_usize..200,
        shuffle in any::<bool>(),
        unique_prefix in any::<bool>(),
        truncate in any::<bool>(),
        limit in prop::option::of(1_u64..50),
    ) {
        let selection = PromptSelection {
            order: if shuffle { DataOrder::Shuffle } else { DataOrder::File },
            seed,
            min_input: Some(1),
            max_input: Some(5),
            outside: if truncate { Outside::Truncate } else { Outside::Drop },
            limit,
            repeat: true,
            unique_prefix,
            run: seed >> 1,
        };
        let data = numbered(count);
        prop_assert_eq!(taken(&selection, &data, 300), taken(&selection, &numbered(count), 300));
    }

    #[test]
    fn cut_text_fits_and_is_as_long_as_can_be(
        text in "[a-z界é ]{0,80}",
        max in 1_u32..20,
    ) {
        // A character is a token, and two for the template.
        let count = || -> Option<Count<'static>> {
            Some(Box::new(|content| match content {
                Content::Text(text) => Ok(text.chars().count() as u32 + 2),
                _ => Err(dyno_model::Message::quoted("text only")),
            }))
        };
        prop_assume!(!text.trim().is_empty());
        let data = DataSet::from_bytes("t", text.as_bytes(), &"lines:t".parse().expect("good")).expect("opens");
        let selection = PromptSelection {
            max_input: Some(max),
            outside: Outside::Truncate,
            repeat: false,
            ..PromptSelection::default()
        };
        let fits = text.chars().count().min(max.saturating_sub(2) as usize);
        let expected: String = text.chars().take(fits).collect();
        match selection.of(&data, count()).expect("starts").next().expect("one") {
            Ok(item) => {
                prop_assert_eq!(item.input_tokens, Some(fits as u32 + 2));
                prop_assert_eq!(item.content, Content::Text(expected));
            }
            Err(_) => prop_assert!(expected.trim().is_empty()),
        }
    }
}

proptest! {
    #[test]
    fn what_follows_skipped_items_is_what_would_have_followed_them(
        order in prop::sample::select(vec![DataOrder::File, DataOrder::Shuffle]),
        bounds in prop::option::of((1_u32..3, 3_u32..6)),
        unique_prefix in any::<bool>(),
        skipped in prop::collection::vec(any::<bool>(), 1..60),
    ) {
        let data = numbered(20);
        let (min_input, max_input) = bounds.map_or((None, None), |(a, b)| (Some(a), Some(b)));
        let selection =
            PromptSelection { order, seed: 5, min_input, max_input, unique_prefix, ..PromptSelection::default() };
        let mut all = selection.of(&data, words()).expect("starts");
        let mut some = selection.of(&data, words()).expect("starts");
        for skips in skipped {
            let expected = all.next().expect("endless").expect("good");
            if skips {
                prop_assert!(some.skip_next().expect("good"));
            } else {
                prop_assert_eq!(some.next().expect("endless").expect("good"), expected);
            }
            prop_assert_eq!(some.tally(), all.tally());
        }
    }
}

#[test]
fn tokens_of_skipped_items_are_counted_only_where_that_decides() {
    let data = numbered(10);
    let counted = |max_input| {
        let calls = AtomicU32::new(0);
        let count: Count<'_> = Box::new(|_| {
            calls.fetch_add(1, atomic::Ordering::Relaxed);
            Ok(1)
        });
        let selection = PromptSelection { max_input, ..PromptSelection::default() };
        let mut items = selection.of(&data, Some(count)).expect("starts");
        items.pass_over(7).expect("good");
        drop(items);
        calls.load(atomic::Ordering::Relaxed)
    };
    assert_eq!([counted(None), counted(Some(50))], [0, 7]);
    let once = PromptSelection { repeat: false, ..PromptSelection::default() };
    let mut items = once.of(&data, None).expect("starts");
    items.pass_over(10).expect("good");
    assert!(!items.skip_next().expect("good"), "there are no more");
}
