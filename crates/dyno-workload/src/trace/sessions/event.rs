//! A request of a session, as its record tells it.

use crate::data::{At, DataError};
use crate::trace::row::Request;
use dyno_model::prompt::ChatMessage;

/// A request of a session. Times are in nanoseconds, on whatever clock the file has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::trace) struct Event {
    /// Where it is in the file.
    pub(super) at: At,
    /// The session; a request without one is a session by itself.
    pub(super) session: Option<String>,
    /// When it was sent.
    pub(super) start: Option<u64>,
    /// When its response was complete.
    pub(super) end: Option<u64>,
    /// The pause before it, since the response before it.
    pub(super) gap: Option<u64>,
    /// Whether `start` is on a clock that all sessions share.
    pub(super) common_clock: bool,
    pub(super) input: u32,
    pub(super) output: u32,
    /// Ids of the blocks of its prompt.
    pub(super) ids: Vec<u64>,
    /// Tokens at the beginning of its prompt that the request before had as well, where the record
    /// says so.
    pub(super) kept: Option<u32>,
    /// What the user says, where the file has text.
    pub(super) said: Option<Vec<ChatMessage>>,
}

impl Event {
    /// A request whose times are those of all sessions.
    pub(super) fn of(at: &At, request: Request) -> Self {
        let Request { time, gap, end, input, output } = request;
        Self {
            at: at.clone(),
            session: None,
            start: time,
            end,
            gap,
            common_clock: true,
            input,
            output,
            ids: Vec::new(),
            kept: None,
            said: None,
        }
    }
}

/// Why a request cannot be replayed.
#[derive(Debug)]
pub(in crate::trace) struct Refused {
    pub(super) error: DataError,
    /// The session that makes no sense without it, and is left out as a whole.
    pub(super) session: Option<String>,
}

impl From<DataError> for Refused {
    /// The session goes on without it.
    fn from(error: DataError) -> Self {
        Self { error, session: None }
    }
}
