//! What a check finds: a diagnostic about rows, and the confidence in its likely cause.

use super::Lint;
use super::place::Read;
pub(super) use dyno_model::Sure;
use dyno_model::diagnostic::CatalogueRow;
use dyno_model::message::clauses;
use dyno_model::{Diagnostic, DiagnosticValue, Language, Severity, Subject, message};
use dyno_words::{Defect, InLanguage, values};

/// A row with a found and an expected value.
pub(super) struct Against {
    pub(super) row: CatalogueRow,
    pub(super) found: f64,
    pub(super) expected: f64,
}

/// A finding of a check.
pub(super) struct LintFindings {
    said: Diagnostic,
    sure: Sure,
}

/// Rows whose values are shown; further ones only appear in the list of rows.
const SHOWN: usize = 12;

/// A finding about rows, with its values; nothing where there are no rows.
pub(super) fn of_rows(
    rows: Vec<CatalogueRow>,
    what: Defect,
    sure: Sure,
    values: impl IntoIterator<Item = DiagnosticValue>,
) -> Option<LintFindings> {
    if rows.is_empty() {
        return None;
    }
    Some(LintFindings { said: what.with(values).about(Subject::Rows(rows)), sure })
}

/// A finding about rows with values, which are formatted by a function and become the first value.
pub(super) fn against(
    rows: Vec<Against>,
    show: impl Fn(f64) -> String,
    what: Defect,
    sure: Sure,
    more: impl IntoIterator<Item = DiagnosticValue>,
) -> Option<LintFindings> {
    let one = |row: &Against| {
        let (label, found, expected) = (&row.row.label, show(row.found), show(row.expected));
        message!("{label}: {found} vs {expected}", "{label}：{found}，对照 {expected}")
    };
    let beyond = rows.len().checked_sub(SHOWN).filter(|beyond| *beyond > 0);
    let each = rows.iter().take(SHOWN).map(one);
    let each = each.chain(beyond.map(|beyond| message!("and {beyond} more", "另有 {beyond} 行")));
    let values = values![clauses(each)].into_iter().chain(more);
    of_rows(rows.into_iter().map(|row| row.row).collect(), what, sure, values.collect::<Vec<_>>())
}

impl LintFindings {
    /// Its severity.
    pub(super) fn severity(&self) -> Severity {
        self.said.severity.unwrap_or(Severity::Note)
    }

    /// The rows that it is about.
    pub(super) fn rows(&self) -> &[CatalogueRow] {
        match &self.said.subject {
            Subject::Rows(rows) => rows,
            Subject::Whole | Subject::Line(_) => &[],
        }
    }

    /// Whether all of these rows are among its own.
    pub(super) fn has_all(&self, rows: &[Against]) -> bool {
        rows.iter().all(|row| self.rows().contains(&row.row))
    }

    /// As the finding of a run, in a language.
    pub(super) fn lint(&self, read: &Read<'_>, language: Language) -> Lint {
        let said = self.said.in_language(language);
        let run = &read.summary.run;
        let (file, rows) = read.located(self.rows());
        Lint {
            check: said.code.clone(),
            weight: self.severity(),
            run: run.label.clone().unwrap_or_else(|| run.id.clone()),
            file,
            rows,
            what: said.what.clone(),
            cause: said.advice.clone().unwrap_or_default(),
            sure: self.sure,
        }
    }
}
