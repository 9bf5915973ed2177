//! The end of a run: summary, report, and the exit status.

use super::directory::{one_line, utc};
use super::written;
use crate::exit::Exit;
use crate::printer::Printer;
use crate::resolve::Resolved;
use crate::run::levels::{Lost, RunOutcome};
use dyno_analysis::{DirSource, FrameSource, summarise};
use dyno_model::Diagnostic;
use dyno_model::frame::{Ending, Frame, RunHeader};
use dyno_model::summary::SearchSummary;
use dyno_model::units::format_duration;
use dyno_model::{Nanos, SEC};
use dyno_model::{Summary, Verdict};
use dyno_record::{Finished, RunDir};
use dyno_words::Note;

/// Sums the run up, has it shown, and decides the exit status.
pub(crate) fn conclude(
    dir: &RunDir,
    resolved: &Resolved,
    outcome: RunOutcome,
    finished: Finished,
    printer: &Printer,
    show: &mut dyn FnMut(&Summary) -> Exit,
) -> Exit {
    let may_resume = !resolved.plan.target.predicted && resolved.plan.course.versus.is_none();
    let disk = finished.error.as_ref().map(ToString::to_string);
    let mut exit = match outcome.ending {
        Ending::Interrupted => Exit::Interrupted,
        Ending::TargetLost => Exit::TargetUnusable,
        _ => Exit::Fine,
    };
    match sum_up(dir, resolved, finished.unwritten, printer, show) {
        Ok((summary, said)) => {
            exit = exit.and(said).and(match summary.worst_verdict() {
                Verdict::Invalid => Exit::RunInvalid,
                _ => Exit::Fine,
            });
            exit = exit.and(if bar_missed(&summary) { Exit::BarNotMet } else { Exit::Fine });
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
    if let Some(lost) = &outcome.lost {
        printer.error(format_args!("the target is unusable: {}", one_line(&lost.words)));
        printer.error(match lost.last_success {
            Some(last) => format!(
                "the last request that was answered was number {} of level {}, {} before",
                last.index,
                last.level + 1,
                format_duration(whole(lost.at.saturating_sub(last.at))),
            ),
            None => "no request had been answered".to_owned(),
        });
        if may_resume {
            printer.remark(format_args!(
                "when it is up again: dyno bench --resume {}",
                dir.path().display()
            ));
        }
    }
    if outcome.ending == Ending::Interrupted && may_resume {
        printer.remark(format_args!("to go on: dyno bench --resume {}", dir.path().display()));
    }
    exit
}

/// The question that the run was to answer has the wrong answer, or none. To find out how much a
/// server carries, levels are bound to fail.
fn bar_missed(summary: &Summary) -> bool {
    match &summary.search {
        Some(SearchSummary::Capacity { holds, .. }) => holds.is_none(),
        _ => summary.failure_bar_missed() || summary.no_level_passes(),
    }
}

/// How the target was lost, when, and what it had answered last.
pub(crate) fn lost_note(lost: &Lost, anchor_unix_ns: u64) -> Diagnostic {
    let at = utc((anchor_unix_ns + lost.at) / SEC);
    let mut values = vec![at, format_duration(whole(lost.at)), one_line(&lost.words)];
    let Some(last) = lost.last_success else { return Note::TargetLostUnanswered.with(values) };
    let before = format_duration(whole(lost.at.saturating_sub(last.at)));
    values.extend([last.index.to_string(), (last.level + 1).to_string(), before]);
    Note::TargetLost.with(values)
}

/// Tenths of seconds are enough.
fn whole(time: Nanos) -> Nanos {
    time / (SEC / 10) * (SEC / 10)
}

fn sum_up(
    dir: &RunDir,
    resolved: &Resolved,
    unwritten: Vec<Frame>,
    printer: &Printer,
    show: &mut dyn FnMut(&Summary) -> Exit,
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
    exit = exit.and(show(&summary));
    written::reports(dir, resolved, &summary, environment, &whole, printer);
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
