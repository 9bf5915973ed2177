//! `dyno man`: manual pages, from the command-line definitions.

use crate::args::Cli;
use crate::exit::{self, Exit};
use crate::printer::Printer;
use crate::reference;
use crate::usage::UsageError;
use clap::CommandFactory;
use clap_mangen::Man;
use dyno_model::message;
use std::io;
use std::path::Path;

/// Prints one page, or writes all.
pub(crate) fn run(
    command: Option<&str>,
    out: Option<&Path>,
    markdown: bool,
    printer: &Printer,
) -> Exit {
    if let Some(dir) = out {
        return match write_all(dir) {
            Ok(()) => Exit::Fine,
            Err(error) => {
                let message = message!(
                    "cannot write pages into `{}`: {error}",
                    "无法将手册页写入 `{}`：{error}",
                    dir.display(),
                );
                printer.error(&UsageError::new("--out", message));
                Exit::Usage
            }
        };
    }
    let wanted = command.unwrap_or("dyno");
    if markdown {
        return match wanted {
            "exit-codes" => printer.result(&exit::markdown()),
            _ => printer.result(&reference::markdown()),
        };
    }
    let Some(command) = reference::find(wanted) else {
        let names = reference::names().join(", ");
        let wrong = message!(
            "`{wanted}` is not a command; write one of {names}",
            "`{wanted}` 不是命令；请写以下之一：{names}"
        );
        printer.error(&UsageError::new("COMMAND", wrong));
        return Exit::Usage;
    };
    match page(command) {
        Ok(page) => printer.result(&page),
        Err(error) => {
            printer.error(&message!(
                "cannot create the page of {wanted}: {error}",
                "无法生成 {wanted} 的手册页：{error}",
            ));
            Exit::Bug
        }
    }
}

fn write_all(dir: &Path) -> io::Result<()> {
    std::fs::create_dir_all(dir)?;
    clap_mangen::generate_to(Cli::command(), dir)
}

fn page(command: clap::Command) -> io::Result<String> {
    let mut page = Vec::new();
    Man::new(command).render(&mut page)?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flag_is_in_the_page_of_its_command() {
        for (command, flag) in reference::visible_flags() {
            let page = page(reference::find(&command).unwrap()).unwrap();
            let escaped = format!("\\-\\-{}", flag.replace('-', "\\-"));
            assert!(page.contains(&escaped), "{command} --{flag}");
        }
    }

    #[test]
    fn every_command_has_a_page() {
        let dir = tempfile::tempdir().unwrap();
        write_all(dir.path()).unwrap();
        for name in reference::names() {
            assert!(dir.path().join(format!("dyno-{name}.1")).exists(), "{name}");
        }
        assert!(dir.path().join("dyno.1").exists());
    }
}
