//! `dyno completions`: a completion script, from the command-line definitions.

mod install;

use crate::args::Cli;
use crate::exit::Exit;
use crate::printer::Printer;
use clap::CommandFactory;
use clap_complete::{Shell, generate};

/// Prints the script, or writes it where the shell looks for it.
pub(crate) fn run(shell: Option<Shell>, install: bool, printer: &Printer) -> Exit {
    match shell {
        Some(shell) if !install => printer.result(&script(shell)),
        shell => install::install(shell, script, printer),
    }
}

fn script(shell: Shell) -> String {
    let mut script = Vec::new();
    generate(shell, &mut Cli::command(), "dyno", &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ValueEnum;

    #[test]
    fn every_flag_is_completed_in_every_shell() {
        for shell in Shell::value_variants() {
            let script = script(*shell);
            for (command, flag) in crate::reference::visible_flags() {
                // Fish writes long flags as `-l name`.
                let found =
                    script.contains(&format!("--{flag}")) || script.contains(&format!("-l {flag}"));
                assert!(found, "{shell}: {command} --{flag}");
            }
        }
    }
}
