//! `dyno report`: which runs, in which layout, in which language, and where to.

use clap::{Args, ValueEnum};
use dyno_report::layout::Layout;
use dyno_report::messages::Language;
use std::path::PathBuf;

/// `dyno report`.
#[derive(Debug, Args)]
#[command(after_help = "\
The records alone decide: the same bytes come out each time. A run that was cut off is reported
as far as it got, and called partial. An absent figure is –, an empty field or null, never 0.

Examples:
  dyno report                                     the latest run under dyno-runs/
  dyno report dyno-runs/20260102T030405Z-9f3c     that run
  dyno report --json | jq '.levels[].throughput'
  dyno report --format markdown --lang zh         for a document, in Chinese
  dyno report a b --format guidellm               two runs, one table each
  dyno report --format csv --per-request --out requests.csv")]
pub(crate) struct ReportArgs {
    /// Run directories [default: the latest under dyno-runs/]
    #[arg(value_name = "RUN")]
    pub(crate) runs: Vec<PathBuf>,
    /// The layout
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = Format::Table)]
    pub(crate) format: Format,
    /// Print summary.json instead of tables; the same as --format json
    #[arg(long, conflicts_with = "format")]
    pub(crate) json: bool,
    /// With --format csv: one row a request instead of one a level
    #[arg(long, conflicts_with = "json")]
    pub(crate) per_request: bool,
    /// Language of the words of markdown and evalscope [default: by LC_ALL, LC_MESSAGES, LANG]
    #[arg(long, value_name = "LANGUAGE", value_enum)]
    pub(crate) lang: Option<Lang>,
    /// Write to this file instead of stdout
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

/// The layouts by their names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For a terminal
    Table,
    /// A table with verdicts and footnotes, for documents
    Markdown,
    /// One row a level
    Csv,
    /// The summary as in summary.json; several runs as an array
    Json,
    /// The table of guidellm 0.1
    Guidellm,
    /// The pivot table and the blocks of EvalScope perf 0.5
    Evalscope,
    /// The block of vLLM's serving benchmark
    Vllm,
    /// The block of vLLM's serving benchmark in 0.6
    #[value(name = "vllm-0.6")]
    Vllm06,
    /// The block of SGLang's serving benchmark
    Sglang,
    /// Input length by output length, as of vLLM 0.2.7's scripts
    Matrix,
    /// The result file of vLLM's serving benchmark, one line a level
    VllmJson,
    /// The result file of SGLang's serving benchmark, one line a level
    SglangJsonl,
}

impl Format {
    /// The layout of that name.
    pub(crate) fn layout(self) -> Layout {
        match self {
            Self::Table => Layout::Table,
            Self::Markdown => Layout::Markdown,
            Self::Csv => Layout::Csv,
            Self::Json => Layout::Json,
            Self::Guidellm => Layout::Guidellm,
            Self::Evalscope => Layout::Evalscope,
            Self::Vllm => Layout::Vllm,
            Self::Vllm06 => Layout::Vllm06,
            Self::Sglang => Layout::Sglang,
            Self::Matrix => Layout::Matrix,
            Self::VllmJson => Layout::VllmJson,
            Self::SglangJsonl => Layout::SglangJsonl,
        }
    }
}

/// The languages by their names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Lang {
    /// English
    En,
    /// Chinese
    Zh,
}

impl From<Lang> for Language {
    fn from(lang: Lang) -> Self {
        match lang {
            Lang::En => Self::English,
            Lang::Zh => Self::Chinese,
        }
    }
}
