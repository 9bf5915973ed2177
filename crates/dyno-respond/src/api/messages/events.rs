//! The events of a stream.

use super::{error, put_head, put_input, stop_reason};
use crate::api::AnswerFinish;
use crate::api::response::{Chunks, Facts, ResponseStart, ResponseToken};
use crate::api::words::{accented, word};
use crate::fault::{Quirk, Quirks};
use crate::framing::Out;
use dyno_model::Nanos;
use std::io::Write;

/// A block of content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Block {
    Thinking,
    Text,
}

/// A stream under way.
#[derive(Debug)]
pub(super) struct Events {
    /// What the message begins with.
    head: Box<[u8]>,
    quirks: Quirks,
    salt: u64,
    prompt_tokens: u32,
    tokens: u32,
    finish: AnswerFinish,
    cached: Option<u32>,
    started: bool,
    /// Whether the cached tokens were known when the message started.
    cached_told: bool,
    block: Option<Block>,
    /// What stands before the text of a delta.
    delta: Vec<u8>,
}

impl Events {
    pub(super) fn new(facts: &Facts<'_>) -> Self {
        let mut head = Vec::new();
        put_head(&mut head, facts.salt, facts.model_json);
        Self {
            head: head.into(),
            quirks: facts.quirks,
            salt: facts.salt,
            prompt_tokens: facts.prompt_tokens,
            tokens: facts.tokens,
            finish: facts.finish,
            cached: None,
            started: false,
            cached_told: false,
            block: None,
            delta: Vec::new(),
        }
    }

    fn start_message(&mut self, out: &mut Out<'_>) {
        if std::mem::replace(&mut self.started, true) {
            return;
        }
        self.cached_told = self.cached.is_some();
        out.event("message_start", |out| {
            out.extend_from_slice(b"{\"type\":\"message_start\",\"message\":");
            out.extend_from_slice(&self.head);
            out.extend_from_slice(
                b"\"content\":[],\"stop_reason\":null,\"stop_sequence\":null,\"usage\":{",
            );
            put_input(out, self.prompt_tokens, self.cached);
            // Not the final number.
            out.extend_from_slice(b",\"output_tokens\":1}}}");
        });
    }

    fn thinks(&self) -> bool {
        self.quirks.has(Quirk::Reasoning) && self.tokens > 1
    }

    fn index(&self, block: Block) -> u32 {
        u32::from(block == Block::Text && self.thinks())
    }

    fn open_block(&mut self, out: &mut Out<'_>, block: Block) {
        let index = self.index(block);
        let (content, delta) = match block {
            Block::Thinking => (
                "{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"\"}",
                "\"thinking_delta\",\"thinking\"",
            ),
            Block::Text => ("{\"type\":\"text\",\"text\":\"\"}", "\"text_delta\",\"text\""),
        };
        out.event("content_block_start", |out| {
            let _ = write!(
                out,
                "{{\"type\":\"content_block_start\",\"index\":{index},\"content_block\":{content}}}"
            );
        });
        if index == 0 {
            out.event("ping", |out| out.extend_from_slice(b"{\"type\":\"ping\"}"));
        }
        self.delta.clear();
        let _ = write!(
            self.delta,
            "{{\"type\":\"content_block_delta\",\"index\":{index},\"delta\":{{\"type\":{delta}:\""
        );
        self.block = Some(block);
    }

    fn close_block(&mut self, out: &mut Out<'_>) {
        let Some(block) = self.block.take() else { return };
        let index = self.index(block);
        if block == Block::Thinking {
            out.event("content_block_delta", |out| {
                let _ = write!(
                    out,
                    "{{\"type\":\"content_block_delta\",\"index\":{index},\
                     \"delta\":{{\"type\":\"signature_delta\",\"signature\":\"c2lnbmVk\"}}}}"
                );
            });
        }
        out.event("content_block_stop", |out| {
            let _ = write!(out, "{{\"type\":\"content_block_stop\",\"index\":{index}}}");
        });
    }
}

impl Chunks for Events {
    fn opens_early(&self) -> bool {
        self.quirks.has(Quirk::RoleFirst)
    }

    fn open(&mut self, out: &mut Out<'_>) {
        if self.opens_early() {
            self.start_message(out);
        }
    }

    fn start(&mut self, start: ResponseStart) {
        self.cached = start.cached;
    }

    fn token(&mut self, out: &mut Out<'_>, token: ResponseToken, _end: Option<AnswerFinish>) {
        self.start_message(out);
        let thinks = self.thinks() && token.k < self.tokens / 2;
        let block = if thinks { Block::Thinking } else { Block::Text };
        if self.block != Some(block) {
            self.close_block(out);
            self.open_block(out, block);
        }
        let text = match self.quirks.has(Quirk::Split) {
            true => accented(self.salt, token.k),
            false => word(self.salt, token.k),
        };
        out.event("content_block_delta", |out| {
            out.extend_from_slice(&self.delta);
            out.extend_from_slice(text.as_bytes());
            out.extend_from_slice(b"\"}}");
        });
    }

    fn end_without_tokens(&mut self, out: &mut Out<'_>, _finish: AnswerFinish, _at: Nanos) {
        self.start_message(out);
    }

    fn close(&mut self, out: &mut Out<'_>, _at: Nanos) {
        self.close_block(out);
        let stop = stop_reason(self.finish);
        out.event("message_delta", |out| {
            let _ = write!(
                out,
                "{{\"type\":\"message_delta\",\"delta\":{{\"stop_reason\":\"{stop}\",\
                 \"stop_sequence\":null}},\"usage\":{{"
            );
            if self.cached.is_some() && !self.cached_told {
                put_input(out, self.prompt_tokens, self.cached);
                out.push(b',');
            }
            let _ = write!(out, "\"output_tokens\":{}}}}}", self.tokens);
        });
        out.last("message_stop", |out| out.extend_from_slice(b"{\"type\":\"message_stop\"}"));
    }

    fn give_up(&mut self, out: &mut Out<'_>) {
        self.close_block(out);
        out.last("message_stop", |out| out.extend_from_slice(b"{\"type\":\"message_stop\"}"));
    }

    fn fail(&mut self, out: &mut Out<'_>, message: &str) {
        let error = error("api_error", message).to_string();
        out.last("error", |out| out.extend_from_slice(error.as_bytes()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::golden;
    use crate::api::words::mix;
    use crate::framing::Frames;

    fn streamed(quirks: &[Quirk], cached: Option<u32>) -> String {
        let facts = golden::facts(quirks);
        let mut events = Events::new(&facts);
        events.start(ResponseStart { cached, queued: 0 });
        golden::streamed(Frames::Events, &mut events, &facts)
    }

    fn event(name: &str, rest: &str) -> String {
        let comma = if rest.is_empty() { "" } else { "," };
        format!("event: {name}\ndata: {{\"type\":\"{name}\"{comma}{rest}}}\n\n")
    }

    fn start(usage: &str) -> String {
        let id = mix(7, u32::MAX);
        event(
            "message_start",
            &format!(
                "\"message\":{{\"id\":\"msg_{id:016x}\",\"type\":\"message\",\"role\":\"assistant\",\
                 \"model\":\"m \\\"x\\\"\",\"content\":[],\"stop_reason\":null,\
                 \"stop_sequence\":null,\"usage\":{{{usage},\"output_tokens\":1}}}}"
            ),
        )
    }

    fn delta(index: u32, kind: &str, field: &str, text: &str) -> String {
        let delta = format!("{{\"type\":\"{kind}\",\"{field}\":\"{text}\"}}");
        event("content_block_delta", &format!("\"index\":{index},\"delta\":{delta}"))
    }

    fn end() -> [String; 3] {
        let delta = "\"delta\":{\"stop_reason\":\"max_tokens\",\"stop_sequence\":null},\
            \"usage\":{\"output_tokens\":4}";
        [
            event("content_block_stop", "\"index\":0"),
            event("message_delta", delta),
            event("message_stop", ""),
        ]
    }

    #[test]
    fn a_message_is_one_block_between_its_start_and_its_stop() {
        let mut expected = vec![
            start(
                "\"input_tokens\":3,\"cache_creation_input_tokens\":0,\"cache_read_input_tokens\":8",
            ),
            event(
                "content_block_start",
                "\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}",
            ),
            event("ping", ""),
        ];
        expected.extend((0..4).map(|k| delta(0, "text_delta", "text", word(7, k))));
        expected.extend(end());
        assert_eq!(streamed(&[], Some(8)), expected.concat());
    }

    #[test]
    fn thinking_is_a_block_of_its_own_with_a_signature() {
        let text = streamed(&[Quirk::Reasoning], None);
        assert!(text.contains(&start("\"input_tokens\":11")), "{text}");
        assert!(text.contains(&delta(0, "thinking_delta", "thinking", word(7, 1))), "{text}");
        assert!(text.contains(&delta(0, "signature_delta", "signature", "c2lnbmVk")), "{text}");
        assert!(text.contains(&delta(1, "text_delta", "text", word(7, 2))), "{text}");
        assert_eq!(text.matches("event: content_block_stop").count(), 2);
        assert_eq!(text.matches("event: ping").count(), 1);
    }

    #[test]
    fn a_message_that_starts_early_tells_the_cached_tokens_at_its_end() {
        let facts = golden::facts(&[Quirk::RoleFirst]);
        let mut events = Events::new(&facts);
        assert!(events.opens_early());
        let text = golden::streamed(Frames::Events, &mut events, &facts);
        assert!(text.starts_with(&start("\"input_tokens\":11")), "{text}");
        assert_eq!(text.matches("event: message_start").count(), 1);
        events.start(ResponseStart { cached: Some(8), queued: 0 });
        let late = golden::streamed(Frames::Events, &mut events, &facts);
        let usage = "\"usage\":{\"input_tokens\":3,\"cache_creation_input_tokens\":0,\
            \"cache_read_input_tokens\":8,\"output_tokens\":4}";
        assert!(late.contains(usage), "{late}");
    }

    #[test]
    fn an_error_is_an_event_and_nothing_follows_it() {
        let mut events = Events::new(&golden::facts(&[]));
        let expected = "event: error\ndata: {\"error\":{\"message\":\"It broke.\",\
            \"type\":\"api_error\"},\"type\":\"error\"}\n\n";
        assert_eq!(golden::failed(Frames::Events, &mut events), expected);
    }
}
