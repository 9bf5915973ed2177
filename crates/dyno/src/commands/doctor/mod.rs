//! `dyno doctor`: how much this machine can measure, and what to change. Measured is an engine with a known schedule,
//! in a separate process.

mod findings;
mod ladder;
mod limits;

use super::shown_json;
use crate::exit::Exit;
use crate::printer::{OutputOptions, Printer};
use crate::signals;
use dyno_run::{Stop, StopSignal};
use findings::Findings;
use std::process::Command;

/// Measures what this machine can handle.
pub(crate) fn run(quick: bool, json: bool, printer: &Printer) -> Exit {
    let printer = printer.with(OutputOptions { json, ..OutputOptions::default() });
    dyno_net::raise_open_files();
    let stop = StopSignal::new();
    let listening = signals::listen(stop.clone(), |_| {});
    if let Err(error) = &listening {
        printer.warn(&signals::unheard(error));
    }
    let found = Findings::measure(quick, &stop, &engine, &|what| printer.remark(&what));
    let findings = match found {
        Ok(findings) => findings,
        Err(message) => {
            printer.error(&message);
            return Exit::Bug;
        }
    };
    let said = match json {
        true => match shown_json(&findings) {
            Ok(json) => printer.result(&format!("{json}\n")),
            Err(error) => {
                printer.error(&error);
                Exit::Bug
            }
        },
        false => printer.result(&findings.text(printer.language())),
    };
    if stop.get() > Stop::No { Exit::Interrupted } else { said }
}

/// An engine with a script, in a process of its own.
fn engine(script: &str) -> Command {
    let mut command = super::own_binary();
    command.args(["engine", "--port", "0", "--until-stdin-closes", "--scripted", script]);
    command
}
