//! `dyno bench`: has a run carried out, shows it, and ends with a status that says how it went.

mod outcome;
pub(crate) mod plan_text;
mod seen;
pub(crate) mod versus;
mod written;

use super::show;
use crate::exit::Exit;
use crate::printer::Printer;
use crate::resolve::Resolved;
use crate::signals;
use dyno_net::raise_open_files;
use dyno_run::{Blame, Place, RunError};
use seen::Seen;

/// Runs the plan.
pub(crate) fn run(resolved: Resolved, printer: &Printer) -> Exit {
    if resolved.dry_run {
        return printer.result(&versus::plan(&resolved));
    }
    let plan = &resolved.order.plan;
    if plan.levels.len() > 1 || plan.course.search.is_some() {
        printer.remark(versus::plan(&resolved).trim_end());
    }
    if let Place::Resumed(_, past) = &resolved.order.place {
        let done = past.finished.len();
        let are = if done == 1 { "level is" } else { "levels are" };
        printer.note(format_args!("going on with {}: {done} {are} done and kept", past.run_id));
    }
    raise_open_files();
    let screen = printer.clone();
    let listening = signals::listen(resolved.order.stop.clone(), move |times| match times {
        1 => screen.note("stopping: no more requests are sent; Ctrl-C again to stop at once"),
        2 => screen.note("stopping at once: what is in flight is recorded as censored"),
        _ => {}
    });
    if let Err(error) = &listening {
        printer.warn(format_args!("Ctrl-C will not be handled: {error}"));
    }
    carry_out(resolved, printer)
}

/// Has the order carried out, shows what came out, and says how it went.
pub(crate) fn carry_out(resolved: Resolved, printer: &Printer) -> Exit {
    let Resolved { order, versus, showing, .. } = resolved;
    let ended = match versus {
        Some(other) => versus::measure([order, *other], &showing, printer),
        None => dyno_run::run(order, &Seen::new(printer, showing.live, showing.language)).map(
            |finished| {
                outcome::conclude(&finished, &showing, printer, &mut |summary| {
                    show::summary(summary, &showing, printer)
                })
            },
        ),
    };
    ended.unwrap_or_else(|error| {
        printer.error(&error);
        exit_by(&error)
    })
}

/// The status that fits an error.
pub(crate) fn exit_by(error: &RunError) -> Exit {
    match error.blame() {
        Blame::Usage => Exit::Usage,
        Blame::Target => Exit::TargetUnusable,
        Blame::Interrupted => Exit::Interrupted,
        Blame::Own => Exit::Bug,
    }
}
