//! The fields of a request that the engine knows.

use super::Endpoint;
use crate::api::prompt::Words;
use crate::api::read::{ReadPrompt, ReadTools};
use crate::api::{Refusal, WhyFinished};
use crate::fault::{Quirk, Quirks};
use serde::Deserialize;

/// The relevant fields of a request; others are ignored. The caller chooses what is kept of the
/// prompt.
#[derive(Debug, Deserialize)]
#[serde(bound = "W: Words")]
pub(in crate::api) struct Fields<W> {
    pub(super) model: Option<String>,
    messages: Option<ReadPrompt<W>>,
    prompt: Option<ReadPrompt<W>>,
    tools: Option<ReadTools<W>>,
    max_tokens: Option<u32>,
    max_completion_tokens: Option<u32>,
    pub(super) min_tokens: Option<u32>,
    pub(super) ignore_eos: Option<bool>,
    stream: Option<bool>,
    stream_options: Option<StreamOptions>,
}

/// `stream_options`.
#[derive(Debug, Default, Deserialize)]
struct StreamOptions {
    include_usage: Option<bool>,
    continuous_usage_stats: Option<bool>,
}

impl<W: Words> Fields<W> {
    /// The prompt as this endpoint takes it; the error says which field is missing.
    pub(super) fn take_prompt(&mut self, endpoint: Endpoint) -> Result<W, Refusal> {
        let (field, read) = match endpoint {
            Endpoint::Chat => ("messages", self.take_messages()),
            Endpoint::Completions => ("prompt", self.take_plain()),
        };
        read.ok_or_else(|| Refusal::missing(field))
    }

    /// The prompt as messages with roles, behind the tools.
    pub(in crate::api) fn take_messages(&mut self) -> Option<W> {
        let messages = self.messages.take()?.0;
        Some(self.behind_tools(messages))
    }

    /// These messages behind the tools.
    pub(in crate::api) fn behind_tools(&mut self, messages: W) -> W {
        ReadTools::before(self.tools.take(), messages)
    }

    /// The prompt as it is.
    pub(in crate::api) fn take_plain(&mut self) -> Option<W> {
        self.prompt.take().map(|read| read.0)
    }

    /// The upper bound of the response, by either name.
    pub(super) fn max_tokens(&self) -> Option<u32> {
        self.max_completion_tokens.or(self.max_tokens)
    }

    /// Whether a stream was requested.
    pub(super) fn stream(&self) -> bool {
        self.stream.unwrap_or(false)
    }

    /// Whether a usage chunk was requested.
    pub(super) fn include_usage(&self) -> bool {
        self.stream_options.as_ref().and_then(|o| o.include_usage).unwrap_or(false)
    }

    /// Whether usage in every chunk was requested.
    pub(super) fn continuous_usage(&self) -> bool {
        let asked = self.stream_options.as_ref().and_then(|o| o.continuous_usage_stats);
        self.include_usage() && asked.unwrap_or(false)
    }

    /// Rejects optional fields that some servers reject and others accept.
    pub(super) fn refusal(&self, quirks: Quirks) -> Result<(), Refusal> {
        let unsupported = |field: &str, advice: &str| {
            let message = format!("Unsupported parameter: '{field}' is not supported.{advice}");
            Err(Refusal::new(400, message))
        };
        if quirks.has(Quirk::RefuseIgnoreEos) && self.ignore_eos.is_some() {
            let body = br#"{"detail":"Unexpected fields in the request: {'ignore_eos'}"}"#;
            return Err(Refusal { status: 422, why: WhyFinished::Body(body) });
        }
        if quirks.has(Quirk::RefuseMinTokens) && self.min_tokens.is_some() {
            return unsupported("min_tokens", "");
        }
        if quirks.has(Quirk::RefuseStreamOptions) && self.stream_options.is_some() {
            return unsupported("stream_options", "");
        }
        if quirks.has(Quirk::RefuseMaxTokens) && self.max_tokens.is_some() {
            return unsupported("max_tokens", " Use 'max_completion_tokens' instead.");
        }
        Ok(())
    }
}
