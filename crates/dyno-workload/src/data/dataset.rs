//! A data set that can be read from its beginning as often as needed, one record at a time.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::builtin;
use super::check::Counting;
use super::error::DataError;
use super::layout::{DataHead, DataLayout, HEAD};
use super::pick::{Pick, Taken};
use super::raw::Raw;
use super::recognise::settle;
use super::recognised::{RecognisedData, described_fields, notes};
use super::record::{Record, Records};
use super::source::{Compression, Source};
use super::spec::{DataKind, DataSpec};
use super::stdin;
use super::unused::unused;
use crate::agentic;
use dyno_model::message::Message as Said;
use dyno_model::prompt::{ChatMessage, Item};
use dyno_model::{Language, message};

/// How many records, and how many bytes of them, are sampled to recognise the fields.
const SAMPLES: usize = 64;
const SAMPLE_BYTES: usize = 4 * 1024 * 1024;

/// Prompts that can be read from the beginning as often as needed. Cheap to clone.
#[derive(Debug, Clone)]
pub struct DataSet {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    place: DataPlace,
    layout: DataLayout,
    pick: Pick,
    skip_bad: bool,
    lang: Option<Language>,
    recognised: RecognisedData,
}

/// Where bytes come from.
#[derive(Debug)]
pub(super) enum DataPlace {
    File(PathBuf),
    Memory(Said, Arc<[u8]>),
    Builtin(Said, &'static str),
}

impl DataPlace {
    pub(super) fn name(&self) -> Said {
        match self {
            Self::File(path) => Said::quoted(path.display()),
            Self::Memory(name, _) | Self::Builtin(name, _) => name.clone(),
        }
    }

    pub(super) fn source(&self) -> Result<Source, DataError> {
        match self {
            Self::File(path) => Source::open(path),
            Self::Memory(name, bytes) => Source::memory(name, bytes),
            Self::Builtin(name, text) => Ok(Source::builtin(name, text)),
        }
    }

    /// The records; of a Parquet file only the columns that `pick` needs.
    pub(super) fn records(
        &self,
        layout: DataLayout,
        pick: Option<&Pick>,
    ) -> Result<Box<dyn Records>, DataError> {
        match (layout, self) {
            #[cfg(feature = "parquet")]
            (DataLayout::Parquet, Self::File(path)) => {
                let file = super::source::open_file(path)?;
                super::parquet_read::rows(file, self.name(), pick)
            }
            (DataLayout::Parquet, _) => {
                let _ = pick;
                Err(DataError::Table {
                    path: self.name(),
                    what: message!(
                        "Parquet is read from files only, by builds with the parquet feature",
                        "只有启用 parquet 特性的构建才能读取 Parquet，且只能从文件读取"
                    ),
                    fix: message!("convert it to JSON lines", "请转换为 JSON lines"),
                })
            }
            _ => Ok(layout.records(self.source()?)),
        }
    }
}

impl DataSet {
    /// Samples the data that a specification names and decides how they are read.
    pub fn new(spec: &DataSpec) -> Result<Self, DataError> {
        let place = match (&spec.path, spec.kind) {
            (Some(path), _) => stdin::place(path)?,
            (None, Some(kind)) => match builtin::text(kind, spec.lang) {
                Some((name, text)) => DataPlace::Builtin(name, text),
                None => return Err(elsewhere(Said::quoted(kind), kind)),
            },
            (None, None) => return Err(DataError::no_path()),
        };
        Self::at(place, spec)
    }

    /// A file that is already in memory; `name` is used in messages.
    pub fn from_bytes(name: &str, bytes: &[u8], spec: &DataSpec) -> Result<Self, DataError> {
        Self::at(DataPlace::Memory(Said::quoted(name), bytes.into()), spec)
    }

    fn at(place: DataPlace, spec: &DataSpec) -> Result<Self, DataError> {
        if let Some(kind) = spec.kind.filter(|kind| !kind.is_read()) {
            return Err(elsewhere(place.name(), kind));
        }
        if *spec == (DataSpec { path: spec.path.clone(), ..DataSpec::default() })
            && let Ok(raw) = Raw::whole_at(&place)
            && let Some(format) =
                agentic::format_in(raw).filter(|format| format.looks_like_prompts())
        {
            return Err(DataError::Table {
                path: place.name(),
                what: message!(
                    "this is agentic traffic of {format}, whose requests are no single prompts",
                    "这是 {format} 的 agentic 流量，其中的请求不是独立的提示词"
                ),
                fix: message!(
                    "see what it holds with dyno data show",
                    "请用 dyno data show 查看其内容"
                ),
            });
        }
        let source = place.source()?;
        let ending = spec.path.as_deref().and_then(Path::extension);
        if spec.kind.is_none() && ending.is_some_and(|ending| ending.eq_ignore_ascii_case("toml")) {
            return Err(DataError::Table {
                path: place.name(),
                what: message!(
                    "a TOML file has settings, not prompts",
                    "TOML 文件包含的是设置，不是提示词"
                ),
                fix: message!(
                    "read settings with --config, or name lines:FILE if each line is a prompt",
                    "请用 --config 读取设置；如果每行是一条提示词，请写 lines:FILE"
                ),
            });
        }
        let compression = source.origin.compression;
        let layout = layout(&place, spec, source)?;
        let samples = samples(&place, layout, spec)?;
        let (kind, pick) = settle(spec, layout, &samples)?;
        if !kind.is_read() {
            return Err(elsewhere(place.name(), kind));
        }
        let (unused, prompt_chars) = unused(&pick, &samples);
        let recognised = RecognisedData {
            name: place.name(),
            kind,
            layout: layout.said(),
            compression,
            fields: described_fields(&pick),
            unused,
            prompt_chars,
            notes: notes(kind, layout, &pick, &samples),
        };
        let (skip_bad, lang) = (spec.skip_bad, spec.lang);
        Ok(Self { inner: Arc::new(Inner { place, layout, pick, skip_bad, lang, recognised }) })
    }

    /// What the data were recognised as.
    pub fn recognised(&self) -> &RecognisedData {
        &self.inner.recognised
    }

    /// Whether records hold several texts, each record for one request.
    pub fn holds_lists(&self) -> bool {
        self.inner.pick.taken == Taken::Texts
    }

    /// The data from their beginning, one item per record.
    pub fn open(&self) -> Result<DataReading, DataError> {
        Ok(DataReading { walk: self.walk()? })
    }

    /// The data from their beginning, one whole conversation per record, recorded responses included.
    pub fn conversations(&self) -> Result<Conversations, DataError> {
        Ok(Conversations { walk: self.walk()? })
    }

    fn walk(&self) -> Result<Walk, DataError> {
        let records = self.inner.place.records(self.inner.layout, Some(&self.inner.pick))?;
        Ok(self.walk_over(records))
    }

    /// The records from their beginning; counts the bytes that were read, where they are a stream.
    pub(super) fn walk_counting(&self, consumed: &Arc<AtomicU64>) -> Result<Walk, DataError> {
        if self.inner.layout == DataLayout::Parquet {
            return self.walk();
        }
        let mut source = self.inner.place.source()?;
        source.reader = Box::new(Counting { reader: source.reader, consumed: consumed.clone() });
        Ok(self.walk_over(self.inner.layout.records(source)))
    }

    fn walk_over(&self, records: Box<dyn Records>) -> Walk {
        let inner = self.inner.clone();
        Walk { records, inner, good: 0, skipped: 0, first_bad: None, ended: false }
    }

    pub(super) fn place(&self) -> (&DataPlace, DataLayout) {
        (&self.inner.place, self.inner.layout)
    }

    pub(super) fn pick(&self) -> &Pick {
        &self.inner.pick
    }

    pub(super) fn skips_bad(&self) -> bool {
        self.inner.skip_bad
    }
}

fn elsewhere(what: Said, kind: DataKind) -> DataError {
    let fix = match kind {
        DataKind::Trace => message!("replay it with trace:FILE", "请用 trace:FILE 回放"),
        DataKind::Session => message!(
            "name a file of conversations with session:FILE",
            "请用 session:FILE 指定对话文件"
        ),
        DataKind::Agentic => message!(
            "it is trees of sessions; see what they hold with dyno data show",
            "它是会话树；请用 dyno data show 查看其内容"
        ),
        _ => message!(
            "its prompts are synthetic, so there is nothing to read",
            "其提示词是合成的，没有可读取的内容"
        ),
    };
    DataError::Elsewhere { what, kind, fix }
}

/// The layout of the data, or an error where it contradicts the specification.
pub(super) fn layout(
    place: &DataPlace,
    spec: &DataSpec,
    source: Source,
) -> Result<DataLayout, DataError> {
    let not = |kind, found, fix| DataError::NotWhatItSays { path: place.name(), kind, found, fix };
    let leave_out =
        || message!("leave the kind out to have it recognised", "请去掉类型，让 Dyno 自动识别");
    if source.parquet {
        return match (spec.kind, source.origin.compression) {
            (_, Some(Compression::Gzip | Compression::Zstd)) => Err(DataError::Archive {
                path: place.name(),
                what: message!("a compressed Parquet file", "压缩过的 Parquet 文件"),
                fix: message!(
                    "decompress it first: Parquet files are not read as a stream",
                    "请先解压：Parquet 文件不能按流读取"
                ),
            }),
            (None | Some(DataKind::Parquet | DataKind::Session), None) => Ok(DataLayout::Parquet),
            (Some(kind), None) => {
                let found = message!("is a Parquet file", "它是 Parquet 文件");
                Err(not(kind, found, leave_out()))
            }
        };
    }
    let (bytes, whole) = source.head(HEAD)?;
    let name = place.name().to_string();
    let head = DataHead { bytes: &bytes, whole, name: &name };
    let Some(first) = head.first() else {
        return match whole {
            true => Err(DataError::NoRecords(place.name())),
            false => Ok(DataLayout::TextLines),
        };
    };
    let says_parquet = name.to_ascii_lowercase().ends_with(".parquet");
    match spec.kind {
        Some(DataKind::Parquet) | None if spec.kind.is_some() || says_parquet => Err(not(
            DataKind::Parquet,
            message!("does not begin with PAR1", "开头不是 PAR1"),
            message!(
                "fetch it again if it was cut off, or name the kind it has",
                "如果文件不完整，请重新下载；否则请写出它的类型"
            ),
        )),
        Some(DataKind::Csv) if matches!(first, b'{' | b'[') && head.columns().len() < 2 => {
            Err(not(DataKind::Csv, message!("begins like JSON", "开头像 JSON"), leave_out()))
        }
        _ => Ok(head.layout(spec)),
    }
}

/// The first records that can be read.
fn samples(
    place: &DataPlace,
    layout: DataLayout,
    spec: &DataSpec,
) -> Result<Vec<Record>, DataError> {
    let mut records = place.records(layout, None)?;
    let (mut samples, mut bytes, mut bad, mut first_bad) = (Vec::new(), 0, 0, None);
    while samples.len() < SAMPLES && bytes < SAMPLE_BYTES {
        match records.next() {
            Some(Ok(record)) => {
                bytes += size(&record.value);
                samples.push(record);
            }
            Some(Err(error)) => {
                let over = !error.is_skippable() || (!spec.skip_bad && samples.is_empty());
                bad += 1;
                first_bad.get_or_insert(error);
                if over {
                    break;
                }
            }
            None => break,
        }
    }
    match (samples.is_empty(), first_bad) {
        (false, _) => Ok(samples),
        (true, None) => Err(DataError::NoRecords(place.name())),
        (true, Some(first)) if bad > 1 && spec.skip_bad => {
            Err(DataError::OnlyBad { path: place.name(), bad, first: Box::new(first) })
        }
        (true, Some(first)) => Err(explained(place, layout, spec, first)),
    }
}

/// A better error where the first record is not JSON at all: the file is something else.
fn explained(
    place: &DataPlace,
    layout: DataLayout,
    spec: &DataSpec,
    first: DataError,
) -> DataError {
    let Some(kind) = spec.kind else { return first };
    if !matches!(layout, DataLayout::JsonLines { .. }) || !matches!(first, DataError::Bad { .. }) {
        return first;
    }
    let Ok((bytes, whole)) = place.source().and_then(|source| source.head(HEAD)) else {
        return first;
    };
    let name = place.name().to_string();
    let head = DataHead { bytes: &bytes, whole, name: &name };
    if matches!(head.first(), Some(b'{' | b'[') | None) {
        return first;
    }
    let text = String::from_utf8_lossy(&bytes);
    let line: String =
        text.trim_start().lines().next().unwrap_or_default().chars().take(40).collect();
    DataError::NotWhatItSays {
        path: place.name(),
        kind,
        found: message!("begins with {line:?}, which is not JSON", "开头是 {line:?}，不是 JSON"),
        fix: match head.layout(&DataSpec::default()) {
            _ if kind == DataKind::Session => message!(
                "write conversations as JSON, one a line, or as a table with a column called \
                 messages",
                "请把对话写成 JSON（每行一个），或写成带 messages 列的表格"
            ),
            DataLayout::Csv(_) => message!("read it as csv:{name}", "请按 csv:{name} 读取"),
            _ => message!(
                "read it as lines:{name}, or name another file",
                "请按 lines:{name} 读取，或指定其他文件"
            ),
        },
    }
}

/// About how much memory a value takes.
pub(super) fn size(value: &serde_json::Value) -> usize {
    use serde_json::Value;
    match value {
        Value::String(text) => text.len() + 24,
        Value::Array(list) => list.iter().map(size).sum::<usize>() + 24,
        Value::Object(object) => {
            object.iter().map(|(key, value)| key.len() + size(value) + 48).sum()
        }
        _ => 16,
    }
}

/// One pass over the records.
pub(super) struct Walk {
    records: Box<dyn Records>,
    inner: Arc<Inner>,
    pub(super) good: u64,
    pub(super) skipped: u64,
    first_bad: Option<Box<DataError>>,
    ended: bool,
}

impl Walk {
    pub(super) fn next<T>(
        &mut self,
        make: impl Fn(&Pick, Record) -> Result<T, DataError>,
    ) -> Option<Result<T, DataError>> {
        while !self.ended {
            let made = match self.records.next() {
                None => break,
                Some(Ok(record)) if !self.wanted(&record) => continue,
                Some(read) => read.and_then(|record| make(&self.inner.pick, record)),
            };
            match made {
                Ok(made) => {
                    self.good += 1;
                    return Some(Ok(made));
                }
                Err(error) if error.is_skippable() && self.inner.skip_bad => {
                    self.skipped += 1;
                    self.first_bad.get_or_insert_with(|| Box::new(error));
                }
                Err(error) => {
                    self.ended = true;
                    return Some(Err(error));
                }
            }
        }
        let empty = !self.ended && self.good == 0;
        self.ended = true;
        empty.then(|| Err(self.nothing()))
    }

    fn wanted(&self, record: &Record) -> bool {
        !matches!(self.inner.place, DataPlace::Builtin(..))
            || builtin::speaks(self.inner.lang, &record.value)
    }

    fn nothing(&mut self) -> DataError {
        let path = self.inner.place.name();
        match self.first_bad.take() {
            Some(first) => DataError::OnlyBad { path, bad: self.skipped, first },
            None => DataError::NoRecords(path),
        }
    }
}

/// The items of a data set, from its beginning. After an error there is nothing more.
pub struct DataReading {
    walk: Walk,
}

impl DataReading {
    /// Unusable records that were skipped because of `skip_bad=true`.
    pub fn skipped(&self) -> u64 {
        self.walk.skipped
    }

    /// Blank lines that were skipped.
    pub fn blank(&self) -> u64 {
        self.walk.records.blank()
    }
}

impl Iterator for DataReading {
    type Item = Result<Item, DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.walk.next(|pick, record| pick.item(record))
    }
}

/// The conversations of a data set, from its beginning. After an error there is nothing more.
pub struct Conversations {
    walk: Walk,
}

impl Conversations {
    /// Unusable records that were skipped because of `skip_bad=true`.
    pub fn skipped(&self) -> u64 {
        self.walk.skipped
    }
}

impl Iterator for Conversations {
    type Item = Result<Vec<ChatMessage>, DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.walk.next(|pick, record| pick.messages(&record))
    }
}
