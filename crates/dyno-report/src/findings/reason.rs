//! A finding as it is written down, and as it is said in a language.

use super::Finding;
use crate::messages::Language;
use serde::{Deserialize, Serialize};

/// A finding as it is written down: in English. Made by this process, it still knows the finding,
/// and can be said in another language; read from a file, it cannot.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Reason {
    /// A stable name.
    pub code: String,
    /// What was seen, in words and figures.
    pub what: String,
    /// What to do about it.
    pub advice: Option<String>,
    #[serde(skip)]
    finding: Option<Box<Finding>>,
}

impl Reason {
    /// One in words of its own, which are the same in every language.
    pub fn new(
        code: impl Into<String>,
        what: impl Into<String>,
        advice: Option<impl Into<String>>,
    ) -> Self {
        let advice = advice.map(Into::into);
        Self { code: code.into(), what: what.into(), advice, finding: None }
    }

    /// The same in a language; in its own words where the finding is not known.
    pub fn in_language(&self, language: Language) -> Self {
        self.finding.as_ref().map_or_else(|| self.clone(), |finding| finding.reason_in(language))
    }
}

/// What is written down counts.
impl PartialEq for Reason {
    fn eq(&self, other: &Self) -> bool {
        (&self.code, &self.what, &self.advice) == (&other.code, &other.what, &other.advice)
    }
}

impl Eq for Reason {}

impl Finding {
    /// The form that is written down.
    pub fn reason(&self) -> Reason {
        self.reason_in(Language::English)
    }

    /// The same in a language.
    pub fn reason_in(&self, language: Language) -> Reason {
        let (what, advice) = self.words(language);
        let (code, finding) = (self.code().to_owned(), Some(Box::new(self.clone())));
        Reason { code, what, advice, finding }
    }
}
