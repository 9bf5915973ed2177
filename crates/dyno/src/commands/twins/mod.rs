//! `dyno twins`: lists, shows and verifies the systems that the embedded engine can simulate.

pub(super) mod compare;
mod list;
pub(in crate::commands) mod words;

use crate::args::twins::{TwinsArgs, TwinsCommand};
use crate::exit::Exit;
use crate::printer::Printer;
use crate::usage::UsageError;
use dyno_engine::twin::Twin;
use dyno_engine::twin::reference::Reference;
use dyno_fit::{Report, verify};
use dyno_model::Language;
use words::Say;

/// Lists, shows or verifies.
pub(crate) fn run(args: &TwinsArgs, printer: &Printer) -> Exit {
    let language = printer.language();
    let done = match &args.command {
        None => list::list(language).map_err(in_twin),
        Some(TwinsCommand::Show { twin }) => load(twin).map(|twin| show(&twin, language)),
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

/// The twin next to its reference table, if that is shipped.
fn replayed(twin: &Twin) -> Option<Report> {
    let reference = Reference::named(twin.reference.as_deref()?).ok()??;
    Some(verify(twin, &reference))
}

/// The twin file; what is not part of it is a comment, so that the output is a twin file again.
fn show(twin: &Twin, language: Language) -> String {
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

/// Replays twins on their tables; one line of errors each for fitted and held-out rows.
fn verified(names: &[String], language: Language) -> Result<String, UsageError> {
    let names: Vec<String> = match names {
        [] => Twin::shipped().iter().map(|(name, _)| (*name).to_owned()).collect(),
        names => names.to_vec(),
    };
    let mut text = String::new();
    for name in names {
        let twin = load(&name)?;
        let errors = match replayed(&twin) {
            Some(report) => compare::errors(&report, language),
            None => format!("{}\n", Say::NoReferenceTable.text(language)),
        };
        text.push_str(&format!("{}\n{errors}\n", twin.name));
    }
    Ok(text)
}
