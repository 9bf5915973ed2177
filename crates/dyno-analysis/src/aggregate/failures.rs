//! Error messages of failed requests: a few examples of each class.

use dyno_model::Message;
use dyno_words::escape::escape;
use std::collections::BTreeMap;

const PER_CLASS: usize = 3;
const LONGEST: usize = 300;

/// Up to three different texts per class: those of the earliest arrivals, whatever the order
/// in which they ended.
#[derive(Debug, Clone, Default)]
pub(crate) struct FailureWords {
    /// Each with its index, and in both languages.
    classes: BTreeMap<String, Vec<(u64, [String; 2])>>,
}

impl FailureWords {
    pub(crate) fn add(&mut self, class: &str, index: u64, said: &Message) {
        let texts = said.texts().map(|text| escape(text.trim(), LONGEST));
        if texts[0].is_empty() {
            return;
        }
        let kept = self.classes.entry(class.to_owned()).or_default();
        match kept.iter_mut().find(|(_, [english, _])| *english == texts[0]) {
            Some((first, _)) => *first = (*first).min(index),
            None => kept.push((index, texts)),
        }
        kept.sort();
        kept.truncate(PER_CLASS);
    }

    pub(crate) fn texts(&self) -> BTreeMap<String, Vec<String>> {
        let texts = |kept: &Vec<(u64, [String; 2])>| {
            kept.iter().map(|(_, [english, _])| english.clone()).collect()
        };
        self.classes.iter().map(|(class, kept)| (class.clone(), texts(kept))).collect()
    }

    /// The Chinese of those that have one.
    pub(crate) fn chinese(&self) -> BTreeMap<String, String> {
        let all = self.classes.values().flatten().map(|(_, texts)| texts.clone());
        all.filter(|[english, chinese]| english != chinese).map(Into::into).collect()
    }
}
