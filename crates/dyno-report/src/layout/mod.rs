//! The layouts that people paste into documents, one file each: pure functions of a summary and,
//! where a layout needs more, of what [`Extras`] gathers from the records. Here is which there are,
//! what is said beside any of them, and how several runs stand in one text.

mod answers;
mod block;
mod cells;
mod column;
mod csv;
mod evalscope;
mod guidellm;
mod levels;
mod markdown;
mod matrix;
mod object;
#[cfg(feature = "parquet")]
mod parquet;
mod requests;
mod sglang;
mod sglang_jsonl;
mod table;
mod vllm;
mod vllm_json;

pub use cells::markdown as markdown_cell;
pub(crate) use column::Column;
pub use requests::per_request;
pub use table::Table;

use crate::chart::{self, ChartOptions, PngError};
use crate::messages::Message;
use crate::page::Page;
use crate::text::{TextOptions, render_text};
use cells::plain;
use dyno_analysis::detail::Detail;
use dyno_model::Language;
use dyno_model::Verdict;
use dyno_model::environment::Environment;
use dyno_model::plan::Plan;
use dyno_model::summary::{Extras, LevelExtras, LevelSummary, RunSummary, Summary};
use dyno_words::InLanguage;
use dyno_words::escape::escape;
use std::{fmt, io};

/// The layouts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// The summary for a terminal.
    Table,
    /// A table and its remarks, for documents.
    Markdown,
    /// One row a level.
    Csv,
    /// The same as a Parquet file.
    Parquet,
    /// The summary as it stands in `summary.json`.
    Json,
    /// The table of guidellm 0.1.
    Guidellm,
    /// The pivot table and the blocks of EvalScope 0.5.
    Evalscope,
    /// The block of vLLM's benchmark today.
    Vllm,
    /// The block of vLLM's benchmark in 0.6.
    Vllm06,
    /// The block of SGLang's benchmark.
    Sglang,
    /// Input length by output length.
    Matrix,
    /// The result file of vLLM's benchmark, one object a line.
    VllmJson,
    /// The result file of SGLang's benchmark, one object a line.
    SglangJsonl,
    /// The charts of one run, on one page.
    Svg,
    /// The same in pixels.
    Png,
    /// A page that needs nothing else, with charts to play with.
    Html,
}

/// A run to be laid out.
#[derive(Debug, Clone)]
pub struct Run {
    /// Its figures.
    pub summary: Summary,
    /// What some layouts need beyond them.
    pub extras: Extras,
    /// What charts of single requests need.
    pub detail: Option<Detail>,
    /// What was planned.
    pub plan: Option<Plan>,
    /// Where it ran.
    pub environment: Option<Environment>,
}

/// What came out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Printed {
    /// The text or the file.
    pub bytes: Vec<u8>,
    /// What must be said beside it, where the layout has no place for remarks.
    pub notes: Vec<String>,
}

/// Why nothing came out.
#[derive(Debug)]
pub enum PrintError {
    /// The summary cannot be written as JSON.
    Json(serde_json::Error),
    /// There is no picture.
    Png(PngError),
    /// A table cannot be written.
    Table(io::Error),
}

impl fmt::Display for PrintError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json(error) => error.fmt(f),
            Self::Png(error) => error.fmt(f),
            Self::Table(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for PrintError {}

impl From<serde_json::Error> for PrintError {
    fn from(error: serde_json::Error) -> Self {
        Self::Json(error)
    }
}

/// How to print.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// The language of the words that are Dyno's own.
    pub language: Language,
    /// Of [`Layout::Table`]; its language is the one above.
    pub text: TextOptions,
}

impl Layout {
    /// All of them, by the names that people type.
    pub const ALL: [(&'static str, Self); 16] = [
        ("table", Self::Table),
        ("markdown", Self::Markdown),
        ("csv", Self::Csv),
        ("parquet", Self::Parquet),
        ("json", Self::Json),
        ("guidellm", Self::Guidellm),
        ("evalscope", Self::Evalscope),
        ("vllm", Self::Vllm),
        ("vllm-0.6", Self::Vllm06),
        ("sglang", Self::Sglang),
        ("matrix", Self::Matrix),
        ("vllm-json", Self::VllmJson),
        ("sglang-jsonl", Self::SglangJsonl),
        ("svg", Self::Svg),
        ("png", Self::Png),
        ("html", Self::Html),
    ];

    /// The layout of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, layout)| *layout)
    }

    /// Needs [`Extras`] that were gathered from the records.
    pub fn needs_extras(self) -> bool {
        let theirs = [Self::Vllm, Self::Sglang, Self::Matrix, Self::VllmJson, Self::SglangJsonl];
        theirs.contains(&self)
    }

    /// What its file is called beside a run.
    pub fn file_name(self) -> &'static str {
        match self {
            Self::Html => "report.html",
            Self::Png => "report.png",
            Self::Svg => "report.svg",
            Self::Markdown => "report.md",
            Self::Csv => "levels.csv",
            Self::Parquet => "levels.parquet",
            Self::Table => "report.txt",
            Self::Json => "report.json",
            Self::Guidellm => "guidellm.md",
            Self::Evalscope => "evalscope.md",
            Self::Vllm => "vllm.txt",
            Self::Vllm06 => "vllm-0.6.txt",
            Self::Sglang => "sglang.txt",
            Self::Matrix => "matrix.md",
            Self::VllmJson => "vllm.json",
            Self::SglangJsonl => "sglang.jsonl",
        }
    }

    /// Needs [`Detail`] that was gathered from the records.
    pub fn needs_detail(self) -> bool {
        matches!(self, Self::Svg | Self::Png | Self::Html)
    }

    /// Not text: nothing for a terminal.
    pub fn is_binary(self) -> bool {
        matches!(self, Self::Png | Self::Parquet)
    }

    /// A page of one run.
    pub fn is_of_one_run(self) -> bool {
        matches!(self, Self::Svg | Self::Png | Self::Html)
    }

    /// The table that it is, where it is one.
    pub fn table(self) -> Option<Table> {
        match self {
            Self::Csv => Some(Table::Csv),
            Self::Parquet => Some(Table::Parquet),
            _ => None,
        }
    }

    /// Lays out runs, one after the other.
    pub fn print(self, runs: &[Run], options: &Options) -> Result<Printed, PrintError> {
        if let Some(table) = self.table() {
            let mut bytes = Vec::new();
            let summaries = runs.iter().map(|run| &run.summary);
            levels::write(&mut bytes, table, summaries).map_err(PrintError::Table)?;
            return Ok(Printed { bytes, notes: vec![] });
        }
        if self == Self::Png {
            return pictures(runs, options);
        }
        let language = options.language;
        let text = match self {
            Self::Json => json(runs)?,
            Self::VllmJson => lines(runs, vllm_json::object)?,
            Self::SglangJsonl => lines(runs, sglang_jsonl::object)?,
            _ => {
                let several = runs.len() > 1;
                let texts = runs.iter().map(|run| self.one(run, several, options));
                texts.collect::<Vec<_>>().join("\n")
            }
        };
        let mut notes = Vec::new();
        if matches!(self, Self::VllmJson | Self::SglangJsonl) {
            runs.iter().for_each(|run| notes.extend(notes_on(&run.summary, language)));
        }
        Ok(Printed { bytes: text.into_bytes(), notes })
    }

    /// One run in a layout of lines, under its name where there are others.
    fn one(self, run: &Run, several: bool, options: &Options) -> String {
        let language = options.language;
        let (summary, extras) = (&*run.summary.in_language(language), &run.extras);
        let text = match self {
            Self::Table => {
                let text = render_text(&run.summary, &TextOptions { language, ..options.text });
                return headed_plain(run, several, text);
            }
            Self::Markdown => return markdown::markdown(summary, language),
            Self::Guidellm => guidellm::guidellm(summary),
            Self::Evalscope => evalscope::evalscope(summary, language),
            Self::Vllm => vllm::vllm(summary, extras),
            Self::Vllm06 => vllm::vllm_0_6(summary),
            Self::Sglang => sglang::sglang(summary, extras),
            Self::Matrix => matrix::matrix(summary, extras),
            Self::Svg => {
                return chart::svg(summary, run.detail.as_ref(), &ChartOptions { language });
            }
            Self::Html => return page(run, summary, language).html(),
            Self::Csv
            | Self::Parquet
            | Self::Json
            | Self::VllmJson
            | Self::SglangJsonl
            | Self::Png => String::new(),
        };
        let said = remarks(summary, language);
        if matches!(self, Self::Vllm | Self::Vllm06 | Self::Sglang) {
            let said: String =
                said.iter().map(|remark| format!("! {}\n", remark.plain())).collect();
            return headed_plain(run, several, text + &said);
        }
        let said: String = said.iter().map(|remark| format!("- {}\n", remark.markdown())).collect();
        let gap = if said.is_empty() { "" } else { "\n" };
        let heading = if several {
            format!("### {}\n\n", cells::markdown(&name(&summary.run)))
        } else {
            String::new()
        };
        format!("{heading}{text}{gap}{said}")
    }
}

fn page<'a>(run: &'a Run, summary: &'a Summary, language: Language) -> Page<'a> {
    let (plan, environment) = (run.plan.as_ref(), run.environment.as_ref());
    let detail = run.detail.as_ref();
    Page { summary, detail, plan, environment, language }
}

/// What must be said beside the figures of a run, where they stand in a file that has no place for
/// it.
pub fn notes_on(summary: &Summary, language: Language) -> Vec<String> {
    let name = name(&summary.run);
    let said = remarks(&summary.in_language(language), language);
    said.iter().map(|remark| format!("{name}: {}", remark.plain())).collect()
}

/// The charts in pixels, and which characters they could not show.
fn pictures(runs: &[Run], options: &Options) -> Result<Printed, PrintError> {
    let language = options.language;
    let mut printed = Printed { bytes: vec![], notes: vec![] };
    for run in runs {
        let options = ChartOptions { language };
        let summary = run.summary.in_language(language);
        let picture =
            chart::png(&summary, run.detail.as_ref(), &options).map_err(PrintError::Png)?;
        printed.bytes.extend(picture.bytes);
        if !picture.missing.is_empty() {
            let missing: Vec<String> = picture.missing.iter().map(char::to_string).collect();
            let missing = plain(&missing.join(" "));
            printed.notes.push(Message::NotInFont.with(language, &[&missing]));
        }
    }
    Ok(printed)
}

fn headed_plain(run: &Run, several: bool, text: String) -> String {
    if several { format!("{}\n\n{text}", name(&run.summary.run)) } else { text }
}

/// What a run is called: its label, or its id.
fn name(run: &RunSummary) -> String {
    let label = run.label.as_ref().filter(|label| !label.trim().is_empty());
    plain(label.unwrap_or(&run.id))
}

fn json(runs: &[Run]) -> Result<String, serde_json::Error> {
    let text = match runs {
        [run] => serde_json::to_string_pretty(&run.summary)?,
        _ => {
            let all: Vec<&Summary> = runs.iter().map(|run| &run.summary).collect();
            serde_json::to_string_pretty(&all)?
        }
    };
    Ok(text + "\n")
}

fn lines(
    runs: &[Run],
    object: impl Fn(&RunSummary, &LevelSummary, &LevelExtras) -> object::Object,
) -> Result<String, serde_json::Error> {
    let mut out = String::new();
    for run in runs {
        for level in &run.summary.levels {
            let extras = run.extras.of(level.index);
            let object = object(&run.summary.run, level, &extras);
            out.push_str(&serde_json::to_string(&object)?);
            out.push('\n');
        }
    }
    Ok(out)
}

/// Something that must be said beside the figures.
#[derive(Debug)]
struct Remark {
    message: Message,
    language: Language,
    values: Vec<String>,
}

impl Remark {
    fn filled(&self, shown: impl Fn(&str) -> String) -> String {
        let values: Vec<String> = self.values.iter().map(|value| shown(value)).collect();
        let values: Vec<&str> = values.iter().map(String::as_str).collect();
        self.message.with(self.language, &values)
    }

    fn plain(&self) -> String {
        self.filled(plain)
    }

    fn markdown(&self) -> String {
        self.filled(cells::markdown)
    }
}

/// What no figures may go without: that nothing real was measured, that it is not all there, and
/// which levels are invalid.
fn remarks(summary: &Summary, language: Language) -> Vec<Remark> {
    let of_run = of_run(summary).into_iter();
    let mut remarks: Vec<Remark> =
        of_run.map(|message| Remark { message, language, values: vec![] }).collect();
    for level in summary.levels.iter().filter(|level| level.verdict == Verdict::Invalid) {
        let values = vec![level.label.clone(), reasons(level, language)];
        remarks.push(Remark { message: Message::LevelInvalid, language, values });
    }
    remarks
}

/// The part of it that concerns the run as a whole.
fn of_run(summary: &Summary) -> Vec<Message> {
    let run = &summary.run;
    let all = [
        (run.predicted, Message::Predicted),
        (run.simulated && !run.predicted, Message::Simulated),
        (run.partial, Message::Partial),
        (summary.levels.is_empty(), Message::NoLevel),
    ];
    all.into_iter().filter(|(applies, _)| *applies).map(|(_, message)| message).collect()
}

/// Why a level's verdict is what it is, in one line.
fn reasons(level: &LevelSummary, language: Language) -> String {
    let words: Vec<String> =
        level.reasons.iter().map(|reason| escape(&reason.what, LONGEST)).collect();
    words.join(language.semicolon())
}

/// The longest name or reason that is shown whole.
const LONGEST: usize = 300;
