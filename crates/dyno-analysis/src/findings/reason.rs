//! A finding as a diagnostic.

use super::Finding;
use dyno_model::{Diagnostic, Language};

impl Finding {
    /// The form that is written down.
    pub fn reason(&self) -> Diagnostic {
        let (what, advice) = self.words(Language::English);
        let chinese = Some(self.words(Language::Chinese));
        Diagnostic { chinese, ..Diagnostic::new(self.code(), what, advice) }
    }

    /// The same in a language.
    pub fn reason_in(&self, language: Language) -> Diagnostic {
        self.reason().in_language(language)
    }
}
