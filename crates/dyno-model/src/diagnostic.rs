//! A message about a run, a level or a file. The texts are in the catalogue of `dyno-words`.

use crate::language::Language;
use crate::message::{AsDisplayed, InTheLanguage, Localized, Message, Shown};
use crate::verdict::Verdict;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;

/// A message, with its English text. Its wording and values are saved with it, so that a report can say it in
/// another language; one that was read from a file of an older version, or a later one, may keep its text.
///
/// Values are in the text, too: what must not be saved is taken out before either is made. Those of a file are
/// not trusted any more than its text.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Diagnostic {
    /// A stable code; several wordings may share one.
    pub code: String,
    /// What was seen.
    pub what: String,
    /// What to do about it, or its likely cause.
    pub advice: Option<String>,
    /// Which wording of the catalogue it has; absent in files of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<Cow<'static, str>>,
    /// The values in its text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<DiagnosticValue>,
    /// Its severity; absent where it was read from a file.
    #[serde(skip)]
    pub severity: Option<Severity>,
    /// What it is about.
    #[serde(skip)]
    pub subject: Subject,
}

/// The severity of a diagnostic, lowest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Good to know.
    Note,
    /// The values may be right, but need an explanation.
    Warning,
    /// The values cannot be right, are misleading, or are missing.
    Error,
}

/// What a diagnostic is about.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Subject {
    /// The run or the level that holds it.
    #[default]
    Whole,
    /// Rows of a table, in order.
    Rows(Vec<CatalogueRow>),
    /// A line of a file, from 1.
    Line(u64),
}

/// A row of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CatalogueRow {
    /// What the table calls it.
    pub label: String,
    /// Its line in the file, where it was read from one.
    pub line: Option<u64>,
    /// Its file, where that is not the one of all other rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

/// A value in the text of a diagnostic. It is saved as text, or as an object with both texts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum DiagnosticValue {
    /// The same in every language.
    Text(String),
    /// A translated text.
    Message(Message),
}

impl DiagnosticValue {
    /// One with an English and a Chinese text.
    pub fn new(texts: [String; 2]) -> Self {
        Self::Message(Message::new(texts))
    }

    /// Its text in a language.
    pub fn text(&self, language: Language) -> Cow<'_, str> {
        match self {
            Self::Text(text) => Cow::Borrowed(text),
            Self::Message(message) => Cow::Owned(message.text(language)),
        }
    }
}

impl From<Message> for DiagnosticValue {
    fn from(message: Message) -> Self {
        Self::Message(message)
    }
}

/// Not for whatever can be displayed: of what can be said in several languages that would be the English alone.
macro_rules! plain {
    ($($plain:ty)*) => {$(
        impl From<$plain> for DiagnosticValue {
            fn from(value: $plain) -> Self {
                Self::Text(value.to_string())
            }
        }
    )*};
}

plain!(&str &&str String &String Cow<'_, str> char u8 u16 u32 u64 usize i32 i64 f64);

/// How `values!` makes a value of something: `Shown` says how it is said.
#[doc(hidden)]
pub trait IsValue {
    fn how(&self) -> AsItIs {
        AsItIs
    }
}

impl IsValue for Shown<'_, DiagnosticValue> {}

#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct AsItIs;

impl AsItIs {
    #[doc(hidden)]
    pub fn value(self, value: DiagnosticValue) -> DiagnosticValue {
        value
    }
}

impl InTheLanguage {
    #[doc(hidden)]
    pub fn value<T: Localized>(self, value: T) -> DiagnosticValue {
        DiagnosticValue::Message(Message::of(value))
    }
}

impl AsDisplayed {
    #[doc(hidden)]
    pub fn value<T: fmt::Display>(self, value: T) -> DiagnosticValue {
        DiagnosticValue::Text(value.to_string())
    }
}

impl Severity {
    /// The verdict that it leads to.
    pub fn verdict(self) -> Verdict {
        match self {
            Self::Note => Verdict::Valid,
            Self::Warning => Verdict::Suspect,
            Self::Error => Verdict::Invalid,
        }
    }
}

impl Diagnostic {
    /// One whose text is the same in every language.
    pub fn new(
        code: impl Into<String>,
        what: impl Into<String>,
        advice: Option<impl Into<String>>,
    ) -> Self {
        let advice = advice.map(Into::into);
        Self { code: code.into(), what: what.into(), advice, ..Self::default() }
    }

    /// The same about something else.
    #[must_use]
    pub fn about(self, subject: Subject) -> Self {
        Self { subject, ..self }
    }

    /// The same about a line of a file, where one is known.
    #[must_use]
    pub fn at(self, line: impl Into<Option<u64>>) -> Self {
        match line.into() {
            Some(line) => self.about(Subject::Line(line)),
            None => self,
        }
    }

    /// The line of a file that it is about.
    pub fn line(&self) -> Option<u64> {
        match self.subject {
            Subject::Line(line) => Some(line),
            Subject::Whole | Subject::Rows(_) => None,
        }
    }

    /// Whether values are wrong or missing.
    pub fn is_error(&self) -> bool {
        self.severity == Some(Severity::Error)
    }
}

/// Compares the saved text and the subject.
impl PartialEq for Diagnostic {
    fn eq(&self, other: &Self) -> bool {
        (&self.code, &self.what, &self.advice, &self.subject)
            == (&other.code, &other.what, &other.advice, &other.subject)
    }
}

impl Eq for Diagnostic {}
