//! `dyno twins`: lists, shows, verifies and checks the systems that the embedded engine can simulate.

use super::fit;
use crate::args::twins::{TwinsArgs, TwinsCommand};
use crate::exit::Exit;
use crate::printer::Printer;
use crate::usage::UsageError;
use crate::why::Status;
use dyno_engine::twin::Twin;
use dyno_model::{Language, Localized, Message, message};
use std::path::PathBuf;

/// Lists, shows, verifies or checks.
pub(crate) fn run(args: &TwinsArgs, printer: &Printer) -> Exit {
    let language = printer.language();
    let fine = |text| (text, Exit::Fine);
    let done = match &args.command {
        None => dyno_twins::list(language).map_err(in_twin).map(fine),
        Some(TwinsCommand::Show { twin }) => {
            load(twin).map(|twin| fine(dyno_twins::show(&twin, language)))
        }
        Some(TwinsCommand::Verify { twins }) => verified(twins, language).map(fine),
        Some(TwinsCommand::Check { runs, twin, json }) => checked(runs, twin, *json, printer),
    };
    match done {
        Ok((text, exit)) => {
            let status = match exit {
                Exit::RequirementMissed => exit.because(message!(
                    "the server differs from its twin",
                    "服务器与孪生模型不一致"
                )),
                Exit::Inconclusive => exit.because(message!(
                    "no level could be compared with the twin",
                    "没有可与孪生模型对比的档位"
                )),
                _ => exit.into(),
            };
            Status::from(printer.result(&text)).and(status).told(printer)
        }
        Err(error) => {
            printer.error(&error);
            error.exit
        }
    }
}

/// Compares runs with a twin.
fn checked(
    runs: &[PathBuf],
    twin: &str,
    json: bool,
    printer: &Printer,
) -> Result<(String, Exit), UsageError> {
    let twin = Twin::load(twin).map_err(|error| UsageError::new("--twin", error))?;
    let mut measured = Vec::new();
    for path in runs {
        measured.append(&mut fit::measured(path, printer)?);
    }
    let in_run = |error: Message| UsageError::new("RUN", error);
    let found = dyno_twins::check(&measured, twin, printer.language()).map_err(in_run)?;
    if !json {
        found.notes.iter().for_each(|note| printer.note(note));
    }
    let exit = match found.same() {
        Some(true) => Exit::Fine,
        Some(false) => Exit::RequirementMissed,
        None => Exit::Inconclusive,
    };
    let text = match json {
        true => found.json().map_err(|error| in_run(Message::of(error)))? + "\n",
        false => found.text(),
    };
    Ok((text, exit))
}

fn in_twin(error: impl Localized) -> UsageError {
    UsageError::new("NAME|FILE", error)
}

fn load(name: &str) -> Result<Twin, UsageError> {
    Twin::load(name).map_err(in_twin)
}

/// Replays these twins, or all that are shipped, on their tables.
fn verified(names: &[String], language: Language) -> Result<String, UsageError> {
    let names: Vec<String> = match names {
        [] => Twin::shipped().iter().map(|(name, _)| (*name).to_owned()).collect(),
        names => names.to_vec(),
    };
    names.iter().map(|name| Ok(dyno_twins::verified(&load(name)?, language))).collect()
}
