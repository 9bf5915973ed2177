//! Something to say about a run, a level or a file: one type for all of it.

use crate::language::Language;
use serde::{Deserialize, Serialize};

/// Something to say, as it is written down: in English. Made by this process, it can be said in
/// another language; read from a file, it cannot.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Diagnostic {
    /// A stable name.
    pub code: String,
    /// What was seen.
    pub what: String,
    /// What to do about it.
    pub advice: Option<String>,
    /// The same in Chinese, where it is known.
    #[serde(skip)]
    pub chinese: Option<(String, Option<String>)>,
}

impl Diagnostic {
    /// One whose text is the same in every language.
    pub fn new(
        code: impl Into<String>,
        what: impl Into<String>,
        advice: Option<impl Into<String>>,
    ) -> Self {
        let advice = advice.map(Into::into);
        Self { code: code.into(), what: what.into(), advice, chinese: None }
    }

    /// The same in a language; as it was written down where it is not known in that language.
    #[must_use]
    pub fn in_language(&self, language: Language) -> Self {
        let mut said = self.clone();
        if let (Language::Chinese, Some((what, advice))) = (language, &self.chinese) {
            (said.what, said.advice) = (what.clone(), advice.clone());
        }
        said
    }
}

/// What is written down counts.
impl PartialEq for Diagnostic {
    fn eq(&self, other: &Self) -> bool {
        (&self.code, &self.what, &self.advice) == (&other.code, &other.what, &other.advice)
    }
}

impl Eq for Diagnostic {}
