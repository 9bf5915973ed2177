//! What finish reasons mean: every server has its own words for them.

/// What a finish reason means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FinishKind {
    /// The model ended the response by itself: it stopped, or it called a tool.
    Stop,
    /// The requested length, or the end of the context, was reached.
    Length,
    /// The server gave up.
    Failed,
    /// Anything else, such as a content filter.
    Other,
}

impl FinishKind {
    /// The meaning of a finish reason, as the servers name them.
    pub fn of(reason: &str) -> Self {
        match reason {
            "stop" | "eos" | "eos_token" | "end_turn" | "stop_sequence" | "word" | "tool_calls"
            | "tool_use" | "function_call" | "completed" => Self::Stop,
            "length"
            | "max_tokens"
            | "max_output_tokens"
            | "limit"
            | "model_context_window_exceeded" => Self::Length,
            "abort" | "aborted" | "error" | "parse_error" | "cancelled" | "failed" => Self::Failed,
            _ => Self::Other,
        }
    }
}
