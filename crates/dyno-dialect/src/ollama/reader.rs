//! Reads the lines of both endpoints: text in `message` or `response`, and a last one that is `done`.

use crate::framing::WireFrame;
use crate::pieces::not_json;
use crate::scan::{Scan, Scanner, believable, unescape};
use crate::{Delta, Finish, Keep, Malformed, Reader, ServerError, excerpt};
use dyno_model::record::ServerTimes;
use serde_json::Value;

/// The words of Ollama for a full queue.
const BUSY: [&str; 2] = ["server busy", "maximum pending requests exceeded"];

/// The reader; it needs no state.
#[derive(Debug)]
pub(super) struct Lines;

impl Reader for Lines {
    fn frame(&mut self, frame: WireFrame<'_>, keep: Keep) -> Result<Delta, Malformed> {
        read(frame.data, keep)
    }

    fn whole(&mut self, body: &[u8], keep: Keep) -> Result<Delta, Malformed> {
        read(body, keep).map(|delta| Delta { terminal: true, ..delta })
    }
}

fn read(bytes: &[u8], keep: Keep) -> Result<Delta, Malformed> {
    let mut line =
        Line { delta: Delta::default(), times: ServerTimes::default(), keep, own: false };
    line.scan(bytes).map_err(|bad| not_json(bytes, bad))?;
    if !line.own {
        return Err(Malformed::Other(excerpt(bytes)));
    }
    let times = (line.times != ServerTimes::default()).then_some(line.times);
    Ok(Delta { times, ..line.delta })
}

/// A line while it is read.
struct Line {
    delta: Delta,
    times: ServerTimes,
    keep: Keep,
    /// It has some field of this API.
    own: bool,
}

impl Line {
    fn scan(&mut self, bytes: &[u8]) -> Scan<()> {
        let mut scan = Scanner::new(bytes)?;
        scan.object(&mut |scan, key| {
            self.own |= matches!(key, b"message" | b"response" | b"done" | b"error");
            match key {
                b"message" | b"error" | b"done_reason" if scan.null()? => {}
                b"message" => self.message(scan)?,
                b"response" => self.output(scan, true)?,
                b"thinking" => self.output(scan, false)?,
                b"done" => self.delta.terminal = scan.value()? == b"true",
                b"done_reason" => {
                    let reason = unescape(scan.string()?);
                    self.delta.finish = (!reason.is_empty()).then(|| Finish::new(reason));
                }
                b"error" => self.delta.error = Some(refusal(scan.value()?)),
                b"prompt_eval_count" => {
                    self.delta.input_tokens = positive(scan)?.and_then(believable)
                }
                b"eval_count" => self.delta.output_tokens = positive(scan)?.and_then(believable),
                b"prompt_eval_duration" => self.times.prefill = positive(scan)?,
                b"eval_duration" => self.times.decode = positive(scan)?,
                b"load_duration" => self.times.load = positive(scan)?,
                b"total_duration" => self.times.total = positive(scan)?,
                // The tokens of the whole conversation, for a client that sends them back.
                b"context" if scan.peek() == b'[' => scan.numbers().map(drop)?,
                _ => scan.value().map(drop)?,
            }
            Ok(())
        })?;
        // Versions before 0.1.38 give no reason.
        if self.delta.terminal && self.delta.output_tokens.is_some() {
            self.delta.finish.get_or_insert_with(|| Finish::new("done"));
        }
        scan.end()
    }

    fn message(&mut self, scan: &mut Scanner<'_>) -> Scan<()> {
        scan.object(&mut |scan, key| match key {
            b"content" => self.output(scan, true),
            b"thinking" => self.output(scan, false),
            b"tool_calls" if scan.null()? => Ok(()),
            // Each call comes whole.
            b"tool_calls" => scan.array(&mut |scan| {
                let call = scan.value()?;
                self.put(&String::from_utf8_lossy(call), false);
                Ok(())
            }),
            _ => scan.value().map(drop),
        })
    }

    fn output(&mut self, scan: &mut Scanner<'_>, content: bool) -> Scan<()> {
        if scan.null()? {
            return Ok(());
        }
        let raw = scan.string()?;
        if raw.is_empty() {
            return Ok(());
        }
        self.delta.output = true;
        if self.keep.text || self.keep.content {
            self.put(&unescape(raw), content);
        }
        Ok(())
    }

    /// Output as text; `content` unless it is thinking or a call.
    fn put(&mut self, text: &str, content: bool) {
        self.delta.output = true;
        if self.keep.text {
            self.delta.text.get_or_insert_default().push_str(text);
        }
        if self.keep.content && content {
            self.delta.content.get_or_insert_default().push_str(text);
        }
    }
}

/// A count or a duration in nanoseconds. Ollama leaves out what is zero; a zero of an imitation is
/// not a measured value, either.
fn positive(scan: &mut Scanner<'_>) -> Scan<Option<u64>> {
    Ok(scan.float()?.filter(|value| *value >= 1.0 && *value < 9e15).map(|value| value as u64))
}

fn refusal(raw: &[u8]) -> ServerError {
    let error: Value = serde_json::from_slice(raw).unwrap_or_default();
    let message = match &error {
        Value::String(text) => text.clone(),
        _ => String::from_utf8_lossy(raw).into_owned(),
    };
    let overloaded = BUSY.iter().any(|words| message.contains(words));
    ServerError { message, overloaded }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const KEEP: Keep = Keep { text: true, content: true };

    fn line(value: Value) -> Delta {
        read(value.to_string().as_bytes(), KEEP).unwrap()
    }

    #[test]
    fn content_thinking_and_calls_are_output_and_only_content_is_content() {
        let both = line(json!({"message": {"content": "a", "thinking": "hm"}, "done": false}));
        assert_eq!(both.text.as_deref().map(str::len), Some(3));
        assert_eq!(both.content.as_deref(), Some("a"));
        assert!(both.output && !both.terminal);
        let call = json!({"function": {"name": "f", "arguments": {"x": 1}}});
        let called = line(json!({"message": {"content": "", "tool_calls": [call]}, "done": false}));
        assert!(called.output && called.content.is_none());
        let generated = line(json!({"response": "b", "done": false}));
        assert_eq!(generated.content.as_deref(), Some("b"));
        assert!(!line(json!({"response": "", "thinking": null, "done": false})).output);
    }

    #[test]
    fn the_last_line_has_counts_and_times_and_what_is_zero_is_absent() {
        let last = line(json!({
            "response": "", "done": true, "done_reason": "length", "context": [1, 2, 3],
            "total_duration": 5_000_000_000_u64, "load_duration": 0, "prompt_eval_count": 26,
            "prompt_eval_duration": 342_000_000, "eval_count": 128
        }));
        assert!(last.terminal && !last.output);
        assert_eq!((last.input_tokens, last.output_tokens), (Some(26), Some(128)));
        let times = last.times.unwrap();
        assert_eq!((times.prefill, times.load, times.decode), (Some(342_000_000), None, None));
        assert_eq!((times.total, times.queue), (Some(5_000_000_000), None));
        let bare = line(json!({"message": {"content": ""}, "done": true, "done_reason": "stop"}));
        assert_eq!((bare.input_tokens, bare.output_tokens, bare.times), (None, None, None));
    }

    #[test]
    fn a_full_queue_is_overload_and_other_errors_are_not() {
        let busy = "server busy, please try again.  maximum pending requests exceeded";
        assert!(line(json!({"error": busy})).error.unwrap().overloaded);
        let broken = line(json!({"error": "model runner has unexpectedly stopped"})).error.unwrap();
        assert_eq!(broken.message, "model runner has unexpectedly stopped");
        assert!(!broken.overloaded);
    }

    #[test]
    fn another_api_is_not_taken_for_this_one() {
        for other in ["{\"choices\":[]}", "data: {}", "[1]", "{\"response\":1}", "<html>"] {
            assert!(read(other.as_bytes(), KEEP).is_err(), "{other}");
        }
    }
}
