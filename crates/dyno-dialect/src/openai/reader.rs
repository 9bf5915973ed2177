//! Reads the events and the whole responses of chat and text completions: output, usage, finish
//! reasons and errors.

use super::{errors, usage};
use crate::framing::WireFrame;
use crate::pieces::not_json;
use crate::scan::{Scan, Scanner, unescape};
use crate::times::{self, Timings};
use crate::{Delta, Finish, Keep, Malformed, Reader, ServerError, excerpt};

/// The reader.
#[derive(Debug, Default)]
pub(super) struct OpenAi {
    /// Token ids listed so far.
    listed: u64,
}

impl OpenAi {
    fn read(&mut self, bytes: &[u8], keep: Keep) -> Result<Delta, Malformed> {
        let mut gather = Gather { delta: Delta::default(), keep, ids: None, output: 0 };
        if let Err(bad) = gather.response(bytes) {
            if let Some(error) = errors::unescaped(bytes) {
                return Ok(Delta { error: Some(error), ..Delta::default() });
            }
            return Err(not_json(bytes, bad));
        }
        if let Some(ids) = gather.ids {
            self.listed += ids;
            gather.delta.listed_tokens = Some(self.listed).max(gather.delta.listed_tokens);
        }
        Ok(gather.delta)
    }
}

impl Reader for OpenAi {
    fn frame(&mut self, frame: WireFrame<'_>, keep: Keep) -> Result<Delta, Malformed> {
        if frame.data.trim_ascii() == b"[DONE]" {
            return Ok(Delta { terminal: true, ..Delta::default() });
        }
        self.read(frame.data, keep)
    }

    fn whole(&mut self, body: &[u8], keep: Keep) -> Result<Delta, Malformed> {
        let delta = self.read(body, keep)?;
        Ok(Delta { terminal: true, ..delta })
    }
}

/// Collects what is measured while a response is read.
struct Gather {
    delta: Delta,
    keep: Keep,
    /// Token ids in this event.
    ids: Option<u64>,
    /// Bytes of output in this event.
    output: usize,
}

/// What a piece of output is.
#[derive(Clone, Copy, PartialEq)]
enum Output {
    Content,
    Reasoning,
    ToolCall,
}

impl Gather {
    /// A piece of output: text, a part with `text` or `thinking`, a list of these, or nothing.
    fn output(&mut self, scan: &mut Scanner<'_>, kind: Output) -> Scan<()> {
        match scan.peek() {
            b'"' => {
                let raw = scan.string()?;
                self.output += raw.len();
                self.delta.output |= !raw.is_empty();
                self.delta.blank |= raw.is_empty() && kind == Output::Content;
                self.delta.reasoning |= !raw.is_empty() && kind == Output::Reasoning;
                if self.keep.text {
                    self.delta.text.get_or_insert_default().push_str(&unescape(raw));
                }
                if self.keep.content && kind == Output::Content {
                    self.delta.content.get_or_insert_default().push_str(&unescape(raw));
                }
                Ok(())
            }
            b'[' => scan.array(&mut |scan| self.output(scan, kind)),
            b'{' => scan.object(&mut |scan, key| match key {
                b"text" => self.output(scan, kind),
                b"thinking" => self.output(scan, Output::Reasoning),
                _ => scan.value().map(drop),
            }),
            _ => nothing(scan),
        }
    }

    /// `delta` or `message`.
    fn message(&mut self, scan: &mut Scanner<'_>) -> Scan<()> {
        if scan.null()? {
            return Ok(());
        }
        let mut reasoned = false;
        scan.object(&mut |scan, key| match key {
            b"content" | b"refusal" => self.output(scan, Output::Content),
            // Some servers send the same text under both names.
            b"reasoning_content" | b"reasoning" if reasoned => scan.value().map(drop),
            b"reasoning_content" | b"reasoning" => {
                let before = self.output;
                self.output(scan, Output::Reasoning)?;
                reasoned = self.output > before;
                Ok(())
            }
            b"tool_calls" if scan.null()? => Ok(()),
            b"tool_calls" => scan.array(&mut |scan| {
                scan.object(&mut |scan, key| match key {
                    b"function" => self.function(scan),
                    _ => scan.value().map(drop),
                })
            }),
            b"function_call" => self.function(scan),
            _ => scan.value().map(drop),
        })
    }

    fn function(&mut self, scan: &mut Scanner<'_>) -> Scan<()> {
        if scan.null()? {
            return Ok(());
        }
        scan.object(&mut |scan, key| match key {
            b"name" | b"arguments" => self.output(scan, Output::ToolCall),
            _ => scan.value().map(drop),
        })
    }

    fn choice(&mut self, scan: &mut Scanner<'_>) -> Scan<()> {
        scan.object(&mut |scan, key| match key {
            b"delta" | b"message" => self.message(scan),
            b"text" => self.output(scan, Output::Content),
            b"finish_reason" => self.finish(scan),
            b"token_ids" | b"response_token_ids" => self.token_ids(scan),
            b"usage" => usage::usage(scan, &mut self.delta),
            _ => scan.value().map(drop),
        })
    }

    /// Why it ended: a string, or an object with a `type`.
    fn finish(&mut self, scan: &mut Scanner<'_>) -> Scan<()> {
        let mut reason = &b""[..];
        match scan.peek() {
            b'"' => reason = scan.string()?,
            b'{' => scan.object(&mut |scan, key| {
                match (key, scan.peek()) {
                    (b"type", b'"') => reason = scan.string()?,
                    _ => scan.value().map(drop)?,
                }
                Ok(())
            })?,
            _ => scan.value().map(drop)?,
        }
        // Some servers write "not yet" as an empty string, or as Python's None.
        if !matches!(reason, b"" | b"None") {
            self.delta.finish.get_or_insert_with(|| Finish::new(unescape(reason)));
        }
        Ok(())
    }

    /// The ids of the tokens in this event.
    fn token_ids(&mut self, scan: &mut Scanner<'_>) -> Scan<()> {
        if scan.peek() != b'[' {
            return scan.value().map(drop);
        }
        let mut ids = 0;
        scan.array(&mut |scan| {
            ids += 1;
            scan.value().map(drop)
        })?;
        self.ids = Some(self.ids.unwrap_or(0) + ids);
        Ok(())
    }

    fn response(&mut self, bytes: &[u8]) -> Scan<()> {
        let mut scan = Scanner::new(bytes)?;
        let (mut failed, mut choices, mut detail) = (false, false, false);
        scan.object(&mut |scan, key| match key {
            b"choices" if scan.null()? => Ok(()),
            b"choices" => {
                choices = true;
                scan.array(&mut |scan| self.choice(scan))
            }
            b"usage" => usage::usage(scan, &mut self.delta),
            b"timings" => {
                let timings = Timings::read(scan)?;
                self.delta.cached_tokens = timings.cached.or(self.delta.cached_tokens);
                self.delta.listed_tokens = timings.predicted.or(self.delta.listed_tokens);
                times::note(timings.times, &mut self.delta);
                Ok(())
            }
            b"metrics" => times::metrics(scan, &mut self.delta),
            b"object" => {
                failed |= scan.value()? == b"\"error\"";
                Ok(())
            }
            b"error" if scan.null()? => Ok(()),
            b"error" => {
                let message = String::from_utf8_lossy(scan.value()?);
                self.delta.error = Some(ServerError::new(message));
                Ok(())
            }
            b"error_code" => {
                failed |= !matches!(scan.value()?, b"0" | b"null");
                Ok(())
            }
            b"detail" => {
                detail = !matches!(scan.value()?, b"null" | b"\"\"");
                Ok(())
            }
            _ => scan.value().map(drop),
        })?;
        scan.end()?;
        // A web framework's own form of an error; beside choices it would mean something else.
        failed |= detail && !choices;
        if failed && self.delta.error.is_none() {
            self.delta.error = Some(ServerError::new(excerpt(bytes)));
        }
        if let Some(error) = &mut self.delta.error {
            error.overloaded = errors::is_overload(bytes);
        }
        // Without text, but not without meaning: only an event that says nothing else is a token
        // whose text is still to come.
        let only_blank = !self.delta.output && self.delta.finish.is_none() && choices;
        self.delta.blank &= only_blank;
        Ok(())
    }
}

/// `null` in the place of output.
fn nothing(scan: &mut Scanner<'_>) -> Scan<()> {
    if scan.null()? { Ok(()) } else { Err(scan.here()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DIALECTS, Shape, body};
    use serde_json::{Value, json};

    const KEEP: Keep = Keep { text: true, content: true };

    fn event(data: &[u8], keep: Keep) -> Result<Delta, Malformed> {
        OpenAi::default().frame(WireFrame { kind: b"", data }, keep)
    }

    fn parse(value: Value) -> Delta {
        event(value.to_string().as_bytes(), KEEP).unwrap()
    }

    fn delta(delta: Value) -> Value {
        json!({"choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
    }

    #[test]
    fn output_is_content_reasoning_or_tool_calls() {
        for with_output in [
            json!({"content": "a"}),
            json!({"content": null, "reasoning_content": "hm"}),
            json!({"reasoning": "hm", "content": ""}),
            json!({"tool_calls": [{"index": 0, "function": {"name": "f", "arguments": ""}}]}),
            json!({"tool_calls": [{"index": 0, "function": {"arguments": "{\""}}]}),
            json!({"content": [{"type": "text", "text": "part"}]}),
            json!({"content": "\u{1F600}\n\"quoted\""}),
        ] {
            assert!(parse(delta(with_output.clone())).output, "{with_output}");
        }
        for without in [
            json!({"role": "assistant", "content": ""}),
            json!({"role": "assistant"}),
            json!({}),
            json!({"content": null, "tool_calls": null}),
            json!({"tool_calls": []}),
        ] {
            assert!(!parse(delta(without.clone())).output, "{without}");
        }
    }

    #[test]
    fn reasoning_is_text_but_no_content() {
        let both = parse(delta(json!({"reasoning_content": "hm", "content": "a\n\u{4e2d}"})));
        assert_eq!(both.text.as_deref().map(str::len), Some(7));
        assert_eq!(both.content.as_deref(), Some("a\n\u{4e2d}"));
        assert_eq!(parse(delta(json!({"reasoning": "hm"}))).content, None);
    }

    #[test]
    fn completions_usage_finish_and_the_end() {
        let chunk = parse(json!({
            "choices": [{"text": " hi", "finish_reason": "length"}],
            "usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
        }));
        assert!(chunk.output);
        assert_eq!(chunk.text.as_deref(), Some(" hi"));
        assert_eq!(chunk.finish.as_ref().map(|finish| finish.reason.as_str()), Some("length"));
        assert_eq!((chunk.input_tokens, chunk.output_tokens), (Some(7), Some(3)));
        let usage = parse(json!({"choices": [], "usage": {"prompt_tokens": 7}}));
        assert!(!usage.output && usage.finish.is_none());
        assert_eq!((usage.input_tokens, usage.output_tokens), (Some(7), None));
        assert!(parse(json!({"choices": [], "usage": null})).input_tokens.is_none());
        assert!(event(b" [DONE] ", Keep::default()).unwrap().terminal);
    }

    #[test]
    fn cached_tokens_are_those_that_the_server_names() {
        let cached = |usage: Value| parse(json!({"choices": [], "usage": usage})).cached_tokens;
        let details = |details: Value| cached(json!({"prompt_tokens_details": details}));
        assert_eq!(details(json!({"cached_tokens": 48, "audio_tokens": null})), Some(48));
        assert_eq!(details(json!({"cached_tokens": 0})), Some(0));
        assert_eq!(cached(json!({"prompt_cache_hit_tokens": 32})), Some(32));
        let timings = json!({"choices": [], "timings": {"cache_n": 20, "prompt_ms": 1.5}});
        assert_eq!(parse(timings).cached_tokens, Some(20));
        // Absent is not 0.
        for absent in
            [json!(null), json!({}), json!({"cached_tokens": null}), json!(["x"]), json!(7)]
        {
            assert_eq!(details(absent), None);
        }
        assert_eq!(cached(json!({"prompt_tokens": 7})), None);
    }

    #[test]
    fn errors_in_any_shape() {
        let message = |v: Value| parse(v).error.unwrap().message;
        assert!(message(json!({"error": {"message": "boom", "code": 500}})).contains("boom"));
        assert!(message(json!({"error": "boom"})).contains("boom"));
        assert!(message(json!({"object": "error", "message": "boom"})).contains("boom"));
        assert!(message(json!({"text": "boom", "error_code": 50001})).contains("boom"));
        assert!(parse(json!({"error": null, "choices": []})).error.is_none());
    }

    #[test]
    fn what_is_not_json_is_malformed_and_quoted() {
        let error = event(b"{\"choices\": [", Keep::default()).unwrap_err();
        assert!(error.to_string().contains("{\"choices\": ["), "{error}");
        assert!(event(b"hello", Keep::default()).is_err());
        assert!(event(b"[1,2]", Keep::default()).is_err());
        assert!(event(b"{\"choices\": 5}", Keep::default()).is_err());
        assert!(event(&[b'['; 100_000], Keep::default()).is_err());
    }

    #[test]
    fn a_response_that_is_not_streamed() {
        let body = json!({
            "choices": [{"message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 5, "completion_tokens": 1}
        });
        let delta = OpenAi::default().whole(body.to_string().as_bytes(), KEEP).unwrap();
        assert!(delta.output && delta.terminal);
        assert_eq!(delta.text.as_deref(), Some("hi"));
    }

    #[test]
    fn the_body_has_just_the_fields_that_were_settled() {
        let shape = Shape {
            model: "m".into(),
            stream: true,
            fields: vec!["stream_options", "ignore_eos", "max_tokens"],
            ..Shape::default()
        };
        let body: Value = serde_json::from_slice(&body(
            DIALECTS[0],
            &shape,
            &dyno_model::prompt::Content::Text("hi".into()),
            8,
        ))
        .unwrap();
        assert_eq!(
            body,
            json!({
                "model": "m", "stream": true, "stream_options": {"include_usage": true},
                "max_tokens": 8, "ignore_eos": true,
                "messages": [{"role": "user", "content": "hi"}]
            })
        );
    }
}
