//! A response as an object: the whole body, or a part of the last event.

use crate::pieces::{Piece, Pieces, fields, items, plain, word};
use crate::scan::{Scan, Scanner, count_of};
use crate::times::metrics;
use crate::{Delta, Finish, Keep, ServerError};

/// An error in the server's words.
pub(super) fn error(raw: &[u8]) -> Scan<ServerError> {
    let (mut kind, mut code) = (String::new(), String::new());
    fields(&mut Scanner::new(raw)?, &mut |scan, key| {
        match key {
            b"type" => kind = plain(scan)?,
            b"code" => code = plain(scan)?,
            _ => scan.value().map(drop)?,
        }
        Ok(())
    })?;
    Ok(ServerError::of_kind(String::from_utf8_lossy(raw), &[&kind, &code]))
}

/// A response: the body, or a part of an event.
pub(super) struct Response {
    pub(super) pieces: Pieces,
    pub(super) status: String,
    /// Why it is incomplete.
    reason: String,
    /// It has a list of output.
    pub(super) has_output: bool,
}

impl Response {
    pub(super) fn read(bytes: &[u8], keep: Keep) -> Scan<Self> {
        let mut response = Self {
            pieces: Pieces::new(keep),
            status: String::new(),
            reason: String::new(),
            has_output: false,
        };
        let mut scan = Scanner::new(bytes)?;
        scan.object(&mut |scan, key| {
            match key {
                b"output" => {
                    response.has_output = true;
                    items(scan, &mut |scan| response.item(scan))?;
                }
                b"status" => response.status = plain(scan)?,
                b"incomplete_details" => fields(scan, &mut |scan, key| {
                    match key {
                        b"reason" => response.reason = plain(scan)?,
                        _ => scan.value().map(drop)?,
                    }
                    Ok(())
                })?,
                b"usage" => response.usage(scan)?,
                b"metrics" => metrics(scan, &mut response.pieces.delta)?,
                b"error" if scan.null()? => {}
                b"error" => response.pieces.delta.error = Some(error(scan.value()?)?),
                _ => scan.value().map(drop)?,
            }
            Ok(())
        })?;
        scan.end()?;
        Ok(response)
    }

    /// A message, reasoning, or a call of a tool.
    fn item(&mut self, scan: &mut Scanner<'_>) -> Scan<()> {
        fields(scan, &mut |scan, key| match key {
            b"content" | b"summary" => items(scan, &mut |scan| self.part(scan)),
            b"name" | b"arguments" | b"code" => self.pieces.text(scan, Piece::Tool),
            _ => scan.value().map(drop),
        })
    }

    fn part(&mut self, scan: &mut Scanner<'_>) -> Scan<()> {
        let (mut kind, mut text) = (&b""[..], &b""[..]);
        fields(scan, &mut |scan, key| {
            match key {
                b"type" => kind = word(scan)?,
                b"text" | b"refusal" => text = word(scan)?,
                _ => scan.value().map(drop)?,
            }
            Ok(())
        })?;
        let reasoning = kind.starts_with(b"reasoning") || kind.starts_with(b"summary");
        self.pieces.add(text, if reasoning { Piece::Reasoning } else { Piece::Content });
        Ok(())
    }

    fn usage(&mut self, scan: &mut Scanner<'_>) -> Scan<()> {
        let delta = &mut self.pieces.delta;
        fields(scan, &mut |scan, key| {
            match key {
                b"input_tokens" => delta.input_tokens = scan.count()?,
                b"output_tokens" => delta.output_tokens = scan.count()?,
                // SGLang before 0.5.18 has the usage of a chat in responses that are not streamed.
                b"prompt_tokens" => delta.input_tokens = delta.input_tokens.or(scan.count()?),
                b"completion_tokens" => delta.output_tokens = delta.output_tokens.or(scan.count()?),
                b"input_tokens_details" | b"prompt_tokens_details" => {
                    detail(scan, b"cached_tokens", &mut delta.cached_tokens)?;
                }
                b"output_tokens_details" | b"completion_tokens_details" => {
                    detail(scan, b"reasoning_tokens", &mut delta.reasoning_tokens)?;
                }
                _ => scan.value().map(drop)?,
            }
            Ok(())
        })
    }

    /// Leaves out the output, which has come before.
    pub(super) fn forget_output(&mut self) {
        let delta = &mut self.pieces.delta;
        (delta.output, delta.reasoning) = (false, false);
        (delta.text, delta.content) = (None, None);
    }

    /// What is measured of it, with its status as the finish reason; `event` is the name of the event
    /// that holds it.
    pub(super) fn into_delta(self, event: &str) -> Delta {
        let Self { pieces, status, reason, .. } = self;
        let delta = pieces.delta;
        if delta.error.is_some() {
            return delta;
        }
        if status == "failed" || event == "response.failed" {
            let error =
                ServerError::new("the server reports that the response failed, without a reason");
            return Delta { error: Some(error), ..delta };
        }
        let named = event.strip_prefix("response.").unwrap_or("completed");
        let finish = match status.as_str() {
            "" => named,
            "incomplete" if !reason.is_empty() => &reason,
            status => status,
        };
        Delta { finish: Some(Finish::new(finish)), ..delta }
    }
}

/// A count among the details of usage. A malformed one does not fail the response.
fn detail(scan: &mut Scanner<'_>, name: &[u8], count: &mut Option<u64>) -> Scan<()> {
    fields(scan, &mut |scan, key| {
        let raw = scan.value()?;
        if key == name {
            *count = count_of(raw);
        }
        Ok(())
    })
}
