//! The end of a run: summary, report, and the exit status with its reason.

use super::say::{self, Say};
use super::{exit_by, written};
use crate::commands::RUNS;
use crate::exit::Exit;
use crate::printer::Printer;
use crate::resolve::Showing;
use crate::why::{Status, Why};
use dyno_model::frame::Ending;
use dyno_model::summary::SearchSummary;
use dyno_model::{
    Decision, Diagnostic, LevelSummary, Message, Severity, Summary, Verdict, message,
};
use dyno_run::{FinishedRun, Lost, LostAgent};
use dyno_words::escape::escape;

/// The longest SLO that a reason repeats.
const LONGEST_SLO: usize = 120;

/// Shows a finished run, prints what the user must know, and decides the exit status.
pub(crate) fn conclude(
    finished: &FinishedRun,
    showing: &Showing,
    printer: &Printer,
    show: &mut dyn FnMut(&Summary) -> Exit,
) -> Status {
    let because = |exit, why: Why| Status::because(exit, why);
    let mut exit = match finished.ending {
        Ending::Interrupted => because(Exit::Interrupted, Why::Interrupted),
        Ending::TargetLost => because(Exit::TargetUnusable, Why::TargetLost),
        Ending::MaxFailures => because(Exit::BarNotMet, Why::MaxFailures),
        Ending::AgentLost => because(Exit::RunInvalid, Why::AgentLost),
        _ => Exit::Fine.into(),
    };
    let failed = |error: &dyn std::fmt::Display| {
        printer.error(&dyno_model::said!(error));
        because(Exit::Bug, Why::NotWritten)
    };
    match &finished.summary {
        Ok(summary) => {
            if let Some(error) = &finished.unsaved {
                exit = exit.and(failed(error));
            }
            exit = exit.and(show(summary)).and(by_results(summary));
            exit = exit.and(written::reports(finished, summary, showing, printer));
            exit = exit.and(damage(finished, printer));
        }
        Err(error) => exit = exit.and(failed(error)),
    }
    let dir = [finished.dir.path().display().to_string()];
    printer.event(|| serde_json::json!({"event": "run_saved", "directory": dir[0]}));
    printer.remark(&Say::RunDirectory.said(&dir));
    if !finished.dir.path().starts_with(RUNS) && finished.ending.carried_out() {
        printer.remark(&Say::ToName.said(&dir));
    }
    for error in &finished.failures {
        exit = exit.and(failed(error));
    }
    let plan = &finished.plan;
    let to_resume = |say| say::to_resume(say, finished.dir.path(), plan);
    if let Some(lost) = &finished.lost {
        report_lost(lost, printer);
        to_resume(Say::OnceBack).iter().for_each(|line| printer.remark(line));
    }
    if let Some(most) = plan.max_failures.filter(|_| finished.ending == Ending::MaxFailures) {
        printer.error(&Say::TooManyFailures.said(&[most.to_string()]));
    }
    for LostAgent { name, level, why } in &finished.lost_agents {
        let number = level + 1;
        printer.error(&message!(
            "agent {name} was lost in level {number}: {why}",
            "压测端 {name} 在第 {number} 档丢失：{why}"
        ));
    }
    let agents_lost = finished.ending == Ending::AgentLost;
    if agents_lost {
        printer.remark(&Message::from(Say::OthersKept));
    }
    if agents_lost || finished.ending == Ending::Interrupted {
        to_resume(Say::ToResume).iter().for_each(|line| printer.remark(line));
    }
    if let Some(error) = &finished.data {
        printer.error(&dyno_model::said!(error));
        exit = exit.and(because(exit_by(error), Why::DataFailed));
    }
    exit
}

/// Whether the records of the run can be read back as they were written.
fn damage(finished: &FinishedRun, printer: &Printer) -> Exit {
    let noted = |note: &Diagnostic| note.code == "records_damaged";
    let found = finished.summary.as_ref().is_ok_and(|summary| summary.notes.iter().any(noted));
    if found {
        printer.error(&Message::from(Say::Damaged));
        return Exit::Bug;
    }
    Exit::Fine
}

/// A status, why, and which levels lead to it.
type Rule<'a> = (Exit, Why, &'a dyn Fn(&LevelSummary) -> bool);

/// The status by the results. In a search for a capacity some levels must fail, and some may be
/// beyond what this client can measure: there the result counts, not the levels.
fn by_results(summary: &Summary) -> Status {
    let slo = escape(summary.run.slo.as_deref().unwrap_or_default(), LONGEST_SLO);
    if let Some(found) = summary.search.as_ref().and_then(SearchSummary::outcome) {
        return match found {
            Decision::Met => Exit::Fine.into(),
            Decision::Missed => Status::because(Exit::BarNotMet, Why::NoCapacity.said(&[slo])),
            Decision::Inconclusive => Status::because(Exit::Inconclusive, Why::CapacityOpen),
        };
    }
    let levels = summary.levels.len();
    let allowed = summary.run.allow_failures;
    let nothing = |level: &LevelSummary| {
        level.requests.bar_missed(allowed) && level.requests.completed == Some(0)
    };
    let rules: [Rule<'_>; 5] = [
        (Exit::RunInvalid, Why::Invalid, &describes_the_client),
        (Exit::BarNotMet, Why::NothingCompleted, &nothing),
        (Exit::BarNotMet, Why::TooManyFailed, &|level| {
            level.requests.bar_missed(allowed) && !nothing(level)
        }),
        (Exit::Inconclusive, Why::NotConverged, &LevelSummary::gave_up),
        (Exit::Inconclusive, Why::NoneEnded, &|level| level.requests.none_ended()),
    ];
    let mut status = by_slo(summary, slo);
    for (exit, why, applies) in rules {
        let count = summary.levels.iter().filter(|level| applies(level)).count();
        if count > 0 {
            let values = [count.to_string(), levels.to_string()];
            status = status.and(Status::because(exit, why.said(&values)));
        }
    }
    status
}

/// An invalid level, but for one that is invalid because every request failed: that is the server's doing.
fn describes_the_client(level: &LevelSummary) -> bool {
    let failed = |reason: &Diagnostic| reason.code == "nothing_completed";
    let mut errors =
        level.reasons.iter().filter(|reason| reason.severity == Some(Severity::Error)).peekable();
    level.verdict == Verdict::Invalid && (errors.peek().is_none() || !errors.all(failed))
}

/// The status by the SLO. That some levels miss it, which is no failure, is said, too.
fn by_slo(summary: &Summary, slo: String) -> Status {
    let Some(outcome) = summary.slo_outcome() else { return Exit::Fine.into() };
    let levels = summary.levels.len();
    let of_level = |level: &&LevelSummary| level.slo.as_ref().map(|slo| slo.verdict.outcome);
    let missed = summary.levels.iter().any(|level| of_level(&level) == Some(Decision::Missed));
    let all = levels.to_string();
    match outcome {
        Decision::Met if missed => {
            let met = summary.levels.iter().filter(|level| level.passes()).count().to_string();
            Status::because(Exit::Fine, Why::SloMissedBySome.said(&[slo, met, all]))
        }
        Decision::Met => Exit::Fine.into(),
        Decision::Missed if levels > 1 => {
            Status::because(Exit::BarNotMet, Why::SloMissedByAll.said(&[slo, all]))
        }
        Decision::Missed => Status::because(Exit::BarNotMet, Why::SloMissed.said(&[slo])),
        Decision::Inconclusive => Status::because(Exit::Inconclusive, Why::SloOpen.said(&[slo])),
    }
}

fn report_lost(lost: &Lost, printer: &Printer) {
    let why = &lost.words;
    printer.error(&message!("the target is unusable: {why}", "目标不可用：{why}"));
    printer.error(&match &lost.last_success {
        Some(last) => {
            let (index, level) = (last.index.to_string(), (last.level + 1).to_string());
            Say::LastResponse.said(&[index, level, lost.after(last).to_string()])
        }
        None => Say::NoResponse.into(),
    });
}
