//! The files of vLLM's `bench sweep`: a folder for each combination of options, with a result for each
//! run, all of them in `summary.json`, those of all folders in `summary.csv`, a warm-up that is not to be counted, and what failed. Results
//! themselves are those of `result`.

use super::result;
use crate::reading::Reading;
use dyno_form::csv::{self, CsvRow};
use dyno_form::json::{number, text};
use dyno_model::summary::Recognised;
use dyno_words::{Problem, values};
use serde_json::{Map, Value};
use std::path::Path;

/// The options of the server, if it is the folder of a combination:
/// `SERVE--max_num_seqs=4-BENCH--max_concurrency=2`.
pub(crate) fn server(folder: &Path) -> Option<String> {
    let is_run = |name: &str| name.starts_with("run=") && name.ends_with(".json");
    let mut files = std::fs::read_dir(folder).ok()?.flatten();
    let runs = files.any(|file| file.file_name().to_str().is_some_and(is_run));
    if !runs || !folder.join("summary.json").is_file() {
        return None;
    }
    let name = folder.file_name()?.to_string_lossy().into_owned();
    let ends = ["BENCH--", "WL--"].iter().filter_map(|part| name.find(part));
    let server = name.get(..ends.min().unwrap_or(name.len())).unwrap_or_default();
    Some(server.trim_start_matches("SERVE-").trim_matches('-').to_owned())
}

/// The result of a warm-up; runs are numbered from 0.
pub(super) fn is_warmup(value: &Value) -> bool {
    number(value, &["run_number"]).is_some_and(|run| run < 0.0)
}

/// It tells why a run, or a server, failed.
pub(super) fn is_failure(value: &Value) -> Option<Recognised> {
    let by = ["error_type", "error", "serve_overrides"];
    by.iter().all(|name| value.get(name).is_some()).then(|| Recognised::certain(by))
}

/// There is nothing to read, but a reason.
pub(super) fn read_failure(reading: &mut Reading, line: u64, value: &Value) {
    let words = |name: &str| text(value, &[name]).unwrap_or_default();
    let failed = Problem::SweepFailed.with(values![words("error_type"), words("error")]);
    reading.problems.push(failed.at(line));
}

/// A row of a table as a result: cells without a value are absent.
fn result_of(heading: &CsvRow, row: &CsvRow) -> Value {
    let pairs = heading.cells.iter().zip(&row.cells);
    let named = pairs.map(|(name, cell)| (name.trim(), cell.trim()));
    let given = named.filter(|(name, cell)| !name.is_empty() && !cell.is_empty());
    let fields: Map<String, Value> = given
        .map(|(name, cell)| {
            let value = csv::number(cell).map_or_else(|| cell.into(), Value::from);
            (name.to_owned(), value)
        })
        .collect();
    Value::Object(fields)
}

/// It is the table of a sweep: a column for each name of a result.
pub(super) fn is_table(rows: &[CsvRow]) -> Option<Recognised> {
    let [heading, first, ..] = rows else { return None };
    result::recognise(&result_of(heading, first))
}

/// Reads a table, a result in each row.
pub(super) fn read_table(reading: &mut Reading, rows: &[CsvRow]) {
    let Some((heading, rows)) = rows.split_first() else { return };
    for row in rows {
        if row.cells.len() == heading.cells.len() {
            result::read(reading, row.line, &result_of(heading, row));
            continue;
        }
        let cells = values![row.cells.join(","), row.cells.len(), heading.cells.len()];
        reading.problems.push(Problem::CellsUnderHeading.with(cells).at(row.line));
    }
}
