//! Prints a summary, as text or as JSON.

use crate::exit::Exit;
use crate::printer::Printer;
use dyno_model::Language;
use dyno_model::Summary;
use dyno_report::{TextOptions, render_text};

/// Prints a summary on stdout: in a language, or as JSON.
pub(crate) fn summary(
    summary: &Summary,
    as_json: bool,
    language: Language,
    printer: &Printer,
) -> Exit {
    if !as_json {
        let (width, color) = (printer.result_width(), printer.result_colour());
        return printer.result(&render_text(summary, &TextOptions { width, color, language }));
    }
    match serde_json::to_string_pretty(summary) {
        Ok(json) => printer.result(&format!("{json}\n")),
        Err(error) => {
            printer.error(error);
            Exit::Bug
        }
    }
}
