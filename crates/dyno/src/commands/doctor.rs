//! `dyno doctor`: placeholder until the network glue is in.

use crate::args::DoctorArgs;
use crate::exit::Exit;
use crate::printer::Printer;

/// Finds out what this machine can measure.
pub(crate) fn run(args: &DoctorArgs, printer: &Printer) -> Exit {
    printer.error(format_args!("not built yet: {args:?}"));
    Exit::Bug
}
