//! Every finding and note, in every language.
#![allow(clippy::unwrap_used)]

use dyno_model::{Diagnostic, DiagnosticValue, Language};
use dyno_words::{
    CacheFinding, Finding, FleetFinding, InLanguage, Note, OutputFinding, OverTime, ServerFinding,
};

/// One of each wording with many of everything, and one with one.
fn all() -> Vec<Diagnostic> {
    let tables = [
        CacheFinding::ROWS,
        Finding::ROWS,
        FleetFinding::ROWS,
        OutputFinding::ROWS,
        OverTime::ROWS,
        ServerFinding::ROWS,
        Note::ROWS,
    ];
    let said = tables.concat().into_iter().flat_map(|row| {
        let many = (0..row.places()).map(|at| DiagnosticValue::from(format!("{}.5", at + 12)));
        let one = (0..row.places()).map(|_| DiagnosticValue::from(1));
        [row.with(many.collect()), row.with(one.collect())]
    });
    said.collect()
}

fn is_chinese(text: &str) -> bool {
    text.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c))
}

/// Whatever looks like a number, in order of size.
fn numbers(text: &str) -> Vec<String> {
    let parts = text.split(|c: char| !(c.is_ascii_digit() || c == '.'));
    let mut numbers: Vec<String> = parts
        .map(|part| part.trim_matches('.').to_owned())
        .filter(|part| !part.is_empty())
        .collect();
    numbers.sort();
    numbers
}

#[test]
fn every_finding_has_both_languages() {
    for english in all() {
        assert_eq!(*english.in_language(Language::English), english);
        let chinese = english.in_language(Language::Chinese);
        assert_eq!(english.code, chinese.code);
        assert_eq!(english.advice.is_some(), chinese.advice.is_some(), "{english:?}");
        let texts = |said: &Diagnostic| {
            [Some(said.what.clone()), said.advice.clone()].into_iter().flatten().collect::<Vec<_>>()
        };
        for (english, chinese) in texts(&english).iter().zip(texts(&chinese)) {
            assert!(!is_chinese(english), "{english}");
            assert!(is_chinese(&chinese), "{chinese}");
            for text in [english, &chinese] {
                assert!(!text.contains(['{', '}', '|']) && !text.is_empty(), "{text}");
            }
        }
        let (said, meant) = (numbers(&chinese.what), numbers(&english.what));
        assert_eq!(said, meant, "{} / {}", english.what, chinese.what);
    }
}

#[test]
fn the_list_has_every_finding() {
    // Doubts are written down as text alone.
    let mut codes: Vec<String> = all().into_iter().map(|said| said.code).collect();
    codes.retain(|code| code != "doubt");
    codes.sort();
    codes.dedup();
    insta::assert_snapshot!(codes.join("\n"));
}

#[test]
fn findings_read_from_a_file_are_said_in_the_language() {
    let made = Diagnostic::from(Finding::Partial);
    let read: Diagnostic = serde_json::from_str(&serde_json::to_string(&made).unwrap()).unwrap();
    assert_eq!(read, made);
    let chinese = made.in_language(Language::Chinese);
    assert_eq!(read.in_language(Language::Chinese), chinese);
    assert!(is_chinese(&chinese.what));
    let free = Diagnostic::new("code", "words", None::<&str>);
    assert_eq!(free.in_language(Language::Chinese).what, "words");
}
