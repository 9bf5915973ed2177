//! Prompts that must not come again: other words of the same lengths, beginnings that no other run has,
//! files that are read on, and prefixes that are shared on purpose.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use dyno_model::prompt::Content;
use dyno_workload::data::{DataSet, PromptSelection};
use dyno_workload::random::key::Key;
use dyno_workload::random::{RandomOptions, RandomPrompts};
use dyno_workload::tokenizer::{Ask, Tokenizer};
use std::collections::HashSet;

/// Words are tokens, as the engine counts.
fn words() -> Tokenizer {
    Tokenizer::by_asking(Box::new(|what: &Ask<'_>| {
        let count = |text: &str| text.split_whitespace().count() as u32;
        Ok(match what {
            Ask::Text(text) => count(text),
            Ask::Messages(messages) => messages.iter().map(|message| count(&message.content)).sum(),
            Ask::Recorded(prompt) => count(&prompt.text()),
        })
    }))
}

fn made(key: Key, lengths: &str, options: RandomOptions) -> RandomPrompts {
    RandomPrompts::new(&words(), lengths.parse().unwrap(), key, options).unwrap()
}

fn text(content: &Content) -> &str {
    match content {
        Content::Text(text) => text,
        _ => unreachable!("random prompts are texts"),
    }
}

fn texts(key: Key, lengths: &str) -> Vec<String> {
    let prompts = made(key, lengths, RandomOptions::default());
    (0..50).map(|index| text(&prompts.prompt(index).unwrap().content).to_owned()).collect()
}

fn counts(texts: &[String]) -> Vec<usize> {
    texts.iter().map(|text| text.split_whitespace().count()).collect()
}

#[test]
fn another_edition_has_the_same_lengths_and_other_words() {
    let one = Key::new(7, 3);
    for other in [Key { edition: 1, ..one }, Key { level: 9, ..one }] {
        let (a, b) = (texts(one, "20-200"), texts(other, "20-200"));
        assert_eq!(counts(&a), counts(&b));
        assert!(a.iter().zip(&b).all(|(a, b)| a != b));
    }
    assert_eq!(texts(one, "20-200"), texts(one, "20-200"));
}

#[test]
fn unique_beginnings_are_those_of_one_run() {
    let unique = |run| {
        let key = Key { run, ..Key::new(7, 0) };
        let options = RandomOptions { unique: true, ..RandomOptions::default() };
        let prompts = made(key, "64", options);
        let beginning = |index| {
            let item = prompts.prompt(index).unwrap();
            let words: Vec<&str> = text(&item.content).split_whitespace().take(16).collect();
            words.join(" ")
        };
        (0..200).map(beginning).collect::<HashSet<String>>()
    };
    let (one, other) = (unique(1), unique(2));
    assert_eq!((one.len(), other.len()), (200, 200));
    assert!(one.is_disjoint(&other));
    assert_eq!(one, unique(1));
}

#[test]
fn a_file_is_read_on_and_its_prefixes_are_those_of_one_run() {
    let lines: String = (0..10).map(|row| format!("row {row}\n")).collect();
    let data = DataSet::from_bytes("t", lines.as_bytes(), &"lines:t".parse().unwrap()).unwrap();
    let after = |passed: u64, selection: &PromptSelection| {
        let mut selected = selection.of(&data, None).unwrap();
        selected.pass_over(passed).unwrap();
        let before = selected.tally();
        let items: Vec<_> = selected.by_ref().take(4).map(|item| item.unwrap().content).collect();
        let rows: Vec<String> = items.iter().map(|content| text(content).to_owned()).collect();
        (rows, selected.tally().since(&before))
    };
    let plain = PromptSelection::default();
    assert_eq!(after(3, &plain).0, ["row 3", "row 4", "row 5", "row 6"]);
    assert_eq!((after(3, &plain).1.given, after(3, &plain).1.repeats), (4, 0));
    let (rows, tally) = after(8, &plain);
    assert_eq!((rows[2].as_str(), tally.repeats), ("row 0", 1));
    let unique = |run| PromptSelection { run, unique_prefix: true, ..PromptSelection::default() };
    let prefixes = |run, passed| -> HashSet<String> {
        after(passed, &unique(run)).0.iter().map(|row| row[..16].to_owned()).collect()
    };
    assert!(prefixes(1, 0).is_disjoint(&prefixes(2, 0)));
    assert!(prefixes(1, 0).is_disjoint(&prefixes(1, 10)), "the same rows on the second pass");
}

/// The words that two prompts begin with.
fn alike(a: &str, b: &str) -> usize {
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    words(a).iter().zip(&words(b)).take_while(|(a, b)| a == b).count()
}

#[test]
fn shared_prefixes_are_about_the_share_that_was_asked_for() {
    for (share, length) in [(0.6, 256), (0.5, 100), (0.95, 512), (0.1, 1_024)] {
        let options = RandomOptions { shared: Some(share), groups: 3, ..RandomOptions::default() };
        let of = |level, edition| {
            let key = Key { edition, ..Key::new(7, level) };
            made(key, &length.to_string(), options.clone())
        };
        let prompts = of(0, 0);
        let primers = prompts.primers(1_000).unwrap();
        assert_eq!(primers.len(), 3);
        for index in 0..9 {
            let prompt = prompts.prompt(index).unwrap();
            let primer = &primers[index as usize % 3];
            let common = alike(text(&prompt.content), text(&primer.content));
            let cached = (common / 16 * 16) as f64 / f64::from(length);
            assert!(
                (cached - share).abs() <= 8.0 / f64::from(length),
                "{share} {length}: {cached}"
            );
            // Other levels and attempts begin alike, and share nothing else.
            let other = of(5, 2).prompt(index).unwrap();
            assert_eq!(alike(text(&prompt.content), text(&other.content)), common);
        }
    }
}

#[test]
fn a_primer_reaches_as_far_as_the_longest_prompt() {
    let options = RandomOptions { shared: Some(0.5), groups: 2, ..RandomOptions::default() };
    let prompts = made(Key::new(1, 0), "32-512", options);
    let primers = prompts.primers(300).unwrap();
    for index in 0..300 {
        let prompt = prompts.prompt(index).unwrap();
        let common = alike(text(&prompt.content), text(&primers[index as usize % 2].content));
        let wanted = f64::from(prompt.input_tokens.unwrap()) / 2.0;
        assert!((common as f64 - wanted).abs() <= 17.0, "{index}: {common} of {wanted}");
    }
    assert_eq!(prompts.primers(1).unwrap().len(), 1, "a single prompt is of one group");
}

#[test]
fn a_trace_is_repeated_by_its_seed_unless_it_is_to_be_unique() {
    use dyno_workload::trace::{Trace, TraceLimits, TracePrompts};
    let folder = std::env::temp_dir().join(format!("dyno-never-twice-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("trace.jsonl");
    // The second request has no ids, and so shares nothing.
    let rows = "{\"timestamp\": 0, \"input_length\": 600, \"output_length\": 2, \"hash_ids\": [1, 2]}\n\
                {\"timestamp\": 1, \"input_length\": 600, \"output_length\": 2, \"hash_ids\": []}\n";
    std::fs::write(&file, rows).unwrap();
    let spec = format!("trace:{}", file.display()).parse().unwrap();
    let trace = Trace::open(&spec, &TraceLimits::default()).unwrap();
    let sent = |key: Key, unique: bool| -> Vec<String> {
        let prompts = TracePrompts::new(&words(), trace.clone(), key, true, unique).unwrap();
        let prompt = |index| prompts.prompt(index).unwrap().unwrap();
        (0..2).map(|index| text(&prompt(index).content).to_owned()).collect()
    };
    let of_run = |run| Key { run, ..Key::new(7, 0) };
    assert_eq!(sent(of_run(1), false), sent(of_run(2), false));
    for (a, b) in sent(of_run(1), true).iter().zip(&sent(of_run(2), true)) {
        assert_ne!(a[..40], b[..40]);
    }
    // Another round has the same lengths in other words.
    let round = Key { level: 3, ..of_run(1) };
    assert!(sent(of_run(1), false).iter().zip(&sent(round, false)).all(|(a, b)| a != b));
    std::fs::remove_dir_all(&folder).unwrap();
}
