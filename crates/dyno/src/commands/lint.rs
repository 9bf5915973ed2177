//! `dyno lint`: checks results, Dyno's own and other tools'.

use super::loaded;
use super::report::language;
use super::shown_json;
use crate::args::import::{LintArgs, LintFormat};
use crate::exit::Exit;
use crate::printer::Printer;
use crate::usage::UsageError;
use crate::why::Status;
use dyno_analysis::RunResults;
use dyno_analysis::lint::{Read, StatedPlace, lint_read};
use dyno_model::{Language, Severity, message};
use dyno_report::lint::{github, text};

/// Prints the findings; status 5 if one is an error.
pub(crate) fn run(args: &LintArgs, printer: &Printer) -> Exit {
    linted(args, printer).unwrap_or_else(|error| {
        printer.error(&error);
        error.exit
    })
}

fn linted(args: &LintArgs, printer: &Printer) -> Result<Exit, UsageError> {
    let all = loaded::all(&args.paths, "PATH")?;
    all.print_problems(true, printer);
    // JSON is always English: programs read it.
    let language = match args.format {
        LintFormat::Json => Language::English,
        _ => language(args.language),
    };
    let read: Vec<Read<'_>> = all.runs.iter().map(read).collect();
    let found = lint_read(&read, language);
    let printed = match args.format {
        LintFormat::Text => text(&found, read.len(), language),
        LintFormat::Github => github(&found),
        LintFormat::Json => match shown_json(&found) {
            Ok(json) => json + "\n",
            Err(error) => {
                printer.error(&error);
                return Ok(Exit::Bug);
            }
        },
    };
    let bad = found.iter().filter(|finding| finding.weight == Severity::Error).count();
    let mut status = Status::from(printer.result(&printed));
    if bad > 0 {
        let why = message!("{bad} {bad|error|errors} found", "发现 {bad} 个错误");
        status = status.and(Exit::RequirementMissed.because(why));
    }
    Ok(status.told(printer))
}

fn read(run: &RunResults) -> Read<'_> {
    let origin = run.summary.run.origin.as_ref();
    let place =
        origin.map_or(StatedPlace::Unknown, |origin| StatedPlace::of(&run.path, &origin.file));
    Read { summary: &run.summary, place }
}
