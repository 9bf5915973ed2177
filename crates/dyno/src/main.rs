//! `dyno`, the command line: parses arguments, resolves them into a plan, runs it, and sets the exit
//! status. The measurement itself is in the other crates.
//!
//! `args` is what can be typed, `config` the settings that are not typed, `resolve` makes a plan of both, `commands` has a file for
//! each command, `help` the topics of `dyno help`, `printer` writes to the terminal, `exit` has the exit statuses.

mod args;
mod commands;
mod config;
mod exit;
mod help;
mod printer;
mod reference;
mod resolve;
mod signals;
mod usage;
mod why;

use args::Command;
use clap::error::ErrorKind;
use config::Unread;
use dyno_model::Message;
use exit::Exit;
use printer::{OutputOptions, Printer};
use std::ffi::OsString;
use std::process::ExitCode;

/// That of musl takes a third more processor time for reports and predictions.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    exit::guarded(|| run(std::env::args_os().collect())).into()
}

fn run(argv: Vec<OsString>) -> Exit {
    let printer = Printer::new(OutputOptions::default(), args::language::spoken(&argv));
    let variables: Vec<_> = std::env::vars_os().collect();
    let (cli, given) = match config::read(&argv, &variables) {
        Ok(read) => read,
        Err(Unread::Arguments(error)) => return explain(&error, &argv, &printer),
        Err(Unread::Setting(error)) => return wrong_usage(&error, &printer),
    };
    match cli.command {
        Command::Bench(args) => commands::plan(*args, &given, &printer),
        Command::Capacity(args) => commands::plan(*args, &given, &printer),
        Command::Predict(args) => commands::plan(*args, &given, &printer),
        Command::Init(args) => commands::init::run(*args, &printer),
        Command::Twins(args) => commands::twins::run(&args, &printer),
        Command::Presets { name } => commands::presets::run(name.as_deref(), &printer),
        Command::Fit(args) => commands::fit::run(&args, &printer),
        Command::Engine(args) => commands::engine::run(&args, &printer),
        Command::Agent(args) => commands::agent::run(*args, &printer),
        Command::Data(command) => commands::data::run(&command, &printer),
        Command::Doctor { quick, json } => commands::doctor::run(quick, json, &printer),
        Command::Report(args) => commands::report::run(&args, &printer),
        Command::Runs(args) => commands::runs::run(&args, &printer),
        Command::Open(args) => commands::open::run(&args, &printer),
        Command::Import(args) => commands::import::run(&args, &printer),
        Command::Lint(args) => commands::lint::run(&args, &printer),
        Command::Compare(args) => commands::compare::run(&args, &printer),
        Command::Gate(args) => commands::gate::run(&args, &printer),
        Command::Baseline(action) => commands::baseline::run(&action, &printer),
        Command::Help { topic } => commands::help::run(topic.as_deref(), &printer),
        Command::Completions { shell, install } => {
            commands::completions::run(shell, install, &printer)
        }
        Command::Man { command, out, markdown } => {
            commands::man::run(command.as_deref(), out.as_deref(), markdown, &printer)
        }
    }
}

/// Prints help and version; everything else is a usage error.
fn explain(error: &clap::Error, argv: &[OsString], printer: &Printer) -> Exit {
    match error.kind() {
        ErrorKind::DisplayHelp if help::short::is_wanted(argv) => {
            printer.result(&help::short::page(argv))
        }
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            printer.result(&error.render().to_string())
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            match argv.len() {
                0 | 1 => printer.remark(&help::start::page()),
                _ => printer.remark(&Message::quoted(error.render().to_string().trim_end())),
            }
            Exit::Usage
        }
        _ => {
            let command = argv.get(1).and_then(|arg| arg.to_str());
            let known = command.filter(|name| reference::find(name).is_some());
            let called = known.map_or("dyno".to_owned(), |name| format!("dyno {name}"));
            let whole = known.and_then(reference::find);
            let wrong = whole.and_then(|command| usage::on_command_line(argv, &command));
            wrong_usage(&wrong.unwrap_or_else(|| usage::from_clap(error, &called)), printer)
        }
    }
}

fn wrong_usage(error: &usage::UsageError, printer: &Printer) -> Exit {
    printer.error(error);
    Exit::Usage
}
