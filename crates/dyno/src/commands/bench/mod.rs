//! `dyno bench`: runs a plan, shows the result, and returns the exit status.

mod outcome;
mod progress;
pub(crate) mod say;
pub(crate) mod versus;
mod written;

use super::show;
use crate::exit::Exit;
use crate::printer::Printer;
use crate::resolve::Resolved;
use crate::signals;
use dyno_model::plan::Plan;
use dyno_model::units::format_duration;
use dyno_model::{Message, message};
use dyno_run::{ErrorSource, RunError, RunOutput, SlowSink};
use progress::ProgressObserver;
use std::sync::Arc;

/// Runs the plan.
pub(crate) fn run(resolved: Resolved, printer: &Printer) -> Exit {
    if resolved.dry_run {
        let mut text = versus::plan(&resolved);
        if let RunOutput::Resumed(dir, past) = &resolved.order.place {
            let finished = past.indices();
            let language = resolved.showing.language;
            text.push_str(&dyno_report::plan::left(
                &resolved.order.plan,
                &dir.path().display().to_string(),
                &finished,
                language,
            ));
        }
        return printer.result(&text);
    }
    let plan = &resolved.order.plan;
    if plan.levels.len() > 1 || plan.course.search.is_some() {
        printer.remark(&Message::quoted(versus::plan(&resolved).trim_end()));
    }
    if let RunOutput::Resumed(dir, past) = &resolved.order.place {
        let (done, dir) = (past.finished.len(), dir.path().display());
        printer.note(&message!(
            "resuming {dir}; levels already finished: {done}",
            "继续测试 {dir}；已完成的级数：{done}"
        ));
    }
    let screen = printer.clone();
    let listening = signals::listen(resolved.order.stop.clone(), move |times| match times {
        1 => screen.note(&message!(
            "stopping: waiting for running requests; press Ctrl-C again to stop immediately",
            "正在停止：等待进行中的请求；再按一次 Ctrl-C 立即停止"
        )),
        2 => screen.note(&message!(
            "stopping immediately: requests in flight are recorded as censored",
            "立即停止：在途请求记为截尾"
        )),
        _ => {}
    });
    if let Err(error) = &listening {
        printer.warn(&signals::unheard(error));
    }
    carry_out(resolved, printer)
}

/// Runs the order, shows the result, and returns the exit status.
pub(crate) fn carry_out(resolved: Resolved, printer: &Printer) -> Exit {
    let Resolved { mut order, mut versus, showing, .. } = resolved;
    for order in versus.as_deref_mut().into_iter().chain([&mut order]) {
        order.reach.slow = Some(slow(&order.plan, printer));
    }
    let ended = match versus {
        Some(other) => versus::measure([order, *other], &showing, printer),
        None => {
            dyno_run::run(order, &ProgressObserver::new(printer, showing.live, showing.language))
                .map(|finished| {
                    let mut show = |summary: &_| show::summary(summary, &showing, printer);
                    outcome::conclude(&finished, &showing, printer, &mut show).told(printer)
                })
        }
    };
    let exit = ended.unwrap_or_else(|error| {
        printer.error(&error);
        exit_by(&error)
    });
    printer.event(|| serde_json::json!({"event": "run_ends", "status": exit.code()}));
    exit
}

/// Says what is waited for, where the server takes long to answer before the first level.
pub(crate) fn slow(plan: &Plan, printer: &Printer) -> SlowSink {
    let (target, printer) = (plan.target.to_string(), printer.clone());
    SlowSink(Arc::new(move |what, within| {
        let within = format_duration(within);
        printer.note(&message!(
            "no response yet from {target} to {what}; waiting for up to {within}",
            "{target} 尚未响应 {what}；最多等待 {within}"
        ));
    }))
}

/// The exit status of an error.
pub(crate) fn exit_by(error: &RunError) -> Exit {
    match error.blame() {
        ErrorSource::Usage => Exit::Usage,
        ErrorSource::Target => Exit::TargetUnusable,
        ErrorSource::Interrupted => Exit::Interrupted,
        ErrorSource::Own => Exit::Bug,
    }
}
