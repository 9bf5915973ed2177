//! Where the prompts of a plan come from.

use crate::api::has_messages;
use dyno_model::plan::{DataPlan, Plan};
use dyno_model::{Message, message};
use dyno_workload::agentic::{AgenticLoad, TreeSelection};
use dyno_workload::data::{
    CheckedData, DataError, DataKind, DataOrder, DataSet, DataSpec, Outside, PromptSelection,
};
use dyno_workload::random::{RandomOptions, shared_prefix};
use dyno_workload::session::SessionOptions;
use dyno_workload::trace::{Starts, Trace, TraceLimits, TraceSessions};
use std::path::Path;

/// The data of a run.
#[derive(Clone)]
pub(super) enum Source {
    /// Random prompts.
    Random(RandomOptions),
    /// The prompts of a file.
    Set(Box<DataSet>, PromptSelection),
    /// Synthetic conversations.
    Made(SessionOptions),
    /// The conversations of a file, replayed with the server's own responses.
    Led(Box<ReplayedConversations>),
    /// A recorded trace.
    Trace(Trace),
    /// Recorded sessions, replayed with the server's own responses.
    Sessions(TraceSessions),
    /// Trees of sessions, as coding agents send them.
    Trees(Box<AgenticLoad>),
}

/// Recorded conversations and how they are replayed.
#[derive(Clone)]
pub(super) struct ReplayedConversations {
    pub(super) set: DataSet,
    pub(super) selection: PromptSelection,
    pub(super) options: SessionOptions,
}

impl Source {
    pub(super) fn open(plan: &Plan, elsewhere: Option<&Path>) -> Result<Self, Message> {
        let (data, chat, seed) = (&plan.data, has_messages(plan), plan.seed);
        let mut spec: DataSpec = match &data.spec {
            None => return Ok(Self::Random(random_options(None, data, chat)?)),
            Some(text) => text.parse()?,
        };
        if let Some(path) = elsewhere.filter(|_| spec.path.is_some()) {
            spec.path = Some(path.to_owned());
        }
        spec.texts = !plan.request.task.generates();
        if AgenticLoad::named_by(&spec) {
            let selection = TreeSelection {
                limit: data.limit,
                min_input: data.min_input_tokens,
                max_input: data.max_input_tokens,
            };
            let load = AgenticLoad::of(&spec, selection).map_err(Message::of)?;
            return Ok(Self::Trees(Box::new(load)));
        }
        if spec.path.is_some() && TraceSessions::named_by(&spec).is_some() {
            let starts = match spec.kind {
                Some(DataKind::Session) => Starts::Given,
                _ => Starts::Recorded,
            };
            let sessions = TraceSessions::open(&spec, &limits(data), starts);
            return sessions.map(Self::Sessions).map_err(Message::of);
        }
        match spec.kind {
            Some(DataKind::Random) => Ok(Self::Random(random_options(Some(&spec), data, chat)?)),
            Some(DataKind::Trace) => {
                let trace = Trace::open(&spec, &limits(data)).map(Self::Trace);
                trace.map_err(Message::of)
            }
            Some(DataKind::Session) => {
                let options = SessionOptions::new(&spec).map_err(Message::of)?;
                if spec.path.is_none() {
                    return Ok(Self::Made(options));
                }
                let set = DataSet::new(&spec).map_err(Message::of)?;
                let selection = selection(data, seed);
                Ok(Self::Led(Box::new(ReplayedConversations { set, selection, options })))
            }
            _ => {
                let set = DataSet::new(&spec).map_err(Message::of)?;
                Ok(Self::Set(Box::new(set), selection(data, seed)))
            }
        }
    }

    /// Whether the data are conversations, whose turns depend on the responses.
    pub(super) fn is_session(&self) -> bool {
        matches!(self, Self::Made(_) | Self::Led(_) | Self::Sessions(_) | Self::Trees(_))
    }

    /// Trees of sessions.
    pub(super) fn trees(&self) -> Option<&AgenticLoad> {
        match self {
            Self::Trees(load) => Some(load),
            _ => None,
        }
    }

    /// Which records of a file are taken.
    pub(super) fn selection(&self) -> Option<&PromptSelection> {
        match self {
            Self::Set(_, selection) => Some(selection),
            Self::Led(led) => Some(&led.selection),
            Self::Random(_)
            | Self::Made(_)
            | Self::Trace(_)
            | Self::Sessions(_)
            | Self::Trees(_) => None,
        }
    }

    /// Checks a data file. Traces are read whole when they are opened.
    pub(super) fn check(&self) -> Result<Option<CheckedData>, DataError> {
        let (set, selection) = match self {
            Self::Set(set, selection) => (&**set, selection),
            Self::Led(led) => (&led.set, &led.selection),
            Self::Random(_)
            | Self::Made(_)
            | Self::Trace(_)
            | Self::Sessions(_)
            | Self::Trees(_) => return Ok(None),
        };
        // A shuffle reads ahead, and bounds leave records out: more are read than are taken.
        let bounded = selection.min_input.is_some() || selection.max_input.is_some();
        set.check(selection.limit.filter(|_| selection.order == DataOrder::File && !bounded))
    }

    /// What the user of a data file should know before anything is sent.
    pub(super) fn warnings(&self) -> Vec<Message> {
        let warnings = match self {
            Self::Set(set, _) => set.recognised().warnings(),
            Self::Led(led) => led.set.recognised().warnings(),
            Self::Random(_)
            | Self::Made(_)
            | Self::Trace(_)
            | Self::Sessions(_)
            | Self::Trees(_) => Vec::new(),
        };
        warnings.iter().map(Message::of).collect()
    }

    /// What a data file was recognised as, in one line.
    pub(super) fn recognised(&self) -> Option<Message> {
        match self {
            Self::Random(_) | Self::Made(_) => None,
            Self::Set(set, _) => Some(Message::of(set.recognised())),
            Self::Led(led) => Some(Message::of(led.set.recognised())),
            Self::Trace(trace) => Some(Message::of(trace.recognised())),
            Self::Sessions(sessions) => Some(Message::of(sessions.recognised())),
            Self::Trees(load) => Some(load.recognised()),
        }
    }
}

/// Why conversations are not cut.
pub fn not_truncated() -> Message {
    message!(
        "a conversation is replayed whole or not at all; leave it out",
        "会话只能完整重放；请去掉",
    )
}

/// Which records of a data set a plan takes.
pub fn selection(data: &DataPlan, seed: u64) -> PromptSelection {
    PromptSelection {
        order: if data.shuffle { DataOrder::Shuffle } else { DataOrder::File },
        seed,
        min_input: data.min_input_tokens,
        max_input: data.max_input_tokens,
        outside: if data.truncate { Outside::Truncate } else { Outside::Drop },
        limit: data.limit,
        repeat: true,
        unique_prefix: data.unique_prefix,
        ..PromptSelection::default()
    }
}

/// Which requests of a trace a plan takes.
pub fn limits(data: &DataPlan) -> TraceLimits {
    TraceLimits {
        limit: data.limit,
        min_input: data.min_input_tokens,
        max_input: data.max_input_tokens,
        truncate: data.truncate,
    }
}

fn random_options(
    spec: Option<&DataSpec>,
    data: &DataPlan,
    chat: bool,
) -> Result<RandomOptions, Message> {
    let mut options = RandomOptions { chat, unique: data.unique_prefix, ..Default::default() };
    if data.cache_hit.is_some() {
        (options.shared, options.groups) = (data.cache_hit, DataPlan::CACHE_GROUPS);
    }
    if let Some(spec) = spec {
        if spec.path.is_some() {
            return Err(message!(
                "random prompts are not read from a file; leave the path out",
                "随机提示词不从文件读取；请去掉路径",
            ));
        }
        let shared = spec.only(&["prefix", "groups"]).and_then(|()| shared_prefix(spec));
        let (prefix, groups) = shared.map_err(Message::of)?;
        options.prefix = prefix;
        if data.cache_hit.is_none() || spec.option("groups").is_some() {
            options.groups = groups;
        }
    }
    Ok(options)
}
