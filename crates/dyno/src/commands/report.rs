//! `dyno report`: a run's summary again, from its records alone.

use super::{RUNS, show};
use crate::args::ReportArgs;
use crate::exit::Exit;
use crate::printer::Printer;
use crate::usage::UsageError;
use dyno_record::{RecordError, RunDir};
use dyno_report::{DirSource, Summary, summarise};
use std::path::Path;

/// Prints the summary of the run that was named, or of the latest.
pub(crate) fn run(args: &ReportArgs, printer: &Printer) -> Exit {
    match read(args.dir.as_deref()) {
        Ok(summary) => show::summary(&summary, args.json, printer),
        Err(error) => {
            printer.error(UsageError::new("DIR", error.to_string()));
            Exit::Usage
        }
    }
}

pub(super) fn read(dir: Option<&Path>) -> Result<Summary, RecordError> {
    let dir = match dir {
        Some(dir) => RunDir::open(dir)?,
        None => RunDir::latest(Path::new(RUNS))?,
    };
    let plan = dir.read_plan()?;
    let environment = dir.read_environment()?;
    let source = DirSource::open(&dir)?;
    Ok(summarise(&plan, environment.as_ref(), &source))
}
