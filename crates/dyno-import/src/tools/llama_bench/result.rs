//! The fields of a test as llama-bench saves them: JSON, JSON lines and CSV have the same names.

use super::test::{Shape, Test, levels};
use crate::level::{Offered, RunHead, StatedLevel};
use crate::reading::{Group, Reading};
use dyno_form::csv::CsvRow;
use dyno_form::json::text;
use dyno_model::load::LoadKind;
use dyno_model::summary::{Origin, Recognised};
use dyno_model::when::{parse_utc, utc};
use dyno_words::{Problem, values};
use serde_json::Value;

/// Fields of every version, since the first.
const OWN: [&str; 3] = ["n_prompt", "n_gen", "avg_ts"];

fn is_test(value: &Value) -> bool {
    OWN.iter().all(|name| value.get(name).is_some())
}

/// It is a test, or a list of them.
pub(super) fn recognise(value: &Value) -> Option<Recognised> {
    let listed = value.as_array().is_some_and(|all| !all.is_empty() && all.iter().all(is_test));
    (listed || is_test(value)).then(|| Recognised::certain(OWN))
}

/// Reads a test, or a list of them.
pub(super) fn read(reading: &mut Reading, line: u64, value: &Value) {
    let tests: Vec<Test> = match value {
        Value::Array(all) => all.iter().filter_map(|one| of_json(reading, line, one)).collect(),
        one => of_json(reading, line, one).into_iter().collect(),
    };
    add(reading, &tests);
}

fn of_json(reading: &mut Reading, line: u64, value: &Value) -> Option<Test> {
    let fields = value.as_object()?.iter().filter_map(|(name, value)| {
        let shown = match value {
            Value::Number(number) => number.to_string(),
            // As in the other forms.
            Value::Bool(flag) => u8::from(*flag).to_string(),
            Value::String(_) => text(value, &[])?,
            _ => return None,
        };
        Some((name.clone(), shown))
    });
    test(reading, line, fields.collect())
}

/// Names alone: an SQL statement has the same names in it.
fn is_heading(row: &CsvRow) -> bool {
    let is_name = |cell: &String| cell.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let has = |own: &&str| row.cells.iter().any(|cell| cell == *own);
    OWN.iter().all(has) && row.cells.iter().all(is_name)
}

/// It is a list of tests.
pub(super) fn recognise_rows(rows: &[CsvRow]) -> Option<Recognised> {
    rows.iter().any(is_heading).then(|| Recognised::certain(OWN))
}

/// Reads a list of tests.
pub(super) fn read_rows(reading: &mut Reading, rows: &[CsvRow]) {
    let mut heading: Option<&CsvRow> = None;
    let mut tests = Vec::new();
    for row in rows {
        if is_heading(row) {
            heading = Some(row);
            continue;
        }
        // Above the heading is what the program printed while it loaded the model.
        let Some(heading) = heading else { continue };
        if row.cells.len() != heading.cells.len() {
            let shown = row.cells.first().map(String::as_str).unwrap_or_default();
            let values = values![shown, row.cells.len(), heading.cells.len()];
            reading.problems.push(Problem::CellsUnderHeading.with(values).at(row.line));
            continue;
        }
        let fields = heading.cells.iter().map(|name| name.trim().to_owned());
        let fields = fields.zip(row.cells.iter().map(|cell| cell.trim().to_owned()));
        tests.extend(test(reading, row.line, fields.collect()));
    }
    add(reading, &tests);
}

/// A test by its fields; one that processed nothing is reported.
pub(super) fn by_fields(line: u64, fields: Vec<(String, String)>) -> Option<Test> {
    let mut test = Test {
        line,
        shape: Shape { prompt: 0, generated: 0, depth: 0 },
        speed: None,
        spread: None,
        fields,
    };
    let tokens = |name: &str| test.get(name).and_then(|text| text.parse().ok()).unwrap_or(0);
    let shape =
        Shape { prompt: tokens("n_prompt"), generated: tokens("n_gen"), depth: tokens("n_depth") };
    let number = |name: &str| test.get(name).and_then(|text| text.parse().ok());
    let (speed, spread) = (number("avg_ts"), number("stddev_ts"));
    if shape.prompt == 0 && shape.generated == 0 || speed.is_none() {
        return None;
    }
    (test.shape, test.speed, test.spread) = (shape, speed, spread);
    Some(test)
}

fn test(reading: &mut Reading, line: u64, fields: Vec<(String, String)>) -> Option<Test> {
    let found = by_fields(line, fields);
    if found.is_none() {
        reading.problems.push(Problem::TestIncomplete.with([OWN.join(", ")]).at(line));
    }
    found
}

/// Adds tests; those of one model and build that follow one another are a run.
fn add(reading: &mut Reading, tests: &[Test]) {
    let same = |a: &Test, b: &Test| key(a) == key(b);
    for tests in tests.chunk_by(same) {
        let Some(first) = tests.first() else { continue };
        let model = first.get("model_type").or(first.get("model_filename")).map(str::to_owned);
        let started = first.get("test_time").and_then(parse_utc).map(utc);
        let version = first.get("build_number").or(first.get("build_commit")).map(str::to_owned);
        let origin = Origin { version, ..reading.origin("llama-bench", first.line) };
        for level in levels(tests) {
            let mut found = StatedLevel::new(Offered::plain(LoadKind::Unknown));
            found.stated = level;
            let head = RunHead {
                label: model.clone(),
                model: model.clone(),
                started: started.clone(),
                ..RunHead::new(origin.clone())
            };
            reading.add(Group { key: key(first), head }, found);
        }
    }
    let told = reading.problems.iter().any(|problem| problem.code == "import_not_serving");
    if let Some(first) = tests.first().filter(|_| !told) {
        reading.problems.push(Problem::NotServing.with(["llama-bench"]).at(first.line));
    }
}

fn key(test: &Test) -> String {
    let get = |name: &str| test.get(name).unwrap_or_default();
    format!("llama-bench {} {} {}", get("model_type"), get("model_filename"), get("build_commit"))
}
