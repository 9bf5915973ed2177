//! The tools whose results can be read: a folder or a file each, and a row of [`TOOLS`]. A reader of a
//! form says whether it recognises something and how sure it is of that; the surest one reads it.

mod aiperf;
pub(crate) mod evalscope;
mod guidellm;
mod inference_perf;
mod inferencex;
mod k6;
mod llama_bench;
pub(crate) mod llm_d;
mod llmperf;
mod lmdeploy;
mod locust;
mod matrix;
mod mlperf;
pub(crate) mod serving;
mod trtllm;

use crate::Imported;
use crate::reading::Reading;
use crate::text::part::TextPart;
pub(crate) use aiperf::Records;
use dyno_form::csv::CsvRow;
use dyno_form::lines::TextLine;
use dyno_form::sqlite;
use dyno_form::table::Table;
use dyno_model::summary::Recognised;
use dyno_model::{Diagnostic, Message};
pub(crate) use inference_perf::Runs as Lifecycle;
use serde_json::Value;

/// What a tool saves and prints. A database is EvalScope's.
#[derive(Debug)]
pub(crate) struct Tool {
    /// Its name, or those of the tools that share its files.
    name: &'static str,
    /// What is read, as shown in messages, in English and Chinese.
    kinds: &'static [[&'static str; 2]],
    documents: &'static [Document],
    sheets: &'static [Sheet],
    printed: &'static [Printed],
    /// Files that are known and not read: returns what to do instead.
    refused: &'static [Refuse],
    /// Names by which truncated JSON is recognised as a result.
    signs: &'static [&'static str],
}

const NOTHING: Tool = Tool {
    name: "",
    kinds: &[],
    documents: &[],
    sheets: &[],
    printed: &[],
    refused: &[],
    signs: &[],
};

/// Recognises a file that is not read.
type Refuse = fn(&[u8]) -> Option<Diagnostic>;

/// A reader of JSON and YAML documents.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) recognise: fn(&Value) -> Option<Recognised>,
    /// Reads one, which begins on that line.
    pub(crate) read: fn(&mut Reading, u64, &Value),
}

/// A reader of comma-separated values.
#[derive(Debug)]
pub(crate) struct Sheet {
    pub(crate) recognise: fn(&[CsvRow]) -> Option<Recognised>,
    pub(crate) read: fn(&mut Reading, &[CsvRow]),
}

/// A reader of blocks: returns the part and how many lines it took; the second argument are the lines
/// before it.
type ReadBlock = fn(&[TextLine], &[String]) -> Option<(TextPart, usize)>;

/// A reader of printed text. The first that recognises something reads it.
#[derive(Debug)]
pub(crate) enum Printed {
    Table(fn(&Table) -> Option<TextPart>),
    Block(ReadBlock),
}

/// Between readers that are equally sure, the first one reads.
const TOOLS: &[Tool] = &[
    guidellm::TOOL,
    evalscope::TOOL,
    serving::TOOL,
    aiperf::TOOL,
    inference_perf::TOOL,
    llm_d::TOOL,
    inferencex::TOOL,
    k6::TOOL,
    llama_bench::TOOL,
    llmperf::TOOL,
    lmdeploy::TOOL,
    locust::TOOL,
    mlperf::TOOL,
    trtllm::TOOL,
    // The least sure of what it recognises.
    matrix::TOOL,
];

/// What can be read, as shown in messages.
pub(crate) fn kinds() -> impl Iterator<Item = Message> {
    let all = TOOLS.iter().flat_map(|tool| tool.kinds);
    all.map(|kind| Message::new(kind.map(str::to_owned)))
}

/// The reader of a document that is surest of it.
pub(crate) fn document(value: &Value) -> Option<(&'static str, &'static Document, Recognised)> {
    let readers =
        TOOLS.iter().flat_map(|tool| tool.documents.iter().map(|reader| (tool.name, reader)));
    surest(readers.filter_map(|(tool, reader)| Some((tool, reader, (reader.recognise)(value)?))))
}

/// The reader of comma-separated values that is surest of them.
pub(crate) fn sheet(rows: &[CsvRow]) -> Option<(&'static str, &'static Sheet, Recognised)> {
    let readers =
        TOOLS.iter().flat_map(|tool| tool.sheets.iter().map(|reader| (tool.name, reader)));
    surest(readers.filter_map(|(tool, reader)| Some((tool, reader, (reader.recognise)(rows)?))))
}

/// The readers of printed text.
pub(crate) fn printed() -> impl Iterator<Item = &'static Printed> {
    TOOLS.iter().flat_map(|tool| tool.printed)
}

/// The contents of a database, if it is one.
pub(crate) fn database(name: &str, bytes: &[u8]) -> Option<Imported> {
    sqlite::is_database(bytes).then(|| evalscope::import_database(name, bytes))
}

/// The tool of a file that is known and not read, and what to do instead.
pub(crate) fn refused(bytes: &[u8]) -> Option<(&'static str, Diagnostic)> {
    let known = TOOLS.iter().flat_map(|tool| tool.refused.iter().map(|refuse| (tool.name, refuse)));
    known.filter_map(|(tool, refuse)| Some((tool, refuse(bytes)?))).next()
}

/// Whether JSON that cannot be read was probably a result.
pub(crate) fn mentioned_in(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(1 << 20)];
    let mut signs = TOOLS.iter().flat_map(|tool| tool.signs);
    signs.any(|sign| head.windows(sign.len()).any(|window| window == sign.as_bytes()))
}

/// The first of those that are surest.
fn surest<T>(
    readers: impl Iterator<Item = (&'static str, T, Recognised)>,
) -> Option<(&'static str, T, Recognised)> {
    readers.reduce(|best, one| if one.2.sure < best.2.sure { one } else { best })
}
