//! A summary in another language: what is said in it, said anew.

use super::{SearchSummary, Summary};
use crate::diagnostic::Diagnostic;
use crate::language::Language;
use std::borrow::Cow;

impl Summary {
    /// With its reasons, notes and doubts in a language. What was read from a file stays as it
    /// is, since only English is written down.
    pub fn in_language(&self, language: Language) -> Cow<'_, Self> {
        if language == Language::English {
            return Cow::Borrowed(self);
        }
        let mut said = self.clone();
        let say = |reasons: &mut Vec<Diagnostic>| {
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
