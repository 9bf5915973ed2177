//! `dyno twins`: lists, shows and verifies the systems that the embedded engine can simulate.

pub(super) mod compare;
mod list;

use crate::args::twins::{TwinsArgs, TwinsCommand};
use crate::exit::Exit;
use crate::printer::Printer;
use crate::usage::UsageError;
use dyno_engine::twin::Twin;
use dyno_engine::twin::reference::Reference;
use dyno_fit::{Report, verify};

/// Lists, shows or verifies.
pub(crate) fn run(args: &TwinsArgs, printer: &Printer) -> Exit {
    let done = match &args.command {
        None => list::list().map_err(in_twin),
        Some(TwinsCommand::Show { twin }) => load(twin).map(|twin| show(&twin)),
        Some(TwinsCommand::Verify { twins }) => verified(twins),
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
fn show(twin: &Twin) -> String {
    let more = match replayed(twin) {
        Some(report) => format!(
            "Replayed on its reference table:\n\n{}\n{}{}",
            compare::rows(&report),
            compare::errors(&report),
            compare::pictures(&report)
        ),
        None => "There is no reference table to compare it with.".to_owned(),
    };
    let comment: String =
        more.lines().map(|line| format!("{}\n", format!("# {line}").trim_end())).collect();
    format!("{}\n{comment}", twin.to_toml())
}

/// Replays twins on their tables; one line of errors each for fitted and held-out rows.
fn verified(names: &[String]) -> Result<String, UsageError> {
    let names: Vec<String> = match names {
        [] => Twin::shipped().iter().map(|(name, _)| (*name).to_owned()).collect(),
        names => names.to_vec(),
    };
    let mut text = String::new();
    for name in names {
        let twin = load(&name)?;
        let errors = match replayed(&twin) {
            Some(report) => compare::errors(&report),
            None => "no reference table\n".to_owned(),
        };
        text.push_str(&format!("{}\n{errors}\n", twin.name));
    }
    Ok(text)
}
