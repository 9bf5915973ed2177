//! Access to the command-line definitions: commands by name, and the reference page in `docs/`.

use crate::args::Cli;
use clap::{Arg, Command, CommandFactory};

/// The names of the commands.
pub(crate) fn names() -> Vec<String> {
    Cli::command().get_subcommands().map(|command| command.get_name().to_owned()).collect()
}

/// A command by name, with its full usage line; `dyno` is the program itself.
pub(crate) fn find(name: &str) -> Option<Command> {
    let mut cli = Cli::command();
    cli.build();
    if name == "dyno" {
        return Some(cli);
    }
    cli.find_subcommand(name).cloned()
}

/// Every flag that is not hidden, with its command.
#[cfg(test)]
pub(crate) fn visible_flags() -> Vec<(String, String)> {
    let mut flags = Vec::new();
    for name in names() {
        for arg in find(&name).iter().flat_map(Command::get_arguments).filter(|a| !a.is_hide_set())
        {
            flags.extend(arg.get_long().map(|long| (name.clone(), long.to_owned())));
        }
    }
    flags
}

/// `docs/reference/cli.md`.
pub(crate) fn markdown() -> String {
    let mut page = String::from(
        "# Command line\n\n<!-- Generated: cargo run -q -- man --markdown > docs/reference/cli.md \
         -->\n",
    );
    for name in names() {
        if let Some(mut command) = find(&name) {
            section(&mut command, &mut page);
            let actions =
                command.get_subcommands_mut().filter(|action| action.get_name() != "help");
            actions.for_each(|action| section(action, &mut page));
        }
    }
    page
}

fn section(command: &mut Command, page: &mut String) {
    let about = command.get_about().map(ToString::to_string);
    let name = command.get_bin_name().unwrap_or(command.get_name()).to_owned();
    page.push_str(&format!("\n## `{name}`\n\n"));
    page.push_str(&about.unwrap_or_default());
    let usage = command.render_usage().to_string();
    page.push_str(&format!("\n\n```text\n{}\n```\n", usage.trim_start_matches("Usage: ").trim()));

    let mut heading = None;
    for arg in command.get_arguments().filter(|arg| !arg.is_hide_set()) {
        if arg.get_id() == "help" {
            continue;
        }
        if heading != Some(arg.get_help_heading()) {
            heading = Some(arg.get_help_heading());
            page.push_str(&format!("\n### {}\n\n", title(arg)));
        }
        page.push_str(&format!("- `{}` — {}\n", spelling(arg), description(arg)));
    }
    if let Some(examples) = command.get_after_help() {
        page.push_str(&format!("\n```text\n{examples}\n```\n"));
    }
}

fn title(arg: &Arg) -> String {
    match arg.get_help_heading() {
        Some(heading) => heading.to_owned(),
        None if arg.is_positional() => "Arguments".to_owned(),
        None => "Options".to_owned(),
    }
}

fn spelling(arg: &Arg) -> String {
    let value: Vec<&str> =
        arg.get_value_names().unwrap_or_default().iter().map(|name| name.as_str()).collect();
    let takes_value = arg.get_action().takes_values();
    match (arg.get_long(), takes_value) {
        (Some(long), true) => format!("--{long} {}", value.join(" ")),
        (Some(long), false) => format!("--{long}"),
        (None, _) => value.join(" "),
    }
}

fn description(arg: &Arg) -> String {
    let mut text = arg.get_help().map(ToString::to_string).unwrap_or_default().replace('<', "\\<");
    let defaults: Vec<String> =
        arg.get_default_values().iter().map(|v| format!("`{}`", v.to_string_lossy())).collect();
    if arg.get_action().takes_values() && !defaults.is_empty() {
        text.push_str(&format!(" (default {})", defaults.join(", ")));
    }
    let possible: Vec<String> = arg
        .get_possible_values()
        .iter()
        .filter(|value| !value.is_hide_set())
        .map(|value| format!("`{}`", value.get_name()))
        .collect();
    if arg.get_action().takes_values() && !possible.is_empty() {
        text.push_str(&format!(" (one of {})", possible.join(", ")));
    }
    text
}
