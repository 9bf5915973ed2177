//! Request and response bodies of the OpenAI API. No sockets here.

pub(crate) mod answer;
pub(crate) mod chunk;
pub(crate) mod direct;
pub(crate) mod prompt;
pub(crate) mod request;
mod words;

/// Why a response ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Finish {
    /// The model stopped by itself.
    Stop,
    /// `max_tokens` was reached.
    Length,
    /// The model called a tool.
    ToolCalls,
}

impl Finish {
    /// Its name in `finish_reason`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Stop => "stop",
            Self::Length => "length",
            Self::ToolCalls => "tool_calls",
        }
    }
}

/// Which of the two generation endpoints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Endpoint {
    /// `/v1/chat/completions`
    Chat,
    /// `/v1/completions`
    Completions,
}
