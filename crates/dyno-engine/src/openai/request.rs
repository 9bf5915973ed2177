//! The generation request: the fields the engine knows, and how long the response is.

use super::prompt::{Counted, Read, Words};
use super::{Endpoint, Finish};
use serde::Deserialize;

/// The relevant fields of a request; others are ignored. The caller chooses what is kept of the
/// prompt.
#[derive(Debug, Deserialize)]
#[serde(bound = "W: Words")]
pub(crate) struct Ask<W = Counted> {
    pub(crate) model: Option<String>,
    messages: Option<Read<W>>,
    prompt: Option<Read<W>>,
    pub(crate) max_tokens: Option<u32>,
    max_completion_tokens: Option<u32>,
    pub(crate) min_tokens: Option<u32>,
    pub(crate) ignore_eos: Option<bool>,
    stream: Option<bool>,
    pub(crate) stream_options: Option<StreamOptions>,
}

/// `stream_options`.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct StreamOptions {
    include_usage: Option<bool>,
    continuous_usage_stats: Option<bool>,
}

impl<W: Words> Ask<W> {
    /// Reads a request body; the error says what is wrong and where.
    pub(crate) fn parse(body: &[u8]) -> Result<Self, String> {
        serde_json::from_slice(body)
            .map_err(|error| format!("The request body is invalid: {error}"))
    }

    /// The prompt as this endpoint takes it; the error says which field is missing.
    pub(crate) fn prompt(&self, endpoint: Endpoint) -> Result<&W, String> {
        let (field, read) = match endpoint {
            Endpoint::Chat => ("messages", &self.messages),
            Endpoint::Completions => ("prompt", &self.prompt),
        };
        let missing = || format!("The field `{field}` is required.");
        read.as_ref().map(|read| &read.0).ok_or_else(missing)
    }

    /// The upper bound of the response, by either name.
    pub(crate) fn max_tokens(&self) -> Option<u32> {
        self.max_completion_tokens.or(self.max_tokens)
    }

    /// Whether a stream was requested.
    pub(crate) fn stream(&self) -> bool {
        self.stream.unwrap_or(false)
    }

    /// Whether a usage chunk was requested.
    pub(crate) fn include_usage(&self) -> bool {
        self.stream_options.as_ref().and_then(|o| o.include_usage).unwrap_or(false)
    }

    /// Whether usage in every chunk was requested.
    pub(crate) fn continuous_usage(&self) -> bool {
        let asked = self.stream_options.as_ref().and_then(|o| o.continuous_usage_stats);
        self.include_usage() && asked.unwrap_or(false)
    }

    /// How many tokens the response has, and why it ends there, for a model that would stop by
    /// itself after `natural` tokens and has room for `room`.
    pub(crate) fn length(&self, natural: u32, room: u32) -> (u32, Finish) {
        let least = self.min_tokens.unwrap_or(0);
        let natural = natural.max(least);
        let max = self.max_tokens().unwrap_or(room).min(room);
        let endless = self.ignore_eos == Some(true) && self.max_tokens().is_some();
        match endless || natural > max || least >= max {
            true => (max, Finish::Length),
            false => (natural, Finish::Stop),
        }
    }

    /// What is wrong with the numbers, if anything.
    pub(crate) fn complaint(&self, context: u32, prompt_tokens: u32) -> Option<String> {
        let max = self.max_tokens();
        if max == Some(0) {
            return Some("max_tokens must be at least 1, got 0.".to_owned());
        }
        if let (Some(min), Some(max)) = (self.min_tokens, max)
            && min > max
        {
            return Some(format!("min_tokens must be at most max_tokens={max}, got {min}."));
        }
        let wanted = max.unwrap_or(1).max(self.min_tokens.unwrap_or(1));
        (u64::from(prompt_tokens) + u64::from(wanted) > u64::from(context)).then(|| {
            format!(
                "This model's maximum context length is {context} tokens. However, you requested \
                 {wanted} output tokens and your prompt contains {prompt_tokens} input tokens."
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(json: &str) -> Ask {
        Ask::parse(json.as_bytes()).unwrap()
    }

    #[test]
    fn the_length_of_an_answer() {
        let length = |json: &str| ask(json).length(128, 1_000);
        assert_eq!(length("{}"), (128, Finish::Stop));
        assert_eq!(length(r#"{"max_tokens":500}"#), (128, Finish::Stop));
        assert_eq!(length(r#"{"max_tokens":50}"#), (50, Finish::Length));
        assert_eq!(length(r#"{"max_completion_tokens":50}"#), (50, Finish::Length));
        assert_eq!(length(r#"{"max_tokens":500,"ignore_eos":true}"#), (500, Finish::Length));
        assert_eq!(length(r#"{"max_tokens":500,"min_tokens":500}"#), (500, Finish::Length));
        assert_eq!(length(r#"{"min_tokens":300}"#), (300, Finish::Stop));
        assert_eq!(length(r#"{"max_tokens":128,"ignore_eos":false}"#), (128, Finish::Stop));
        assert_eq!(ask("{}").length(128, 100), (100, Finish::Length));
        assert_eq!(ask(r#"{"min_tokens":90}"#).length(128, 128), (128, Finish::Stop));
    }

    #[test]
    fn wrong_numbers_are_complained_about() {
        let complaint = |json: &str| ask(json).complaint(100, 10);
        assert_eq!(complaint(r#"{"max_tokens":90}"#), None);
        assert!(complaint(r#"{"max_tokens":91}"#).unwrap().contains("context length is 100"));
        assert_eq!(ask("{}").complaint(11, 10), None);
        assert!(ask("{}").complaint(10, 10).unwrap().contains("requested 1 output tokens"));
        assert!(complaint(r#"{"max_tokens":0}"#).unwrap().contains("at least 1"));
        assert!(complaint(r#"{"max_tokens":5,"min_tokens":6}"#).unwrap().contains("at most"));
        assert!(Ask::<Counted>::parse(b"{\"max_tokens\":\"x\"}").unwrap_err().contains("line 1"));
    }
}
