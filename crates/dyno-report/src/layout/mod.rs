//! The layouts of `dyno report --format`, one file each: pure functions of a summary and, where a
//! layout needs more, of the [`Extras`] gathered from the records. This file lists them, adds the
//! remarks that every layout carries, and puts several runs into one text.

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
mod remarks;
mod requests;
mod sglang;
mod sglang_jsonl;
mod table;
mod vllm;
mod vllm_json;
mod vllm_matrix;

pub use cells::markdown as markdown_cell;
pub(crate) use column::Column;
pub use requests::per_request;
pub use table::LayoutTable;

use crate::messages::Label;
use crate::page::Page;
use crate::text::{TextOptions, render_text};
use cells::plain;
use dyno_analysis::detail::Detail;
use dyno_draw::{self as chart, Arrangement, ArrangementError, ChartOptions};
use dyno_model::environment::Environment;
use dyno_model::plan::Plan;
use dyno_model::summary::{Extras, LevelExtras, LevelSummary, RunSummary, Summary};
use dyno_model::{Language, Localized, Message};
use dyno_words::InLanguage;
use remarks::remarks;
use std::io;

/// A row for each layout: its name as users type it, its file name in a run directory, what it needs
/// beyond a summary, how it is printed, and its description for the help page.
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
        Form::Markdown,
        "a table with verdicts and notes, for documents";
    Csv, "csv", "levels.csv", Summary, Form::Table(LayoutTable::Csv),
        "one row per level; with --per-request, one row per request";
    Parquet, "parquet", "levels.parquet", Summary, Form::Table(LayoutTable::Parquet),
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
    Matrix, "matrix", "matrix.md", Summary,
        Form::Document(|summary, _, language| matrix::matrix(summary, language)),
        "input × output length: a table for each metric, for documents";
    VllmMatrix, "vllm-0.2.7", "vllm-0.2.7.md", Extras,
        Form::Document(|summary, extras, _| vllm_matrix::matrix(summary, extras)),
        "lengths as in vLLM 0.2.7's scripts, a row for each pair";
    VllmJson, "vllm-json", "vllm.json", Extras, Form::Lines(vllm_json::object),
        "the result file of vLLM's serving benchmark, one line per level";
    SglangJsonl, "sglang-jsonl", "sglang.jsonl", Extras, Form::Lines(sglang_jsonl::object),
        "the result file of SGLang's, one line per level";
    Svg, "svg", "report.svg", Detail, Form::Svg,
        "the charts of one run, on one page";
    Png, "png", "report.png", Detail, Form::Png,
        "the same as a picture, 1,200 pixels wide; needs no fonts. --charts, --layout and\n--size choose";
    Html, "html", "report.html", Detail, Form::Whole(page),
        "a page of one run to share: findings, interactive charts, every metric; one file,\nopens offline";
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
    /// A summary is enough.
    Summary,
    /// [`Extras`] as well.
    Extras,
    /// [`Detail`] as well: it shows the requests of one run.
    Detail,
}

/// How a layout is printed, and where the remarks on its values go.
enum Form {
    /// As on a terminal.
    Terminal,
    /// Plain lines, the remarks below them.
    Block(fn(&Summary, &Extras) -> String),
    /// Markdown, the remarks as a list below it.
    Document(fn(&Summary, &Extras, Language) -> String),
    /// Dyno's own table in Markdown.
    Markdown,
    /// It has its own heading and remarks.
    Whole(fn(&RunToPrint, &Summary, Language) -> String),
    /// An object for each level; the remarks are printed beside the file.
    Lines(fn(&RunSummary, &LevelSummary, &LevelExtras) -> object::Object),
    /// Rows for programs.
    Table(LayoutTable),
    /// As in `summary.json`.
    Json,
    /// Charts.
    Svg,
    /// Charts as pixels.
    Png,
}

/// A run to be laid out.
#[derive(Debug, Clone)]
pub struct RunToPrint {
    /// Its results.
    pub summary: Summary,
    /// What some layouts need beyond the summary.
    pub extras: Extras,
    /// What charts of single requests need.
    pub detail: Option<Detail>,
    /// What was planned.
    pub plan: Option<Plan>,
    /// Where it ran.
    pub environment: Option<Environment>,
}

/// A finished layout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Printed {
    /// The text or the file.
    pub bytes: Vec<u8>,
    /// Remarks to print beside it, where the layout has no place for them.
    pub notes: Vec<String>,
}

/// Why a layout could not be made.
#[derive(Debug, Localized)]
pub enum PrintError {
    /// The summary cannot be written as JSON.
    #[message(transparent)]
    Json(#[from] serde_json::Error),
    /// The picture cannot be drawn.
    #[message(transparent)]
    Png(Message),
    /// The charts cannot be arranged as requested.
    #[message(transparent)]
    Arrangement(ArrangementError),
    /// A table cannot be written.
    #[message(transparent)]
    Table(io::Error),
}

/// How to print.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Options {
    /// The language of Dyno's own texts.
    pub language: Language,
    /// Of [`Layout::Table`]; its language is the one above.
    pub text: TextOptions,
    /// Of [`Layout::Svg`] and [`Layout::Png`].
    pub arrangement: Arrangement,
}

impl Layout {
    /// Its name as users type it.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// Its description, in a line or two.
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

    /// Needs [`Extras`], gathered from the records.
    pub fn needs_extras(self) -> bool {
        self.row().needs == Needs::Extras
    }

    /// Needs [`Detail`], gathered from the records: it shows a single run.
    pub fn needs_detail(self) -> bool {
        self.row().needs == Needs::Detail
    }

    /// Binary, so not for a terminal.
    pub fn is_binary(self) -> bool {
        matches!(self.row().form, Form::Png | Form::Table(LayoutTable::Parquet))
    }

    /// Its table, where it is one for programs.
    pub fn table(self) -> Option<LayoutTable> {
        match self.row().form {
            Form::Table(table) => Some(table),
            _ => None,
        }
    }

    /// Lays out runs, one after the other.
    pub fn print(self, runs: &[RunToPrint], options: &Options) -> Result<Printed, PrintError> {
        let (language, several) = (options.language, runs.len() > 1);
        let each = |one: &dyn Fn(&RunToPrint, &Summary) -> String| {
            let texts = runs.iter().map(|run| one(run, &run.summary.in_language(language)));
            texts.collect::<Vec<_>>().join("\n")
        };
        let mut notes = Vec::new();
        let text = match self.row().form {
            Form::Svg => {
                let drawn =
                    runs.iter().map(|run| charts(run, options)).collect::<Result<Vec<_>, _>>();
                drawn?.join("\n")
            }
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
                let text =
                    render_text(&run.summary, &TextOptions { language, ..options.text.clone() });
                headed_plain(run, several, text)
            }),
            Form::Markdown => {
                each(&|_, summary| markdown::markdown(summary, &options.text.selection, language))
            }
            Form::Whole(whole) => each(&|run, summary| whole(run, summary, language)),
            Form::Block(block) => each(&|run, summary| {
                let said = remarks(summary, language);
                let said: String =
                    said.iter().map(|said| format!("! {}\n", said.plain())).collect();
                headed_plain(run, several, block(&run.summary, &run.extras) + &said)
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

fn page(run: &RunToPrint, summary: &Summary, language: Language) -> String {
    let (plan, environment) = (run.plan.as_ref(), run.environment.as_ref());
    let detail = run.detail.as_ref();
    Page { summary, detail, plan, environment, language }.html()
}

/// The remarks on a run, for a file that has no place for them.
pub fn notes_on(summary: &Summary, language: Language) -> Vec<String> {
    let name = name(&summary.run);
    let remarks = remarks(&summary.in_language(language), language);
    remarks.iter().map(|remark| format!("{name}: {}", remark.plain())).collect()
}

/// The charts as they are arranged.
fn charts(run: &RunToPrint, options: &Options) -> Result<String, PrintError> {
    let Options { language, arrangement, .. } = options;
    let charts = ChartOptions { language: *language };
    chart::chosen(&run.summary, run.detail.as_ref(), &charts, arrangement)
        .map_err(PrintError::Arrangement)
}

/// The charts as pictures, and the characters that are not in the font.
fn pictures(runs: &[RunToPrint], options: &Options) -> Result<Printed, PrintError> {
    let language = options.language;
    let mut printed = Printed { bytes: vec![], notes: vec![] };
    for run in runs {
        let picture = chart::picture(&charts(run, options)?).map_err(PrintError::Png)?;
        printed.bytes.extend(picture.bytes);
        if !picture.missing.is_empty() {
            let missing: Vec<String> = picture.missing.iter().map(char::to_string).collect();
            let missing = plain(&missing.join(" "));
            printed.notes.push(Label::NotInFont.with(language, &[&missing]));
        }
    }
    Ok(printed)
}

fn headed_plain(run: &RunToPrint, several: bool, text: String) -> String {
    if several { format!("{}\n\n{text}", name(&run.summary.run)) } else { text }
}

/// The name of a run: its label, or its id.
fn name(run: &RunSummary) -> String {
    let label = run.label.as_ref().filter(|label| !label.trim().is_empty());
    plain(label.unwrap_or(&run.id))
}

fn json(runs: &[RunToPrint]) -> Result<String, serde_json::Error> {
    let text = match runs {
        [run] => serde_json::to_string_pretty(&run.summary)?,
        _ => {
            let all: Vec<&Summary> = runs.iter().map(|run| &run.summary).collect();
            serde_json::to_string_pretty(&all)?
        }
    };
    Ok(dyno_words::escape::json(&text).into_owned() + "\n")
}

fn lines(
    runs: &[RunToPrint],
    object: impl Fn(&RunSummary, &LevelSummary, &LevelExtras) -> object::Object,
) -> Result<String, serde_json::Error> {
    let mut out = String::new();
    for run in runs {
        for level in &run.summary.levels {
            let extras = run.extras.of(level.index);
            let object = object(&run.summary.run, level, &extras);
            out.push_str(&dyno_words::escape::json(&serde_json::to_string(&object)?));
            out.push('\n');
        }
    }
    Ok(out)
}
