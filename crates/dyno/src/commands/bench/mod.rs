//! `dyno bench`: runs a plan, shows the result, and returns the exit status.

mod outcome;
pub(crate) mod say;
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
use say::Say;
use seen::Seen;

/// Runs the plan.
pub(crate) fn run(resolved: Resolved, printer: &Printer) -> Exit {
    if resolved.dry_run {
        let mut text = versus::plan(&resolved);
        if let Place::Resumed(_, past) = &resolved.order.place {
            let finished: Vec<u32> = past.finished.iter().map(|level| level.index).collect();
            let language = resolved.showing.language;
            text.push_str(&dyno_report::plan::left(
                &resolved.order.plan,
                &past.run_id,
                &finished,
                language,
            ));
        }
        return printer.result(&text);
    }
    let plan = &resolved.order.plan;
    if plan.levels.len() > 1 || plan.course.search.is_some() {
        printer.remark(versus::plan(&resolved).trim_end());
    }
    if let Place::Resumed(_, past) = &resolved.order.place {
        let done = past.finished.len();
        let values = [past.run_id.clone(), done.to_string()];
        printer.note(Say::Resuming.with(printer.language(), &values));
    }
    raise_open_files();
    let screen = printer.clone();
    let listening = signals::listen(resolved.order.stop.clone(), move |times| match times {
        1 => screen.note(Say::Stopping.text(screen.language())),
        2 => screen.note(Say::StoppingNow.text(screen.language())),
        _ => {}
    });
    if let Err(error) = &listening {
        printer.warn(format_args!("Ctrl-C will not be handled: {error}"));
    }
    carry_out(resolved, printer)
}

/// Runs the order, shows the result, and returns the exit status.
pub(crate) fn carry_out(resolved: Resolved, printer: &Printer) -> Exit {
    let Resolved { order, versus, showing, .. } = resolved;
    let ended = match versus {
        Some(other) => versus::measure([order, *other], &showing, printer),
        None => dyno_run::run(order, &Seen::new(printer, showing.live, showing.language)).map(
            |finished| {
                let mut show = |summary: &_| show::summary(summary, &showing, printer);
                outcome::conclude(&finished, &showing, printer, &mut show).told(printer)
            },
        ),
    };
    ended.unwrap_or_else(|error| {
        printer.error(&error);
        exit_by(&error)
    })
}

/// The exit status of an error.
pub(crate) fn exit_by(error: &RunError) -> Exit {
    match error.blame() {
        Blame::Usage => Exit::Usage,
        Blame::Target => Exit::TargetUnusable,
        Blame::Interrupted => Exit::Interrupted,
        Blame::Own => Exit::Bug,
    }
}
