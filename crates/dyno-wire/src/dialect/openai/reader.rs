//! Reads the events and the whole responses of chat and text completions: output, usage, finish
//! reasons and errors.

use crate::dialect::scan::{Scan, Scanner, unescape};
use crate::dialect::{Delta, Finish, Keep, Malformed, Reader, ServerError, excerpt};
use crate::framing::Frame;

/// The reader; it needs no state.
#[derive(Debug)]
pub(super) struct OpenAi;

impl Reader for OpenAi {
    fn frame(&mut self, frame: Frame<'_>, keep: Keep) -> Result<Delta, Malformed> {
        event(frame.data, keep)
    }

    fn whole(&mut self, body: &[u8], keep: Keep) -> Result<Delta, Malformed> {
        whole(body, keep)
    }
}

/// Collects what is measured while a response is read.
struct Gather {
    delta: Delta,
    keep: Keep,
}

/// What a piece of output is.
#[derive(Clone, Copy, PartialEq)]
enum Output {
    Content,
    Other,
}

impl Gather {
    /// A piece of output: text, a part with `text`, a list of these, or nothing.
    fn output(&mut self, scan: &mut Scanner<'_>, kind: Output) -> Scan<()> {
        match scan.peek() {
            b'"' => {
                let raw = scan.string()?;
                self.delta.output |= !raw.is_empty();
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
        scan.object(&mut |scan, key| match key {
            b"content" | b"refusal" => self.output(scan, Output::Content),
            b"reasoning_content" | b"reasoning" => self.output(scan, Output::Other),
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
            b"name" | b"arguments" => self.output(scan, Output::Other),
            _ => scan.value().map(drop),
        })
    }

    fn choice(&mut self, scan: &mut Scanner<'_>) -> Scan<()> {
        scan.object(&mut |scan, key| match key {
            b"delta" | b"message" => self.message(scan),
            b"text" => self.output(scan, Output::Content),
            b"finish_reason" if scan.null()? => Ok(()),
            b"finish_reason" => {
                // Usually a string; some servers send an object.
                let raw = scan.value()?;
                let reason = match raw {
                    [b'"', inner @ .., b'"'] => unescape(inner),
                    other => String::from_utf8_lossy(other).into_owned(),
                };
                if !reason.is_empty() {
                    self.delta.finish.get_or_insert_with(|| Finish::new(reason));
                }
                Ok(())
            }
            _ => scan.value().map(drop),
        })
    }

    fn usage(&mut self, scan: &mut Scanner<'_>) -> Scan<()> {
        if scan.null()? {
            return Ok(());
        }
        scan.object(&mut |scan, key| {
            match key {
                b"prompt_tokens" => self.delta.input_tokens = scan.count()?,
                b"completion_tokens" => self.delta.output_tokens = scan.count()?,
                b"prompt_tokens_details" => self.cached_in(scan, b"cached_tokens")?,
                // DeepSeek and its like.
                b"prompt_cache_hit_tokens" => self.cached(scan)?,
                _ => scan.value().map(drop)?,
            }
            Ok(())
        })
    }

    /// `prompt_tokens_details`, or llama.cpp's `timings`: the field with this name counts the tokens
    /// found in the prefix cache.
    fn cached_in(&mut self, scan: &mut Scanner<'_>, name: &[u8]) -> Scan<()> {
        if scan.peek() != b'{' {
            return scan.value().map(drop);
        }
        scan.object(&mut |scan, key| match key == name {
            true => self.cached(scan),
            false => scan.value().map(drop),
        })
    }

    /// Tokens found in the prefix cache. A malformed count does not fail the response.
    fn cached(&mut self, scan: &mut Scanner<'_>) -> Scan<()> {
        let text = std::str::from_utf8(scan.value()?).unwrap_or_default();
        self.delta.cached_tokens = text.parse().ok().or(self.delta.cached_tokens);
        Ok(())
    }

    fn response(&mut self, bytes: &[u8]) -> Scan<()> {
        let mut scan = Scanner::new(bytes)?;
        let mut failed = false;
        scan.object(&mut |scan, key| match key {
            b"choices" if scan.null()? => Ok(()),
            b"choices" => scan.array(&mut |scan| self.choice(scan)),
            b"usage" => self.usage(scan),
            b"timings" => self.cached_in(scan, b"cache_n"),
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
            _ => scan.value().map(drop),
        })?;
        if failed && self.delta.error.is_none() {
            self.delta.error = Some(ServerError::new(excerpt(bytes)));
        }
        scan.end()
    }
}

/// `null` in the place of output.
fn nothing(scan: &mut Scanner<'_>) -> Scan<()> {
    if scan.null()? { Ok(()) } else { Err(scan.here()) }
}

fn read(bytes: &[u8], keep: Keep) -> Result<Delta, Malformed> {
    let mut gather = Gather { delta: Delta::default(), keep };
    gather.response(bytes).map_err(|bad| {
        let shown = excerpt(bytes);
        Malformed(format!("not a JSON response of this API (at byte {}): {shown}", bad.0))
    })?;
    Ok(gather.delta)
}

fn event(data: &[u8], keep: Keep) -> Result<Delta, Malformed> {
    if data.trim_ascii() == b"[DONE]" {
        return Ok(Delta { terminal: true, ..Delta::default() });
    }
    read(data, keep)
}

fn whole(body: &[u8], keep: Keep) -> Result<Delta, Malformed> {
    let delta = read(body, keep)?;
    Ok(Delta { terminal: true, ..delta })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::{DIALECTS, Shape, body};
    use serde_json::{Value, json};

    const KEEP: Keep = Keep { text: true, content: true };

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
        assert!(error.0.contains("{\"choices\": ["), "{error}");
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
        let delta = whole(body.to_string().as_bytes(), KEEP).unwrap();
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
