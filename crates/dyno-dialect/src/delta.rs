//! What a dialect reads from a frame or a body: everything that is measured of a response, in one
//! form for all APIs.

use dyno_model::Localized;
pub use dyno_model::finish::FinishKind;
use dyno_model::record::ServerTimes;

/// The content of one frame of a stream, or of the body of a response that was not streamed.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Delta {
    /// It carries output: non-empty content, reasoning or tool-call text, or a
    /// result, where the API has none of these.
    pub output: bool,
    /// Some of that output is reasoning.
    pub reasoning: bool,
    /// It has a place for output, which is empty, and says nothing else: a token whose text comes with
    /// a later one, such as the first half of a character.
    pub blank: bool,
    /// The output itself, if it is kept.
    pub text: Option<String>,
    /// The content part of the output, without reasoning and tool calls, if it is kept.
    pub content: Option<String>,
    /// The finish reason, if it has one.
    pub finish: Option<Finish>,
    /// Input tokens, by the server's usage.
    pub input_tokens: Option<u64>,
    /// Input tokens from the prefix cache, by the server's usage.
    pub cached_tokens: Option<u64>,
    /// Output tokens up to and including this frame, by the server's usage.
    pub output_tokens: Option<u64>,
    /// Output tokens up to and including this frame, by the token ids that frames carry.
    pub listed_tokens: Option<u64>,
    /// Output tokens that are reasoning, by the server's usage.
    pub reasoning_tokens: Option<u64>,
    /// Results for the texts of the request, where nothing is generated.
    pub results: Option<u32>,
    /// Numbers in the first vector.
    pub dimensions: Option<u32>,
    /// The server's own times.
    pub times: Option<ServerTimes>,
    /// The error that it reports.
    pub error: Option<ServerError>,
    /// It is the dialect's terminal frame.
    pub terminal: bool,
    /// What its arrival says about the last token.
    pub last: LastToken,
    /// Frames between the previous one and this that never arrived, by their numbers.
    pub lost: u32,
}

/// What the arrival of a frame without output says about the last token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LastToken {
    /// A finish reason comes with the last token.
    #[default]
    WithFinish,
    /// The last token is there, although the frame has no finish reason.
    Now,
    /// The last token came before. The frame repeats the response, so writing it took the server time
    /// that does not belong to the token.
    Before,
}

/// Why the server ended the response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finish {
    /// In the server's words.
    pub reason: String,
    /// What that means.
    pub kind: FinishKind,
}

impl Finish {
    /// A finish reason in the server's words.
    pub fn new(reason: impl Into<String>) -> Self {
        let reason = reason.into();
        let kind = FinishKind::of(&reason);
        Self { reason, kind }
    }
}

/// An error that the server reports inside of a response.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct ServerError {
    /// In the server's words.
    pub message: String,
    /// The server is overloaded: it would have been one of the statuses of [`is_overload_status`].
    pub overloaded: bool,
}

impl ServerError {
    /// An error in the server's words.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), overloaded: false }
    }

    /// An error in the server's words, of which some name its kind or code.
    pub fn of_kind(message: impl Into<String>, kinds: &[&str]) -> Self {
        let overloaded = kinds.iter().any(|kind| OVERLOADED.contains(kind));
        Self { message: message.into(), overloaded }
    }
}

/// Whether a status means that the server has too many requests: too many, unavailable, and
/// Anthropic's overloaded.
pub fn is_overload_status(status: impl Into<u64>) -> bool {
    matches!(status.into(), 429 | 503 | 529)
}

/// How servers name an overload in errors: types, and codes as text.
const OVERLOADED: &[&str] = &[
    "overloaded_error",
    "overloaded",
    "rate_limit_error",
    "rate_limit_exceeded",
    "server_overloaded",
    "slow_down",
    "too_many_requests",
    "Service Unavailable",
    "ServiceUnavailableError",
    "Too Many Requests",
    "RateLimitError",
    "429",
    "503",
    "529",
];

/// A frame or a body does not follow the dialect.
#[derive(Debug, Localized, PartialEq, Eq)]
pub enum Malformed {
    /// It is not JSON, or a value has another type than it should.
    #[message(
        "not a JSON response of this API (at byte {at}): {shown}",
        "不是该 API 的 JSON 响应（第 {at} 字节）：{shown}"
    )]
    NotJson {
        /// Where.
        at: usize,
        /// Its beginning, as of all that follow.
        shown: String,
    },
    /// It has nothing that a response of the API has.
    #[message("not a response of this API: {0}", "不是该 API 的响应：{0}")]
    Other(String),
    /// The API's events have types.
    #[message("an event without its type: {0}", "事件没有类型：{0}")]
    NoType(String),
    /// The API's responses have content.
    #[message("a response without content: {0}", "响应没有内容：{0}")]
    NoContent(String),
    /// The API's responses have an output.
    #[message("a response without output: {0}", "响应没有输出：{0}")]
    NoOutput(String),
    /// The server says that there will be more.
    #[message("the response is not finished: {0}", "响应尚未完成：{0}")]
    NotFinished(String),
}

/// Which text of a response is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Keep {
    /// All output, for the record.
    pub text: bool,
    /// The content, for the next turn of a conversation.
    pub content: bool,
}
