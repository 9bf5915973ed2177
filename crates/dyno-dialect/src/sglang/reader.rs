//! Reads the frames of `/generate`. By default each repeats all text and all token ids so far, so that
//! the bytes of a response grow with the square of its length: the text is searched for its end and not
//! unescaped unless it is kept, and ids are counted by their commas. Whether frames repeat is seen from
//! the data, as lookalikes and a server flag send only what is new.

use crate::framing::WireFrame;
use crate::pieces::not_json;
use crate::scan::{Scan, Scanner, unescape};
use crate::{
    Delta, Finish, Keep, Malformed, Reader, ServerError, excerpt, is_overload_status, nanos,
};
use dyno_model::record::ServerTimes;
use serde_json::Value;

/// The reader of one response.
#[derive(Debug, Default)]
pub(super) struct Generated {
    /// Frames repeat what earlier ones had; absent until the data show it.
    repeats: Option<bool>,
    /// Some frame had output.
    begun: bool,
    /// Bytes of text so far, as escaped in the frames.
    text_bytes: usize,
    /// The text itself, where nothing else shows whether frames repeat.
    text: Vec<u8>,
    tokens: u64,
    ids: u64,
}

/// What a frame says.
#[derive(Debug, Default)]
struct Said<'a> {
    text: Option<&'a [u8]>,
    ids: Option<u64>,
    has_meta: bool,
    meta: Meta,
    error: Option<ServerError>,
}

/// What its `meta_info` says.
#[derive(Debug, Default)]
struct Meta {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    cached_tokens: Option<u64>,
    reasoning_tokens: Option<u64>,
    finish: Option<Finish>,
    /// It was aborted for a reason that is given.
    aborted: Option<ServerError>,
    stamps: Stamps,
}

/// Moments in seconds since 1970, and durations in seconds, as far as the server is set to tell them.
#[derive(Debug, Default)]
struct Stamps {
    queue: Option<f64>,
    latency: Option<f64>,
    received: Option<f64>,
    scheduled: Option<f64>,
    prefilled: Option<f64>,
    finished: Option<f64>,
}

impl Stamps {
    fn times(&self) -> Option<ServerTimes> {
        // Moments in floating point are exact to some tenths of a microsecond.
        let between =
            |from: Option<f64>, to: Option<f64>| nanos(((to? - from?) * 1e6).round(), 1e3);
        let times = ServerTimes {
            queue: self.queue.and_then(|time| nanos(time, 1e9)),
            prefill: between(self.scheduled, self.prefilled),
            decode: between(self.prefilled, self.finished),
            load: None,
            total: self
                .latency
                .and_then(|time| nanos(time, 1e9))
                .or_else(|| between(self.received, self.finished)),
        };
        (times != ServerTimes::default()).then_some(times)
    }
}

impl Reader for Generated {
    fn frame(&mut self, frame: WireFrame<'_>, keep: Keep) -> Result<Delta, Malformed> {
        if frame.data.trim_ascii() == b"[DONE]" {
            return Ok(Delta { terminal: true, ..Delta::default() });
        }
        let said = read(frame.data)?;
        Ok(self.take(said, keep))
    }

    fn whole(&mut self, body: &[u8], keep: Keep) -> Result<Delta, Malformed> {
        let said = read(body)?;
        Ok(Delta { terminal: true, ..self.take(said, keep) })
    }
}

impl Generated {
    fn take(&mut self, said: Said<'_>, keep: Keep) -> Delta {
        let meta = said.meta;
        if let Some(error) = said.error.or(meta.aborted) {
            return Delta { error: Some(error), ..Delta::default() };
        }
        let all = said.text.unwrap_or_default();
        if self.begun && self.repeats != Some(false) {
            self.repeats = self.repeated(all, said.ids, meta.completion_tokens).or(self.repeats);
        }
        let repeats = self.repeats == Some(true);
        let new = if repeats { all.get(self.text_bytes..).unwrap_or_default() } else { all };
        self.text_bytes = if repeats { all.len() } else { self.text_bytes + all.len() };
        if said.ids.is_none() && self.repeats != Some(false) {
            self.text.extend_from_slice(new);
        }
        if let Some(ids) = said.ids {
            self.ids = if repeats { ids } else { self.ids + ids };
        }
        let count = meta.completion_tokens.unwrap_or(self.ids);
        // Without a tokenizer, the server sends ids and no text.
        let output = !new.is_empty() || (said.text.is_none() && count > self.tokens);
        self.tokens = count;
        self.begun |= output || count > 0;
        let text = Some(new).filter(|new| !new.is_empty());
        Delta {
            output,
            text: text.filter(|_| keep.text).map(unescape),
            content: text.filter(|_| keep.content).map(unescape),
            finish: meta.finish,
            input_tokens: meta.prompt_tokens,
            cached_tokens: meta.cached_tokens,
            output_tokens: meta.completion_tokens,
            listed_tokens: said.ids.map(|_| self.ids),
            reasoning_tokens: meta.reasoning_tokens,
            times: meta.stamps.times(),
            ..Delta::default()
        }
    }

    /// Whether a frame after the first repeats what was before it: it has as many ids as there are
    /// tokens so far. Where there are no ids, its text begins with all text so far; the same text once
    /// more may be either.
    fn repeated(&self, text: &[u8], ids: Option<u64>, tokens: Option<u64>) -> Option<bool> {
        match (ids, tokens) {
            (Some(ids), Some(tokens)) if tokens > 0 => Some(ids >= tokens),
            (Some(_), _) => None,
            _ if self.text.is_empty() || text == self.text => None,
            _ => Some(text.starts_with(&self.text)),
        }
    }
}

fn read(bytes: &[u8]) -> Result<Said<'_>, Malformed> {
    let mut said = Said::default();
    said.scan(bytes).map_err(|bad| not_json(bytes, bad))?;
    if said.text.is_none() && said.ids.is_none() && !said.has_meta && said.error.is_none() {
        return Err(Malformed::Other(excerpt(bytes)));
    }
    Ok(said)
}

impl<'a> Said<'a> {
    fn scan(&mut self, bytes: &'a [u8]) -> Scan<()> {
        let mut scan = Scanner::new(bytes)?;
        scan.object(&mut |scan, key| match key {
            b"text" | b"output_ids" | b"meta_info" | b"error" if scan.null()? => Ok(()),
            b"text" => {
                self.text = Some(scan.string()?);
                Ok(())
            }
            b"output_ids" => {
                self.ids = Some(scan.numbers()? as u64);
                Ok(())
            }
            b"meta_info" => {
                self.has_meta = true;
                self.meta.scan(scan)
            }
            b"error" => {
                self.error = Some(refusal(scan.value()?, "code"));
                Ok(())
            }
            _ => scan.value().map(drop),
        })?;
        scan.end()
    }
}

impl Meta {
    fn scan(&mut self, scan: &mut Scanner<'_>) -> Scan<()> {
        scan.object(&mut |scan, key| {
            match key {
                b"prompt_tokens" => self.prompt_tokens = scan.count()?,
                b"completion_tokens" => self.completion_tokens = scan.count()?,
                b"cached_tokens" => self.cached_tokens = scan.count()?,
                b"reasoning_tokens" => self.reasoning_tokens = scan.count()?,
                b"finish_reason" if scan.null()? => {}
                b"finish_reason" => self.end(scan.value()?),
                b"queue_time" => self.stamps.queue = scan.float()?,
                b"e2e_latency" => self.stamps.latency = scan.float()?,
                b"request_received_ts" => self.stamps.received = scan.float()?,
                b"forward_entry_time" => self.stamps.scheduled = scan.float()?,
                b"prefill_finished_time" | b"prefill_finished_ts" => {
                    self.stamps.prefilled = scan.float()?;
                }
                b"request_finished_ts" | b"decode_finished_ts" => {
                    self.stamps.finished = scan.float()?;
                }
                _ => scan.value().map(drop)?,
            }
            Ok(())
        })
    }

    /// `finish_reason`: an object with a type, or a string.
    fn end(&mut self, raw: &[u8]) {
        let reason: Value = serde_json::from_slice(raw).unwrap_or_default();
        let kind = reason.get("type").unwrap_or(&reason).as_str();
        let given = ["message", "status_code"].iter().any(|name| !reason[*name].is_null());
        if kind == Some("abort") && given {
            self.aborted = Some(refusal(raw, "status_code"));
        } else if let Some(kind) = kind.filter(|kind| !kind.is_empty()) {
            self.finish = Some(Finish::new(kind));
        }
    }
}

/// An error in the server's words; the field with this name has its HTTP status.
fn refusal(raw: &[u8], status: &str) -> ServerError {
    let error: Value = serde_json::from_slice(raw).unwrap_or_default();
    let overloaded = error[status].as_u64().is_some_and(is_overload_status);
    ServerError { message: String::from_utf8_lossy(raw).into_owned(), overloaded }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    const KEEP: Keep = Keep { text: true, content: false };

    fn next(reader: &mut Generated, frame: &Value) -> Delta {
        let data = frame.to_string();
        reader.frame(WireFrame { kind: b"", data: data.as_bytes() }, KEEP).unwrap()
    }

    /// The text, the tokens that each frame counts up to, and which frames have output.
    fn read_all(frames: &[Value]) -> (String, Vec<Option<u64>>, Vec<bool>) {
        let mut reader = Generated::default();
        let deltas: Vec<Delta> = frames.iter().map(|frame| next(&mut reader, frame)).collect();
        let text = deltas.iter().filter_map(|delta| delta.text.as_deref()).collect();
        let count = |delta: &Delta| delta.output_tokens.or(delta.listed_tokens);
        (
            text,
            deltas.iter().map(count).collect(),
            deltas.iter().map(|delta| delta.output).collect(),
        )
    }

    /// Frames of these tokens, sent at these counts.
    fn frames(pieces: &[String], sent: &[usize], repeats: bool, ids: bool) -> Vec<Value> {
        let mut before = 0;
        let frame = |upto: &usize| {
            let from = if repeats { 0 } else { std::mem::replace(&mut before, *upto) };
            let mut frame = json!({
                "text": pieces[from..*upto].concat(),
                "meta_info": {"prompt_tokens": 3, "completion_tokens": upto, "finish_reason": null},
            });
            if ids {
                frame["output_ids"] = (from..*upto).collect::<Vec<_>>().into();
            }
            frame
        };
        sent.iter().map(frame).collect()
    }

    proptest! {
        /// Repeating or not, and whichever frames a busy server leaves out: the same text and counts.
        #[test]
        fn the_text_and_the_counts_are_the_same_in_either_form(
            pieces in prop::collection::vec("[ -~é汉\n\"\\\\]{1,4}", 1..12),
            skip in prop::collection::vec(any::<bool>(), 12),
            repeats in any::<bool>(),
        ) {
            let all = 1..=pieces.len();
            let sent: Vec<usize> =
                all.filter(|n| *n == 1 || *n == pieces.len() || !skip[n - 1]).collect();
            let (text, counts, output) = read_all(&frames(&pieces, &sent, repeats, true));
            prop_assert_eq!(text, pieces.concat());
            prop_assert_eq!(counts, sent.iter().map(|n| Some(*n as u64)).collect::<Vec<_>>());
            prop_assert!(output.iter().all(|output| *output));
        }
    }

    #[test]
    fn without_ids_the_text_shows_whether_frames_repeat() {
        let pieces = ["The", " sky", " is", " blue"].map(String::from);
        for repeats in [true, false] {
            let frames = frames(&pieces, &[1, 2, 4], repeats, false);
            assert_eq!(read_all(&frames).0, "The sky is blue", "{repeats}");
        }
        let same = ["ha", "ha", "ha!"].map(String::from);
        assert_eq!(read_all(&frames(&same, &[1, 2, 3], false, false)).0, "hahaha!");
    }

    #[test]
    fn half_a_character_is_a_token_without_output() {
        let frame = |text: &str, tokens: u64| {
            let ids: Vec<u64> = (0..tokens).collect();
            json!({"text": text, "output_ids": ids, "meta_info": {"completion_tokens": tokens}})
        };
        let (text, counts, output) =
            read_all(&[frame("a", 1), frame("a", 2), frame("a汉", 3), frame("a汉", 3)]);
        assert_eq!(text, "a汉");
        assert_eq!(counts, [1, 2, 3, 3].map(Some));
        assert_eq!(output, [true, false, true, false]);
    }

    #[test]
    fn ids_alone_are_output_and_are_counted() {
        let frame = |ids: &[u64]| json!({"output_ids": ids, "meta_info": {"id": "x"}});
        let (_, counts, output) = read_all(&[frame(&[4]), frame(&[9, 9])]);
        assert_eq!((counts, output), (vec![Some(1), Some(3)], vec![true, true]));
    }

    #[test]
    fn an_abort_with_a_reason_is_an_error_and_one_without_is_a_finish() {
        let frame = |finish: Value| json!({"text": "", "meta_info": {"finish_reason": finish}});
        let read = |finish| next(&mut Generated::default(), &frame(finish));
        let busy = json!({"type": "abort", "message": "queue is full", "status_code": 503});
        let error = read(busy).error.unwrap();
        assert!(error.overloaded && error.message.contains("queue is full"));
        let broken = json!({"type": "abort", "message": "oom", "status_code": 500});
        assert!(!read(broken).error.unwrap().overloaded);
        let quiet = read(json!({"type": "abort"}));
        assert_eq!(quiet.finish, Some(Finish::new("abort")));
        assert_eq!(read(json!("length")).finish, Some(Finish::new("length")));
    }

    #[test]
    fn stamps_become_durations_and_what_is_negative_or_missing_stays_absent() {
        let meta = json!({
            "queue_time": 0.25, "forward_entry_time": 1790000000.5,
            "prefill_finished_time": 1790000001.0, "request_received_ts": 1790000000.0,
            "request_finished_ts": 1790000003.0,
        });
        let times =
            |meta: Value| next(&mut Generated::default(), &json!({"meta_info": meta})).times;
        let read = times(meta).unwrap();
        let ms = |time: Option<u64>| time.map(|ns| ns / 1_000_000);
        assert_eq!(
            [read.queue, read.prefill, read.decode, read.load, read.total].map(ms),
            [Some(250), Some(500), Some(2000), None, Some(3000)]
        );
        assert_eq!(times(json!({"queue_time": -1790000000.0, "e2e_latency": null})), None);
        assert_eq!(times(json!({"queue_time": "soon"})), None);
    }

    #[test]
    fn another_api_is_not_taken_for_this_one() {
        for other in [json!({"choices": []}), json!({"text": ["a"]}), json!([1]), json!("text")] {
            let data = other.to_string();
            let frame = WireFrame { kind: b"", data: data.as_bytes() };
            assert!(Generated::default().frame(frame, KEEP).is_err(), "{other}");
        }
    }
}
