//! Numbers, widths and line breaks for a terminal.

/// Stands for an absent value.
pub const ABSENT: &str = "–";

use unicode_width::UnicodeWidthChar;

/// How many columns `text` takes: East Asian wide characters and emoji take two, combining marks none.
pub fn width(text: &str) -> usize {
    text.chars().map(columns_of).sum()
}

fn columns_of(c: char) -> usize {
    c.width().unwrap_or(0)
}

fn is_wide(c: char) -> bool {
    columns_of(c) == 2
}

/// Cuts `text` to `limit` columns, the last of which is then `…`.
pub fn cut(text: &str, limit: usize) -> String {
    if width(text) <= limit {
        return text.to_owned();
    }
    let mut shown = String::new();
    for c in text.chars() {
        if width(&shown) + columns_of(c) + 1 > limit {
            break;
        }
        shown.push(c);
    }
    shown.push('…');
    shown
}

/// Cuts `text` to `limit` columns in its middle: the end of a label distinguishes levels.
pub fn cut_middle(text: &str, limit: usize) -> String {
    if width(text) <= limit {
        return text.to_owned();
    }
    let room = limit.saturating_sub(1);
    let (mut tail, mut taken) = (text.len(), 0);
    for (at, c) in text.char_indices().rev() {
        taken += columns_of(c);
        if taken > room / 2 {
            break;
        }
        tail = at;
    }
    let (head, tail) = text.split_at(tail);
    let head = cut(head, limit - width(tail));
    format!("{}…{tail}", head.trim_end_matches('…'))
}

/// A number with about three significant digits.
pub fn number(value: f64) -> String {
    match value.abs() {
        v if v >= 99.95 || v == 0.0 => format!("{value:.0}"),
        v if v >= 9.995 => format!("{value:.1}"),
        v if v >= 0.01 => format!("{value:.2}"),
        _ => format!("{value:.4}"),
    }
}

/// Milliseconds for a narrow column: in seconds from ten seconds on.
pub fn millis(value: f64) -> String {
    if is_long(value) { format!("{}s", number(value / 1e3)) } else { number(value) }
}

/// Whether so many milliseconds are shown in seconds.
pub fn is_long(millis: f64) -> bool {
    millis >= 9_999.5
}

/// A whole number, or [`ABSENT`].
pub fn whole(value: Option<u64>) -> String {
    value.map_or_else(|| ABSENT.to_owned(), |value| value.to_string())
}

/// [`number`], or [`ABSENT`].
pub fn maybe(value: Option<f64>) -> String {
    value.map_or_else(|| ABSENT.to_owned(), number)
}

/// `text` padded on the left to so many columns.
pub fn right(text: &str, columns: usize) -> String {
    format!("{}{text}", " ".repeat(columns.saturating_sub(width(text))))
}

/// `text` padded on the right to so many columns.
pub fn left(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

/// Characters that may not start a line.
const CLOSING: &str = "，。；：、？！）》”…%";
/// Characters that may not end a line.
const OPENING: &str = "（《“";

/// The pieces of a text between which a line may break: at spaces, and beside wide characters. Each comes
/// with the number of spaces before it.
fn breakable(text: &str) -> Vec<(usize, String)> {
    let mut pieces: Vec<(usize, String)> = Vec::new();
    let (mut spaces, mut before) = (0, None);
    for c in text.chars() {
        if c == ' ' {
            (spaces, before) = (spaces + 1, None);
            continue;
        }
        let beside = |last: char| {
            (is_wide(last) || is_wide(c)) && !CLOSING.contains(c) && !OPENING.contains(last)
        };
        match pieces.last_mut() {
            Some((_, piece)) if before.is_some_and(|last| !beside(last)) => piece.push(c),
            _ => pieces.push((spaces, c.to_string())),
        }
        (spaces, before) = (0, Some(c));
    }
    let mut joined: Vec<(usize, String)> = Vec::new();
    for (spaces, piece) in pieces {
        match joined.last_mut() {
            Some((_, last)) if spaces == 1 && is_unit(&piece) && ends_in_number(last) => {
                last.push(' ');
                last.push_str(&piece);
            }
            _ => joined.push((spaces, piece)),
        }
    }
    joined
}

/// A unit stays on the line of its number.
fn is_unit(piece: &str) -> bool {
    let unit = piece.trim_end_matches(|c: char| !c.is_ascii_alphabetic() && c != '%');
    matches!(unit, "%" | "s" | "ms" | "GiB" | "MiB")
}

fn ends_in_number(piece: &str) -> bool {
    piece.ends_with(|c: char| c.is_ascii_digit())
}

/// Breaks `text` into lines of at most `columns`; the first starts with `first`, the others with as many
/// spaces. A word longer than a line is broken anywhere.
pub fn wrap(first: &str, text: &str, columns: usize) -> String {
    let indent = width(first);
    let room = columns.saturating_sub(indent).max(20);
    let mut lines = vec![String::new()];
    for (spaces, piece) in breakable(text) {
        let mut piece = piece.as_str();
        let mut gap = spaces;
        loop {
            let line = lines.last().map_or("", String::as_str);
            if line.is_empty() {
                gap = 0;
            }
            if width(line) + gap + width(piece) <= room {
                break;
            }
            if !line.is_empty() {
                lines.push(String::new());
                continue;
            }
            let mut taken = 0;
            let split = piece.char_indices().find(|(_, c)| {
                taken += columns_of(*c);
                taken > room
            });
            let Some((at, _)) = split else { break };
            let (head, rest) = piece.split_at(at);
            lines.pop();
            lines.extend([head.to_owned(), String::new()]);
            piece = rest;
        }
        if let Some(line) = lines.last_mut() {
            line.push_str(&" ".repeat(gap));
            line.push_str(piece);
        }
    }
    let mut out = String::new();
    for (i, line) in lines.iter().enumerate() {
        let start = if i == 0 { first.to_owned() } else { " ".repeat(indent) };
        out.push_str(format!("{start}{line}").trim_end());
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_keep_three_digits() {
        assert_eq!(number(0.0), "0");
        assert_eq!(number(0.1234), "0.12");
        assert_eq!(number(12.34), "12.3");
        assert_eq!(number(1234.5), "1234");
        assert_eq!(millis(12_345.0), "12.3s");
        assert_eq!(maybe(None), "–");
    }

    #[test]
    fn widths_are_those_of_a_terminal() {
        for (text, columns) in [
            ("abc", 3),
            ("模型", 4),
            ("首 token 时延", 13),
            ("e\u{301}", 1),
            ("🚀", 2),
            ("ｦ", 1),
            ("–…×", 3),
        ] {
            assert_eq!(width(text), columns, "{text}");
        }
        assert_eq!(right("e\u{301}", 3), "  e\u{301}");
        assert_eq!(cut("ae\u{301}bc", 3), "ae\u{301}…");
    }

    #[test]
    fn lines_break_at_spaces_under_the_first() {
        assert_eq!(
            wrap("- ", "one two three four five six", 22),
            "- one two three four\n  five six\n"
        );
        assert_eq!(wrap("", "一二三四五六七八九十，一", 20), "一二三四五六七八九\n十，一\n");
        assert_eq!(
            wrap("", "no more than 12 seconds, 34 ms", 29),
            "no more than 12 seconds,\n34 ms\n"
        );
        assert_eq!(
            wrap("", "占请求的约百分之 28.9 s；并发", 21),
            "占请求的约百分之\n28.9 s；并发\n"
        );
        assert_eq!(cut("模型名字", 5), "模型…");
        assert_eq!(cut_middle("concurrency 200", 14), "concurr…cy 200");
        assert_eq!(cut_middle("模型名字十", 7), "模型…十");
        assert_eq!(cut_middle("short", 14), "short");
    }

    proptest! {
        #[test]
        fn no_line_is_too_wide(text in "[a-z 模，（]{0,200}", columns in 30_usize..100) {
            for line in wrap("  - ", &text, columns).lines() {
                prop_assert!(width(line) <= columns, "{line}");
            }
        }
    }
}
