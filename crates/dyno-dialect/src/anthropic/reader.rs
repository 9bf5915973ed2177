//! Reads the events and the whole responses of the Messages API.
//!
//! Usage comes in two places, and may differ: the first event can give the whole prompt as its input,
//! the last only what was not cached, beside what was. So each of its numbers replaces the earlier
//! one, and the input is their sum. The last word counts, because the first may be an estimate; but a
//! usage that is shorter because a number has become 0 is filled up with zeros, and is not used. Output
//! tokens in the first event are not final.

use crate::framing::WireFrame;
use crate::openai::is_overload;
use crate::pieces::{Piece, Pieces, fields, items, not_json, plain, word};
use crate::scan::{Scan, Scanner};
use crate::{Delta, Finish, Keep, Malformed, Reader, ServerError, excerpt, is_overload_status};

/// The reader: what usage has said so far.
#[derive(Debug, Default)]
pub(super) struct Events(Input);

/// The parts of the prompt.
#[derive(Debug, Default, Clone, Copy)]
struct Input {
    fresh: Option<u64>,
    read: Option<u64>,
    created: Option<u64>,
}

impl Input {
    /// All of it; a prompt of nothing is none.
    fn sum(&self) -> Option<u64> {
        let cached = self.read.unwrap_or(0).saturating_add(self.created.unwrap_or(0));
        self.fresh.map(|fresh| fresh.saturating_add(cached)).filter(|sum| *sum > 0)
    }

    /// Whether some number is 0 that was not `before`.
    fn is_filled_up(&self, before: &Self) -> bool {
        let gone = |now: Option<u64>, then: Option<u64>| now == Some(0) && then > Some(0);
        gone(self.fresh, before.fresh)
            || gone(self.read, before.read)
            || gone(self.created, before.created)
    }
}

impl Reader for Events {
    fn frame(&mut self, frame: WireFrame<'_>, keep: Keep) -> Result<Delta, Malformed> {
        let mut event =
            Event { pieces: Pieces::new(keep), usage: self, kind: b"", has_content: false };
        event.read(frame.data).map_err(|bad| not_json(frame.data, bad))?;
        let kind = match event.kind {
            // llama.cpp sends its error without an envelope: the type is that of the error.
            _ if frame.kind == b"error" || is_error(event.kind) => b"error",
            b"" => frame.kind,
            kind => kind,
        };
        let mut delta = match kind {
            b"content_block_delta" => event.pieces.added(),
            _ => event.pieces.delta,
        };
        match kind {
            b"message_start" => delta.output_tokens = None,
            b"message_stop" => delta.terminal = true,
            b"error" if delta.error.is_none() => {
                delta.error = Some(bare_error(frame.data));
            }
            b"" if delta.error.is_none() => {
                return Err(Malformed::NoType(excerpt(frame.data)));
            }
            // Further types may be added at any time.
            _ => {}
        }
        Ok(delta)
    }

    fn whole(&mut self, body: &[u8], keep: Keep) -> Result<Delta, Malformed> {
        let mut event =
            Event { pieces: Pieces::new(keep), usage: self, kind: b"", has_content: false };
        event.read(body).map_err(|bad| not_json(body, bad))?;
        let mut delta = event.pieces.delta;
        if is_error(event.kind) && !event.has_content && delta.error.is_none() {
            delta.error = Some(bare_error(body));
        }
        if !event.has_content && delta.error.is_none() {
            return Err(Malformed::NoContent(excerpt(body)));
        }
        Ok(Delta { terminal: true, ..delta })
    }
}

/// An event, or a whole message, while it is read.
struct Event<'a, 'r> {
    pieces: Pieces,
    usage: &'r mut Events,
    kind: &'a [u8],
    has_content: bool,
}

impl<'a> Event<'a, '_> {
    fn read(&mut self, bytes: &'a [u8]) -> Scan<()> {
        let mut scan = Scanner::new(bytes)?;
        scan.object(&mut |scan, key| match key {
            b"type" => {
                self.kind = word(scan)?;
                Ok(())
            }
            b"message" => fields(scan, &mut |scan, key| self.message(scan, key)),
            b"delta" | b"content_block" => self.block(scan),
            b"error" => self.error(scan),
            _ => self.message(scan, key),
        })?;
        scan.end()
    }

    /// A field of a message, which may be the body itself.
    fn message(&mut self, scan: &mut Scanner<'a>, key: &[u8]) -> Scan<()> {
        match key {
            b"content" => {
                self.has_content = true;
                items(scan, &mut |scan| self.block(scan))
            }
            b"stop_reason" => self.stop_reason(scan),
            b"usage" => self.usage(scan),
            _ => scan.value().map(drop),
        }
    }

    /// A block of content, or a piece of one. Signatures and citations are not generated tokens.
    fn block(&mut self, scan: &mut Scanner<'a>) -> Scan<()> {
        fields(scan, &mut |scan, key| match key {
            b"text" => self.pieces.text(scan, Piece::Content),
            b"thinking" => self.pieces.text(scan, Piece::Reasoning),
            b"partial_json" | b"name" => self.pieces.text(scan, Piece::Tool),
            b"input" => {
                // The arguments of a tool; in a stream they follow piece by piece.
                let raw = scan.value()?;
                if raw.starts_with(b"{") && raw.len() > 2 {
                    self.pieces.add_json(raw);
                }
                Ok(())
            }
            b"stop_reason" => self.stop_reason(scan),
            _ => scan.value().map(drop),
        })
    }

    fn stop_reason(&mut self, scan: &mut Scanner<'a>) -> Scan<()> {
        let reason = plain(scan)?;
        if !reason.is_empty() {
            self.pieces.delta.finish = Some(Finish::new(reason));
        }
        Ok(())
    }

    fn usage(&mut self, scan: &mut Scanner<'a>) -> Scan<()> {
        let (mut input, delta) = (self.usage.0, &mut self.pieces.delta);
        fields(scan, &mut |scan, key| {
            match key {
                b"input_tokens" => input.fresh = scan.count()?.or(input.fresh),
                b"cache_read_input_tokens" => input.read = scan.count()?.or(input.read),
                b"cache_creation_input_tokens" => input.created = scan.count()?.or(input.created),
                b"output_tokens" => delta.output_tokens = scan.count()?,
                _ => scan.value().map(drop)?,
            }
            Ok(())
        })?;
        if input.sum() >= self.usage.0.sum() || !input.is_filled_up(&self.usage.0) {
            self.usage.0 = input;
        }
        let known = &self.usage.0;
        (delta.input_tokens, delta.cached_tokens) = (known.sum(), known.read);
        Ok(())
    }

    fn error(&mut self, scan: &mut Scanner<'a>) -> Scan<()> {
        if scan.null()? {
            return Ok(());
        }
        let raw = scan.value()?;
        let mut kind = String::new();
        fields(&mut Scanner::new(raw)?, &mut |scan, key| {
            match key {
                b"type" => kind = plain(scan)?,
                _ => scan.value().map(drop)?,
            }
            Ok(())
        })?;
        let mut error = ServerError::of_kind(String::from_utf8_lossy(raw), &[&kind]);
        error.overloaded |= quotes_an_overload(&error.message);
        self.pieces.delta.error = Some(error);
        Ok(())
    }
}

/// Whether a type is that of an error: `invalid_request_error`.
fn is_error(kind: &[u8]) -> bool {
    kind.ends_with(b"_error")
}

/// An error without an envelope: `{"code":…,"message":…,"type":…}`.
fn bare_error(document: &[u8]) -> ServerError {
    ServerError { message: excerpt(document), overloaded: is_overload(document) }
}

/// vLLM's Messages take the 503 of its own chat for a chunk that they cannot read, and quote the end of
/// it: `input_value={'error': {'message': 'Th...am': None, 'code': 503}}`.
fn quotes_an_overload(message: &str) -> bool {
    let quoted = message.split("input_value={'error':").nth(1);
    let code = quoted.and_then(|rest| rest.split("'code': ").nth(1));
    let status = code.and_then(|code| code.split_once('}')?.0.parse::<u64>().ok());
    status.is_some_and(is_overload_status)
}
