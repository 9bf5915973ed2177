//! Reads trees out of files, one after another: what a file is shows in its first records; a builder for its format then
//! takes every record and makes trees. Memory is that of one file, and of its texts only where they are kept.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;

use dyno_model::{Message, message};
use serde_json::Value;

use super::format::AgenticFormat;
use super::notes::{AgenticNotes, AgenticRemark, LeftOutKind};
use super::tree::Tree;
use super::{
    aiperf, aiperf_dag, claude, codex, dynamo, folder, mlperf, mooncake, otel, swe_agent, tracelab,
    waits, weka,
};
use crate::data::{At, DataError, Raw};

/// Records within which the format must show.
const LOOKED_AT: usize = 256;
/// The same for a file that is more likely to be something else.
const GLANCED_AT: usize = 24;

/// What of a file is kept in its trees.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TreeDetail {
    /// Lengths, times and keys of prefixes.
    #[default]
    Lengths,
    /// The texts of messages as well.
    Texts,
}

/// Makes trees of the records of one format.
pub(super) trait TreeBuilder: Send {
    /// Takes a record. An error means that the one tree of this record cannot be used.
    fn take(&mut self, at: &At, record: Value, out: &mut TreeSink) -> Result<(), DataError>;

    /// A record could not be read: what it may belong to is not whole. False where a record is a tree.
    fn spoil(&mut self, _why: &DataError) -> bool {
        false
    }

    /// A file has ended.
    fn end_of_file(&mut self, _out: &mut TreeSink) {}

    /// All files have ended.
    fn end(&mut self, _out: &mut TreeSink) {}
}

/// What builders make.
#[derive(Debug, Default)]
pub(super) struct TreeSink {
    /// Trees that share a clock and the ids of their blocks.
    batches: VecDeque<Vec<Tree>>,
    pub(super) notes: AgenticNotes,
    pub(super) keep: TreeDetail,
    pub(super) tool_events: Option<u64>,
}

impl TreeSink {
    /// Takes finished trees, of which those that cannot be replayed are left out.
    pub(super) fn give(&mut self, trees: Vec<Tree>) {
        let mut whole = Vec::with_capacity(trees.len());
        for mut tree in trees {
            waits::in_sessions(&mut tree);
            if let Some(what) = waits::fault(&tree) {
                self.leave_out(&tree, what);
                continue;
            }
            let found = waits::gaps(&mut tree);
            self.notes.remark(AgenticRemark::Overlapping, found.overlapping);
            self.notes.remark(AgenticRemark::GapWithResponse, found.with_response);
            self.notes.look_at(&tree);
            whole.push(tree);
        }
        if !whole.is_empty() {
            self.batches.push_back(whole);
        }
    }

    /// Counts a tree that is left out.
    pub(super) fn leave_out(&mut self, tree: &Tree, what: Message) {
        let what = message!("tree {:?}: {what}", "树 {:?}：{what}", tree.name);
        let why = DataError::bad(&tree.at, what, left_out());
        self.notes.leave_tree(tree.turns(), &why);
    }
}

/// What is done about a tree that cannot be used.
pub(super) fn left_out() -> Message {
    message!("the tree is left out", "整棵树不使用")
}

fn builder(format: AgenticFormat) -> Box<dyn TreeBuilder> {
    match format {
        // Generated trees have the form of WEKA's; no record shows them.
        AgenticFormat::Weka | AgenticFormat::Generated => Box::new(weka::WekaTraces),
        AgenticFormat::Mlperf => Box::<mlperf::MlperfConversations>::default(),
        AgenticFormat::Otel => Box::<otel::GenAiSpans>::default(),
        AgenticFormat::Dynamo => Box::<dynamo::DynamoRequests>::default(),
        AgenticFormat::TraceLab | AgenticFormat::TraceLabWorkload => {
            Box::new(tracelab::TraceLabRows::of(format))
        }
        AgenticFormat::ClaudeCode => Box::<claude::ClaudeLogs>::default(),
        AgenticFormat::Codex => Box::<codex::CodexLogs>::default(),
        AgenticFormat::SweAgent => Box::new(swe_agent::SweAgentTrajectories),
        AgenticFormat::AiperfDag => Box::new(aiperf_dag::Branching::default()),
        AgenticFormat::AiperfMultiTurn => Box::new(aiperf::AiperfConversations),
        AgenticFormat::Mooncake => Box::<mooncake::MooncakeRows>::default(),
    }
}

/// A file that is being read.
struct OpenTraceFile {
    format: AgenticFormat,
    looked_at: VecDeque<(At, Value)>,
    raw: Raw,
}

/// Where trees come from.
enum TreeSource {
    File(std::path::PathBuf),
    Memory(String, Vec<u8>),
}

/// The trees of a file or a folder, one after another.
pub struct Trees {
    files: VecDeque<TreeSource>,
    open: Option<OpenTraceFile>,
    builders: BTreeMap<AgenticFormat, Box<dyn TreeBuilder>>,
    out: TreeSink,
    formats: BTreeSet<AgenticFormat>,
    read: u64,
    ready: VecDeque<Tree>,
}

impl Trees {
    /// The trees at a path: of a file, or of all files in a folder.
    pub fn open(path: &Path, keep: TreeDetail) -> Result<Self, DataError> {
        let files = folder::files_at(path)?.into_iter().map(TreeSource::File).collect();
        Ok(Self::of(files, keep))
    }

    /// The trees of a file that is in memory; `name` is used in messages.
    pub fn from_bytes(name: &str, bytes: &[u8], keep: TreeDetail) -> Self {
        Self::of(VecDeque::from([TreeSource::Memory(name.to_owned(), bytes.to_vec())]), keep)
    }

    fn of(files: VecDeque<TreeSource>, keep: TreeDetail) -> Self {
        Self {
            files,
            open: None,
            builders: BTreeMap::new(),
            out: TreeSink { keep, ..TreeSink::default() },
            formats: BTreeSet::new(),
            read: 0,
            ready: VecDeque::new(),
        }
    }

    /// The format of a file, if it is one of agentic traffic. What is wrong with the file shows when it is read.
    pub fn format_of(path: &Path) -> Option<AgenticFormat> {
        look(&TreeSource::File(path.to_path_buf())).ok().map(|open| open.format)
    }

    /// The next trees that share a clock and the ids of their blocks, such as those of one file.
    pub fn next_batch(&mut self) -> Option<Vec<Tree>> {
        loop {
            if let Some(batch) = self.out.batches.pop_front() {
                return Some(batch);
            }
            if self.open.is_some() {
                self.step();
            } else if let Some(file) = self.files.pop_front() {
                match look(&file) {
                    Ok(open) => {
                        self.read += 1;
                        self.formats.insert(open.format);
                        self.open = Some(open);
                    }
                    Err(error) => self.out.notes.leave(LeftOutKind::Files, &error),
                }
            } else {
                let (_, mut builder) = self.builders.pop_first()?;
                builder.end(&mut self.out);
            }
        }
    }

    /// Takes the next record of the open file.
    fn step(&mut self) {
        let Self { open, builders, out, .. } = self;
        let Some(file) = open else { return };
        let builder = builders.entry(file.format).or_insert_with(|| builder(file.format));
        let next = match file.looked_at.pop_front() {
            Some(record) => Some(Ok(record)),
            None => file.raw.next(),
        };
        match next {
            None => {
                builder.end_of_file(out);
                *open = None;
            }
            Some(Ok((at, record))) => {
                if let Err(error) = builder.take(&at, record, out) {
                    out.notes.leave_tree(0, &error);
                }
            }
            Some(Err(error)) => {
                match builder.spoil(&error) {
                    true => out.notes.leave(LeftOutKind::Records, &error),
                    false => out.notes.leave_tree(0, &error),
                }
                if !error.is_skippable() {
                    builder.end_of_file(out);
                    *open = None;
                }
            }
        }
    }

    /// What was left out so far, and what is remarkable.
    pub fn notes(&self) -> &AgenticNotes {
        &self.out.notes
    }

    /// The formats of the files that were read so far.
    pub fn formats(&self) -> &BTreeSet<AgenticFormat> {
        &self.formats
    }

    /// How many files were read so far.
    pub fn files(&self) -> u64 {
        self.read
    }

    /// Records of tools that were read so far, where the format has some.
    pub fn tool_events(&self) -> Option<u64> {
        self.out.tool_events
    }
}

impl Iterator for Trees {
    type Item = Tree;

    fn next(&mut self) -> Option<Tree> {
        if self.ready.is_empty() {
            self.ready = self.next_batch()?.into();
        }
        self.ready.pop_front()
    }
}

/// The format of records, where they are agentic traffic.
pub(crate) fn format_in(raw: Raw) -> Option<AgenticFormat> {
    look_at(raw, GLANCED_AT).ok().map(|open| open.format)
}

fn look(source: &TreeSource) -> Result<OpenTraceFile, DataError> {
    let raw = match source {
        TreeSource::File(path) => Raw::whole(path)?,
        TreeSource::Memory(name, bytes) => Raw::whole_from_bytes(name, bytes)?,
    };
    look_at(raw, LOOKED_AT)
}

/// Reads until the format is known.
fn look_at(mut raw: Raw, most: usize) -> Result<OpenTraceFile, DataError> {
    let mut looked_at = VecDeque::new();
    let mut bad = None;
    while looked_at.len() < most {
        match raw.next() {
            None => break,
            Some(Ok((at, record))) => {
                let format = AgenticFormat::of(&record);
                looked_at.push_back((at, record));
                if let Some(format) = format {
                    return Ok(OpenTraceFile { format, looked_at, raw });
                }
            }
            Some(Err(error)) => {
                let ended = !error.is_skippable();
                bad.get_or_insert(error);
                if ended {
                    break;
                }
            }
        }
    }
    Err(bad.filter(|_| looked_at.is_empty()).unwrap_or_else(|| DataError::Table {
        path: raw.name().clone(),
        what: message!("it is no agentic traffic of a known format", "不是已知格式的 agentic 流量"),
        fix: message!("see the formats in the guide on agentic traffic", "格式见 agentic 流量指南"),
    }))
}
