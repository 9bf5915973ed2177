//! The end of a run: summary, report, and the exit status.

use super::say::Say;
use super::{exit_by, written};
use crate::commands::RUNS;
use crate::exit::Exit;
use crate::printer::Printer;
use crate::resolve::Showing;
use dyno_model::frame::Ending;
use dyno_model::summary::SearchSummary;
use dyno_model::{Decision, Diagnostic, LevelSummary, Summary, Verdict};
use dyno_run::{Finished, Lost, LostAgent};
use dyno_words::translated;
use std::path::Path;

/// Shows a finished run, prints what the user must know, and decides the exit status.
pub(crate) fn conclude(
    finished: &Finished,
    showing: &Showing,
    printer: &Printer,
    show: &mut dyn FnMut(&Summary) -> Exit,
) -> Exit {
    let mut exit = match finished.ending {
        Ending::Interrupted => Exit::Interrupted,
        Ending::TargetLost => Exit::TargetUnusable,
        Ending::MaxFailures => Exit::BarNotMet,
        Ending::AgentLost => Exit::RunInvalid,
        _ => Exit::Fine,
    };
    let failed = |error: &dyn std::fmt::Display| {
        printer.error(error);
        Exit::Bug
    };
    match &finished.summary {
        Ok(summary) => {
            let saved = finished.unsaved.as_ref().map_or(Exit::Fine, |error| failed(error));
            exit = exit.and(saved).and(show(summary)).and(by_results(summary));
            exit = exit.and(written::reports(finished, summary, showing, printer));
            exit = exit.and(damage(finished, printer));
        }
        Err(error) => exit = exit.and(failed(error)),
    }
    let language = printer.language();
    let dir = [finished.dir.path().display().to_string()];
    printer.remark(Say::RunDirectory.with(language, &dir));
    let (path, runs) = (finished.dir.path(), Path::new(RUNS));
    if !path.starts_with(runs) {
        // For a run in another place altogether, no directory is made here. An error does not
        // matter: the working directory may be read-only.
        if runs.is_dir() || path.is_relative() {
            let _ = dyno_record::remember_run(runs, path);
        }
        if finished.ending.carried_out() {
            printer.remark(Say::ToName.with(language, &dir));
        }
    }
    for error in &finished.failures {
        exit = exit.and(failed(error));
    }
    let plan = &finished.plan;
    let may_resume = !plan.target.predicted && plan.course.versus.is_none();
    if let Some(lost) = &finished.lost {
        report_lost(lost, printer);
        if may_resume {
            printer.remark(Say::OnceBack.with(language, &dir));
        }
    }
    if let Some(most) = plan.max_failures.filter(|_| finished.ending == Ending::MaxFailures) {
        printer.error(Say::TooManyFailures.with(language, &[most.to_string()]));
    }
    for LostAgent { name, level, why } in &finished.lost_agents {
        let why = translated(why, language).into_owned();
        let values = [name.clone(), (level + 1).to_string(), why];
        printer.error(Say::AgentLost.with(language, &values));
    }
    let agents_lost = finished.ending == Ending::AgentLost;
    if agents_lost {
        printer.remark(Say::OthersKept.text(language));
    }
    if (agents_lost || finished.ending == Ending::Interrupted) && may_resume {
        printer.remark(Say::ToResume.with(language, &dir));
    }
    if let Some(error) = &finished.data {
        printer.error(error);
        exit = exit.and(exit_by(error));
    }
    exit
}

/// Whether the records of the run can be read back as they were written.
fn damage(finished: &Finished, printer: &Printer) -> Exit {
    let noted = |note: &Diagnostic| note.code == "records_damaged";
    let found = finished.summary.as_ref().is_ok_and(|summary| summary.notes.iter().any(noted));
    if found {
        printer.error(Say::Damaged.text(printer.language()));
        return Exit::Bug;
    }
    Exit::Fine
}

/// The status by the results. In a search for a capacity some levels must fail, and some may be
/// beyond what this client can measure: there the result counts, not the levels.
fn by_results(summary: &Summary) -> Exit {
    if let Some(found) = summary.search.as_ref().and_then(SearchSummary::outcome) {
        return by_outcome(found);
    }
    let valid = match summary.worst_verdict() {
        Verdict::Invalid => Exit::RunInvalid,
        _ => Exit::Fine,
    };
    let bar = if summary.failure_bar_missed() { Exit::BarNotMet } else { Exit::Fine };
    let undecided = |level: &LevelSummary| level.gave_up() || level.requests.none_ended();
    let decided = match summary.levels.iter().any(undecided) {
        true => Exit::Inconclusive,
        false => Exit::Fine,
    };
    valid.and(bar).and(decided).and(summary.slo_outcome().map_or(Exit::Fine, by_outcome))
}

fn by_outcome(outcome: Decision) -> Exit {
    match outcome {
        Decision::Met => Exit::Fine,
        Decision::Missed => Exit::BarNotMet,
        Decision::Inconclusive => Exit::Inconclusive,
    }
}

fn report_lost(lost: &Lost, printer: &Printer) {
    let language = printer.language();
    printer.error(Say::Unusable.with(language, &[&lost.words]));
    printer.error(match &lost.last_success {
        Some(last) => {
            let (index, level) = (last.index.to_string(), (last.level + 1).to_string());
            Say::LastResponse.with(language, &[index, level, lost.after(last).to_string()])
        }
        None => Say::NoResponse.text(language).to_owned(),
    });
}
