//! Reads the frames of `/completion`: new text and the number of tokens so far in each, and a last one
//! with `"stop": true`, the reason and the server's times.

use crate::framing::WireFrame;
use crate::pieces::{Piece, Pieces, not_json, word};
use crate::scan::{Scan, Scanner, unescape};
use crate::times::{self, Timings};
use crate::{Delta, Finish, Keep, LastToken, Malformed, Reader, ServerError, excerpt};
use serde_json::Value;

/// The reader of one response.
#[derive(Debug, Default)]
pub(super) struct Completed {
    /// Tokens so far, from the first text on.
    tokens: Option<u64>,
}

impl Reader for Completed {
    fn frame(&mut self, frame: WireFrame<'_>, keep: Keep) -> Result<Delta, Malformed> {
        let mut delta = read(frame.data, keep)?;
        let begun = self.tokens.is_some();
        let more = delta.output_tokens > self.tokens;
        delta.last = match (delta.terminal, delta.output_tokens) {
            // The end of the text is a token without text, in a frame of its own.
            (false, _) if begun && more => LastToken::Now,
            // The last token is there already. What takes time is to write the prompt and all settings
            // once more.
            (true, Some(_)) if begun && !more => LastToken::Before,
            _ => LastToken::WithFinish,
        };
        if begun || delta.output {
            self.tokens = delta.output_tokens.max(self.tokens);
        }
        Ok(delta)
    }

    fn whole(&mut self, body: &[u8], keep: Keep) -> Result<Delta, Malformed> {
        read(body, keep).map(|delta| Delta { terminal: true, ..delta })
    }
}

fn read(bytes: &[u8], keep: Keep) -> Result<Delta, Malformed> {
    let mut said = Said { pieces: Pieces::new(keep), own: false };
    said.scan(bytes).map_err(|bad| not_json(bytes, bad))?;
    if !said.own {
        return Err(Malformed::Other(excerpt(bytes)));
    }
    Ok(said.pieces.delta)
}

/// What a frame says.
struct Said {
    pieces: Pieces,
    /// It has some field of this API.
    own: bool,
}

impl Said {
    fn scan(&mut self, bytes: &[u8]) -> Scan<()> {
        let mut scan = Scanner::new(bytes)?;
        scan.object(&mut |scan, key| {
            self.own |= matches!(key, b"content" | b"stop" | b"tokens_predicted" | b"error");
            let delta = &mut self.pieces.delta;
            match key {
                b"content" => self.pieces.text(scan, Piece::Content)?,
                // Not the ids in `tokens`: of a character in several tokens only the last is listed.
                b"tokens_predicted" => delta.output_tokens = scan.count()?,
                b"tokens_evaluated" => delta.input_tokens = scan.count()?,
                b"stop" => delta.terminal = scan.value()? == b"true",
                b"stop_type" => match word(scan)? {
                    b"" | b"none" => {}
                    reason => delta.finish = Some(Finish::new(unescape(reason))),
                },
                // Before `stop_type`, and by those who have kept it.
                b"stopped_eos" | b"stopped_word" | b"stopped_limit" => {
                    if scan.value()? == b"true" {
                        let reason = String::from_utf8_lossy(&key[b"stopped_".len()..]);
                        delta.finish.get_or_insert_with(|| Finish::new(reason));
                    }
                }
                b"timings" => {
                    let timings = Timings::read(scan)?;
                    delta.cached_tokens = timings.cached.or(delta.cached_tokens);
                    times::note(timings.times, delta);
                }
                b"error" if scan.null()? => {}
                b"error" => delta.error = Some(refusal(scan.value()?)),
                _ => scan.value().map(drop)?,
            }
            Ok(())
        })?;
        scan.end()
    }
}

fn refusal(raw: &[u8]) -> ServerError {
    let error: Value = serde_json::from_slice(raw).unwrap_or_default();
    let message = error["message"].as_str().or(error.as_str());
    let message = message.map_or_else(|| excerpt(raw), str::to_owned);
    ServerError::of_kind(message, &[&error["code"].to_string()])
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const KEEP: Keep = Keep { text: true, content: true };

    fn next(reader: &mut Completed, frame: Value) -> Delta {
        let data = frame.to_string();
        reader.frame(WireFrame { kind: b"", data: data.as_bytes() }, KEEP).unwrap()
    }

    fn one(frame: Value) -> Delta {
        next(&mut Completed::default(), frame)
    }

    fn text(n: u64) -> Value {
        json!({"index": 0, "content": " a", "tokens": [7], "stop": false, "tokens_predicted": n})
    }

    fn end(n: u64) -> Value {
        json!({"content": "", "stop": true, "stop_type": "limit", "tokens_predicted": n})
    }

    #[test]
    fn the_last_token_has_its_own_frame_unless_only_the_last_counts_it() {
        let mut reader = Completed::default();
        let empty =
            |n: u64| json!({"content": "", "tokens": [2], "stop": false, "tokens_predicted": n});
        // Before any text there is no last token.
        assert_eq!(next(&mut reader, empty(0)).last, LastToken::WithFinish);
        next(&mut reader, text(1));
        next(&mut reader, text(4));
        assert_eq!(next(&mut reader, empty(5)).last, LastToken::Now);
        assert_eq!(next(&mut reader, end(5)).last, LastToken::Before);
        assert_eq!(next(&mut reader, end(6)).last, LastToken::WithFinish);
        assert_eq!(one(end(4)).last, LastToken::WithFinish);
        assert_eq!(one(json!({"content": "", "stop": true})).last, LastToken::WithFinish);
    }

    #[test]
    fn progress_is_no_output() {
        let progress =
            one(json!({"content": "", "tokens": [0], "stop": false, "tokens_predicted": 0,
            "tokens_evaluated": 9, "prompt_progress": {"total": 9, "processed": 4, "time_ms": 2}}));
        assert!(!progress.output && !progress.terminal && progress.finish.is_none());
        assert_eq!(progress.input_tokens, Some(9));
    }

    #[test]
    fn times_are_in_nanoseconds_and_what_is_not_there_is_absent() {
        let timings =
            json!({"cache_n": 16, "prompt_n": 1, "prompt_ms": 0.383, "predicted_ms": 2.5});
        let last = one(json!({"content": "", "stop": true, "timings": timings}));
        let times = last.times.unwrap();
        assert_eq!((times.prefill, times.decode), (Some(383_000), Some(2_500_000)));
        assert_eq!((times.queue, times.load, times.total), (None, None, None));
        assert_eq!(last.cached_tokens, Some(16));
        for absent in [json!({}), json!(null), json!({"prompt_ms": null, "predicted_ms": -1.0})] {
            let last = one(json!({"content": "", "stop": true, "timings": absent}));
            assert_eq!((last.times, last.cached_tokens), (None, None));
        }
    }

    #[test]
    fn reasons_of_either_version_are_the_same() {
        for (new, old) in
            [("eos", "stopped_eos"), ("word", "stopped_word"), ("limit", "stopped_limit")]
        {
            let new = one(json!({"content": "", "stop": true, "stop_type": new})).finish;
            let mut flags = json!({"content": "", "stop": true});
            flags[old] = true.into();
            assert!(new.is_some());
            assert_eq!(one(flags).finish, new);
        }
        assert_eq!(one(json!({"content": "a", "stop": false, "stop_type": "none"})).finish, None);
    }

    #[test]
    fn errors_have_the_servers_words_and_503_is_overload() {
        let error = |code: u64| json!({"error": {"code": code, "message": "boom", "type": "t"}});
        let failed = one(error(500)).error.unwrap();
        assert_eq!((failed.message.as_str(), failed.overloaded), ("boom", false));
        assert!(one(error(503)).error.unwrap().overloaded);
        assert_eq!(one(json!({"error": "boom"})).error.unwrap().message, "boom");
        assert_eq!(one(json!({"error": {"why": 1}})).error.unwrap().message, "{\"why\":1}");
    }

    #[test]
    fn another_api_is_not_taken_for_this_one() {
        let chat = json!({"choices": [], "timings": {"prompt_ms": 1.0}});
        for other in [chat, json!([{"content": "a"}]), json!("content"), json!({"content": 1})] {
            let data = other.to_string();
            let frame = WireFrame { kind: b"", data: data.as_bytes() };
            assert!(Completed::default().frame(frame, KEEP).is_err(), "{other}");
        }
    }
}
