//! `-h`: the flags that people use every day, some examples, and where the rest is. `--help` prints
//! everything.

use super::TOPICS;
use crate::args::Cli;
use clap::{Command, CommandFactory};
use std::ffi::OsString;

/// The flags that `-h` shows, for each command that has many. Arguments without a flag are always
/// shown.
const EVERYDAY: &[(&str, &str)] = &[
    (
        "bench",
        "api concurrency rate burst sweep requests duration input-tokens output-tokens inputs data model \
         on-shed slo label out dry-run",
    ),
    ("capacity", "slo over between duration input-tokens output-tokens data model twin predict"),
    (
        "predict",
        "twin concurrency rate sweep requests duration input-tokens output-tokens data slo",
    ),
    ("compare", "slo margin format out"),
    ("gate", "baseline max-regression metric github junit"),
    ("report", "format per-request lang out"),
    ("engine", "twin scripted port host fault model list-faults"),
];

/// How many examples the short page has.
const EXAMPLES: usize = 3;

/// Whether the first help flag is the short one.
pub(crate) fn is_wanted(argv: &[OsString]) -> bool {
    argv.iter().find(|arg| *arg == "-h" || *arg == "--help").is_some_and(|arg| arg == "-h")
}

/// The short page of the command that was typed.
pub(crate) fn page(argv: &[OsString]) -> String {
    let mut command = Cli::command();
    command.build();
    for word in argv.iter().skip(1).filter_map(|word| word.to_str()) {
        if let Some(sub) = command.find_subcommand(word) {
            command = sub.clone();
        }
    }
    shortened(command).render_help().to_string()
}

/// The command with its everyday flags alone; as it is where it has no list of them.
fn shortened(mut command: Command) -> Command {
    let name = command.get_name().to_owned();
    let Some((_, everyday)) = EVERYDAY.iter().find(|(known, _)| *known == name) else {
        return command;
    };
    let flags = command.get_arguments().filter(|arg| !arg.is_hide_set()).count();
    let hidden: Vec<clap::Id> = command
        .get_arguments()
        .filter(|arg| {
            arg.get_long()
                .is_some_and(|long| long != "help" && !everyday.split(' ').any(|flag| flag == long))
        })
        .map(|arg| arg.get_id().clone())
        .collect();
    let all: Vec<clap::Id> = command.get_arguments().map(|arg| arg.get_id().clone()).collect();
    for id in all {
        let hide = hidden.contains(&id);
        command = command.mut_arg(id, |arg| {
            let hidden = arg.is_hide_set();
            arg.hide(hidden || hide).help_heading(None::<&str>)
        });
    }
    let long = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let topics: Vec<&str> = TOPICS.iter().map(|topic| topic.name).collect();
    command.after_help(format!(
        "{}\n`dyno {name} --help` explains all {flags} arguments and has more examples.\n`dyno help \
         TOPIC` explains {}.",
        examples(&long),
        topics.join(", ")
    ))
}

/// The first few examples of a help page. An example starts with two spaces; lines that are indented
/// further belong to it.
fn examples(page: &str) -> String {
    let Some((_, list)) = page.split_once("Examples:\n") else { return String::new() };
    let starts = |line: &str| line.starts_with("  ") && !line.starts_with("   ");
    let mut count = 0;
    let lines = list.lines().take_while(|line| {
        count += usize::from(starts(line));
        count <= EXAMPLES && line.starts_with("  ")
    });
    lines.fold("Examples:\n".to_owned(), |text, line| text + line + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(words: &[&str]) -> Vec<OsString> {
        words.iter().map(OsString::from).collect()
    }

    #[test]
    fn everyday_flags_exist_and_others_are_left_out() {
        for (name, everyday) in EVERYDAY {
            let page = page(&typed(&["dyno", name, "-h"]));
            let whole = crate::reference::find(name).unwrap().render_help().to_string();
            assert!(everyday.split(' ').count() <= 17, "{name} has too many everyday flags");
            for flag in everyday.split(' ') {
                assert!(page.contains(&format!("--{flag}")), "{name} --{flag}: {page}");
            }
            assert!(page.lines().count() * 5 < whole.lines().count() * 4, "{name}: {page}");
            assert!(page.contains(&format!("`dyno {name} --help`")), "{page}");
            assert!(page.contains("Examples:\n  dyno "), "{page}");
        }
        let page = page(&typed(&["dyno", "bench", "--rate", "2", "-h"]));
        assert!(!page.contains("--timeout-idle") && page.lines().count() < 70, "{page}");
    }

    #[test]
    fn the_first_help_flag_decides() {
        assert!(is_wanted(&typed(&["dyno", "bench", "-h"])));
        assert!(!is_wanted(&typed(&["dyno", "bench", "--help", "-h"])));
        assert!(!is_wanted(&typed(&["dyno", "bench"])));
    }

    #[test]
    fn subcommands_have_their_own_page() {
        let page = page(&typed(&["dyno", "baseline", "save", "-h"]));
        assert!(page.contains("--force"), "{page}");
    }
}
