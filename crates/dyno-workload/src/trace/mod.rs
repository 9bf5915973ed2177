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
pub(crate) mod time;
pub(crate) mod words;

use std::sync::Arc;

use dyno_model::{Message, Nanos, message};

pub use self::format::TraceFormat;
pub use self::options::{TraceLimits, TraceOptions};
pub use self::profile::{Dispersion, TraceProfile};
pub use self::prompts::TracePrompts;
pub use self::reuse::Reuse;
pub use self::select::{ToldOfTrace, TraceTally};
pub use self::sessions::{
    Kept, SessionPrompts, SessionTraceProfile, SessionsOf, Starts, TraceSessions,
};

use self::read::{Form, Opened};
use self::rows::Rows;
use self::words::spoken;
use crate::data::{DataError, DataKind, DataSpec, Raw};

/// Whether a record is one of a trace, with requests that have times and lengths.
pub(crate) fn is_record(object: &serde_json::Map<String, serde_json::Value>) -> bool {
    Form::is_known(object)
}

fn compressed(raw: &Raw) -> Message {
    match raw.compression() {
        Some(compression) => message!(" ({compression})", "（{compression}）"),
        None => Message::quoted(""),
    }
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
    recognised: Message,
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
            return Err(DataError::no_path());
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
        let name = raw.name().clone();
        let compression = compressed(&raw);
        let opened = Opened::new(raw, &options.mapping, options.skip_bad)?;
        let Form::Requests(fields) = opened.form.clone() else {
            return Err(DataError::NotWhatItSays {
                path: name,
                kind: DataKind::Trace,
                found: message!(
                    "holds sessions, whose requests wait for each other",
                    "其中是会话，请求需等待前一个响应"
                ),
                fix: message!("open it as sessions", "请按会话打开"),
            });
        };
        let read = read::requests(opened, &fields)?;
        let format = read.format;
        let block = options.block.or(read.block).unwrap_or(format.block());
        let (requests, span) = (read.rows.len() as u64, read.rows.span());
        let (rows, tally) = select::select(&name, read, block, &options, limits)?;

        let kind = match format {
            TraceFormat::Mapped => message!("mapped trace", "按指定字段读取的流量记录"),
            format => message!("{format} trace", "{format} 流量记录"),
        };
        let ids = if rows.have_ids() {
            message!(", hash ids of {block}-token blocks", "，每块 {block} 个 token 的 hash id")
        } else if format.has_ids() {
            message!(", without hash ids", "，没有 hash id")
        } else {
            Message::quoted("")
        };
        let cut = options.cut_in_words(rows.len() as u64, requests);
        let recognised = message!(
            "{name}: {kind}{compression}, {} over {}{ids}{cut}",
            "{name}：{kind}{compression}，{}，时长 {}{ids}{cut}",
            words::requests(requests),
            spoken(span)
        );
        Ok(Self { inner: Arc::new(Inner { recognised, format, options, block, rows, tally }) })
    }

    /// What the file was recognised as and what is taken of it, in a line.
    pub fn recognised(&self) -> &Message {
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
