//! `dyno twins`: lists, shows and verifies the systems that the embedded engine can simulate.

use crate::args::twins::{TwinsArgs, TwinsCommand};
use crate::exit::Exit;
use crate::printer::Printer;
use crate::usage::UsageError;
use dyno_engine::twin::Twin;
use dyno_model::Language;

/// Lists, shows or verifies.
pub(crate) fn run(args: &TwinsArgs, printer: &Printer) -> Exit {
    let language = printer.language();
    let done = match &args.command {
        None => dyno_twins::list(language).map_err(in_twin),
        Some(TwinsCommand::Show { twin }) => {
            load(twin).map(|twin| dyno_twins::show(&twin, language))
        }
        Some(TwinsCommand::Verify { twins }) => verified(twins, language),
    };
    match done {
        Ok(text) => printer.result(&text),
        Err(error) => {
            printer.error(error);
            Exit::Usage
        }
    }
}

fn in_twin(error: impl std::fmt::Display) -> UsageError {
    UsageError::new("NAME|FILE", error.to_string())
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
