//! Reads a trace file once, from beginning to end.

use serde_json::Value;

use super::format::{Recorded, TraceFormat, not_a_trace};
use super::rows::Rows;
use super::words::grouped;
use crate::data::{At, DataError, Kind, Raw};

/// The most requests and hash ids that are held in memory.
const MOST_REQUESTS: usize = 50_000_000;
const MOST_IDS: usize = 250_000_000;
/// Records within which the form must show.
const LOOKED_AT: usize = 64;

/// What was read.
#[derive(Debug)]
pub(super) struct Read {
    pub(super) format: TraceFormat,
    /// In the order of their times, on the trace's own clock.
    pub(super) rows: Rows,
    /// Unusable rows that were skipped.
    pub(super) skipped: u64,
    /// Requests that failed when they were recorded.
    pub(super) failed: u64,
    /// Requests that came after a later one in the file.
    pub(super) reordered: u64,
}

/// Reads all rows, and puts them in the order of their times.
pub(super) fn read(mut raw: Raw, skip_bad: bool) -> Result<Read, DataError> {
    let mut reader = Reader { skip_bad, ..Reader::default() };
    let mut unknown: Vec<(At, Value)> = Vec::new();
    let mut format = None;
    for record in raw.by_ref() {
        let (at, value) = match record {
            Ok(record) => record,
            Err(error) => {
                reader.bad(error)?;
                continue;
            }
        };
        format = format.or_else(|| TraceFormat::of(&value));
        match format {
            Some(format) => {
                for (at, value) in unknown.drain(..) {
                    reader.take(format, &at, &value)?;
                }
                reader.take(format, &at, &value)?;
            }
            None if unknown.len() < LOOKED_AT => unknown.push((at, value)),
            None => break,
        }
    }
    let path = raw.name().to_owned();
    if let (None, Some((_, value))) = (format, unknown.first()) {
        let (found, fix) = not_a_trace(value, &raw.layout());
        return Err(DataError::NotWhatItSays { path, kind: Kind::Trace, found, fix });
    }
    let Some(format) = format.filter(|_| reader.rows.len() > 0 || reader.failed > 0) else {
        return Err(match reader.first_bad {
            Some(first) => DataError::OnlyBad { path, bad: reader.skipped, first },
            None => DataError::NoRecords(path),
        });
    };
    let Reader { rows, skipped, failed, reordered, .. } = reader;
    Ok(Read { format, rows: rows.sorted(), skipped, failed, reordered })
}

#[derive(Default)]
struct Reader {
    skip_bad: bool,
    rows: Rows,
    ids: Vec<u64>,
    latest: u64,
    skipped: u64,
    failed: u64,
    reordered: u64,
    first_bad: Option<Box<DataError>>,
}

impl Reader {
    fn take(&mut self, format: TraceFormat, at: &At, value: &Value) -> Result<(), DataError> {
        let row = match format.row(at, value, &mut self.ids) {
            Ok(Recorded::Request(row)) => row,
            Ok(Recorded::Failed) => {
                self.failed += 1;
                return Ok(());
            }
            Err(error) => return self.bad(error),
        };
        for (count, most, what) in [
            (self.rows.len(), MOST_REQUESTS, "requests"),
            (self.rows.ids() + self.ids.len(), MOST_IDS, "hash ids"),
        ] {
            if count >= most {
                return Err(DataError::Broken {
                    at: at.clone(),
                    what: format!("the trace has more than {} {what}", grouped(most as u64)),
                    fix: "split the file and replay its parts".into(),
                });
            }
        }
        self.reordered += u64::from(row.at < self.latest);
        self.latest = self.latest.max(row.at);
        self.rows.push(row, &self.ids);
        Ok(())
    }

    /// Skips a bad row, or fails with it.
    fn bad(&mut self, error: DataError) -> Result<(), DataError> {
        if !self.skip_bad || !error.is_skippable() {
            return Err(error);
        }
        self.skipped += 1;
        self.first_bad.get_or_insert_with(|| Box::new(error));
        Ok(())
    }
}
