//! Recorded sessions of agents and chats: requests that wait for the response before them and add to
//! the conversation. Read from the forms of several tools ([`SessionForm`]), kept as lengths and pauses
//! ([`TraceSessions`]), and replayed as conversations with the server's own responses
//! ([`SessionPrompts`]).

mod build;
mod chat;
mod event;
mod form;
mod profile;
mod prompts;
mod serving_sim;
mod spans;
mod trace_lab;
mod weka;

use std::sync::Arc;

use dyno_model::{Message as Said, Nanos, message};

pub use self::build::Kept;
pub(in crate::trace) use self::form::SessionForm;
pub use self::profile::SessionTraceProfile;
pub use self::prompts::SessionPrompts;

use self::build::{Built, Read, Turn};
use super::options::{TraceLimits, TraceOptions};
use super::read::{Form, Opened};
use super::select::TraceTally;
use super::words::{self, spoken};
use crate::data::{DataError, DataKind, DataSpec, Raw};
use crate::session::{SessionOptions, Think};
use dyno_model::prompt::ChatMessage;

/// Recorded sessions, in the order of their starts where the file has them. Cheap to clone.
#[derive(Debug, Clone)]
pub struct TraceSessions {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    recognised: Said,
    speed: f64,
    block: u32,
    /// When each starts, from the start of the replay; empty where they are started by a load.
    starts: Vec<Nanos>,
    /// Where the turns of each end.
    ends: Vec<u32>,
    turns: Vec<Turn>,
    /// Ids of the first prompt of each, where any have some.
    ids: Vec<Vec<u64>>,
    /// What the user says in each turn, where the file has text.
    said: Vec<Vec<ChatMessage>>,
    tally: TraceTally,
    kept: Option<Kept>,
    with_response: u64,
    think: Option<Think>,
}

/// What recorded sessions consist of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionsOf {
    /// The lengths of requests.
    Lengths,
    /// The text of the user's messages.
    Text,
}

/// How the sessions of a file are started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Starts {
    /// At their recorded times.
    Recorded,
    /// By a load, such as so many users at a time.
    Given,
}

impl TraceSessions {
    /// What a specification names, if that is a file of recorded sessions. What is wrong with a file
    /// shows when it is opened.
    pub fn named_by(spec: &DataSpec) -> Option<SessionsOf> {
        let path = spec.path.as_ref()?;
        if !matches!(spec.kind, None | Some(DataKind::Trace | DataKind::Session)) {
            return None;
        }
        let options = TraceOptions::of(spec).ok()?;
        if options.mapping.session.is_some() {
            return Some(SessionsOf::Lengths);
        }
        let raw = Raw::open(path, options.mapping.is_given()).ok()?;
        match Opened::new(raw, &options.mapping, true).ok()?.form {
            Form::Sessions(form) if form.is_text() => Some(SessionsOf::Text),
            Form::Sessions(_) => Some(SessionsOf::Lengths),
            Form::Requests(_) => None,
        }
    }

    /// Reads the sessions that a specification names and selects the requested part.
    pub fn open(spec: &DataSpec, limits: &TraceLimits, starts: Starts) -> Result<Self, DataError> {
        let options = TraceOptions::of(spec)?;
        let Some(path) = &spec.path else {
            return Err(DataError::no_path());
        };
        Self::of(Raw::open(path, options.mapping.is_given())?, spec, options, limits, starts)
    }

    /// A file that is already in memory; `name` is used in messages.
    pub fn from_bytes(
        name: &str,
        bytes: &[u8],
        spec: &DataSpec,
        limits: &TraceLimits,
        starts: Starts,
    ) -> Result<Self, DataError> {
        let options = TraceOptions::of(spec)?;
        let raw = Raw::from_bytes(name, bytes, options.mapping.is_given())?;
        Self::of(raw, spec, options, limits, starts)
    }

    fn of(
        raw: Raw,
        spec: &DataSpec,
        options: TraceOptions,
        limits: &TraceLimits,
        starts: Starts,
    ) -> Result<Self, DataError> {
        let name = raw.name().clone();
        let compression = super::compressed(&raw);
        let mut opened = Opened::new(raw, &options.mapping, options.skip_bad)?;
        let Form::Sessions(form) = opened.form.clone() else {
            return Err(DataError::NotWhatItSays {
                path: name,
                kind: DataKind::Session,
                found: message!(
                    "holds requests that do not wait for each other",
                    "其中的请求互不等待"
                ),
                fix: message!(
                    "replay it with trace:FILE, or name the field of their sessions with session=",
                    "请用 trace:FILE 回放，或用 session= 指定会话字段"
                ),
            });
        };
        let usual = opened.block.unwrap_or(if form == SessionForm::Weka { 64 } else { 512 });
        let block = options.block.unwrap_or(usual);
        let read = build::read(&mut opened.records, &form, block)?;
        if let (Starts::Recorded, Some(at)) = (starts, &read.without_start) {
            return Err(DataError::Broken {
                at: at.clone(),
                what: message!(
                    "a {} session does not say when it started",
                    "{} 会话没有给出开始时间",
                    form.name()
                ),
                fix: message!(
                    "replay it with session:FILE and --concurrency or --rate",
                    "请用 session:FILE 加 --concurrency 或 --rate 回放"
                ),
            });
        }
        let think = match spec.kind {
            Some(DataKind::Session) => SessionOptions::of_trace(spec)?,
            _ => (None, None),
        };
        Self::selected((name, compression), &form, read, &options, limits, (starts, block, think))
    }

    fn selected(
        (name, compression): (Said, Said),
        form: &SessionForm,
        read: Read,
        options: &TraceOptions,
        limits: &TraceLimits,
        (starts, block, (most, think)): (Starts, u32, (Option<u32>, Option<Think>)),
    ) -> Result<Self, DataError> {
        let Read { mut sessions, skipped, with_response, kept, without_session, doubtful, .. } =
            read;
        let at_times = starts == Starts::Recorded;
        if at_times {
            sessions.sort_by_key(|session| session.start);
        }
        let times = || sessions.iter().filter_map(|session| session.start);
        let first = times().min().unwrap_or(0);
        let span = times().max().unwrap_or(0) - first;
        let (all, requests) = (sessions.len() as u64, turns_of(&sessions));
        let mut inner = Inner {
            recognised: Said::quoted(""),
            speed: options.speed,
            block,
            starts: Vec::new(),
            ends: Vec::new(),
            turns: Vec::new(),
            ids: Vec::new(),
            said: Vec::new(),
            tally: TraceTally {
                read: requests,
                skipped,
                without_session,
                ..TraceTally::of(doubtful)
            },
            kept,
            with_response,
            think,
        };
        let from = options.from.unwrap_or(0);
        for mut session in sessions {
            if let Some(most) = most {
                session.turns.truncate(most as usize);
                session.said.truncate(most as usize);
            }
            let start = session.start.unwrap_or(first) - first;
            let cut = at_times && (start < from || options.to.is_some_and(|to| start >= to));
            if inner.leaves_out(&session, cut, limits) {
                continue;
            }
            if at_times {
                inner.starts.push(options.at_speed(start - from));
            }
            inner.take(session, options);
        }
        if inner.ends.is_empty() {
            let why = super::select::nothing(&inner.tally, span, options, limits);
            return Err(DataError::NothingSelected { name, why });
        }
        let over = match at_times {
            true => message!(" over {}", "，时长 {}", spoken(span)),
            false => Said::quoted(""),
        };
        let cut = options.cut_in_words(inner.ends.len() as u64, all);
        inner.recognised = message!(
            "{name}: {kind}{compression}, {} with {}{over}{cut}",
            "{name}：{kind}{compression}，{}，共 {}{over}{cut}",
            words::sessions(all),
            words::requests(requests),
            kind = form.said()
        );
        Ok(Self { inner: Arc::new(inner) })
    }

    /// What the file was recognised as and what is taken of it, in a line.
    pub fn recognised(&self) -> &Said {
        &self.inner.recognised
    }

    /// How many sessions there are.
    pub fn len(&self) -> u64 {
        self.inner.ends.len() as u64
    }

    /// Whether there are none; a file that was opened has at least one.
    pub fn is_empty(&self) -> bool {
        self.inner.ends.is_empty()
    }

    /// How many requests they have.
    pub fn requests(&self) -> u64 {
        self.inner.turns.len() as u64
    }

    /// How much faster than it was recorded.
    pub fn speed(&self) -> f64 {
        self.inner.speed
    }

    /// When each session starts, in order; nothing where they are started by a load.
    pub fn schedule(&self) -> impl Iterator<Item = Nanos> + '_ {
        self.inner.starts.iter().copied()
    }

    /// Whether the sessions have the text of the user's messages.
    pub fn have_text(&self) -> bool {
        !self.inner.said.is_empty()
    }

    /// How the requests of the file were used.
    pub fn tally(&self) -> TraceTally {
        self.inner.tally
    }

    /// The requests of a session: each with its pause, its input and its output tokens.
    pub fn session(&self, index: u64) -> Option<impl Iterator<Item = (Nanos, u32, u32)> + '_> {
        let turns = self.turns(usize::try_from(index).ok()?)?;
        let mut history = 0_u32;
        Some(turns.iter().map(move |turn| {
            let input = history.saturating_add(turn.added);
            history = input.saturating_add(turn.output.max(1));
            (turn.pause, input, turn.output)
        }))
    }

    fn turns(&self, index: usize) -> Option<&[Turn]> {
        self.inner.turns.get(self.range(index)?)
    }

    fn range(&self, index: usize) -> Option<std::ops::Range<usize>> {
        let end = *self.inner.ends.get(index)? as usize;
        let start = index.checked_sub(1).map_or(0, |before| self.inner.ends[before] as usize);
        Some(start..end)
    }
}

fn turns_of(sessions: &[Built]) -> u64 {
    sessions.iter().map(|session| session.turns.len() as u64).sum()
}

impl Inner {
    /// Whether a session is not taken, which is counted.
    fn leaves_out(&mut self, session: &Built, cut: bool, limits: &TraceLimits) -> bool {
        let requests = session.turns.len() as u64;
        let (mut history, mut longest, mut shortest) = (0_u64, 0_u64, u64::MAX);
        for turn in &session.turns {
            let input = history + u64::from(turn.added);
            history = input + u64::from(turn.output.max(1));
            (longest, shortest) = (longest.max(input), shortest.min(input));
        }
        let tally = &mut self.tally;
        let of = match limits {
            _ if cut => &mut tally.outside,
            TraceLimits { limit: Some(limit), .. } if self.ends.len() as u64 >= *limit => {
                &mut tally.beyond_limit
            }
            TraceLimits { max_input: Some(most), .. } if longest > u64::from(*most) => {
                &mut tally.dropped_long
            }
            TraceLimits { min_input: Some(least), .. } if shortest < u64::from(*least) => {
                &mut tally.dropped_short
            }
            _ => return false,
        };
        *of += requests;
        true
    }

    fn take(&mut self, session: Built, options: &TraceOptions) {
        let Built { turns, ids, said, .. } = session;
        let has_text = !said.is_empty();
        for turn in turns {
            self.tally.without_output += u64::from(turn.output == 0 && !has_text);
            self.turns.push(Turn { pause: options.at_speed(turn.pause), ..turn });
        }
        if !ids.is_empty() {
            self.ids.resize(self.ends.len(), Vec::new());
            self.ids.push(ids);
        }
        self.said.extend(said);
        self.ends.push(self.turns.len() as u32);
    }
}
