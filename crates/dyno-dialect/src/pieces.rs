//! Pieces of output, gathered into a [`Delta`], and errors of readers: for APIs whose events say what
//! they carry.

use super::scan::{Bad, Scan, Scanner, unescape};
use super::{Delta, Keep, Malformed, excerpt};

/// What a piece of output is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece {
    /// What the model says, which is the reply in a conversation.
    Content,
    /// What the model thinks before.
    Reasoning,
    /// The name of a tool, or its arguments.
    Tool,
}

/// What is measured of a frame or a body, so far.
#[derive(Debug)]
pub(super) struct Pieces {
    pub(super) delta: Delta,
    keep: Keep,
    /// Some piece was empty.
    had_empty: bool,
}

impl Pieces {
    pub(super) fn new(keep: Keep) -> Self {
        Self { delta: Delta::default(), keep, had_empty: false }
    }

    /// Adds the inside of a JSON string.
    pub(super) fn add(&mut self, raw: &[u8], piece: Piece) {
        self.had_empty |= raw.is_empty();
        self.delta.output |= !raw.is_empty();
        self.delta.reasoning |= !raw.is_empty() && piece == Piece::Reasoning;
        if self.keep.text {
            self.delta.text.get_or_insert_default().push_str(&unescape(raw));
        }
        if self.keep.content && piece == Piece::Content {
            self.delta.content.get_or_insert_default().push_str(&unescape(raw));
        }
    }

    /// What was gathered from an event that adds to the output, perhaps nothing.
    pub(super) fn added(self) -> Delta {
        Delta { blank: self.had_empty && !self.delta.output, ..self.delta }
    }

    /// Adds JSON as it is: the arguments of a tool.
    pub(super) fn add_json(&mut self, raw: &[u8]) {
        self.delta.output = true;
        if self.keep.text {
            self.delta.text.get_or_insert_default().push_str(&String::from_utf8_lossy(raw));
        }
    }

    /// Reads text, or nothing.
    pub(super) fn text(&mut self, scan: &mut Scanner<'_>, piece: Piece) -> Scan<()> {
        if scan.null()? {
            return Ok(());
        }
        let raw = scan.string()?;
        self.add(raw, piece);
        Ok(())
    }
}

/// Reads an object field by field, or nothing; what is neither is skipped.
pub(super) fn fields<'a>(
    scan: &mut Scanner<'a>,
    field: &mut dyn FnMut(&mut Scanner<'a>, &'a [u8]) -> Scan<()>,
) -> Scan<()> {
    match scan.peek() {
        b'{' => scan.object(field),
        _ => scan.value().map(drop),
    }
}

/// Reads an array item by item, or nothing; what is neither is skipped.
pub(super) fn items<'a>(
    scan: &mut Scanner<'a>,
    item: &mut dyn FnMut(&mut Scanner<'a>) -> Scan<()>,
) -> Scan<()> {
    match scan.peek() {
        b'[' => scan.array(item),
        _ => scan.value().map(drop),
    }
}

/// Reads text; empty where it is something else.
pub(super) fn word<'a>(scan: &mut Scanner<'a>) -> Scan<&'a [u8]> {
    match scan.peek() {
        b'"' => scan.string(),
        _ => scan.value().map(|_| &b""[..]),
    }
}

/// Reads text or a number, as people would write it.
pub(super) fn plain(scan: &mut Scanner<'_>) -> Scan<String> {
    Ok(match scan.value()? {
        [b'"', inner @ .., b'"'] => unescape(inner),
        b"null" => String::new(),
        other => String::from_utf8_lossy(other).into_owned(),
    })
}

/// A frame or a body that is no JSON.
pub(super) fn not_json(bytes: &[u8], bad: Bad) -> Malformed {
    Malformed::NotJson { at: bad.0, shown: excerpt(bytes) }
}
