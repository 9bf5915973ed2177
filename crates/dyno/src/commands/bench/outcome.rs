//! The end of a run: summary, report, and the exit status.

use super::directory::one_line;
use crate::commands::show;
use crate::exit::Exit;
use crate::printer::Printer;
use crate::resolve::Resolved;
use crate::run::levels::RunOutcome;
use dyno_core::frame::{Ending, Frame, RunHeader};
use dyno_record::{Finished, RunDir};
use dyno_report::{DirSource, FrameSource, Summary, Verdict, summarise};

/// Sums the run up, says so, and decides the exit status.
pub(crate) fn conclude(
    dir: &RunDir,
    resolved: &Resolved,
    outcome: RunOutcome,
    finished: Finished,
    printer: &Printer,
) -> Exit {
    let disk = finished.error.as_ref().map(ToString::to_string);
    let mut exit = match outcome.ending {
        Ending::Interrupted => Exit::Interrupted,
        Ending::TargetLost => Exit::TargetUnusable,
        _ => Exit::Fine,
    };
    match sum_up(dir, resolved, finished.unwritten, printer) {
        Ok((summary, said)) => {
            exit = exit.and(said).and(match summary.worst_verdict() {
                Verdict::Invalid => Exit::RunInvalid,
                _ => Exit::Fine,
            });
            if summary.failure_bar_missed() || summary.no_level_passes() {
                exit = exit.and(Exit::BarNotMet);
            }
        }
        Err(words) => {
            printer.error(words);
            exit = exit.and(Exit::Bug);
        }
    }
    printer.remark(format_args!("run directory: {}", dir.path().display()));
    if let Some(words) = disk {
        printer.error(words);
        exit = exit.and(Exit::Bug);
    }
    if let Some(error) = outcome.error {
        printer.error(error);
        exit = exit.and(Exit::Bug);
    }
    if let Some(failure) = outcome.last_failure {
        let words = one_line(failure.detail.as_deref().unwrap_or("no words"));
        let class = match failure.outcome {
            dyno_core::outcome::Outcome::Failed(class) => class.to_string(),
            _ => "dropped".to_owned(),
        };
        printer.error(format_args!(
            "the target is unusable: 50 requests in a row failed, the last with {class}: {words}"
        ));
    }
    exit
}

fn sum_up(
    dir: &RunDir,
    resolved: &Resolved,
    unwritten: Vec<Frame>,
    printer: &Printer,
) -> Result<(Summary, Exit), String> {
    let environment = dir.read_environment().map_err(|error| error.to_string())?;
    let stored = DirSource::open(dir).map_err(|error| error.to_string())?;
    let whole = WithUnwritten { stored, unwritten };
    let summary = summarise(&resolved.plan, environment.as_ref(), &whole);
    let json = serde_json::to_string_pretty(&summary).map_err(|error| error.to_string())?;
    let mut exit = Exit::Fine;
    if let Err(error) = dir.write_summary(json.as_bytes()) {
        printer.error(error);
        exit = Exit::Bug;
    }
    exit = exit.and(show::summary(&summary, resolved.json, printer));
    Ok((summary, exit))
}

/// What is on disk, and after it what the disk did not take.
struct WithUnwritten<'a> {
    stored: DirSource<'a>,
    unwritten: Vec<Frame>,
}

impl FrameSource for WithUnwritten<'_> {
    fn header(&self) -> &RunHeader {
        self.stored.header()
    }

    fn frames(&self) -> Box<dyn Iterator<Item = Frame> + '_> {
        Box::new(self.stored.frames().chain(self.unwritten.iter().cloned()))
    }

    fn damaged(&self) -> Option<String> {
        self.stored.damaged()
    }
}
