//! EvalScope's `benchmark_data.db`: one row per request. All rows together are one level.

use crate::Imported;
use crate::level::stated::{Offered, StatedLevel};
use crate::level::{Ended, RunHead, Sample};
use crate::reading::Reading;
use dyno_form::json::whole;
use dyno_form::sqlite::Row;
use dyno_form::sqlite::{self, Damaged, SqlTable};
use dyno_model::Diagnostic;
use dyno_model::load::LoadKind;
use dyno_model::summary::Recognised;
use dyno_words::{Problem, values};
use serde_json::Value;

const TABLE: &str = "result";

/// The contents of a database.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    pub(crate) samples: Vec<Sample>,
    pub(crate) model: Option<String>,
    pub(crate) problems: Vec<Diagnostic>,
}

/// Reads a database by itself.
pub(crate) fn import(name: &str, bytes: &[u8]) -> Imported {
    let requests = read(bytes);
    let mut reading = Reading::of_form(name, "sqlite", Recognised::certain([TABLE]));
    reading.problems = requests.problems;
    if !requests.samples.is_empty() {
        let mut found = StatedLevel::new(Offered::plain(LoadKind::Unknown));
        found.samples = Some(requests.samples);
        let mut head = RunHead::new(reading.origin("evalscope", None));
        head.label.clone_from(&requests.model);
        head.model = requests.model;
        reading.add_run(head, vec![found]);
    }
    reading.alone()
}

/// Reads the requests of a database.
pub(crate) fn read(bytes: &[u8]) -> Requests {
    let mut found = Requests::default();
    if let Err(damaged) = fill(bytes, &mut found) {
        found.problems.push(match (&damaged, found.samples.len()) {
            (Damaged::NoTable(_), _) => Problem::DatabaseForeign.with(values![damaged]),
            (_, 0) => Problem::DatabaseUnread.with(values![damaged]),
            (_, kept) => Problem::DatabaseCut.with(values![damaged, kept]),
        });
    } else if found.samples.is_empty() {
        found.problems.push(Problem::NoRows.with([TABLE]));
    }
    found
}

fn fill(bytes: &[u8], found: &mut Requests) -> Result<(), Damaged> {
    let table = SqlTable::open(bytes, TABLE)?;
    let columns = Columns::of(&table.columns()?);
    if columns.latency.is_none() && columns.first.is_none() {
        return Err(Damaged::NoTable(TABLE));
    }
    let Requests { samples, model, .. } = found;
    table.rows(|row| {
        if model.is_none() {
            *model = columns.model(row);
        }
        samples.push(columns.sample(row));
    })
}

/// The place of each column, which differs from version to version.
struct Columns {
    request: Option<usize>,
    start: Option<usize>,
    success: Option<usize>,
    completed: Option<usize>,
    latency: Option<usize>,
    first: Option<usize>,
    /// Times of events, up to 1.0.
    chunk_times: Option<usize>,
    /// Times between events, in later versions.
    gaps: Option<usize>,
    input: Option<usize>,
    output: Option<usize>,
    stream: Option<usize>,
}

impl Columns {
    fn of(columns: &[String]) -> Self {
        let at = |name: &str| columns.iter().position(|column| column == name);
        Self {
            request: at("request"),
            start: at("start_time"),
            success: at("success"),
            completed: at("completed_time"),
            latency: at("latency"),
            first: at("first_chunk_latency"),
            chunk_times: at("chunk_times"),
            gaps: at("inter_token_latencies"),
            input: at("prompt_tokens"),
            output: at("completion_tokens"),
            stream: at("is_stream"),
        }
    }

    fn sample(&self, row: &Row<'_>) -> Sample {
        let cell = |column: Option<usize>| row.get_ref(column?).ok();
        let number = |column| cell(column).and_then(sqlite::number);
        let list = |column| -> Vec<f64> {
            let text = cell(column).and_then(sqlite::text);
            text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
        };
        let sent = number(self.start);
        let took = sent.zip(number(self.completed)).map(|(from, to)| to - from);
        let times = list(self.chunk_times);
        let mut gaps = list(self.gaps);
        if gaps.is_empty() {
            gaps = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        }
        let latency = number(self.latency);
        let stated = number(self.stream);
        let streamed = stated.map_or(!gaps.is_empty(), |stream| stream != 0.0);
        let failed = number(self.success).is_some_and(|success| success == 0.0);
        Sample {
            sent,
            ttft: number(self.first).filter(|_| streamed),
            latency,
            end: took.filter(|took| *took >= 0.0).or(latency),
            gaps: if streamed { gaps } else { Vec::new() },
            input: number(self.input).and_then(whole),
            output: number(self.output).and_then(whole),
            ended: if failed { Ended::Failed(String::new()) } else { Ended::Completed },
            ..Sample::default()
        }
    }

    /// The model that a request asks for; older versions hide their requests in a pickle.
    fn model(&self, row: &Row<'_>) -> Option<String> {
        let request = sqlite::text(row.get_ref(self.request?).ok()?)?;
        let request: Value = serde_json::from_str(request).ok()?;
        dyno_form::json::text(&request, &["model"])
    }
}
