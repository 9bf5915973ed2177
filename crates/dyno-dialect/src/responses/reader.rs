//! Reads the events and the whole responses of the Responses API.
//!
//! Only `*.delta` events carry new output: `*.done` events and the last event repeat it. The last event
//! holds the whole response, with what became of it in its `status`; its name alone does not say.

use super::object::{Response, error};
use crate::framing::WireFrame;
use crate::pieces::{Piece, Pieces, fields, not_json, plain, word};
use crate::scan::{Bad, Scan, Scanner};
use crate::times::Timings;
use crate::{Delta, Keep, LastToken, Malformed, Reader, ServerError, excerpt};
use dyno_model::record::ServerTimes;

/// The reader: the numbers of the events so far.
#[derive(Debug, Default)]
pub(super) struct Events {
    number: Option<u64>,
    /// The server numbers its events; some send the same number each time.
    numbered: bool,
    /// Its numbers went backwards, so they say nothing about lost events: gateways that put a stream
    /// together from another one renumber some events.
    renumbered: bool,
    /// Output has come in events of its own.
    has_output: bool,
}

impl Reader for Events {
    fn frame(&mut self, frame: WireFrame<'_>, keep: Keep) -> Result<Delta, Malformed> {
        let bytes = frame.data;
        let event = Event::read(bytes).map_err(|bad| not_json(bytes, bad))?;
        let kind = if event.kind.is_empty() { frame.kind } else { event.kind };
        let lost = match event.number {
            // What the server says went wrong matters more than the number it says it with.
            _ if is_failure(kind, &event) => 0,
            Some(number) => self.lost(number),
            None => 0,
        };
        let delta = self.mean(kind, &event, bytes, keep).map_err(|bad| match bad {
            Wrong::Scan(bad) => not_json(bytes, bad),
            Wrong::Kind => Malformed::NoType(excerpt(bytes)),
        })?;
        self.has_output |= delta.output;
        Ok(Delta { lost, ..delta })
    }

    fn whole(&mut self, body: &[u8], keep: Keep) -> Result<Delta, Malformed> {
        let response = Response::read(body, keep).map_err(|bad| not_json(body, bad))?;
        if !response.has_output && response.pieces.delta.error.is_none() {
            return Err(Malformed::NoOutput(excerpt(body)));
        }
        if let "in_progress" | "queued" = response.status.as_str() {
            return Err(Malformed::NotFinished(excerpt(body)));
        }
        let delta = response.into_delta("");
        Ok(Delta { terminal: true, ..delta })
    }
}

/// Why an event cannot be used.
enum Wrong {
    Scan(Bad),
    Kind,
}

impl From<Bad> for Wrong {
    fn from(bad: Bad) -> Self {
        Self::Scan(bad)
    }
}

/// Whether an event reports that the response has failed.
fn is_failure(kind: &[u8], event: &Event<'_>) -> bool {
    matches!(kind, b"error" | b"response.failed") || kind.is_empty() && event.error.is_some()
}

/// The kind of output that an event adds to, by the part of its name before `.delta` and `.done`.
fn piece(name: &[u8]) -> Option<Piece> {
    match name {
        b"response.output_text" | b"response.refusal" => Some(Piece::Content),
        b"response.reasoning_text" | b"response.reasoning_summary_text" => Some(Piece::Reasoning),
        b"response.function_call_arguments"
        | b"response.mcp_call_arguments"
        | b"response.custom_tool_call_input"
        | b"response.code_interpreter_call_code" => Some(Piece::Tool),
        _ => None,
    }
}

impl Events {
    /// How many events are missing before the one with this number.
    fn lost(&mut self, number: u64) -> u32 {
        let Some(before) = self.number.replace(number) else {
            self.numbered = false;
            return 0;
        };
        if number == before && !self.numbered {
            return 0;
        }
        self.numbered = true;
        self.renumbered |= number <= before;
        match self.renumbered {
            true => 0,
            false => u32::try_from(number - before - 1).unwrap_or(u32::MAX),
        }
    }

    /// What an event of this kind means.
    fn mean(
        &self,
        kind: &[u8],
        event: &Event<'_>,
        bytes: &[u8],
        keep: Keep,
    ) -> Result<Delta, Wrong> {
        let mut pieces = Pieces::new(keep);
        if let Some(piece) = kind.strip_suffix(b".delta").and_then(piece) {
            pieces.add(event.delta, piece);
            return Ok(pieces.added());
        }
        if kind.strip_suffix(b".done").and_then(piece).is_some() {
            return Ok(Delta { last: LastToken::Now, ..Delta::default() });
        }
        match (kind, event.response) {
            // The name of a tool is generated, like its arguments.
            (b"response.output_item.added", _) => pieces.add(event.name, Piece::Tool),
            (
                b"response.completed"
                | b"response.incomplete"
                | b"response.failed"
                | b"response.cancelled",
                Some(response),
            ) => {
                let mut response = Response::read(response, keep)?;
                if self.has_output {
                    response.forget_output();
                }
                let last = match self.has_output {
                    true => LastToken::Before,
                    false => LastToken::WithFinish,
                };
                let delta = response.into_delta(&String::from_utf8_lossy(kind));
                let times = event.times.or(delta.times);
                return Ok(Delta { terminal: true, last, times, ..delta });
            }
            (b"error", _) => pieces.delta.error = Some(event.error(bytes)?),
            (b"", _) if event.error.is_some() => pieces.delta.error = Some(event.error(bytes)?),
            (b"", _) => return Err(Wrong::Kind),
            // Further types may be added at any time.
            _ => {}
        }
        Ok(pieces.delta)
    }
}

/// The fields of an event, as far as they are of interest.
#[derive(Default)]
struct Event<'a> {
    kind: &'a [u8],
    number: Option<u64>,
    delta: &'a [u8],
    /// The name in an item: that of a tool.
    name: &'a [u8],
    /// The response, as JSON.
    response: Option<&'a [u8]>,
    error: Option<&'a [u8]>,
    code: String,
    /// llama.cpp adds its times to the last event.
    times: Option<ServerTimes>,
}

impl<'a> Event<'a> {
    fn read(bytes: &'a [u8]) -> Scan<Self> {
        let mut event = Self::default();
        let mut scan = Scanner::new(bytes)?;
        scan.object(&mut |scan, key| {
            match key {
                b"type" => event.kind = word(scan)?,
                b"sequence_number" => event.number = scan.count()?,
                b"delta" => event.delta = word(scan)?,
                b"item" => fields(scan, &mut |scan, key| {
                    match key {
                        b"name" => event.name = word(scan)?,
                        _ => scan.value().map(drop)?,
                    }
                    Ok(())
                })?,
                b"response" => event.response = Some(scan.value()?),
                b"error" if scan.null()? => {}
                b"error" => event.error = Some(scan.value()?),
                b"code" => event.code = plain(scan)?,
                b"timings" => event.times = Some(Timings::read(scan)?.times),
                _ => scan.value().map(drop)?,
            }
            Ok(())
        })?;
        scan.end()?;
        Ok(event)
    }

    /// The error of an event, which has it in a field or is one itself.
    fn error(&self, bytes: &[u8]) -> Scan<ServerError> {
        match self.error {
            Some(raw) => error(raw),
            None => Ok(ServerError::of_kind(excerpt(bytes), &[&self.code])),
        }
    }
}
