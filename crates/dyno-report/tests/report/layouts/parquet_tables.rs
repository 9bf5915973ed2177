//! Parquet files, read back: the same columns and values as in CSV, with nulls for what is absent.

use crate::layouts::runs::{bursts, closed_ladder, print};
use dyno_analysis::{FrameSource, VecSource};
use dyno_model::Language;
use dyno_model::frame::{Frame, LevelStart, RunHeader};
use dyno_report::layout::{Layout, LayoutTable, per_request};
use dyno_testing::runs::stream;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use std::fs::File;
use std::io::{self, Seek, Write};

fn reader(bytes: &[u8]) -> SerializedFileReader<File> {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    file.rewind().unwrap();
    SerializedFileReader::new(file).unwrap()
}

/// Names, then rows; each value as CSV would write it, were there no quotes in CSV.
fn table(bytes: &[u8]) -> (Vec<String>, Vec<Vec<String>>) {
    let reader = reader(bytes);
    let schema = reader.metadata().file_metadata().schema_descr_ptr();
    let names = schema.columns().iter().map(|column| column.name().to_owned()).collect();
    let shown = |field: &Field| match field {
        Field::Null => String::new(),
        Field::Bool(value) => value.to_string(),
        Field::Long(value) => value.to_string(),
        Field::Double(value) => value.to_string(),
        Field::Str(text) => text.clone(),
        other => panic!("{other:?} is of another type"),
    };
    let rows = reader.get_row_iter(None).unwrap();
    let rows = rows.map(|row| row.unwrap().get_column_iter().map(|(_, f)| shown(f)).collect());
    (names, rows.collect())
}

/// The fields of a line of CSV.
fn fields(line: &str) -> Vec<String> {
    let (mut fields, mut quoted) = (vec![String::new()], false);
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            c => fields.last_mut().unwrap().push(c),
        }
    }
    fields
}

fn same(csv: &str, parquet: &[u8]) {
    let (names, rows) = table(parquet);
    let mut lines = csv.lines();
    assert_eq!(fields(lines.next().unwrap()), names);
    assert_eq!(lines.clone().count(), rows.len());
    for (line, row) in lines.zip(rows) {
        assert_eq!(fields(line), row);
    }
}

#[test]
fn levels_are_those_of_csv() {
    let runs = [closed_ladder().0, bursts().0];
    let printed = Layout::Parquet.print(&runs, &Default::default()).unwrap();
    same(&print(Layout::Csv, &runs, Language::English), &printed.bytes);
    let (names, rows) = table(&printed.bytes);
    let column = |name: &str| names.iter().position(|known| known == name).unwrap();
    assert_eq!(rows.len(), runs[0].summary.levels.len() + runs[1].summary.levels.len());
    assert!(rows.iter().all(|row| row[column("offered_per_s")].is_empty()), "absent, not 0");
    assert!(rows.iter().any(|row| row[column("verdict")] == "invalid"));
}

#[test]
fn requests_are_those_of_csv() {
    let (ladder, ladder_source) = closed_ladder();
    let (burst, burst_source) = bursts();
    let runs: [(&_, &dyn FrameSource); 2] =
        [(&ladder.summary, &ladder_source), (&burst.summary, &burst_source)];
    let written = |table: LayoutTable| {
        let mut out = Vec::new();
        per_request(&mut out, table, &runs).unwrap();
        out
    };
    let (csv, parquet) = (written(LayoutTable::Csv), written(LayoutTable::Parquet));
    same(&String::from_utf8(csv).unwrap(), &parquet);
}

#[test]
fn a_run_without_levels_is_a_table_without_rows() {
    let mut run = bursts().0;
    run.summary.levels.clear();
    let printed = Layout::Parquet.print(&[run], &Default::default()).unwrap();
    let (names, rows) = table(&printed.bytes);
    assert!(names.contains(&"ttft_p99_ms".to_owned()) && rows.is_empty());
}

/// Many requests, none of which is held.
struct Endless {
    header: RunHeader,
    requests: u64,
}

impl FrameSource for Endless {
    fn header(&self) -> &RunHeader {
        &self.header
    }

    fn frames(&self) -> Box<dyn Iterator<Item = Frame> + '_> {
        let start = Frame::LevelStart(LevelStart { level: 0, started: 0 });
        let request = |i: u64| Frame::Request(Box::new(stream(i, 0, i, 30, 10, 5)));
        Box::new(std::iter::once(start).chain((0..self.requests).map(request)))
    }

    fn damaged(&self) -> Option<dyno_model::Message> {
        None
    }
}

/// Remembers how large the pieces were.
#[derive(Default)]
struct Pieces {
    bytes: Vec<u8>,
    largest: usize,
}

impl Write for Pieces {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        self.largest = self.largest.max(piece.len());
        self.bytes.extend(piece);
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn many_requests_are_written_in_row_groups() {
    let (run, VecSource { header, .. }) = bursts();
    let source = Endless { header, requests: 50_000 };
    let mut out = Pieces::default();
    per_request(&mut out, LayoutTable::Parquet, &[(&run.summary, &source)]).unwrap();
    assert!(out.largest < out.bytes.len() / 2, "{} of {}", out.largest, out.bytes.len());
    let reader = reader(&out.bytes);
    let groups = reader.metadata().row_groups();
    assert_eq!(groups.iter().map(|group| group.num_rows()).sum::<i64>(), 50_000);
    assert!(groups.iter().all(|group| group.num_rows() <= 20_000));
}

#[test]
fn untrusted_text_is_unchanged() {
    let (mut run, source) = bursts();
    let label = "=1+1, \"深圳\"\n🦀";
    run.summary.run.label = Some(label.to_owned());
    let mut out = Vec::new();
    per_request(&mut out, LayoutTable::Parquet, &[(&run.summary, &source)]).unwrap();
    let (names, rows) = table(&out);
    let at = names.iter().position(|name| name == "run_label").unwrap();
    assert!(!rows.is_empty() && rows.iter().all(|row| row[at] == label));
}
