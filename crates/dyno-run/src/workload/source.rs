//! Where the prompts of a plan come from.

use crate::api::has_messages;
use dyno_model::plan::{DataPlan, Plan};
use dyno_workload::data::{
    Checked, DataError, DataSet, DataSpec, Kind, Order, Outside, Selection, SpecError,
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
    Set(Box<DataSet>, Selection),
    /// Synthetic conversations.
    Made(SessionOptions),
    /// The conversations of a file, replayed with the server's own responses.
    Led(Box<Led>),
    /// A recorded trace.
    Trace(Trace),
    /// Recorded sessions, replayed with the server's own responses.
    Sessions(TraceSessions),
}

/// Recorded conversations and how they are replayed.
#[derive(Clone)]
pub(super) struct Led {
    pub(super) set: DataSet,
    pub(super) selection: Selection,
    pub(super) options: SessionOptions,
}

impl Source {
    pub(super) fn open(plan: &Plan, elsewhere: Option<&Path>) -> Result<Self, String> {
        let (data, chat, seed) = (&plan.data, has_messages(plan), plan.seed);
        let mut spec: DataSpec = match &data.spec {
            None => return Ok(Self::Random(random_options(None, data, chat)?)),
            Some(text) => text.parse().map_err(|error: SpecError| error.to_string())?,
        };
        if let Some(path) = elsewhere.filter(|_| spec.path.is_some()) {
            spec.path = Some(path.to_owned());
        }
        spec.texts = !plan.request.task.generates();
        if spec.path.is_some() && TraceSessions::named_by(&spec).is_some() {
            let starts = match spec.kind {
                Some(Kind::Session) => Starts::Given,
                _ => Starts::Recorded,
            };
            let sessions = TraceSessions::open(&spec, &limits(data), starts);
            return sessions.map(Self::Sessions).map_err(|error| error.to_string());
        }
        match spec.kind {
            Some(Kind::Random) => Ok(Self::Random(random_options(Some(&spec), data, chat)?)),
            Some(Kind::Trace) => {
                Trace::open(&spec, &limits(data)).map(Self::Trace).map_err(|e| e.to_string())
            }
            Some(Kind::Session) => {
                let options = SessionOptions::new(&spec).map_err(|error| error.to_string())?;
                if spec.path.is_none() {
                    return Ok(Self::Made(options));
                }
                let set = DataSet::new(&spec).map_err(|error| error.to_string())?;
                let selection = selection(data, seed);
                Ok(Self::Led(Box::new(Led { set, selection, options })))
            }
            _ => {
                let set = DataSet::new(&spec).map_err(|error| error.to_string())?;
                Ok(Self::Set(Box::new(set), selection(data, seed)))
            }
        }
    }

    /// Whether the data are conversations, whose turns depend on the responses.
    pub(super) fn is_session(&self) -> bool {
        matches!(self, Self::Made(_) | Self::Led(_) | Self::Sessions(_))
    }

    /// Which records of a file are taken.
    pub(super) fn selection(&self) -> Option<&Selection> {
        match self {
            Self::Set(_, selection) => Some(selection),
            Self::Led(led) => Some(&led.selection),
            Self::Random(_) | Self::Made(_) | Self::Trace(_) | Self::Sessions(_) => None,
        }
    }

    /// Checks a data file. Traces are read whole when they are opened.
    pub(super) fn check(&self) -> Result<Option<Checked>, DataError> {
        let (set, selection) = match self {
            Self::Set(set, selection) => (&**set, selection),
            Self::Led(led) => (&led.set, &led.selection),
            Self::Random(_) | Self::Made(_) | Self::Trace(_) | Self::Sessions(_) => {
                return Ok(None);
            }
        };
        // A shuffle reads ahead, and bounds leave records out: more are read than are taken.
        let bounded = selection.min_input.is_some() || selection.max_input.is_some();
        set.check(selection.limit.filter(|_| selection.order == Order::File && !bounded))
    }

    /// What the user of a data file should know before anything is sent.
    pub(super) fn warnings(&self) -> Vec<String> {
        let said =
            |set: &DataSet| set.recognised().warnings().iter().map(ToString::to_string).collect();
        match self {
            Self::Set(set, _) => said(set),
            Self::Led(led) => said(&led.set),
            Self::Random(_) | Self::Made(_) | Self::Trace(_) | Self::Sessions(_) => Vec::new(),
        }
    }

    /// What a data file was recognised as, in one line.
    pub(super) fn recognised(&self) -> Option<String> {
        match self {
            Self::Random(_) | Self::Made(_) => None,
            Self::Set(set, _) => Some(set.recognised().to_string()),
            Self::Led(led) => Some(led.set.recognised().to_string()),
            Self::Trace(trace) => Some(trace.recognised().to_string()),
            Self::Sessions(sessions) => Some(sessions.recognised().to_string()),
        }
    }
}

/// Why conversations are not cut.
pub const NOT_TRUNCATED: &str = "a conversation is replayed whole or not at all; leave it out";

/// Which records of a data set a plan takes.
pub fn selection(data: &DataPlan, seed: u64) -> Selection {
    Selection {
        order: if data.shuffle { Order::Shuffle } else { Order::File },
        seed,
        min_input: data.min_input_tokens,
        max_input: data.max_input_tokens,
        outside: if data.truncate { Outside::Truncate } else { Outside::Drop },
        limit: data.limit,
        repeat: true,
        unique_prefix: data.unique_prefix,
        ..Selection::default()
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
) -> Result<RandomOptions, String> {
    let mut options = RandomOptions { chat, unique: data.unique_prefix, ..Default::default() };
    if data.cache_hit.is_some() {
        (options.shared, options.groups) = (data.cache_hit, DataPlan::CACHE_GROUPS);
    }
    if let Some(spec) = spec {
        if spec.path.is_some() {
            return Err("random prompts are not read from a file; leave the path out".to_owned());
        }
        let shared = spec.only(&["prefix", "groups"]).and_then(|()| shared_prefix(spec));
        let (prefix, groups) = shared.map_err(|error| error.to_string())?;
        options.prefix = prefix;
        if data.cache_hit.is_none() || spec.option("groups").is_some() {
            options.groups = groups;
        }
    }
    Ok(options)
}
