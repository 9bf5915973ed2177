//! One sentence with its translation: the format string taken apart, and whether a text was made
//! from it. Where sentences are looked for in a message is [`super::search`].

/// An English sentence of the code with its Chinese translation. Places are written as in
/// `format!`.
#[derive(Debug)]
pub(super) struct Sentence {
    pub(super) english: &'static str,
    /// The letters that are always the same.
    pub(super) letters: usize,
    pub(super) pieces: Vec<Piece>,
    pub(super) chinese: Vec<Piece>,
}

/// A part of a format string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    Text(String),
    Place(String),
}

impl Sentence {
    /// The sentence of a pair, both texts as they stand in a literal of the code.
    pub(super) fn of(english: &'static str, chinese: &str) -> Self {
        let [pieces, chinese] = [english, chinese].map(|text| pieces(&unescaped(text)));
        Self { english, letters: letters(&pieces), pieces, chinese }
    }

    /// Its fixed texts.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        texts(&self.pieces)
    }

    /// Whether a text is made from it; what stands in its places is added to `values`.
    pub(super) fn takes<'a, 'p>(
        &'p self,
        text: &'a str,
        values: &mut Vec<(&'p str, &'a str)>,
    ) -> bool {
        take(&self.pieces, text, values)
    }

    /// How much of it is always the same: in letters, then in bytes.
    pub(super) fn particularity(&self) -> (usize, usize) {
        (self.letters, self.texts().map(str::len).sum())
    }
}

/// The text that a literal of the code stands for.
fn unescaped(literal: &str) -> String {
    literal.replace("\\n", "\n").replace("\\\"", "\"").replace("\\\\", "\\")
}

/// How many letters of a sentence are always the same.
fn letters(pieces: &[Piece]) -> usize {
    texts(pieces).map(|text| text.chars().filter(|c| c.is_alphabetic()).count()).sum()
}

fn texts(pieces: &[Piece]) -> impl Iterator<Item = &str> {
    pieces.iter().filter_map(|piece| match piece {
        Piece::Text(text) => Some(text.as_str()),
        Piece::Place(_) => None,
    })
}

/// A format string taken apart. Places without a name are numbered in their order.
fn pieces(format: &str) -> Vec<Piece> {
    let (mut all, mut text, mut next) = (Vec::new(), String::new(), 0);
    let mut rest = format;
    while let Some(at) = rest.find(['{', '}']) {
        text.push_str(&rest[..at]);
        let (brace, after) = rest[at..].split_at(1);
        if let Some(after) = after.strip_prefix(brace) {
            text.push_str(brace);
            rest = after;
        } else if let Some(close) = after.find('}').filter(|_| brace == "{") {
            let name = after[..close].split(':').next().unwrap_or_default();
            let name = if name.is_empty() { next.to_string() } else { name.to_owned() };
            next += 1;
            if !text.is_empty() {
                all.push(Piece::Text(std::mem::take(&mut text)));
            }
            all.push(Piece::Place(name));
            rest = &after[close + 1..];
        } else {
            text.push_str(brace);
            rest = after;
        }
    }
    text.push_str(rest);
    if !text.is_empty() {
        all.push(Piece::Text(text));
    }
    all
}

/// Whether a text is made from the pieces; what stands in their places is added to `values`.
fn take<'a, 'p>(pieces: &'p [Piece], text: &'a str, values: &mut Vec<(&'p str, &'a str)>) -> bool {
    match pieces {
        [] => text.is_empty(),
        [Piece::Text(fixed), rest @ ..] => match text.strip_prefix(fixed.as_str()) {
            Some(text) => take(rest, text, values),
            None => false,
        },
        [Piece::Place(name), rest @ ..] => {
            let before = values.iter().find(|(known, _)| known == name).map(|(_, value)| *value);
            // What stands in a place twice is the same twice, but for its quotes.
            let again = |value: &&str| text.starts_with(value);
            let again =
                before.and_then(|value| [value, value.trim_matches('"')].into_iter().find(again));
            let ends: Vec<usize> = match (again, rest) {
                (Some(value), _) => vec![value.len()],
                (None, []) => vec![text.len()],
                (None, [Piece::Text(next), ..]) => {
                    text.match_indices(next.as_str()).map(|m| m.0).collect()
                }
                (None, [Piece::Place(_), ..]) => word_ends(text),
            };
            ends.into_iter().any(|end| {
                let count = values.len();
                values.push((name, &text[..end]));
                let found = take(rest, &text[end..], values);
                if !found {
                    values.truncate(count);
                }
                found
            })
        }
    }
}

/// Where a place may end that another one follows at once: all of the text, for the second is mostly
/// empty, or where a word ends: "1 to {most}{more}" is a number and what is said after it.
fn word_ends(text: &str) -> Vec<usize> {
    // A path or a name with a hyphen is one word.
    let ends_word = |c: char| !(c.is_alphanumeric() || "-_./#".contains(c));
    let within = |at: usize, c: char| ends_word(c) && text[..at].ends_with(char::is_alphanumeric);
    let ends = text.char_indices().filter(|(at, c)| within(*at, *c)).map(|(at, _)| at);
    ends.chain([text.len()]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[test]
    fn a_format_string_is_taken_apart() {
        let text = |text: &str| Piece::Text(text.to_owned());
        let place = |name: &str| Piece::Place(name.to_owned());
        assert_eq!(
            pieces("`{text}`: {} of {:?}, such as {{\"k\": {N:.1}}}"),
            [
                text("`"),
                place("text"),
                text("`: "),
                place("1"),
                text(" of "),
                place("2"),
                text(", such as {\"k\": "),
                place("N"),
                text("}"),
            ]
        );
    }

    fn made(format: &str, values: &BTreeMap<&str, &str>) -> String {
        let parts = pieces(format).into_iter().map(|piece| match piece {
            Piece::Text(text) => text,
            Piece::Place(name) => values[name.as_str()].to_owned(),
        });
        parts.collect()
    }

    proptest! {
        #[test]
        fn what_was_filled_in_is_found_again(a in "[a-z0-9 ]{0,8}", b in "[0-9]{1,4}") {
            let format = "the file `{a}` has {b} lines";
            let values = BTreeMap::from([("a", a.as_str()), ("b", b.as_str())]);
            let text = made(format, &values);
            let pieces = pieces(format);
            let mut found = Vec::new();
            prop_assert!(take(&pieces, &text, &mut found));
            prop_assert_eq!(found, vec![("a", a.as_str()), ("b", b.as_str())]);
        }
    }
}
