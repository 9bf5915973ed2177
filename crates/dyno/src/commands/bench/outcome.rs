//! The end of a run: summary, report, and the exit status.

use super::{exit_by, written};
use crate::exit::Exit;
use crate::printer::Printer;
use crate::resolve::Showing;
use dyno_model::frame::Ending;
use dyno_model::summary::SearchSummary;
use dyno_model::{Decision, LevelSummary, Summary, Verdict};
use dyno_run::{Finished, Lost};

/// Has a run shown, says what has to be said of it, and decides the exit status.
pub(crate) fn conclude(
    finished: &Finished,
    showing: &Showing,
    printer: &Printer,
    show: &mut dyn FnMut(&Summary) -> Exit,
) -> Exit {
    let mut exit = match finished.ending {
        Ending::Interrupted => Exit::Interrupted,
        Ending::TargetLost => Exit::TargetUnusable,
        _ => Exit::Fine,
    };
    let failed = |error: &dyn std::fmt::Display| {
        printer.error(error);
        Exit::Bug
    };
    match &finished.summary {
        Ok(summary) => {
            let saved = finished.unsaved.as_ref().map_or(Exit::Fine, |error| failed(error));
            exit = exit.and(saved).and(show(summary)).and(by_figures(summary));
            written::reports(finished, summary, showing, printer);
        }
        Err(error) => exit = exit.and(failed(error)),
    }
    let dir = finished.dir.path().display();
    printer.remark(format_args!("run directory: {dir}"));
    for error in &finished.failures {
        exit = exit.and(failed(error));
    }
    let plan = &finished.plan;
    let may_resume = !plan.target.predicted && plan.course.versus.is_none();
    if let Some(lost) = &finished.lost {
        say_lost(lost, printer);
        if may_resume {
            printer.remark(format_args!("when it is up again: dyno bench --resume {dir}"));
        }
    }
    if finished.ending == Ending::Interrupted && may_resume {
        printer.remark(format_args!("to go on: dyno bench --resume {dir}"));
    }
    if let Some(error) = &finished.data {
        printer.error(error);
        exit = exit.and(exit_by(error));
    }
    exit
}

/// To find out how much a server carries, levels are bound to fail, and some may be beyond what
/// this client can judge: there the answer counts, and not its levels.
fn by_figures(summary: &Summary) -> Exit {
    if let Some(found) = summary.search.as_ref().and_then(SearchSummary::outcome) {
        return by_outcome(found);
    }
    let valid = match summary.worst_verdict() {
        Verdict::Invalid => Exit::RunInvalid,
        _ => Exit::Fine,
    };
    let bar = if summary.failure_bar_missed() { Exit::BarNotMet } else { Exit::Fine };
    let undecided = |level: &LevelSummary| level.gave_up() || level.requests.none_ended();
    let known = match summary.levels.iter().any(undecided) {
        true => Exit::Inconclusive,
        false => Exit::Fine,
    };
    valid.and(bar).and(known).and(summary.slo_outcome().map_or(Exit::Fine, by_outcome))
}

fn by_outcome(outcome: Decision) -> Exit {
    match outcome {
        Decision::Met => Exit::Fine,
        Decision::Missed => Exit::BarNotMet,
        Decision::Inconclusive => Exit::Inconclusive,
    }
}

fn say_lost(lost: &Lost, printer: &Printer) {
    printer.error(format_args!("the target is unusable: {}", lost.words));
    printer.error(match &lost.last_success {
        Some(last) => format!(
            "the last request that was answered was number {} of level {}, {} before",
            last.index,
            last.level + 1,
            lost.after(last),
        ),
        None => "no request had been answered".to_owned(),
    });
}
