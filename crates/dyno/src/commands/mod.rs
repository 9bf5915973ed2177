//! One file per command: each takes its arguments and a printer, and returns the exit status.

pub(crate) mod agent;
pub(crate) mod baseline;
pub(crate) mod bench;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod data;
pub(crate) mod doctor;
pub(crate) mod engine;
pub(crate) mod fit;
pub(crate) mod gate;
pub(crate) mod help;
pub(crate) mod import;
pub(crate) mod init;
pub(crate) mod lint;
pub(crate) mod loaded;
pub(crate) mod man;
pub(crate) mod open;
pub(crate) mod predict;
pub(crate) mod presets;
pub(crate) mod report;
pub(crate) mod runs;
pub(crate) mod show;
pub(crate) mod twins;

use crate::config::Given;
use crate::exit::Exit;
use crate::printer::{OutputOptions, Printer};
use crate::resolve::{Aim, Inputs, ProcessEnv, Resolved, resolve};
use dyno_model::{Message, message};
use std::io;
use std::path::Path;
use std::process::Command;

/// The directory of runs, unless `--out` names another.
pub(crate) const RUNS: &str = "dyno-runs";

/// `dyno bench`, `dyno predict` and `dyno capacity`: resolves the arguments, prints the notes, and
/// carries out the plan.
pub(crate) fn plan(inputs: impl Into<Inputs>, given: &Given, printer: &Printer) -> Exit {
    let inputs: Inputs = inputs.into();
    let (aim, from) = (inputs.aim, inputs.plan.settings.clone());
    match resolve(inputs, given, &ProcessEnv::of_process()) {
        Ok(resolved) if aim == Aim::Predict => predict::run(resolved, printer),
        Ok(resolved) => {
            let printer = print_notes(&resolved, printer);
            bench::run(resolved, &printer)
        }
        Err(error) => {
            printer.error(&given.blame(&from, error));
            Exit::Usage
        }
    }
}

/// Prints warnings and notes, and returns the printer to use from here on.
fn print_notes(resolved: &Resolved, printer: &Printer) -> Printer {
    let printer = printer.with(OutputOptions {
        quiet: resolved.showing.quiet,
        no_progress: resolved.showing.no_progress,
        json_progress: resolved.showing.json_progress,
        json: resolved.showing.json,
    });
    let printer = printer.speaking(resolved.showing.language);
    for warning in &resolved.warnings {
        printer.warn(&warning);
    }
    for note in &resolved.notes {
        printer.note(&note);
    }
    printer
}

/// This program again, for a process of its own.
pub(crate) fn own_binary() -> Command {
    Command::new(std::env::current_exe().unwrap_or_else(|_| "dyno".into()))
}

/// Names the file and the reason.
pub(crate) fn cannot_write(path: &Path, error: &io::Error) -> Message {
    message!("cannot write `{}`: {error}", "无法写入 `{}`：{error}", path.display())
}

/// A value as JSON for a terminal or a file: texts of servers and files in it are escaped further than JSON
/// demands, so that no terminal obeys them.
pub(crate) fn shown_json(value: &impl serde::Serialize) -> Result<String, Message> {
    let json = serde_json::to_string_pretty(value).map_err(Message::of)?;
    Ok(dyno_words::escape::json(&json).into_owned())
}
