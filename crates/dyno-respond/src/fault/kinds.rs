//! The kinds of faults: failures, which must be recorded under their class, and quirks, which a
//! client must handle without any effect on its measurements.

use dyno_model::outcome::Outcome;

/// A wrong response; the table below says how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the table below says what each does")]
pub enum Failure {
    Http(u16),
    Reset,
    Close,
    Drop,
    ErrorEvent,
    JsonError,
    NotJson,
    BadChunk,
    Garbage,
    Oversize,
    Truncate,
    TruncateEvent,
    Empty,
    Short,
    NoFinishReason,
    Stall,
    StallFirst,
    StallHeaders,
    Drip,
}

/// A correct but unusual response; the table below says how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the table below says what each does")]
pub enum Quirk {
    Crlf,
    Cr,
    NoSpace,
    Comments,
    EventLines,
    Multiline,
    Split,
    Bom,
    Big,
    Coalesce,
    RoleFirst,
    EmptyFinish,
    UsageInFinish,
    NoDone,
    NoUsage,
    Reasoning,
    ReasoningAlt,
    ToolCalls,
    IncrementalOutput,
    BareList,
    CloseDelimited,
    ChunkSplit,
    NoStream,
    RefuseIgnoreEos,
    RefuseMinTokens,
    RefuseStreamOptions,
    RefuseMaxTokens,
    Models500,
    Auth,
    IdleClose,
    IdleCloseRace,
}

/// What a fault does to the requests that it hits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FaultKind {
    /// The request must be recorded as failed.
    Failure(Failure),
    /// The request must complete with correct measurements.
    Quirk(Quirk),
}

/// One kind of fault, for help texts and for tests that try them all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FaultInfo {
    /// What to write after `--fault`.
    pub name: &'static str,
    /// What it does, in one line.
    pub about: &'static str,
    /// Failure or quirk.
    pub(super) kind: FaultKind,
    /// The class that a client should record, or `unconfirmed`; absent where requests should complete.
    pub class: Option<&'static str>,
    /// Whether preflight requests show it too.
    pub in_preflight: bool,
}

const fn failure(
    name: &'static str,
    failure: Failure,
    class: &'static str,
    about: &'static str,
) -> FaultInfo {
    let kind = FaultKind::Failure(failure);
    FaultInfo { name, about, kind, class: Some(class), in_preflight: false }
}

const fn quirk(name: &'static str, quirk: Quirk, about: &'static str) -> FaultInfo {
    FaultInfo { name, about, kind: FaultKind::Quirk(quirk), class: None, in_preflight: false }
}

/// A quirk of the server itself, which a preflight must detect.
const fn trait_of(name: &'static str, q: Quirk, about: &'static str) -> FaultInfo {
    FaultInfo { in_preflight: true, ..quirk(name, q, about) }
}

/// Every kind, failures first.
#[rustfmt::skip] // A table is read by its columns.
pub(super) const KINDS: &[FaultInfo] = &[
    failure("http-500", Failure::Http(500), "http.500", "status 500 with a JSON error (any http-NNN works)"),
    failure("http-503", Failure::Http(503), "http.503", "status 503 with a JSON error"),
    failure("http-429", Failure::Http(429), "http.429", "status 429 with a JSON error"),
    failure("reset", Failure::Reset, "stream.reset", "connection reset after half the tokens"),
    failure("close", Failure::Close, "stream.reset", "connection closed inside the chunked body, after half the tokens"),
    failure("drop", Failure::Drop, "stream.reset", "connection closed before any response byte, every time the same request is sent"),
    failure("error-event", Failure::ErrorEvent, "stream.error", "an error event after half the tokens, inside a 200, then [DONE]"),
    failure("json-error", Failure::JsonError, "stream.error", "status 200 with a JSON error as its body"),
    failure("not-json", Failure::NotJson, "stream.malformed", "one event in the middle is not JSON"),
    failure("bad-chunk", Failure::BadChunk, "stream.malformed", "an invalid HTTP chunk size after half the tokens"),
    failure("garbage", Failure::Garbage, "stream.malformed", "the response is not HTTP"),
    failure("oversize", Failure::Oversize, "stream.malformed", "one event in the middle is larger than 20 MiB"),
    failure("truncate", Failure::Truncate, "stream.truncated", "the body ends cleanly after half the tokens"),
    failure("truncate-event", Failure::TruncateEvent, "stream.truncated", "the body ends cleanly inside an event"),
    failure("empty", Failure::Empty, "stream.empty", "a regular end without any output"),
    failure("short", Failure::Short, "output.short", "a regular end after half the tokens"),
    failure("no-finish-reason", Failure::NoFinishReason, Outcome::UNCONFIRMED, "the terminal event after half the tokens, without a finish reason and without usage"),
    failure("stall", Failure::Stall, "timeout.idle", "silence after half the tokens, connection kept open"),
    failure("stall-first", Failure::StallFirst, "timeout.first_token", "silence instead of a response"),
    failure("stall-headers", Failure::StallHeaders, "timeout.first_token", "silence after the response head"),
    failure("drip", Failure::Drip, "timeout.total", "after the first token only a comment every 100 ms, forever"),
    quirk("crlf", Quirk::Crlf, "lines end with CR LF"),
    quirk("cr", Quirk::Cr, "lines end with CR alone"),
    quirk("nospace", Quirk::NoSpace, "`data:` without a space"),
    quirk("comments", Quirk::Comments, "`: ping` lines between and inside events, and before the first token"),
    quirk("event-lines", Quirk::EventLines, "`event:`, `id:` and `retry:` lines"),
    quirk("multiline", Quirk::Multiline, "the JSON of an event over two `data:` lines"),
    quirk("split", Quirk::Split, "each event in three writes, cut inside a UTF-8 character"),
    quirk("bom", Quirk::Bom, "a byte order mark at the start of the stream"),
    quirk("big", Quirk::Big, "every event 200 KB large"),
    quirk("coalesce", Quirk::Coalesce, "eight events per write"),
    quirk("role-first", Quirk::RoleFirst, "a role-only chunk immediately, before the first token"),
    quirk("empty-finish", Quirk::EmptyFinish, "the last token in a chunk with empty content and the finish reason"),
    quirk("usage-in-finish", Quirk::UsageInFinish, "usage in the finish chunk instead of in its own"),
    quirk("no-done", Quirk::NoDone, "no [DONE]; usage in the finish chunk"),
    trait_of("no-usage", Quirk::NoUsage, "stream_options ignored: no usage in streams"),
    quirk("reasoning", Quirk::Reasoning, "the first half of the tokens as reasoning_content"),
    quirk("reasoning-alt", Quirk::ReasoningAlt, "the first half of the tokens as reasoning"),
    quirk("tool-calls", Quirk::ToolCalls, "the tokens as arguments of a tool call"),
    trait_of("incremental-output", Quirk::IncrementalOutput, "/generate: each frame with its own text instead of all so far"),
    trait_of("bare-list", Quirk::BareList, "/rerank: a bare list of results, as SGLang sends it"),
    quirk("close-delimited", Quirk::CloseDelimited, "no chunked encoding: the body ends with the connection"),
    quirk("chunk-split", Quirk::ChunkSplit, "HTTP chunks that do not match the events"),
    trait_of("no-stream", Quirk::NoStream, "a plain JSON response even if a stream was requested"),
    trait_of("refuse-ignore-eos", Quirk::RefuseIgnoreEos, "status 422 for requests with ignore_eos"),
    trait_of("refuse-min-tokens", Quirk::RefuseMinTokens, "status 400 for requests with min_tokens"),
    trait_of("refuse-stream-options", Quirk::RefuseStreamOptions, "status 400 for requests with stream_options"),
    trait_of("refuse-max-tokens", Quirk::RefuseMaxTokens, "status 400 for requests with max_tokens: use max_completion_tokens"),
    trait_of("models-500", Quirk::Models500, "GET /v1/models returns status 500"),
    FaultInfo { class: Some("http.401"), ..trait_of("auth", Quirk::Auth, "status 401 without `Authorization: Bearer sesame`") },
    quirk("idle-close", Quirk::IdleClose, "connections idle for 300 ms after a response are closed"),
    quirk("idle-close-race", Quirk::IdleCloseRace, "a connection is closed when another request arrives on it"),
];

/// A set of quirks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Quirks(u64);

impl Quirks {
    /// Adds one.
    pub fn insert(&mut self, quirk: Quirk) {
        self.0 |= 1 << quirk as u64;
    }

    /// Whether it is in the set.
    pub fn has(self, quirk: Quirk) -> bool {
        self.0 & (1 << quirk as u64) != 0
    }
}
