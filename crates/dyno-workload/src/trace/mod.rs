//! Recorded traffic: when requests arrived, how long they were and which prefixes they shared. A trace
//! file is read once into memory ([`Trace`]); synthetic prompts with the recorded lengths and shared
//! prefixes replace its own ([`TracePrompts`]). [`TraceProfile`] describes a trace. Requests that wait
//! for each other are [`TraceSessions`].

mod dynamo;
mod fields;
mod format;
mod mapping;
mod options;
mod profile;
mod prompts;
mod read;
mod reuse;
mod row;
mod rows;
mod seen;
mod select;
mod sessions;
mod time;
mod words;

use std::sync::Arc;

use dyno_model::Nanos;

pub use self::format::TraceFormat;
pub use self::options::{TraceLimits, TraceOptions};
pub use self::profile::{Dispersion, TraceProfile};
pub use self::prompts::TracePrompts;
pub use self::reuse::Reuse;
pub use self::select::{Told, TraceTally};
pub use self::sessions::{
    Kept, SessionPrompts, SessionTraceProfile, SessionsOf, Starts, TraceSessions,
};

use self::read::{Form, Opened};
use self::rows::Rows;
use self::words::{counted, spoken};
use crate::data::{DataError, DataSpec, Kind, Raw};

/// Whether a record is one of a trace, with requests that have times and lengths.
pub(crate) fn is_record(object: &serde_json::Map<String, serde_json::Value>) -> bool {
    Form::is_known(object)
}

/// One request of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceRequest<'a> {
    /// When it is due, from the start of the replay.
    pub at: Nanos,
    /// Input tokens.
    pub input: u32,
    /// Output tokens, at least 1.
    pub output: u32,
    /// Ids of its input blocks: requests with the same first ids share that prefix.
    pub hashes: &'a [u64],
}

/// A recorded trace, in the order of its times. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Trace {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    recognised: String,
    format: TraceFormat,
    options: TraceOptions,
    block: u32,
    rows: Rows,
    tally: TraceTally,
}

impl Trace {
    /// Reads the trace that a specification names and selects the requested part. The whole file is
    /// read, so that a bad record is found here.
    pub fn open(spec: &DataSpec, limits: &TraceLimits) -> Result<Self, DataError> {
        let options = TraceOptions::of(spec)?;
        let Some(path) = &spec.path else {
            return Err(DataError::Empty("the specification".into()));
        };
        Self::of(Raw::open(path, options.mapping.is_given())?, options, limits)
    }

    /// A file that is already in memory; `name` is used in messages.
    pub fn from_bytes(
        name: &str,
        bytes: &[u8],
        spec: &DataSpec,
        limits: &TraceLimits,
    ) -> Result<Self, DataError> {
        let options = TraceOptions::of(spec)?;
        Self::of(Raw::from_bytes(name, bytes, options.mapping.is_given())?, options, limits)
    }

    fn of(raw: Raw, options: TraceOptions, limits: &TraceLimits) -> Result<Self, DataError> {
        let name = raw.name().to_owned();
        let compression = raw.compression().map(|c| format!(" ({c})")).unwrap_or_default();
        let opened = Opened::new(raw, &options.mapping, options.skip_bad)?;
        let Form::Requests(fields) = opened.form.clone() else {
            return Err(DataError::NotWhatItSays {
                path: name,
                kind: Kind::Trace,
                found: "holds sessions, whose requests wait for each other".into(),
                fix: "open it as sessions".into(),
            });
        };
        let read = read::requests(opened, &fields)?;
        let format = read.format;
        let block = options.block.or(read.block).unwrap_or(format.block());
        let (requests, span) = (read.rows.len() as u64, read.rows.span());
        let (rows, tally) = select::select(&name, read, block, &options, limits)?;

        let mut recognised = format!(
            "{name}: {format} trace{compression}, {} over {}",
            counted(requests, "request"),
            spoken(span)
        );
        if rows.have_ids() {
            recognised.push_str(&format!(", hash ids of {block}-token blocks"));
        } else if format.has_ids() {
            recognised.push_str(", without hash ids");
        }
        recognised.push_str(&options.cut_in_words(rows.len() as u64, requests));
        Ok(Self { inner: Arc::new(Inner { recognised, format, options, block, rows, tally }) })
    }

    /// What the file was recognised as and what is taken of it, in a line.
    pub fn recognised(&self) -> &str {
        &self.inner.recognised
    }

    /// The form of the file.
    pub fn format(&self) -> TraceFormat {
        self.inner.format
    }

    /// Tokens that a hash id stands for.
    pub fn block(&self) -> u32 {
        self.inner.block
    }

    /// Whether any request has hash ids.
    pub fn has_hashes(&self) -> bool {
        self.inner.rows.have_ids()
    }

    /// How much faster than it was recorded.
    pub fn speed(&self) -> f64 {
        self.inner.options.speed
    }

    /// How many requests there are.
    pub fn len(&self) -> u64 {
        self.inner.rows.len() as u64
    }

    /// Whether there are none; a trace that was opened has at least one.
    pub fn is_empty(&self) -> bool {
        self.inner.rows.len() == 0
    }

    /// When each request is due, from the start of the replay: in order, at the replay's speed.
    pub fn schedule(&self) -> impl Iterator<Item = Nanos> + '_ {
        self.inner.rows.times()
    }

    /// When the last request is due.
    pub fn duration(&self) -> Nanos {
        self.inner.rows.times().next_back().unwrap_or(0)
    }

    /// A request by its place in the order of times.
    pub fn request(&self, index: u64) -> Option<TraceRequest<'_>> {
        self.inner.rows.get(usize::try_from(index).ok()?)
    }

    /// All requests in the order of times.
    pub fn requests(&self) -> impl Iterator<Item = TraceRequest<'_>> {
        (0..self.inner.rows.len()).filter_map(|index| self.inner.rows.get(index))
    }

    /// How the rows of the file were used.
    pub fn tally(&self) -> TraceTally {
        self.inner.tally
    }
}
