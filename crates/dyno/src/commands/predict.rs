//! `dyno predict`: the levels of a plan, answered by a twin in virtual time.

use super::bench::{carry_out, versus};
use super::print_notes;
use crate::exit::Exit;
use crate::printer::Printer;
use crate::resolve::Resolved;
use crate::signals;
use crate::usage::UsageError;
use dyno_engine::twin::Twin;
use dyno_run::Order;

/// Runs a resolved prediction.
pub(crate) fn run(resolved: Resolved, printer: &Printer) -> Exit {
    let rival = resolved.versus.as_deref();
    if let Err(error) = std::iter::once(&resolved.order).chain(rival).try_for_each(check_twin) {
        printer.error(&error);
        return Exit::Usage;
    }
    if resolved.dry_run {
        return printer.result(&versus::plan(&resolved));
    }
    let printer = print_notes(&resolved, printer);
    // Without it, Ctrl-C ends the program; what was written stays readable.
    let _listening = signals::listen(resolved.order.stop.clone(), |_| {});
    carry_out(resolved, &printer)
}

/// Checks that the plan names a twin: a script only runs in real time.
fn check_twin(order: &Order) -> Result<(), UsageError> {
    let name = order.plan.target.embedded.as_deref().unwrap_or(Twin::default_name());
    Twin::load(name).map(drop).map_err(|error| UsageError::new("--twin", error))
}
