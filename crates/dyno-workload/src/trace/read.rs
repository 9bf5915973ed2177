//! Reads a trace file once, from beginning to end: first its form, from the first records, then the
//! requests of a file whose requests do not wait for each other.

use std::collections::VecDeque;

use dyno_model::message;
use serde_json::Value;

use super::dynamo;
use super::fields::find;
use super::format::{Fields, TraceFormat, not_a_trace};
use super::mapping::Mapping;
use super::row::{self, Recorded};
use super::rows::{self, Rows};
use super::seen::{Doubtful, Seen};
use super::sessions::SessionForm;
use super::words::grouped;
use crate::data::{At, DataError, DataKind, Raw};

/// The most requests and hash ids that are held in memory.
const MOST_REQUESTS: usize = 50_000_000;
const MOST_IDS: usize = 250_000_000;
const _: () = assert!(MOST_IDS <= rows::MOST_IDS);
/// Records within which the form must show.
const LOOKED_AT: usize = 64;

/// What a file is, and what its records are read with.
#[derive(Debug, Clone)]
pub(super) enum Form {
    /// Requests that do not wait for each other.
    Requests(Box<Fields>),
    /// Sessions, in which each request waits for the response before it.
    Sessions(SessionForm),
}

impl Form {
    /// The form of which this is a record, with what the user mapped.
    fn of(value: &Value, mapping: &Mapping) -> Option<Self> {
        let object = value.as_object()?;
        if !mapping.is_given() {
            if let Some(form) = SessionForm::of(object) {
                return Some(Self::Sessions(form));
            }
            if dynamo::is_record(object) && dynamo::is_request(object) {
                return Some(Self::Requests(Box::new(Fields::of_dynamo())));
            }
            return TraceFormat::of(object)?.fields().map(Box::new).map(Self::Requests);
        }
        let Mapping { time, gap, input, output, .. } = mapping;
        let whole = (time.is_some() || gap.is_some()) && input.is_some() && output.is_some();
        // What the user names in full owes nothing to a form that the file may resemble.
        let known = TraceFormat::of(object).filter(|format| {
            !whole && !matches!(format, TraceFormat::Aibrix | TraceFormat::Dynamo)
        });
        let fields = Box::new(Fields::with(known, mapping).ok()?);
        Some(match fields.session {
            Some(_) => Self::Sessions(SessionForm::Rows(fields)),
            None => Self::Requests(fields),
        })
    }

    /// Whether a record is one of a trace, as it is without a mapping.
    pub(super) fn is_known(object: &serde_json::Map<String, Value>) -> bool {
        SessionForm::of(object).is_some_and(|form| !form.is_text())
            || dynamo::is_record(object)
            || TraceFormat::of(object).is_some()
    }
}

/// A file whose form is known, before the rest of it is read.
pub(super) struct Opened {
    pub(super) form: Form,
    /// Tokens that an id stands for, where the file says so.
    pub(super) block: Option<u32>,
    pub(super) records: Records,
}

impl Opened {
    /// Reads until the form is known.
    pub(super) fn new(raw: Raw, mapping: &Mapping, skip_bad: bool) -> Result<Self, DataError> {
        let looked_at = VecDeque::new();
        let mut records = Records { looked_at, raw, skip_bad, skipped: 0, first_bad: None };
        let mut block = None;
        while records.looked_at.len() <= LOOKED_AT
            && let Some((at, value)) = records.unseen()?
        {
            let form = Form::of(&value, mapping);
            block = block.or_else(|| value.as_object().and_then(own_block));
            records.looked_at.push_back((at, value));
            if let Some(form) = form {
                return Ok(Self { form, block, records });
            }
        }
        Err(records.unknown(mapping))
    }
}

/// The records of a file, from its beginning.
pub(super) struct Records {
    /// Those that were looked at to know the form.
    looked_at: VecDeque<(At, Value)>,
    raw: Raw,
    skip_bad: bool,
    pub(super) skipped: u64,
    first_bad: Option<Box<DataError>>,
}

impl Records {
    /// The next record; bad ones are skipped where that was asked for.
    pub(super) fn next(&mut self) -> Result<Option<(At, Value)>, DataError> {
        match self.looked_at.pop_front() {
            Some(record) => Ok(Some(record)),
            None => self.unseen(),
        }
    }

    fn unseen(&mut self) -> Result<Option<(At, Value)>, DataError> {
        loop {
            match self.raw.next() {
                None => return Ok(None),
                Some(Ok(record)) => return Ok(Some(record)),
                Some(Err(error)) => self.bad(error)?,
            }
        }
    }

    /// Skips what is bad, or fails with it.
    pub(super) fn bad(&mut self, error: DataError) -> Result<(), DataError> {
        if !self.skip_bad || !error.is_skippable() {
            return Err(error);
        }
        self.skipped += 1;
        self.first_bad.get_or_insert_with(|| Box::new(error));
        Ok(())
    }

    /// Why the file is not a trace.
    fn unknown(&mut self, mapping: &Mapping) -> DataError {
        let path = self.raw.name().clone();
        let Some((_, value)) = self.looked_at.front() else { return self.nothing() };
        let missing = Fields::with(None, mapping).err().unwrap_or_default();
        let (found, fix) = not_a_trace(value, &self.raw.layout(), &missing);
        DataError::NotWhatItSays { path, kind: DataKind::Trace, found, fix }
    }

    /// Why there is nothing to use.
    pub(super) fn nothing(&mut self) -> DataError {
        let path = self.raw.name().clone();
        match self.first_bad.take() {
            Some(first) => DataError::OnlyBad { path, bad: self.skipped, first },
            None => DataError::NoRecords(path),
        }
    }
}

pub(super) fn replay_its_parts() -> message::Message {
    message!("split the file and replay its parts", "请拆分文件，分段回放")
}

/// Tokens of a block, where a record says so.
fn own_block(object: &serde_json::Map<String, Value>) -> Option<u32> {
    let stated = || find(object, "block_size").and_then(Value::as_u64);
    dynamo::block(object).or_else(|| u32::try_from(stated()?).ok().filter(|size| *size > 0))
}

/// What was read.
#[derive(Debug)]
pub(super) struct Read {
    pub(super) format: TraceFormat,
    /// Tokens that an id stands for, where the file says so.
    pub(super) block: Option<u32>,
    /// In the order of their times, on the trace's own clock.
    pub(super) rows: Rows,
    /// Unusable rows that were skipped.
    pub(super) skipped: u64,
    /// Requests that failed when they were recorded.
    pub(super) failed: u64,
    /// Requests that came after a later one in the file.
    pub(super) reordered: u64,
    /// Times that may have been read otherwise than they were meant.
    pub(super) doubtful: Doubtful,
}

/// Reads all rows, and puts them in the order of their times.
pub(super) fn requests(opened: Opened, fields: &Fields) -> Result<Read, DataError> {
    let Opened { block, mut records, .. } = opened;
    let mut read = Read {
        format: fields.format,
        block: block.filter(|_| fields.format == TraceFormat::Dynamo),
        rows: Rows::default(),
        skipped: 0,
        failed: 0,
        reordered: 0,
        doubtful: Doubtful::default(),
    };
    let mut seen = Seen::nothing(fields);
    let (mut ids, mut latest, mut before) = (Vec::new(), 0_u64, None);
    while let Some((at, value)) = records.next()? {
        let taken = row::read(fields, &at, &value, &mut ids, &mut |recorded, ids| {
            let Recorded::Request(request) = recorded else {
                read.failed += 1;
                return Ok(());
            };
            read.check_size(&at, ids.len())?;
            let row = request.row(before);
            before = Some(row.at);
            read.reordered += u64::from(row.at < latest);
            latest = latest.max(row.at);
            read.rows.push(row, ids);
            Ok(())
        });
        match (taken, value.as_object()) {
            (Err(error), _) => records.bad(error)?,
            (Ok(()), Some(object)) => seen.look(&at, object),
            (Ok(()), None) => {}
        }
    }
    if read.rows.len() == 0 && read.failed == 0 {
        return Err(records.nothing());
    }
    read.doubtful = seen.all()?;
    read.skipped = records.skipped;
    read.rows = read.rows.sorted();
    Ok(read)
}

impl Read {
    fn check_size(&self, at: &At, ids: usize) -> Result<(), DataError> {
        let what = if self.rows.len() >= MOST_REQUESTS {
            message!(
                "the trace has more than {} requests",
                "流量记录超过 {} 个请求",
                grouped(MOST_REQUESTS as u64)
            )
        } else if self.rows.ids() + ids >= MOST_IDS {
            message!(
                "the trace has more than {} hash ids",
                "流量记录超过 {} 个 hash id",
                grouped(MOST_IDS as u64)
            )
        } else {
            return Ok(());
        };
        Err(DataError::Broken { at: at.clone(), what, fix: replay_its_parts() })
    }
}
