//! `dyno presets`: lists the presets, or shows one.

use crate::config::presets::{PRESETS, find};
use crate::exit::Exit;
use crate::printer::Printer;

/// Prints them.
pub(crate) fn run(name: Option<&str>, printer: &Printer) -> Exit {
    let language = printer.language();
    if let Some(preset) = name.and_then(find) {
        return printer.result(&preset.page(language));
    }
    let row = |preset: &crate::config::presets::Preset| {
        format!("{:<10}{:<3}{}\n", preset.name, preset.version(), preset.summary(language))
    };
    printer.result(&PRESETS.iter().map(row).collect::<String>())
}
