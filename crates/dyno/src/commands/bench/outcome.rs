//! The end of a run: summary, report, and the exit status with its reason.

use super::say;
use super::{exit_by, written};
use crate::commands::RUNS;
use crate::exit::Exit;
use crate::printer::Printer;
use crate::resolve::Showing;
use crate::why::Status;
use dyno_model::frame::Ending;
use dyno_model::summary::SearchSummary;
use dyno_model::{
    Decision, Diagnostic, LevelSummary, Localized, Message, Severity, Summary, Verdict, message,
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
    let mut exit = match finished.ending {
        Ending::Interrupted => Exit::Interrupted.because(message!("interrupted", "测试被中断")),
        Ending::TargetLost => {
            Exit::TargetUnusable.because(message!("the target is unusable", "目标不可用"))
        }
        Ending::MaxFailures => Exit::RequirementMissed.because(message!(
            "--max-failures ended the run",
            "失败数达到 --max-failures，测试提前结束"
        )),
        Ending::AgentLost => {
            Exit::RunInvalid.because(message!("an agent was lost", "有压测端丢失"))
        }
        _ => Exit::Fine.into(),
    };
    let failed = |error: &dyn Localized| {
        printer.error(&error);
        Exit::Bug.because(message!(
            "not everything could be written; see the error above",
            "有内容未能写入，见上文的错误"
        ))
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
    let dir = finished.dir.path().display().to_string();
    printer.event(|| serde_json::json!({"event": "run_saved", "directory": dir}));
    printer.remark(&message!("run directory: {dir}", "测试目录：{dir}"));
    if !finished.dir.path().starts_with(RUNS) && finished.ending.carried_out() {
        printer.remark(&message!(
            "to see it again: dyno report {dir}, or dyno open {dir}",
            "再次查看：dyno report {dir} 或 dyno open {dir}"
        ));
    }
    for error in &finished.failures {
        exit = exit.and(failed(error));
    }
    let plan = &finished.plan;
    let resuming = say::resuming(finished.dir.path(), plan);
    if let Some(lost) = &finished.lost {
        report_lost(lost, printer);
        if let Some(command) = &resuming {
            printer.remark(&message!("once it is back: {command}", "待其恢复后：{command}"));
        }
    }
    if let Some(most) = plan.max_failures.filter(|_| finished.ending == Ending::MaxFailures) {
        printer.error(&message!(
            "the run was stopped after {most} failures (--max-failures)",
            "失败达到 {most} 个，测试已停止（--max-failures）"
        ));
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
        printer.remark(&message!(
            "the level is invalid, and its other agents stopped sending; their records are kept",
            "该档位无效，其他压测端已停止发送；它们的记录已保留"
        ));
    }
    if agents_lost || finished.ending == Ending::Interrupted {
        resuming.map(say::to_resume).iter().for_each(|line| printer.remark(line));
    }
    if let Some(error) = &finished.data {
        printer.error(&error);
        exit = exit.and(exit_by(error).because(message!(
            "the data could not be read; see the error above",
            "数据读取失败，见上文的错误"
        )));
    }
    exit
}

/// Whether the records of the run can be read back as they were written.
fn damage(finished: &FinishedRun, printer: &Printer) -> Exit {
    let noted = |note: &Diagnostic| note.code == "records_damaged";
    let found = finished.summary.as_ref().is_ok_and(|summary| summary.notes.iter().any(noted));
    if found {
        printer.error(&message!(
            "the records of this run were damaged by somebody else while it ran; what could be \
             read is reported, and the rest is lost",
            "本次测试的记录在运行中被他人损坏；已报告可读取的部分，其余已丢失"
        ));
        return Exit::Bug;
    }
    Exit::Fine
}

/// A status, which levels lead to it, and why.
type Rule<'a> = (Exit, &'a dyn Fn(&LevelSummary) -> bool, &'a dyn Fn(usize) -> Message);

/// The status by the results. In a search for a capacity some levels must fail, and some may be
/// beyond what this client can measure: there the result counts, not the levels.
fn by_results(summary: &Summary) -> Status {
    let slo = escape(summary.run.slo.as_deref().unwrap_or_default(), LONGEST_SLO);
    if let Some(found) = summary.search.as_ref().and_then(SearchSummary::outcome) {
        return match found {
            Decision::Met => Exit::Fine.into(),
            Decision::Missed => Exit::RequirementMissed.because(message!(
                "no load that was tried meets the SLO {slo}",
                "测试过的负载均不满足 SLO {slo}"
            )),
            Decision::Inconclusive => {
                Exit::Inconclusive.because(message!("the capacity is inconclusive", "容量无法判定"))
            }
        };
    }
    let of = summary.levels.len();
    let allowed = summary.run.allow_failures;
    let nothing = |level: &LevelSummary| {
        level.requests.bar_missed(allowed) && level.requests.completed == Some(0)
    };
    let rules: [Rule<'_>; 5] = [
        (Exit::RunInvalid, &describes_the_client, &|n| {
            message!(
                "{n} of {of} {of|level|levels} {n|is|are} invalid: the results describe this \
                 machine, not the server",
                "{of} 个档位中有 {n} 个无效：结果反映的是本机，而不是服务器"
            )
        }),
        (Exit::RequirementMissed, &nothing, &|n| {
            message!(
                "no request completed in {n} of {of} {of|level|levels}",
                "{of} 个档位中有 {n} 个没有任何请求成功"
            )
        }),
        (
            Exit::RequirementMissed,
            &|level| level.requests.bar_missed(allowed) && !nothing(level),
            &|n| {
                message!(
                    "{n} of {of} {of|level|levels} {n|has|have} more failed or shed requests than \
                 --allow-failures allows",
                    "{of} 个档位中有 {n} 个的失败或被拒绝的请求超过 --allow-failures"
                )
            },
        ),
        (Exit::Inconclusive, &LevelSummary::gave_up, &|n| {
            message!(
                "--until-stable gave up in {n} of {of} {of|level|levels}",
                "{of} 个档位中有 {n} 个未达到 --until-stable 的要求"
            )
        }),
        (Exit::Inconclusive, &|level| level.requests.none_ended(), &|n| {
            message!(
                "in {n} of {of} {of|level|levels} every request was still running at the end",
                "{of} 个档位中有 {n} 个在结束时所有请求仍在进行"
            )
        }),
    ];
    let mut status = by_slo(summary, slo);
    for (exit, applies, why) in rules {
        let count = summary.levels.iter().filter(|level| applies(level)).count();
        if count > 0 {
            status = status.and(exit.because(why(count)));
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
    match outcome {
        Decision::Met if missed => {
            let met = summary.levels.iter().filter(|level| level.passes()).count();
            Exit::Fine.because(message!(
                "the SLO {slo} was met at {met} of {levels} levels; 5 means that no level meets it",
                "{levels} 个档位中有 {met} 个满足 SLO {slo}；所有档位都不满足时为 5"
            ))
        }
        Decision::Met => Exit::Fine.into(),
        Decision::Missed if levels > 1 => Exit::RequirementMissed.because(message!(
            "the SLO {slo} was missed at all {levels} levels",
            "所有 {levels} 个档位均未满足 SLO {slo}"
        )),
        Decision::Missed => Exit::RequirementMissed
            .because(message!("the SLO {slo} was missed", "未满足 SLO {slo}")),
        Decision::Inconclusive => Exit::Inconclusive.because(message!(
            "the measurements do not decide whether the SLO {slo} is met",
            "现有数据无法判定是否满足 SLO {slo}"
        )),
    }
}

fn report_lost(lost: &Lost, printer: &Printer) {
    let why = &lost.words;
    printer.error(&message!("the target is unusable: {why}", "目标不可用：{why}"));
    printer.error(&match &lost.last_success {
        Some(last) => {
            let (index, level, earlier) = (last.index, last.level + 1, lost.after(last));
            message!(
                "the last request with a response was number {index} of level {level}, {earlier} \
                 earlier",
                "最后一个得到响应的请求是第 {level} 级的第 {index} 个，在此之前 {earlier}"
            )
        }
        None => message!("no request had got a response", "没有任何请求得到响应"),
    });
}
