//! Checks that hold for every message.

use crate::template::places;
use std::collections::BTreeSet;

/// Names and units that are the same in every language.
const SHARED: &[&str] = &[
    "QPS", "TTFT", "ITL", "TPOT", "SLO", "CPU", "GPU", "KV", "GiB", "ms", "tok", "s", "p50", "p90",
    "p99", "max",
];

/// Whether a text holds Chinese characters or punctuation.
pub fn is_chinese(text: &str) -> bool {
    text.chars().any(|c| matches!(c, '\u{4e00}'..='\u{9fff}' | '\u{ff01}'..='\u{ff5e}'))
}

/// Both languages have the message and show the same values, and none is left out.
pub fn both(name: &str, texts: [&str; 2]) {
    complete(name, &alike(name, texts));
}

/// The same for a row of the catalogue, whose values may be in its advice.
#[cfg(test)]
pub(crate) fn wording(wording: &crate::wording::Wording) {
    let mut shown = alike(wording.key, wording.what);
    shown.extend(wording.advice.into_iter().flat_map(|advice| alike(wording.key, advice)));
    complete(wording.key, &shown);
}

fn complete(name: &str, shown: &BTreeSet<usize>) {
    assert!(shown.iter().copied().eq(0..shown.len()), "{name} leaves a value out: {shown:?}");
}

/// The values that a text shows in both languages.
fn alike(name: &str, [english, chinese]: [&str; 2]) -> BTreeSet<usize> {
    assert!(!english.trim().is_empty(), "{name} has no English");
    assert!(!is_chinese(english), "{name} is not English: {english}");
    let words = chinese.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let shared = english == chinese
        && words.into_iter().all(|word| SHARED.contains(&word) || word.parse::<u8>().is_ok());
    assert!(is_chinese(chinese) || shared, "{name} has no Chinese: {chinese}");
    let shown = places(english);
    assert_eq!(shown, places(chinese), "{name}: {english} / {chinese}");
    for text in [english, chinese] {
        let values: Vec<String> = (0..8).map(|at| format!("<{at}>")).collect();
        let filled = crate::template::fill(text, &values);
        assert!(!filled.contains(['{', '}', '|']), "{name}: {filled}");
    }
    shown
}
