//! One file per command: each takes its arguments and a printer, and returns the exit status.

pub(crate) mod agent;
pub(crate) mod baseline;
pub(crate) mod bench;
pub(crate) mod capacity;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod data;
pub(crate) mod doctor;
pub(crate) mod engine;
pub(crate) mod fit;
pub(crate) mod gate;
pub(crate) mod help;
pub(crate) mod import;
pub(crate) mod lint;
pub(crate) mod loaded;
pub(crate) mod man;
pub(crate) mod open;
pub(crate) mod predict;
pub(crate) mod report;
pub(crate) mod runs;
pub(crate) mod show;
pub(crate) mod twins;

use crate::args::bench::BenchArgs;
use crate::exit::Exit;
use crate::printer::{Manners, Printer};
use crate::resolve::{Aim, Resolved, Surroundings, resolve};
use std::process::Command;

/// The directory of runs, unless `--out` names another.
pub(crate) const RUNS: &str = "dyno-runs";

/// Resolves the arguments of `dyno bench`, prints the notes, and runs the plan.
pub(crate) fn bench(args: BenchArgs, printer: &Printer) -> Exit {
    let config = args.output.config.clone();
    let resolved = match resolve(args, &Surroundings::of_process(), Aim::Measure) {
        Ok(resolved) => resolved,
        Err(mut error) => {
            if let Some(file) = config {
                let (message, file) = (error.message, file.display());
                error.message = format!("{message} (some settings come from `{file}`)");
            }
            printer.error(error);
            return Exit::Usage;
        }
    };
    let printer = announced(&resolved, printer);
    bench::run(resolved, &printer)
}

/// Prints warnings and notes, and returns the printer to use from here on.
fn announced(resolved: &Resolved, printer: &Printer) -> Printer {
    let printer = printer.with(Manners {
        quiet: resolved.showing.quiet,
        no_progress: resolved.showing.no_progress,
        json_progress: resolved.showing.json_progress,
        json: resolved.showing.json,
    });
    let printer = printer.speaking(resolved.showing.language);
    for warning in &resolved.warnings {
        printer.warn(warning);
    }
    for note in &resolved.notes {
        printer.note(note);
    }
    printer
}

/// This program again, for a process of its own.
pub(crate) fn own_binary() -> Command {
    Command::new(std::env::current_exe().unwrap_or_else(|_| "dyno".into()))
}

/// A value as JSON for a terminal or a file: texts of servers and files in it are escaped further than JSON
/// demands, so that no terminal obeys them.
pub(crate) fn shown_json(value: &impl serde::Serialize) -> Result<String, serde_json::Error> {
    let json = serde_json::to_string_pretty(value)?;
    Ok(dyno_words::escape::json(&json).into_owned())
}
