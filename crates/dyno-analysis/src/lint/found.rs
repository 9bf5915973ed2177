//! What a check finds: a diagnostic on rows, and how sure its likely cause is.

use super::Lint;
use dyno_model::diagnostic::Row;
use dyno_model::summary::Summary;
use dyno_model::{Diagnostic, Language, Severity, Subject, Value};
use dyno_words::{Defect, InLanguage, Phrase, list, values};
use serde::Serialize;

/// How sure the likely cause is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Sure {
    /// The figures leave no other.
    Certain,
    /// They speak for it.
    Likely,
    /// One among others.
    Possible,
}

/// A row with a figure that was found and one that was to be expected.
pub(super) struct Against {
    pub(super) row: Row,
    pub(super) found: f64,
    pub(super) expected: f64,
}

/// What a check has found.
pub(super) struct Found {
    said: Diagnostic,
    sure: Sure,
}

/// Rows whose figures are given; more are only named in the list of rows.
const SHOWN: usize = 12;

/// What is said of rows, with its values; nothing where there are none.
pub(super) fn of_rows(
    rows: Vec<Row>,
    what: Defect,
    sure: Sure,
    values: impl IntoIterator<Item = Value>,
) -> Option<Found> {
    if rows.is_empty() {
        return None;
    }
    Some(Found { said: what.with(values).about(Subject::Rows(rows)), sure })
}

/// The same of rows with figures, which are the first value, shown by a function.
pub(super) fn against(
    rows: Vec<Against>,
    show: impl Fn(f64) -> String,
    what: Defect,
    sure: Sure,
    more: impl IntoIterator<Item = Value>,
) -> Option<Found> {
    let one = |row: &Against| {
        Phrase::Against.value(values![&row.row.label, show(row.found), show(row.expected)])
    };
    let beyond = rows.len().checked_sub(SHOWN).filter(|beyond| *beyond > 0);
    let each = rows.iter().take(SHOWN).map(one);
    let each = each.chain(beyond.map(|beyond| Phrase::AndMore.value(values![beyond])));
    let values = std::iter::once(list(each, ["; ", "；"])).chain(more);
    of_rows(rows.into_iter().map(|row| row.row).collect(), what, sure, values.collect::<Vec<_>>())
}

impl Found {
    /// How bad it is.
    pub(super) fn severity(&self) -> Severity {
        self.said.severity.unwrap_or(Severity::Note)
    }

    /// The rows that it is about.
    pub(super) fn rows(&self) -> &[Row] {
        match &self.said.subject {
            Subject::Rows(rows) => rows,
            Subject::Whole | Subject::Line(_) => &[],
        }
    }

    /// In words, as a finding on a run.
    pub(super) fn lint(&self, summary: &Summary, language: Language) -> Lint {
        let said = self.said.in_language(language);
        let run = &summary.run;
        Lint {
            check: said.code.clone(),
            weight: self.severity(),
            run: run.label.clone().unwrap_or_else(|| run.id.clone()),
            file: run.origin.as_ref().map(|origin| origin.file.clone()),
            rows: self.rows().to_vec(),
            what: said.what.clone(),
            cause: said.advice.clone().unwrap_or_default(),
            sure: self.sure,
        }
    }
}
