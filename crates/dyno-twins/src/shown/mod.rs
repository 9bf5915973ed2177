//! Twins as texts: the list of those that are shipped, one of them in full, and beside its measurements.

pub(crate) mod compare;
pub(crate) mod list;
mod words;

pub use list::list;

use dyno_engine::twin::Twin;
use dyno_engine::twin::reference::Reference;
use dyno_fit::{Report, verify};
use dyno_model::Language;
use words::Say;

/// The twin next to its reference table, if that is shipped.
fn replayed(twin: &Twin) -> Option<Report> {
    let reference = Reference::named(twin.reference.as_deref()?).ok()??;
    Some(verify(twin, &reference))
}

/// The twin file; what is not part of it is a comment, so that the output is a twin file again.
pub fn show(twin: &Twin, language: Language) -> String {
    let more = match replayed(twin) {
        Some(report) => format!(
            "{}\n\n{}\n{}{}",
            Say::Replayed.text(language),
            compare::rows(&report, language),
            compare::errors(&report, language),
            compare::pictures(&report, language)
        ),
        None => Say::NoReference.text(language).to_owned(),
    };
    let comment: String =
        more.lines().map(|line| format!("{}\n", format!("# {line}").trim_end())).collect();
    format!("{}\n{comment}", twin.to_toml())
}

/// A twin replayed on its table: one line of errors each for fitted and held-out rows.
pub fn verified(twin: &Twin, language: Language) -> String {
    let errors = match replayed(twin) {
        Some(report) => compare::errors(&report, language),
        None => format!("{}\n", Say::NoReferenceTable.text(language)),
    };
    format!("{}\n{errors}\n", twin.name)
}
