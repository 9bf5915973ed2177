//! A text as lines: decoded, numbered, without quotation marks, with the state of code fences.

use super::prefix;

/// A line of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextLine {
    /// From 1.
    pub number: u64,
    /// Without surrounding space and quotation marks.
    pub text: String,
    /// Its role in Markdown.
    pub kind: LineKind,
}

/// The role of a line in Markdown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineKind {
    /// Text.
    Text,
    /// Text within a code fence.
    Code,
    /// The line that opens a code fence.
    Open,
    /// The line that ends one.
    Close,
}

/// The lines of a text; `None` where these bytes are not text.
pub fn lines(bytes: &[u8]) -> Option<Vec<TextLine>> {
    let text = decode(bytes)?;
    let mut fence: Option<&'static str> = None;
    let mut lines = Vec::new();
    let shown = prefix::without(text.split('\n').map(shown).collect());
    for (number, shown) in (1..).zip(&shown) {
        let text = unquoted(shown);
        let mark = ["```", "~~~"].into_iter().find(|mark| text.starts_with(mark));
        let kind = match (fence, mark) {
            (None, Some(mark)) => {
                fence = Some(mark);
                LineKind::Open
            }
            (Some(open), Some(mark))
                if open == mark && text.trim_matches(['`', '~']).is_empty() =>
            {
                fence = None;
                LineKind::Close
            }
            (Some(_), _) => LineKind::Code,
            (None, None) => LineKind::Text,
        };
        lines.push(TextLine { number, text, kind });
    }
    Some(lines)
}

fn decode(bytes: &[u8]) -> Option<String> {
    let wide = |rest: &[u8], unit: fn([u8; 2]) -> u16| {
        let units = rest.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
        char::decode_utf16(units).map(|c| c.unwrap_or('\u{fffd}')).collect::<String>()
    };
    let text = match bytes {
        [0xff, 0xfe, rest @ ..] => wide(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => wide(rest, u16::from_be_bytes),
        [0xef, 0xbb, 0xbf, rest @ ..] => String::from_utf8_lossy(rest).into_owned(),
        _ => String::from_utf8_lossy(bytes).into_owned(),
    };
    (!text.contains('\0')).then_some(text)
}

/// A line as a terminal shows it.
fn shown(raw: &str) -> String {
    let raw = raw.trim_end();
    // Text before the last carriage return was overwritten by a progress bar.
    let shown = raw.rsplit('\r').next().unwrap_or(raw);
    if shown.contains('\u{1b}') { colourless(shown) } else { shown.to_owned() }
}

/// Removes what quotations put around a line.
fn unquoted(shown: &str) -> String {
    let mut text = shown.trim();
    while let Some(rest) = text.strip_prefix('>') {
        text = rest.trim_start();
    }
    if text.starts_with(['│', '┃', '║']) {
        return text.replace(['│', '┃', '║'], "|");
    }
    text.to_owned()
}

fn colourless(text: &str) -> String {
    let mut pieces = text.split('\u{1b}');
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let rest = piece.strip_prefix('[').map(|sequence| {
            let end = sequence.find(|c: char| c.is_ascii_alphabetic());
            end.and_then(|end| sequence.get(end + 1..)).unwrap_or_default()
        });
        out.push_str(rest.unwrap_or(piece));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(bytes: &[u8]) -> Vec<String> {
        lines(bytes).unwrap().into_iter().map(|line| line.text).collect()
    }

    #[test]
    fn what_others_put_around_a_line_is_taken_off() {
        assert_eq!(texts("\u{feff}a\r\n> > b \r\n\tc".as_bytes()), ["a", "b", "c"]);
        assert_eq!(texts(b"12%|#\r100%|##\n\x1b[1;32mok\x1b[0m."), ["100%|##", "ok."]);
        assert_eq!(texts("┃ a ┃ b ┃".as_bytes()), ["| a | b |"]);
        assert_eq!(texts(b"\xff\xfea\0\n\0b\0"), ["a", "b"]);
        assert_eq!(lines(b"PK\x03\x04\0\0"), None);
    }

    #[test]
    fn fences_are_known() {
        let kinds: Vec<LineKind> = lines(b"a\n```sh\n# b\n~~~\n```\nc\n")
            .unwrap()
            .into_iter()
            .map(|line| line.kind)
            .collect();
        let (code, text) = (LineKind::Code, LineKind::Text);
        assert_eq!(kinds, [text, LineKind::Open, code, code, LineKind::Close, text, text]);
    }
}
