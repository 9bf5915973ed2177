//! Routes beside the endpoints that generate: lists of models, versions, what the server is.

use crate::fault::Quirks;

/// A route with an answer that is there at once.
#[derive(Debug)]
pub struct Route {
    /// The methods it takes.
    pub methods: &'static [&'static str],
    /// Where it is.
    pub path: &'static str,
    /// Whether it wants a key where keys are wanted.
    pub needs_key: bool,
    /// The answer to a body; none if this engine has no such route.
    pub answer: fn(&RoutePlace<'_>, &[u8]) -> Option<ServedPage>,
}

/// What such answers are made from.
#[derive(Debug)]
pub struct RoutePlace<'a> {
    /// The served model.
    pub model: &'a str,
    /// Context length.
    pub context: u32,
    /// When the server started, in seconds since 1970.
    pub started: u64,
    /// Whether a `twin` or a `script` decides when tokens are due.
    pub brain: &'static str,
    /// The name of the twin, or the script itself.
    pub brain_name: String,
    /// Whether there are cached prefixes that can be cleared.
    pub has_engine: bool,
    /// Responses under way.
    pub running: u64,
    /// Every quirk that was asked for, whichever requests it hits.
    pub quirks: Quirks,
}

/// The answer.
#[derive(Debug)]
pub struct ServedPage {
    /// The status.
    pub status: u16,
    /// The body.
    pub body: Vec<u8>,
    /// The type of the body.
    pub kind: &'static str,
    /// Whether cached prefixes are cleared.
    pub clears_cache: bool,
}

impl ServedPage {
    /// JSON with status 200.
    pub fn json(body: impl Into<Vec<u8>>) -> Self {
        Self { status: 200, body: body.into(), kind: "application/json", clears_cache: false }
    }

    /// JSON with another status.
    pub fn error(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self { status, ..Self::json(body) }
    }
}
