//! `dyno capacity`: the highest load that meets an SLO.

use super::{bench, predict};
use crate::args::capacity::CapacityArgs;
use crate::exit::Exit;
use crate::printer::Printer;
use crate::resolve::{Aim, Surroundings, resolve};
use crate::usage::{UsageError, from_clap};

/// Resolves the search, prints the notes, and runs it.
pub(crate) fn run(args: CapacityArgs, printer: &Printer) -> Exit {
    let aim = if args.predict { Aim::Predict } else { Aim::Measure };
    let no_slo = args.output.slo.is_none() && args.output.resume.is_none();
    let resolved =
        args.into_bench().map_err(|error| from_clap(&error, "dyno capacity")).and_then(|bench| {
            match no_slo {
                true => Err(UsageError::new("--slo", "a capacity needs an SLO")
                    .hint("--slo 'ttft.p99<500ms and errors<1%'")),
                false => resolve(bench, &Surroundings::of_process(), aim),
            }
        });
    match (resolved, aim) {
        (Ok(resolved), Aim::Predict) => predict::answer(resolved, printer),
        (Ok(resolved), Aim::Measure) => {
            let printer = super::announced(&resolved, printer);
            bench::run(resolved, &printer)
        }
        (Err(error), _) => {
            printer.error(error);
            Exit::Usage
        }
    }
}
