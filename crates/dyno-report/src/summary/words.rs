//! A summary in another language: its reasons and doubts, said anew.

use super::{SearchSummary, Summary};
use crate::findings::Reason;
use crate::messages::{Language, Say};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

impl Summary {
    /// With its reasons, notes and doubts in a language. What was read from a file stays as it
    /// is, since only English is written down.
    pub fn in_language(&self, language: Language) -> Cow<'_, Self> {
        if language == Language::English {
            return Cow::Borrowed(self);
        }
        let mut said = self.clone();
        let say = |reasons: &mut Vec<Reason>| {
            reasons.iter_mut().for_each(|reason| *reason = reason.in_language(language));
        };
        say(&mut said.notes);
        for level in &mut said.levels {
            say(&mut level.reasons);
            say(&mut level.notes);
        }
        if let Some(SearchSummary::Capacity { doubt: Some(doubt), .. }) = &mut said.search {
            *doubt = doubt.in_language(language);
        }
        Cow::Owned(said)
    }
}

/// Why an answer is to be taken with care: in words, as which it is written down.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct Doubted {
    words: String,
    known: Option<(Say, Vec<String>)>,
}

impl Doubted {
    pub(crate) fn new(say: Say, values: Vec<String>) -> Self {
        Self { words: say.with(Language::English, &values), known: Some((say, values)) }
    }

    /// The words.
    pub fn words(&self) -> &str {
        &self.words
    }

    fn in_language(&self, language: Language) -> Self {
        let known = self.known.clone();
        let said = known.as_ref().map(|(say, values)| say.with(language, values));
        Self { words: said.unwrap_or_else(|| self.words.clone()), known }
    }
}

impl PartialEq for Doubted {
    fn eq(&self, other: &Self) -> bool {
        self.words == other.words
    }
}

impl From<String> for Doubted {
    fn from(words: String) -> Self {
        Self { words, known: None }
    }
}

impl From<Doubted> for String {
    fn from(doubt: Doubted) -> Self {
        doubt.words
    }
}
