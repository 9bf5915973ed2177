//! Prints a summary, as text or as JSON.

use super::shown_json;
use crate::exit::Exit;
use crate::printer::Printer;
use crate::resolve::Showing;
use dyno_model::{Language, Summary};
use dyno_report::{ReportSelection, TextOptions, render_text};

/// Prints a summary on stdout: in a language, or as JSON.
pub(crate) fn summary(summary: &Summary, showing: &Showing, printer: &Printer) -> Exit {
    if !showing.json {
        let options = text_options(showing.language, &showing.selection, showing.details, printer);
        return printer.result(&render_text(summary, &options));
    }
    match shown_json(summary) {
        Ok(json) => printer.result(&format!("{json}\n")),
        Err(error) => {
            printer.error(&error);
            Exit::Bug
        }
    }
}

/// How text on stdout is laid out: to the width of the terminal, or a fixed one for a file.
pub(crate) fn text_options(
    language: Language,
    selection: &ReportSelection,
    details: bool,
    printer: &Printer,
) -> TextOptions {
    let plain = TextOptions {
        color: printer.result_colour(),
        language,
        selection: selection.clone(),
        details,
        ..TextOptions::default()
    };
    match printer.terminal_width() {
        Some(width) => TextOptions { width, terminal: true, ..plain },
        None => plain,
    }
}
