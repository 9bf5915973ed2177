//! Makes untrusted text (from servers, labels, model names) safe to print: nothing in it can move the
//! cursor, break a line or fill pages.

use std::borrow::Cow;

/// Shows control characters and invisible direction marks as escapes, and cuts the result to
/// `limit` characters, the last of which is then `…`.
pub fn escape(text: &str, limit: usize) -> String {
    let mut shown = String::new();
    let mut length = 0;
    for c in text.chars() {
        let piece = if is_harmless(c) { c.to_string() } else { escaped(c) };
        let width = piece.chars().count();
        if length + width > limit {
            while length + 1 > limit && shown.pop().is_some() {
                length -= 1;
            }
            shown.push('…');
            break;
        }
        shown.push_str(&piece);
        length += width;
    }
    shown
}

/// A message of several lines, parts of which may come from files or servers: everything that is not
/// harmless is shown as an escape, except the ends of lines.
pub fn lines(text: &str) -> Cow<'_, str> {
    if text.chars().all(|c| c == '\n' || is_harmless(c)) {
        return Cow::Borrowed(text);
    }
    let shown = |line| escape(line, usize::MAX);
    Cow::Owned(text.split('\n').map(shown).collect::<Vec<_>>().join("\n"))
}

/// JSON whose texts contain nothing that a terminal would obey: the same values, with more characters
/// escaped.
pub fn json(text: &str) -> Cow<'_, str> {
    let plain = |c: char| is_harmless(c) || c.is_ascii_control() && c != '\u{7f}';
    if text.chars().all(plain) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match plain(c) {
            true => out.push(c),
            // Outside of texts, JSON has no such characters.
            false => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    out.push_str(&format!("\\u{unit:04x}"));
                }
            }
        }
    }
    Cow::Owned(out)
}

/// Untrusted text for XML, between tags or in an attribute.
pub fn xml(text: &str) -> String {
    quoted(&escape(text, usize::MAX).chars().filter(|c| in_xml(*c)).collect::<String>())
}

/// Whether XML can contain it.
pub fn in_xml(c: char) -> bool {
    !matches!(u32::from(c) & 0xffff, 0xfffe..)
}

/// Escapes markup.
pub fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// A command line as a shell reads it, with nothing in it that could act on a terminal; none without words.
pub fn shell(words: &[String]) -> Option<String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@%+…".contains(c);
    let word = |word: &String| match escape(word, LONGEST_WORD) {
        word if !word.is_empty() && word.chars().all(plain) => word,
        word => format!("'{}'", word.replace('\'', r"'\''")),
    };
    (!words.is_empty()).then(|| words.iter().map(word).collect::<Vec<_>>().join(" "))
}

/// A longer argument is cut: it is to be read.
const LONGEST_WORD: usize = 2_000;

fn is_harmless(c: char) -> bool {
    let hidden = matches!(c,
        '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}');
    !c.is_control() && !hidden
}

fn escaped(c: char) -> String {
    match c {
        '\n' => "\\n".to_owned(),
        '\r' => "\\r".to_owned(),
        '\t' => "\\t".to_owned(),
        c => format!("\\u{{{:x}}}", u32::from(c)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn controls_are_shown_and_length_is_cut() {
        assert_eq!(escape("a\x1b[31mb\nc\u{202e}", 99), "a\\u{1b}[31mb\\nc\\u{202e}");
        assert_eq!(escape("模型", 99), "模型");
        assert_eq!(escape("abcdef", 4), "abc…");
        assert_eq!(escape("abcd", 4), "abcd");
    }

    #[test]
    fn a_command_line_can_be_typed_again() {
        let words = ["dyno", "bench", "--slo", "ttft.p99<1s", "--note", "it's", "", "a\u{1b}b"];
        let words = words.map(str::to_owned);
        let typed = r"dyno bench --slo 'ttft.p99<1s' --note 'it'\''s' '' 'a\u{1b}b'";
        assert_eq!(shell(&words).as_deref(), Some(typed));
        assert_eq!(shell(&[]), None);
    }

    /// L2: text of files reached the terminal in errors.
    #[test]
    fn messages_keep_their_lines_and_nothing_else() {
        assert_eq!(lines("a\n  hint: b"), "a\n  hint: b");
        assert_eq!(lines("a\x1b[2J\u{202e}b\r\nc\u{61c}"), "a\\u{1b}[2J\\u{202e}b\\r\nc\\u{61c}");
    }

    /// L3: C1 controls, direction marks and the Arabic letter mark were written raw.
    #[test]
    fn json_has_no_characters_that_a_terminal_obeys() {
        let value = serde_json::json!({"a\u{9b}": "x\u{202e}\u{61c}\u{e0041}\u{7f}\n模型"});
        let text = serde_json::to_string_pretty(&value).unwrap_or_default();
        let safe = json(&text);
        assert!(safe.chars().all(|c| c == '\n' || is_harmless(c)), "{safe}");
        assert!(safe.contains("模型") && safe.contains("\\u061c"), "{safe}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&safe).ok(), Some(value));
    }

    proptest! {
        #[test]
        fn escaped_json_is_the_same_value(text in any::<String>()) {
            let value = serde_json::Value::from(text);
            let safe = json(&value.to_string()).into_owned();
            prop_assert_eq!(serde_json::from_str::<serde_json::Value>(&safe).ok(), Some(value));
            prop_assert!(safe.chars().all(is_harmless));
        }

        #[test]
        fn never_longer_and_never_a_control(text in any::<String>(), limit in 1_usize..50) {
            let shown = escape(&text, limit);
            prop_assert!(shown.chars().count() <= limit);
            prop_assert!(shown.chars().all(|c| !c.is_control()));
        }
    }
}
