//! `dyno predict`: the levels of a plan, answered by a twin in virtual time.

use super::announced;
use super::bench::{carry_out, versus};
use crate::args::predict::PredictArgs;
use crate::exit::Exit;
use crate::printer::Printer;
use crate::resolve::{Aim, Resolved, Surroundings, resolve};
use crate::signals;
use crate::usage::{UsageError, from_clap};
use dyno_engine::twin::Twin;
use dyno_run::Order;

/// Resolves the arguments, prints the notes, and predicts.
pub(crate) fn run(args: PredictArgs, printer: &Printer) -> Exit {
    let resolved = args
        .into_bench()
        .map_err(|error| from_clap(&error, "dyno predict"))
        .and_then(|bench| resolve(bench, &Surroundings::of_process(), Aim::Predict));
    match resolved {
        Ok(resolved) => answer(resolved, printer),
        Err(error) => {
            printer.error(error);
            Exit::Usage
        }
    }
}

/// Runs a resolved prediction.
pub(crate) fn answer(resolved: Resolved, printer: &Printer) -> Exit {
    let rival = resolved.versus.as_deref();
    if let Err(error) = std::iter::once(&resolved.order).chain(rival).try_for_each(check_twin) {
        printer.error(error);
        return Exit::Usage;
    }
    if resolved.dry_run {
        return printer.result(&versus::plan(&resolved));
    }
    let printer = announced(&resolved, printer);
    // Without it, Ctrl-C ends the program; what was written stays readable.
    let _listening = signals::listen(resolved.order.stop.clone(), |_| {});
    carry_out(resolved, &printer)
}

/// Checks that the plan names a twin: a script only runs in real time.
fn check_twin(order: &Order) -> Result<(), UsageError> {
    let name = order.plan.target.embedded.as_deref().unwrap_or(Twin::default_name());
    Twin::load(name).map(drop).map_err(|error| UsageError::new("--twin", error.to_string()))
}
