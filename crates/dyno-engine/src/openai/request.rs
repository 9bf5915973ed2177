//! The generation request: the fields the engine knows, and how long the answer shall be.

use super::Finish;
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// The fields of a request that matter here; others are ignored.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Ask {
    pub(crate) model: Option<String>,
    messages: Option<Words>,
    prompt: Option<Words>,
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

impl Ask {
    /// Reads a request body; the error says what is wrong and where.
    pub(crate) fn parse(body: &[u8]) -> Result<Self, String> {
        serde_json::from_slice(body).map_err(|error| format!("The request body is wrong: {error}"))
    }

    /// Tokens of the prompt: its words. Absent if there is no prompt.
    pub(crate) fn prompt_tokens(&self, chat: bool) -> Option<u32> {
        let words = if chat { self.messages.as_ref() } else { self.prompt.as_ref() };
        words.map(|words| words.0)
    }

    /// The upper bound of the answer, by either name.
    pub(crate) fn max_tokens(&self) -> Option<u32> {
        self.max_completion_tokens.or(self.max_tokens)
    }

    /// Whether a stream was asked for.
    pub(crate) fn stream(&self) -> bool {
        self.stream.unwrap_or(false)
    }

    /// Whether a usage chunk was asked for.
    pub(crate) fn include_usage(&self) -> bool {
        self.stream_options.as_ref().and_then(|o| o.include_usage).unwrap_or(false)
    }

    /// Whether usage in every chunk was asked for.
    pub(crate) fn continuous_usage(&self) -> bool {
        let asked = self.stream_options.as_ref().and_then(|o| o.continuous_usage_stats);
        self.include_usage() && asked.unwrap_or(false)
    }

    /// How many tokens the answer has, and why it ends there, for a model that would stop by
    /// itself after `natural` tokens.
    pub(crate) fn length(&self, natural: u32) -> (u32, Finish) {
        let least = self.min_tokens.unwrap_or(0);
        let natural = natural.max(least);
        match self.max_tokens() {
            Some(max) if self.ignore_eos == Some(true) || natural > max || least >= max => {
                (max, Finish::Length)
            }
            _ => (natural, Finish::Stop),
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
        let wanted = max.unwrap_or(0).max(self.min_tokens.unwrap_or(0));
        (u64::from(prompt_tokens) + u64::from(wanted) > u64::from(context)).then(|| {
            format!(
                "This model's maximum context length is {context} tokens. However, you requested \
                 {wanted} output tokens and your prompt contains {prompt_tokens} input tokens."
            )
        })
    }
}

/// Counts the words of a prompt while it is read, and keeps nothing of it: strings by their
/// words, token ids one each, lists by their sum, messages and parts by `content` and `text`.
#[derive(Debug, Default)]
struct Words(u32);

impl<'de> Deserialize<'de> for Words {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(WordCounter).map(Words)
    }
}

struct WordCounter;

impl<'de> Visitor<'de> for WordCounter {
    type Value = u32;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("text, token ids or messages")
    }

    fn visit_str<E>(self, text: &str) -> Result<u32, E> {
        Ok(u32::try_from(text.split_whitespace().count()).unwrap_or(u32::MAX))
    }

    fn visit_u64<E>(self, _token: u64) -> Result<u32, E> {
        Ok(1)
    }

    fn visit_unit<E>(self) -> Result<u32, E> {
        Ok(0)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<u32, A::Error> {
        let mut sum = 0_u32;
        while let Some(Words(n)) = items.next_element()? {
            sum = sum.saturating_add(n);
        }
        Ok(sum)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<u32, A::Error> {
        let mut sum = 0_u32;
        while let Some(key) = fields.next_key::<std::borrow::Cow<'de, str>>()? {
            if key == "content" || key == "text" {
                sum = sum.saturating_add(fields.next_value::<Words>()?.0);
            } else {
                fields.next_value::<IgnoredAny>()?;
            }
        }
        Ok(sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(json: &str) -> Ask {
        Ask::parse(json.as_bytes()).unwrap()
    }

    #[test]
    fn words_are_counted_in_every_form_of_prompt() {
        let chat = r#"{"messages":[{"role":"system","content":"be  brief"},
            {"role":"user","content":[{"type":"text","text":"a b c"},{"type":"image_url","image_url":{"url":"x y"}}]},
            {"role":"assistant","content":null}]}"#;
        assert_eq!(ask(chat).prompt_tokens(true), Some(5));
        assert_eq!(ask(r#"{"prompt":" one two\nthree "}"#).prompt_tokens(false), Some(3));
        assert_eq!(ask(r#"{"prompt":["one two","three"]}"#).prompt_tokens(false), Some(3));
        assert_eq!(ask(r#"{"prompt":[[5,6],[7]]}"#).prompt_tokens(false), Some(3));
        assert_eq!(ask(r#"{"prompt":"x"}"#).prompt_tokens(true), None);
    }

    #[test]
    fn the_length_of_an_answer() {
        let length = |json: &str| ask(json).length(128);
        assert_eq!(length("{}"), (128, Finish::Stop));
        assert_eq!(length(r#"{"max_tokens":500}"#), (128, Finish::Stop));
        assert_eq!(length(r#"{"max_tokens":50}"#), (50, Finish::Length));
        assert_eq!(length(r#"{"max_completion_tokens":50}"#), (50, Finish::Length));
        assert_eq!(length(r#"{"max_tokens":500,"ignore_eos":true}"#), (500, Finish::Length));
        assert_eq!(length(r#"{"max_tokens":500,"min_tokens":500}"#), (500, Finish::Length));
        assert_eq!(length(r#"{"min_tokens":300}"#), (300, Finish::Stop));
        assert_eq!(length(r#"{"max_tokens":128,"ignore_eos":false}"#), (128, Finish::Stop));
    }

    #[test]
    fn wrong_numbers_are_complained_about() {
        let complaint = |json: &str| ask(json).complaint(100, 10);
        assert_eq!(complaint(r#"{"max_tokens":90}"#), None);
        assert!(complaint(r#"{"max_tokens":91}"#).unwrap().contains("context length is 100"));
        assert!(complaint(r#"{"max_tokens":0}"#).unwrap().contains("at least 1"));
        assert!(complaint(r#"{"max_tokens":5,"min_tokens":6}"#).unwrap().contains("at most"));
        assert!(Ask::parse(b"{\"max_tokens\":\"x\"}").unwrap_err().contains("line 1"));
    }
}
