//! The command line as clap definitions. Help pages, man pages, completions and the reference in
//! `docs/` are generated from here. What the values mean is decided in `resolve`; no I/O.

pub(crate) mod bench;
pub(crate) mod capacity;
pub(crate) mod charts;
pub(crate) mod columns;
pub(crate) mod compare;
pub(crate) mod cost;
pub(crate) mod course;
pub(crate) mod data;
pub(crate) mod engine;
pub(crate) mod fit;
pub(crate) mod fleet;
pub(crate) mod import;
pub(crate) mod init;
pub(crate) mod language;
pub(crate) mod levels;
pub(crate) mod metrics;
pub(crate) mod overload;
pub(crate) mod plan;
pub(crate) mod predict;
pub(crate) mod ramp;
pub(crate) mod report;
pub(crate) mod runs;
pub(crate) mod shown;
pub(crate) mod slo;
pub(crate) mod target;
pub(crate) mod twins;
pub(crate) mod values;
pub(crate) mod versus;

use crate::help;
use clap::{Parser, Subcommand};
use std::path::PathBuf;

const EXAMPLES: &str = "
Examples:
  dyno bench                                  try it out on the embedded engine
  dyno bench http://localhost:8000            a gentle ladder against a server
  dyno bench http://localhost:8000 --concurrency 8,16,32 --requests 500
  dyno init http://localhost:8000             settings for a server, to change and keep
  dyno open                                   the report of the latest run, in a browser
  dyno runs                                   the runs so far
  dyno bench -h                               the everyday flags; --help: all of them";

/// The program.
#[derive(Debug, Parser)]
#[command(
    name = "dyno",
    version,
    about = "Load tester for LLM inference servers that tells you when not to trust its numbers",
    max_term_width = 100,
    disable_help_subcommand = true,
    subcommand_required = true,
    arg_required_else_help = true,
    after_help = format!("{}{EXAMPLES}", help::listed())
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Benchmark a server under load
    Bench(Box<bench::BenchArgs>),
    /// Find the highest load that meets an SLO
    Capacity(Box<capacity::CapacityArgs>),
    /// Ask a server what it is, and write settings for it
    Init(Box<init::InitArgs>),
    /// Predict the result of a benchmark with a twin, in virtual time
    Predict(Box<predict::PredictArgs>),
    /// List the twins, show one, or verify them against measurements
    Twins(twins::TwinsArgs),
    /// List the presets, or show the settings of one
    #[command(after_help = "\
A preset is a set of settings for a purpose, with a version: `dyno bench TARGET --preset quick`. Typed
flags, DYNO_… variables and the file of --config go before it. A run that used one says so.

Examples:
  dyno presets                       name, version and purpose of each
  dyno presets nightly               the flags that it stands for, and why
  dyno presets nightly > mine.toml   to change it: dyno bench --config mine.toml")]
    Presets {
        /// The preset to show, as a file for --config
        #[arg(value_name = "NAME", value_parser = plan::preset())]
        name: Option<String>,
    },
    /// Fit a twin to a measured sweep
    Fit(fit::FitArgs),
    /// Serve the embedded engine: a mock server with many APIs; no GPU needed
    Engine(engine::EngineArgs),
    /// Send a part of the load for a coordinator on another machine
    Agent(Box<fleet::AgentArgs>),
    /// Inspect or convert a data file
    #[command(
        subcommand,
        after_help = "\
SPEC is KIND[:PATH][,key=value…], or a file whose contents decide the kind. Kinds: openqa, long,
lines, json, csv, parquet, sharegpt, trace, agentic. Keys: prompt=, context=, system=, output_tokens=,
messages= name the fields of the file; turns=all|first, skip_bad=true; for a trace, speed=, from=,
to=, block=.
Files compressed with gzip or zstd are read directly. `dyno help data` explains them.

Examples:
  dyno data show open_qa.jsonl
  dyno data show code.jsonl,prompt=input --tokenizer models/qwen2
  dyno data show openqa                         the built-in questions
  dyno data show trace:trace.jsonl,speed=2      arrivals, lengths and shared prefixes of a trace
  dyno data show ~/.claude/projects             what the logs of a coding agent hold
  dyno data show traces/ --json                 the same of agentic traffic, for programs
  dyno data show agentic,turns=20               generated traffic of coding agents
  dyno data convert sharegpt.json --to lines --out prompts.jsonl"
    )]
    Data(data::DataCommand),
    /// Check how much load this machine can measure
    #[command(after_help = "\
Runs the client against the scripted engine with increasing stream counts. Prints the highest token
rate and stream count at which the client stays valid, its bias and jitter, the limits on files and
ports, and what to change.

Examples:
  dyno doctor             the full ladder
  dyno doctor --quick     a rough result in a few seconds
  dyno doctor --json      for scripts")]
    Doctor {
        /// Fewer and shorter steps
        #[arg(long)]
        quick: bool,
        /// Print the results as JSON
        #[arg(long)]
        json: bool,
    },
    /// Print the report of a run again, in one of several formats
    Report(report::ReportArgs),
    /// List, label, tag and delete runs
    Runs(runs::RunsArgs),
    /// Show the HTML report of a run in a browser
    Open(runs::OpenArgs),
    /// Import results of other tools
    Import(import::ImportArgs),
    /// Check results for inconsistencies, Dyno's own or other tools'
    Lint(import::LintArgs),
    /// Compare runs and test which differences are significant
    Compare(Box<compare::CompareArgs>),
    /// Pass or fail a run against a baseline
    Gate(Box<compare::GateArgs>),
    /// Save and list baselines
    #[command(
        subcommand,
        after_help = "\
A baseline is the summary of a run under a name: a small file, suitable for git, that dyno gate and
dyno compare read. It contains no records.

Examples:
  dyno baseline save main                     the latest run becomes the baseline main
  dyno baseline save main dyno-runs/tonight --force
                                              replace it
  dyno baseline list
  dyno gate --baseline main --max-regression 5%"
    )]
    Baseline(compare::BaselineAction),
    /// Explain a command or a topic
    #[command(after_help = help::listed() + "
Examples:
  dyno help bench
  dyno help units")]
    Help {
        /// A command or a topic
        #[arg(value_name = "TOPIC")]
        topic: Option<String>,
    },
    /// Print a completion script for a shell, or install it
    #[command(after_help = "\
Examples:
  dyno completions --install          for your login shell: bash, zsh or fish
  dyno completions zsh --install      for another one
  dyno completions bash > dyno.bash   the script itself")]
    Completions {
        /// The shell [default with --install: that of $SHELL]
        #[arg(value_name = "SHELL", required_unless_present = "install")]
        shell: Option<clap_complete::Shell>,
        /// Write the script into your own folder of the shell, and say where
        #[arg(long)]
        install: bool,
    },
    /// Print or write the manual pages
    #[command(after_help = "\
Examples:
  dyno man | man -l -                 the manual page of dyno
  dyno man bench | man -l -           the manual page of a command
  dyno man --out ~/.local/share/man/man1")]
    Man {
        /// Command whose page is printed [default: dyno itself]
        #[arg(value_name = "COMMAND", conflicts_with = "out")]
        command: Option<String>,
        /// Write all pages into this directory
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
        /// Print the reference page of docs/reference/ instead: of the commands, or of exit-codes
        #[arg(long, hide = true, conflicts_with = "out")]
        markdown: bool,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definitions_are_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_help_page_has_examples() {
        let cli = Cli::command();
        for command in std::iter::once(&cli).chain(cli.get_subcommands()) {
            let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(after.contains("Examples:\n  dyno "), "{}", command.get_name());
        }
    }
}
