//! Error messages of failed requests: a few examples of each class.

use dyno_words::escape::escape;
use std::collections::BTreeMap;

const PER_CLASS: usize = 3;
const LONGEST: usize = 300;

/// Up to three different texts per class: those of the earliest arrivals, whatever the order
/// in which they ended.
#[derive(Debug, Clone, Default)]
pub(crate) struct FailureWords {
    classes: BTreeMap<String, Vec<(u64, String)>>,
}

impl FailureWords {
    pub(crate) fn add(&mut self, class: &str, index: u64, words: &str) {
        let words = escape(words.trim(), LONGEST);
        if words.is_empty() {
            return;
        }
        let kept = self.classes.entry(class.to_owned()).or_default();
        match kept.iter_mut().find(|(_, text)| *text == words) {
            Some((first, _)) => *first = (*first).min(index),
            None => kept.push((index, words)),
        }
        kept.sort();
        kept.truncate(PER_CLASS);
    }

    pub(crate) fn texts(&self) -> BTreeMap<String, Vec<String>> {
        let texts = |kept: &Vec<(u64, String)>| kept.iter().map(|(_, text)| text.clone()).collect();
        self.classes.iter().map(|(class, kept)| (class.clone(), texts(kept))).collect()
    }
}
