//! The chunks of a streamed response as JSON. The constant parts are rendered once per stream, so
//! that a chunk costs a few copies.

use super::{Endpoint, answer, finish_name};
use crate::api::AnswerFinish;
use crate::api::response::{Chunks, Facts, ResponseStart, ResponseToken};
use crate::api::words::{accented, mix, word};
use crate::fault::{Quirk, Quirks};
use crate::framing::Out;
use dyno_model::Nanos;
use std::io::Write;

/// Where usage is reported in a stream.
#[derive(Debug, Clone, Copy)]
pub(super) struct UsageAsked {
    /// At the end.
    pub(super) at_end: bool,
    /// In every chunk.
    pub(super) in_each: bool,
}

/// Everything about a response that its chunks need.
#[derive(Debug)]
pub(super) struct ChunkWriter {
    head: Box<[u8]>,
    endpoint: Endpoint,
    quirks: Quirks,
    usage: UsageAsked,
    salt: u64,
    prompt_tokens: u32,
    /// Tokens that a whole response has.
    tokens: u32,
    /// Cached prompt tokens, if they are reported.
    cached: Option<u32>,
}

impl Chunks for ChunkWriter {
    fn opens_early(&self) -> bool {
        self.quirks.has(Quirk::RoleFirst)
    }

    fn open(&mut self, out: &mut Out<'_>) {
        if self.quirks.has(Quirk::RoleFirst) {
            out.frame(|out| self.put_textless(out, None, None));
        }
    }

    fn start(&mut self, start: ResponseStart) {
        self.cached = start.cached;
    }

    fn token(&mut self, out: &mut Out<'_>, token: ResponseToken, end: Option<AnswerFinish>) {
        let k = token.k;
        let usage = self.usage_in_chunk(end.is_some()).then_some(k + 1);
        let textless = end.is_some() && k > 0 && self.quirks.has(Quirk::EmptyFinish);
        out.frame(|out| match textless {
            true => self.put_textless(out, end, usage),
            false => self.put_token(out, k, end, usage),
        });
    }

    fn end_without_tokens(&mut self, out: &mut Out<'_>, finish: AnswerFinish, _at: Nanos) {
        let usage = self.usage_in_chunk(true).then_some(self.tokens);
        out.frame(|out| self.put_textless(out, Some(finish), usage));
    }

    fn close(&mut self, out: &mut Out<'_>, _at: Nanos) {
        let elsewhere = self.quirks.has(Quirk::UsageInFinish) || self.quirks.has(Quirk::NoDone);
        if self.usage.at_end && !elsewhere {
            out.frame(|out| self.put_usage_chunk(out));
        }
        if !self.quirks.has(Quirk::NoDone) {
            done(out);
        }
    }

    fn give_up(&mut self, out: &mut Out<'_>) {
        done(out);
    }

    fn fail(&mut self, out: &mut Out<'_>, message: &str) {
        out.frame(|out| out.extend_from_slice(&answer::error(500, message)));
        done(out);
    }
}

fn done(out: &mut Out<'_>) {
    out.last("", |out| out.extend_from_slice(b"[DONE]"));
}

impl ChunkWriter {
    /// Renders the parts that do not change.
    pub(super) fn new(endpoint: Endpoint, usage: UsageAsked, facts: &Facts<'_>) -> Self {
        let object = match endpoint {
            Endpoint::Chat => "chat.completion.chunk",
            Endpoint::Completions => "text_completion",
        };
        let head = format!(
            "{{\"id\":\"{}\",\"object\":\"{object}\",\"created\":{},\"model\":{},\"choices\":[",
            answer_id(endpoint, facts.salt),
            facts.created(),
            facts.model_json
        );
        let told = !facts.quirks.has(Quirk::NoUsage);
        Self {
            head: head.into_bytes().into(),
            endpoint,
            quirks: facts.quirks,
            usage: UsageAsked { at_end: usage.at_end && told, in_each: usage.in_each && told },
            salt: facts.salt,
            prompt_tokens: facts.prompt_tokens,
            tokens: facts.tokens,
            cached: None,
        }
    }

    fn usage_in_chunk(&self, last: bool) -> bool {
        let in_finish = self.usage.at_end && self.quirks.has(Quirk::UsageInFinish);
        let unasked = self.quirks.has(Quirk::NoDone) && !self.quirks.has(Quirk::NoUsage);
        self.usage.in_each || (last && (in_finish || unasked))
    }

    /// The chunk of token `k`.
    fn put_token(&self, out: &mut Vec<u8>, k: u32, end: Option<AnswerFinish>, usage: Option<u32>) {
        out.extend_from_slice(&self.head);
        let (before, after) = self.wrapping(k);
        out.extend_from_slice(before);
        let text = match self.quirks.has(Quirk::Split) {
            true => accented(self.salt, k),
            false => word(self.salt, k),
        };
        out.extend_from_slice(text.as_bytes());
        out.extend_from_slice(after);
        self.put_end(out, end, usage);
    }

    /// A chunk without text: the role alone, or a finish without a token's text.
    fn put_textless(&self, out: &mut Vec<u8>, end: Option<AnswerFinish>, usage: Option<u32>) {
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
        self.put_end(out, end, usage);
    }

    /// The chunk that carries usage alone.
    fn put_usage_chunk(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.head);
        out.push(b']');
        self.put_usage(out, self.tokens);
        out.push(b'}');
    }

    /// Whether the first half of the tokens is reasoning.
    fn reasons(&self) -> bool {
        let quirks = self.quirks.has(Quirk::Reasoning) || self.quirks.has(Quirk::ReasoningAlt);
        self.endpoint == Endpoint::Chat && quirks && !self.quirks.has(Quirk::ToolCalls)
    }

    /// What stands around the text of token `k`.
    fn wrapping(&self, k: u32) -> (&'static [u8], &'static [u8]) {
        let reasons = k < self.tokens / 2;
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

    fn put_end(&self, out: &mut Vec<u8>, end: Option<AnswerFinish>, usage: Option<u32>) {
        match end {
            None => out.extend_from_slice(br#""finish_reason":null}]"#),
            Some(finish) => {
                let calls = self.endpoint == Endpoint::Chat && self.quirks.has(Quirk::ToolCalls);
                let name = if calls { "tool_calls" } else { finish_name(finish) };
                let _ = write!(out, "\"finish_reason\":\"{name}\"}}]");
            }
        }
        if let Some(completion_tokens) = usage {
            self.put_usage(out, completion_tokens);
        }
        out.push(b'}');
    }

    fn put_usage(&self, out: &mut Vec<u8>, completion_tokens: u32) {
        out.push(b',');
        put_usage(out, self.prompt_tokens, completion_tokens);
        if let Some(cached) = self.cached {
            let _ = write!(out, ",\"prompt_tokens_details\":{{\"cached_tokens\":{cached}}}");
        }
        if self.reasons() {
            let tokens = completion_tokens.min(self.tokens / 2);
            let _ = write!(out, ",\"completion_tokens_details\":{{\"reasoning_tokens\":{tokens}}}");
        }
        out.push(b'}');
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

/// `"usage":{…`, without its end.
pub(super) fn put_usage(out: &mut Vec<u8>, prompt: u32, completion: u32) {
    let total = u64::from(prompt) + u64::from(completion);
    let _ = write!(
        out,
        "\"usage\":{{\"prompt_tokens\":{prompt},\"total_tokens\":{total},\
         \"completion_tokens\":{completion}"
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::golden;
    use crate::framing::Frames;
    use serde_json::Value;

    fn writer(endpoint: Endpoint, quirks: &[Quirk]) -> ChunkWriter {
        let usage = UsageAsked { at_end: true, in_each: false };
        ChunkWriter::new(endpoint, usage, &golden::facts(quirks))
    }

    fn rendered(render: impl FnOnce(&mut Vec<u8>)) -> Value {
        let mut out = Vec::new();
        render(&mut out);
        serde_json::from_slice(&out).unwrap()
    }

    #[test]
    fn a_chunk_has_the_shape_of_vllm() {
        let mut out = Vec::new();
        writer(Endpoint::Chat, &[]).put_token(&mut out, 0, None, None);
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
        let last = rendered(|out| chunks.put_token(out, 3, Some(AnswerFinish::Length), Some(4)));
        assert_eq!(last["choices"][0]["finish_reason"], "length");
        assert_eq!(last["usage"]["total_tokens"], 15);
        let usage = rendered(|out| chunks.put_usage_chunk(out));
        assert_eq!(usage["choices"], Value::Array(Vec::new()));
        assert_eq!(usage["usage"]["completion_tokens"], 4);
    }

    #[test]
    fn cached_tokens_are_told_once_they_are_known() {
        let mut chunks = writer(Endpoint::Chat, &[]);
        let cached = |chunks: &ChunkWriter| {
            rendered(|out| chunks.put_usage_chunk(out))["usage"]["prompt_tokens_details"].clone()
        };
        assert!(cached(&chunks).is_null());
        chunks.start(ResponseStart { cached: Some(u32::MAX), queued: 0 });
        assert_eq!(cached(&chunks)["cached_tokens"], u32::MAX);
    }

    #[test]
    fn a_stream_ends_with_usage_and_done() {
        let facts = golden::facts(&[]);
        let mut chunks = writer(Endpoint::Completions, &[]);
        let frame = |rest: &str| {
            format!(
                "data: {{\"id\":\"cmpl-{:016x}\",\"object\":\"text_completion\",\"created\":1700000000,\
                 \"model\":\"m \\\"x\\\"\",\"choices\":[{rest}}}\n\n",
                mix(7, u32::MAX)
            )
        };
        let token = |k, finish: &str| {
            let text = word(7, k);
            frame(&format!(
                "{{\"index\":0,\"text\":\"{text}\",\"logprobs\":null,\"finish_reason\":{finish}}}]"
            ))
        };
        let usage = "\"usage\":{\"prompt_tokens\":11,\"total_tokens\":15,\"completion_tokens\":4}";
        let frames = [
            token(0, "null"),
            token(1, "null"),
            token(2, "null"),
            token(3, "\"length\""),
            frame(&format!("],{usage}")),
            "data: [DONE]\n\n".to_owned(),
        ];
        assert_eq!(golden::streamed(Frames::Data, &mut chunks, &facts), frames.concat());
        let failed = golden::failed(Frames::Data, &mut chunks);
        let error = failed.strip_prefix("data: ").unwrap();
        let error: Value = serde_json::from_str(error.split("\n\n").next().unwrap()).unwrap();
        assert_eq!(error["error"]["message"], "It broke.");
        assert!(failed.ends_with("\n\ndata: [DONE]\n\n"), "{failed}");
    }

    #[test]
    fn reasoning_and_tool_calls_carry_the_text() {
        let reasoning = writer(Endpoint::Chat, &[Quirk::Reasoning]);
        let delta = |k| {
            rendered(|out| reasoning.put_token(out, k, None, None))["choices"][0]["delta"].clone()
        };
        assert!(delta(1)["reasoning_content"].is_string() && delta(1)["content"].is_null());
        assert!(delta(2)["content"].is_string());
        let calls = writer(Endpoint::Chat, &[Quirk::ToolCalls]);
        for k in [0, 1] {
            let chunk = rendered(|out| calls.put_token(out, k, Some(AnswerFinish::Stop), None));
            let call = &chunk["choices"][0]["delta"]["tool_calls"][0];
            assert!(call["function"]["arguments"].as_str().unwrap().len() > 1);
            assert_eq!(call["function"]["name"].is_string(), k == 0);
            assert_eq!(chunk["choices"][0]["finish_reason"], "tool_calls");
        }
    }
}
