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

/// A row for each layout: its name as people type it, the file that it is beside a run, what it needs
/// beyond a summary, how it is printed, and what it is, as the help page says it.
macro_rules! layouts {
    ($($layout:ident, $name:literal, $file:literal, $needs:ident, $form:expr, $about:literal;)*) => {
        /// The layouts.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Layout {
            $(#[doc = $about] $layout,)*
        }

        impl Layout {
            /// All of them, in the order of the help page.
            pub const ALL: &[Self] = &[$(Self::$layout,)*];

            fn row(self) -> Row {
                match self {
                    $(Self::$layout => Row {
                        name: $name,
                        file: $file,
                        needs: Needs::$needs,
                        form: $form,
                        about: $about,
                    },)*
                }
            }
        }
    };
}

layouts! {
    Table, "table", "report.txt", Summary, Form::Terminal,
        "for a terminal";
    Markdown, "markdown", "report.md", Summary,
        Form::Whole(|_, summary, language| markdown::markdown(summary, language)),
        "a table with verdicts and footnotes, for documents";
    Csv, "csv", "levels.csv", Summary, Form::Table(Table::Csv),
        "one row a level; with --per-request, one row a request";
    Parquet, "parquet", "levels.parquet", Summary, Form::Table(Table::Parquet),
        "the same as a Parquet file";
    Json, "json", "report.json", Summary, Form::Json,
        "the summary as in summary.json; several runs as an array";
    Guidellm, "guidellm", "guidellm.md", Summary,
        Form::Document(|summary, _, _| guidellm::guidellm(summary)),
        "the table of guidellm 0.1";
    Evalscope, "evalscope", "evalscope.md", Summary,
        Form::Document(|summary, _, language| evalscope::evalscope(summary, language)),
        "the pivot table and the blocks of EvalScope perf 0.5";
    Vllm, "vllm", "vllm.txt", Extras, Form::Block(vllm::vllm),
        "the block of vLLM's serving benchmark";
    Vllm06, "vllm-0.6", "vllm-0.6.txt", Summary, Form::Block(|summary, _| vllm::vllm_0_6(summary)),
        "as it was in 0.6";
    Sglang, "sglang", "sglang.txt", Extras, Form::Block(sglang::sglang),
        "the block of SGLang's serving benchmark";
    Matrix, "matrix", "matrix.md", Extras,
        Form::Document(|summary, extras, _| matrix::matrix(summary, extras)),
        "input by output length, as of vLLM 0.2.7's scripts";
    VllmJson, "vllm-json", "vllm.json", Extras, Form::Lines(vllm_json::object),
        "the result file of vLLM's serving benchmark, one line a level";
    SglangJsonl, "sglang-jsonl", "sglang.jsonl", Extras, Form::Lines(sglang_jsonl::object),
        "the result file of SGLang's, one line a level";
    Svg, "svg", "report.svg", Detail,
        Form::Whole(|run, summary, language| {
            chart::svg(summary, run.detail.as_ref(), &ChartOptions { language })
        }),
        "the charts of one run, on one page";
    Png, "png", "report.png", Detail, Form::Png,
        "the same in pixels, 1,200 wide; needs no fonts";
    Html, "html", "report.html", Detail, Form::Whole(page),
        "a page of one run to mail: findings, charts to play with, every figure; one file,\nopens offline";
}

struct Row {
    name: &'static str,
    file: &'static str,
    needs: Needs,
    form: Form,
    about: &'static str,
}

/// What a layout is made from.
#[derive(PartialEq)]
enum Needs {
    /// A summary will do.
    Summary,
    /// [`Extras`], too.
    Extras,
    /// [`Detail`], too: it shows the requests of one run.
    Detail,
}

/// How a layout is printed, and where remarks on the figures go.
enum Form {
    /// As on a terminal.
    Terminal,
    /// Plain lines, the remarks below them.
    Block(fn(&Summary, &Extras) -> String),
    /// Markdown, the remarks as a list below it.
    Document(fn(&Summary, &Extras, Language) -> String),
    /// It has a heading and remarks of its own.
    Whole(fn(&Run, &Summary, Language) -> String),
    /// An object for each level; the remarks stand beside the file.
    Lines(fn(&RunSummary, &LevelSummary, &LevelExtras) -> object::Object),
    /// Rows for programs.
    Table(Table),
    /// As in `summary.json`.
    Json,
    /// Pixels.
    Png,
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
    /// As people type it.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// What it is, in a line or two.
    pub fn about(self) -> &'static str {
        self.row().about
    }

    /// The layout of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|layout| layout.name() == name)
    }

    /// What its file is called beside a run.
    pub fn file_name(self) -> &'static str {
        self.row().file
    }

    /// Needs [`Extras`] that were gathered from the records.
    pub fn needs_extras(self) -> bool {
        self.row().needs == Needs::Extras
    }

    /// Needs [`Detail`] that was gathered from the records: it is a page of one run.
    pub fn needs_detail(self) -> bool {
        self.row().needs == Needs::Detail
    }

    /// Not text: nothing for a terminal.
    pub fn is_binary(self) -> bool {
        matches!(self.row().form, Form::Png | Form::Table(Table::Parquet))
    }

    /// The table that it is, where it is one.
    pub fn table(self) -> Option<Table> {
        match self.row().form {
            Form::Table(table) => Some(table),
            _ => None,
        }
    }

    /// Lays out runs, one after the other.
    pub fn print(self, runs: &[Run], options: &Options) -> Result<Printed, PrintError> {
        let (language, several) = (options.language, runs.len() > 1);
        let each = |one: &dyn Fn(&Run, &Summary) -> String| {
            let texts = runs.iter().map(|run| one(run, &run.summary.in_language(language)));
            texts.collect::<Vec<_>>().join("\n")
        };
        let mut notes = Vec::new();
        let text = match self.row().form {
            Form::Png => return pictures(runs, options),
            Form::Table(table) => {
                let mut bytes = Vec::new();
                let summaries = runs.iter().map(|run| &run.summary);
                levels::write(&mut bytes, table, summaries).map_err(PrintError::Table)?;
                return Ok(Printed { bytes, notes });
            }
            Form::Json => json(runs)?,
            Form::Lines(object) => {
                runs.iter().for_each(|run| notes.extend(notes_on(&run.summary, language)));
                lines(runs, object)?
            }
            Form::Terminal => each(&|run, _| {
                let text = render_text(&run.summary, &TextOptions { language, ..options.text });
                headed_plain(run, several, text)
            }),
            Form::Whole(whole) => each(&|run, summary| whole(run, summary, language)),
            Form::Block(block) => each(&|run, summary| {
                let said = remarks(summary, language);
                let said: String =
                    said.iter().map(|said| format!("! {}\n", said.plain())).collect();
                headed_plain(run, several, block(summary, &run.extras) + &said)
            }),
            Form::Document(document) => each(&|run, summary| {
                let said = remarks(summary, language);
                let said: String = said.iter().map(|it| format!("- {}\n", it.markdown())).collect();
                let gap = if said.is_empty() { "" } else { "\n" };
                let text = document(summary, &run.extras, language);
                let heading = format!("### {}\n\n", cells::markdown(&name(&summary.run)));
                format!("{}{text}{gap}{said}", if several { &heading } else { "" })
            }),
        };
        Ok(Printed { bytes: text.into_bytes(), notes })
    }
}

fn page(run: &Run, summary: &Summary, language: Language) -> String {
    let (plan, environment) = (run.plan.as_ref(), run.environment.as_ref());
    let detail = run.detail.as_ref();
    Page { summary, detail, plan, environment, language }.html()
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
