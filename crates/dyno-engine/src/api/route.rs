//! Routes beside the endpoints that generate: lists of models, versions, what the server is.

use crate::fault::Quirks;

/// A route with an answer that is there at once.
#[derive(Debug)]
pub(crate) struct Route {
    pub(crate) methods: &'static [&'static str],
    pub(crate) path: &'static str,
    /// Whether it wants a key where keys are wanted.
    pub(crate) needs_key: bool,
    /// The answer to a body; none if this engine has no such route.
    pub(crate) answer: fn(&Place<'_>, &[u8]) -> Option<Page>,
}

/// What such answers are made from.
#[derive(Debug)]
pub(crate) struct Place<'a> {
    pub(crate) model: &'a str,
    /// Context length.
    pub(crate) context: u32,
    /// When the server started, in seconds since 1970.
    pub(crate) started: u64,
    /// Whether a `twin` or a `script` decides when tokens are due.
    pub(crate) brain: &'static str,
    /// The name of the twin, or the script itself.
    pub(crate) brain_name: String,
    /// Whether there are cached prefixes that can be cleared.
    pub(crate) has_engine: bool,
    /// Responses under way.
    pub(crate) running: u64,
    /// Every quirk that was asked for, whichever requests it hits.
    pub(crate) quirks: Quirks,
}

/// The answer.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
    pub(crate) kind: &'static str,
    /// Whether cached prefixes are cleared.
    pub(crate) clears_cache: bool,
}

impl Page {
    /// JSON with status 200.
    pub(crate) fn json(body: impl Into<Vec<u8>>) -> Self {
        Self { status: 200, body: body.into(), kind: "application/json", clears_cache: false }
    }

    /// JSON with another status.
    pub(crate) fn error(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self { status, ..Self::json(body) }
    }
}
