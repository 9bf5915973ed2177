//! The chunks of a streamed response as JSON. The constant parts are rendered once per stream, so
//! that a chunk costs a few copies.

use super::words::{accented, mix, word};
use super::{Endpoint, Finish};
use crate::fault::{Quirk, Quirks};
use std::io::Write;

const BIG: usize = 200_000;

/// Everything about a response that its chunks need.
#[derive(Debug)]
pub(crate) struct ChunkWriter {
    head: Box<[u8]>,
    endpoint: Endpoint,
    quirks: Quirks,
    salt: u64,
    half: u32,
    prompt_tokens: u32,
    /// Cached prompt tokens, if they are reported.
    cached: Option<u32>,
}

/// What a [`ChunkWriter`] is made from.
pub(crate) struct ChunkParts<'a> {
    pub(crate) endpoint: Endpoint,
    pub(crate) quirks: Quirks,
    /// Seeds the words and the id of this response.
    pub(crate) salt: u64,
    /// Seconds since 1970.
    pub(crate) created: u64,
    /// The model's name as a JSON string, quotes included.
    pub(crate) model_json: &'a str,
    pub(crate) prompt_tokens: u32,
    /// Tokens the response is going to have.
    pub(crate) tokens: u32,
    /// Whether to reserve space for the number of cached tokens: in a response sent as a whole.
    pub(crate) tells_cached: bool,
}

impl ChunkWriter {
    /// Renders the parts that do not change.
    pub(crate) fn new(parts: &ChunkParts<'_>) -> Self {
        let object = match parts.endpoint {
            Endpoint::Chat => "chat.completion.chunk",
            Endpoint::Completions => "text_completion",
        };
        let head = format!(
            "{{\"id\":\"{}\",\"object\":\"{object}\",\"created\":{},\"model\":{},\"choices\":[",
            answer_id(parts.endpoint, parts.salt),
            parts.created,
            parts.model_json
        );
        Self {
            head: head.into_bytes().into(),
            endpoint: parts.endpoint,
            quirks: parts.quirks,
            salt: parts.salt,
            half: parts.tokens / 2,
            prompt_tokens: parts.prompt_tokens,
            cached: None,
        }
    }

    /// From now on, usage reports this many cached prompt tokens.
    pub(crate) fn report_cached(&mut self, tokens: u32) {
        self.cached = Some(tokens);
    }

    /// The chunk of token `k`.
    pub(crate) fn token(&self, out: &mut Vec<u8>, k: u32, end: Option<Finish>, usage: Option<u32>) {
        out.extend_from_slice(&self.head);
        let (before, after) = self.wrapping(k);
        out.extend_from_slice(before);
        let text = match self.quirks.has(Quirk::Split) {
            true => accented(self.salt, k),
            false => word(self.salt, k),
        };
        out.extend_from_slice(text.as_bytes());
        out.extend_from_slice(after);
        self.close(out, end, usage);
    }

    /// A chunk without text: the role alone, or a finish without a token's text.
    pub(crate) fn textless(&self, out: &mut Vec<u8>, end: Option<Finish>, usage: Option<u32>) {
        out.extend_from_slice(&self.head);
        out.extend_from_slice(match (self.endpoint, end) {
            (Endpoint::Chat, None) => {
                br#"{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"#
            }
            (Endpoint::Chat, Some(_)) => {
                br#"{"index":0,"delta":{"content":""},"logprobs":null,"#.as_slice()
            }
            (Endpoint::Completions, _) => br#"{"index":0,"text":"","logprobs":null,"#,
        });
        self.close(out, end, usage);
    }

    /// The chunk that carries usage alone.
    pub(crate) fn usage(&self, out: &mut Vec<u8>, completion_tokens: u32) {
        out.extend_from_slice(&self.head);
        out.push(b']');
        self.put_usage(out, completion_tokens);
        out.push(b'}');
    }

    /// What stands around the text of token `k`.
    fn wrapping(&self, k: u32) -> (&'static [u8], &'static [u8]) {
        let reasons = k < self.half;
        match self.endpoint {
            Endpoint::Completions => (br#"{"index":0,"text":""#, br#"","logprobs":null,"#),
            Endpoint::Chat if self.quirks.has(Quirk::ToolCalls) => {
                let before: &[u8] = match k {
                    0 => {
                        br#"{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_0","type":"function","function":{"name":"measure","arguments":""#
                    }
                    _ => {
                        br#"{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":""#
                    }
                };
                (before, br#""}}]},"logprobs":null,"#)
            }
            Endpoint::Chat if reasons && self.quirks.has(Quirk::Reasoning) => {
                (br#"{"index":0,"delta":{"reasoning_content":""#, br#""},"logprobs":null,"#)
            }
            Endpoint::Chat if reasons && self.quirks.has(Quirk::ReasoningAlt) => {
                (br#"{"index":0,"delta":{"reasoning":""#, br#""},"logprobs":null,"#)
            }
            Endpoint::Chat => (br#"{"index":0,"delta":{"content":""#, br#""},"logprobs":null,"#),
        }
    }

    fn close(&self, out: &mut Vec<u8>, end: Option<Finish>, usage: Option<u32>) {
        match end {
            None => out.extend_from_slice(br#""finish_reason":null}]"#),
            Some(_) => {
                let name = self.finish_name(end);
                let _ = write!(out, "\"finish_reason\":\"{name}\"}}]");
            }
        }
        if let Some(completion_tokens) = usage {
            self.put_usage(out, completion_tokens);
        }
        if self.quirks.has(Quirk::Big) {
            pad(out);
        }
        out.push(b'}');
    }

    fn finish_name(&self, end: Option<Finish>) -> &'static str {
        let calls = self.endpoint == Endpoint::Chat && self.quirks.has(Quirk::ToolCalls);
        let end = if calls { Some(Finish::ToolCalls) } else { end };
        end.map_or("stop", Finish::name)
    }

    fn put_usage(&self, out: &mut Vec<u8>, completion_tokens: u32) {
        out.push(b',');
        let cached = self.cached.map(Cached::Known);
        put_usage(out, self.prompt_tokens, completion_tokens, cached);
    }

    /// The text of tokens `0..n` in one piece.
    pub(crate) fn text(&self, n: u32) -> String {
        (0..n).map(|k| word(self.salt, k)).collect()
    }
}

/// The identity of a response.
pub(super) fn answer_id(endpoint: Endpoint, salt: u64) -> String {
    let prefix = match endpoint {
        Endpoint::Chat => "chatcmpl",
        Endpoint::Completions => "cmpl",
    };
    format!("{prefix}-{:016x}", mix(salt, u32::MAX))
}

/// Cached prompt tokens.
pub(super) enum Cached {
    /// So many.
    Known(u32),
    /// Filled in later; space is reserved for it.
    Later,
}

/// `"usage":{…}`.
pub(super) fn put_usage(out: &mut Vec<u8>, prompt: u32, completion: u32, cached: Option<Cached>) {
    let total = u64::from(prompt) + u64::from(completion);
    let _ = write!(
        out,
        "\"usage\":{{\"prompt_tokens\":{prompt},\"total_tokens\":{total},\
         \"completion_tokens\":{completion}"
    );
    let _ = match cached {
        Some(Cached::Known(tokens)) => write!(out, ",{CACHED_DETAILS}{tokens}}}"),
        Some(Cached::Later) => write!(out, ",{CACHED_DETAILS}{:>CACHED_WIDTH$}}}", 0),
        None => Ok(()),
    };
    out.push(b'}');
}

const CACHED_DETAILS: &str = "\"prompt_tokens_details\":{\"cached_tokens\":";
/// Digits of the largest count.
const CACHED_WIDTH: usize = 10;

/// Writes the number of cached tokens into the reserved space of a rendered body.
pub(crate) fn put_cached(body: &mut [u8], cached: u32) {
    let details = CACHED_DETAILS.as_bytes();
    let at = body.windows(details.len()).rposition(|bytes| bytes == details);
    let room =
        at.and_then(|at| body.get_mut(at + details.len()..at + details.len() + CACHED_WIDTH));
    if let Some(room) = room {
        room.copy_from_slice(format!("{cached:>CACHED_WIDTH$}").as_bytes());
    }
}

/// Pads an event with a field as large as log probabilities can be.
fn pad(out: &mut Vec<u8>) {
    out.extend_from_slice(br#","prompt_logprobs":[0"#);
    while out.len() < BIG {
        out.extend_from_slice(b",-0.125");
    }
    out.push(b']');
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn writer(endpoint: Endpoint, quirks: &[Quirk]) -> ChunkWriter {
        let mut set = Quirks::default();
        quirks.iter().for_each(|q| set.insert(*q));
        ChunkWriter::new(&ChunkParts {
            endpoint,
            quirks: set,
            salt: 7,
            created: 1_700_000_000,
            model_json: "\"m \\\"x\\\"\"",
            prompt_tokens: 11,
            tokens: 4,
            tells_cached: false,
        })
    }

    fn rendered(render: impl FnOnce(&mut Vec<u8>)) -> Value {
        let mut out = Vec::new();
        render(&mut out);
        serde_json::from_slice(&out).unwrap()
    }

    #[test]
    fn a_chunk_has_the_shape_of_vllm() {
        let mut out = Vec::new();
        writer(Endpoint::Chat, &[]).token(&mut out, 0, None, None);
        let text = String::from_utf8(out).unwrap();
        assert!(text.starts_with("{\"id\":\"chatcmpl-"), "{text}");
        assert!(text.contains(
            "\"object\":\"chat.completion.chunk\",\"created\":1700000000,\"model\":\"m \\\"x\\\"\",\
             \"choices\":[{\"index\":0,\"delta\":{\"content\":\" "
        ));
        assert!(text.ends_with("\"},\"logprobs\":null,\"finish_reason\":null}]}"), "{text}");
    }

    #[test]
    fn usage_and_finish_stand_where_they_should() {
        let chunks = writer(Endpoint::Completions, &[]);
        let last = rendered(|out| chunks.token(out, 3, Some(Finish::Length), Some(4)));
        assert_eq!(last["choices"][0]["finish_reason"], "length");
        assert_eq!(last["usage"]["total_tokens"], 15);
        let usage = rendered(|out| chunks.usage(out, 4));
        assert_eq!(usage["choices"], Value::Array(Vec::new()));
        assert_eq!(usage["usage"]["completion_tokens"], 4);
    }

    #[test]
    fn cached_tokens_are_told_once_they_are_known() {
        let mut chunks = writer(Endpoint::Chat, &[]);
        let cached = |chunks: &ChunkWriter| rendered(|out| chunks.usage(out, 4))["usage"].clone();
        assert!(cached(&chunks)["prompt_tokens_details"].is_null());
        chunks.report_cached(u32::MAX);
        assert_eq!(cached(&chunks)["prompt_tokens_details"]["cached_tokens"], u32::MAX);
        let mut body = b"{".to_vec();
        put_usage(&mut body, 9, 1, Some(Cached::Later));
        body.push(b'}');
        put_cached(&mut body, 8);
        let body: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(body["usage"]["prompt_tokens_details"]["cached_tokens"], 8);
    }

    #[test]
    fn reasoning_and_tool_calls_carry_the_text() {
        let reasoning = writer(Endpoint::Chat, &[Quirk::Reasoning]);
        let delta =
            |k| rendered(|out| reasoning.token(out, k, None, None))["choices"][0]["delta"].clone();
        assert!(delta(1)["reasoning_content"].is_string() && delta(1)["content"].is_null());
        assert!(delta(2)["content"].is_string());
        let calls = writer(Endpoint::Chat, &[Quirk::ToolCalls]);
        for k in [0, 1] {
            let chunk = rendered(|out| calls.token(out, k, Some(Finish::Stop), None));
            let call = &chunk["choices"][0]["delta"]["tool_calls"][0];
            assert!(call["function"]["arguments"].as_str().unwrap().len() > 1);
            assert_eq!(call["function"]["name"].is_string(), k == 0);
            assert_eq!(chunk["choices"][0]["finish_reason"], "tool_calls");
        }
    }

    #[test]
    fn big_events_are_big_and_still_json() {
        let chunks = writer(Endpoint::Chat, &[Quirk::Big, Quirk::Split]);
        let mut out = Vec::new();
        chunks.token(&mut out, 0, None, None);
        assert!(out.len() >= BIG && !out.is_ascii());
        serde_json::from_slice::<Value>(&out).unwrap();
    }
}
