//! Chinese for messages that reach the terminal as finished English text: errors of all crates,
//! wrong usage, hints. The libraries write English, because their messages are also recorded;
//! the printer looks up the sentence that a message was made from in `translations/` and fills its
//! values into the Chinese one. A message that is not found there stays English.

use dyno_model::Language;
use std::borrow::Cow;
use std::cmp::Reverse;
use std::sync::LazyLock;

/// The translations, by the part of the program that the messages come from.
const FILES: &[(&str, &str)] = &[
    ("usage.txt", include_str!("../translations/usage.txt")),
    ("fb.txt", include_str!("../translations/fb.txt")),
];

/// How far a message is searched for other messages inside it.
const DEEPEST: usize = 4;

/// The hint that follows an error on a line of its own.
const HINT: [&str; 2] = ["\n  hint: ", "\n  提示："];

/// The message in the language; the same where no translation is known.
pub fn translated(text: &str, language: Language) -> Cow<'_, str> {
    if language == Language::English {
        return Cow::Borrowed(text);
    }
    let parts: Vec<Cow<'_, str>> = text.split(HINT[0]).map(|part| whole(part, 0)).collect();
    if parts.iter().all(|part| matches!(part, Cow::Borrowed(_))) && parts.len() == 1 {
        return Cow::Borrowed(text);
    }
    Cow::Owned(parts.join(HINT[1]))
}

/// Every sentence that has a translation, as it stands in the code.
#[doc(hidden)]
pub fn known() -> impl Iterator<Item = &'static str> {
    CATALOGUE.iter().map(|sentence| sentence.english)
}

/// A message, or the last part of one: `FLAG: message`, `FILE: line 3: message`.
fn whole(text: &str, depth: usize) -> Cow<'_, str> {
    if depth > DEEPEST || !text.contains(' ') {
        return Cow::Borrowed(text);
    }
    if let Some(found) = sentence(text, depth) {
        return Cow::Owned(found);
    }
    for (at, _) in text.match_indices(": ") {
        if let Some(found) = sentence(&text[at + 2..], depth) {
            return Cow::Owned(format!("{}：{found}", &text[..at]));
        }
    }
    Cow::Borrowed(text)
}

fn sentence(text: &str, depth: usize) -> Option<String> {
    CATALOGUE.iter().find_map(|sentence| {
        let mut values = Vec::new();
        let found = take(&sentence.pieces, text, &mut values);
        found.then(|| sentence.in_chinese(&values, depth))
    })
}

/// An English sentence of the code with its Chinese translation. Places are written as in
/// `format!`.
#[derive(Debug)]
struct Sentence {
    english: &'static str,
    pieces: Vec<Piece>,
    chinese: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    Place(String),
}

static CATALOGUE: LazyLock<Vec<Sentence>> = LazyLock::new(|| {
    let mut all: Vec<Sentence> = FILES.iter().flat_map(|(_, text)| read(text)).collect();
    // The most particular sentence first: "{a}: {b}" would match nearly everything.
    all.sort_by_key(|sentence| Reverse(fixed(&sentence.pieces)));
    all
});

fn read(file: &'static str) -> impl Iterator<Item = Sentence> {
    let mut lines = file.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    std::iter::from_fn(move || {
        let english = lines.next()?.strip_prefix("en: ")?;
        let chinese = lines.next()?.strip_prefix("zh: ")?;
        Some(Sentence { english, pieces: pieces(english), chinese: pieces(chinese) })
    })
}

/// How many bytes of a sentence are always the same.
fn fixed(pieces: &[Piece]) -> usize {
    let length = |piece: &Piece| match piece {
        Piece::Text(text) => text.len(),
        Piece::Place(_) => 0,
    };
    pieces.iter().map(length).sum()
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
            let ends: Vec<usize> = match rest {
                [] => vec![text.len()],
                [Piece::Text(next), ..] => text.match_indices(next.as_str()).map(|m| m.0).collect(),
                [Piece::Place(_), ..] => text.char_indices().map(|(at, _)| at).collect(),
            };
            ends.into_iter().any(|end| {
                let before = values.len();
                values.push((name, &text[..end]));
                let found = take(rest, &text[end..], values);
                if !found {
                    values.truncate(before);
                }
                found
            })
        }
    }
}

impl Sentence {
    fn in_chinese(&self, values: &[(&str, &str)], depth: usize) -> String {
        let said = self.chinese.iter().map(|piece| match piece {
            Piece::Text(text) => Cow::Borrowed(text.as_str()),
            Piece::Place(name) => {
                let value = values.iter().find(|(known, _)| known == name);
                value.map_or(Cow::Borrowed(""), |(_, value)| whole(value, depth + 1))
            }
        });
        said.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::is_chinese;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    #[test]
    fn every_translation_shows_the_same_values_and_is_chinese() {
        let mut seen = BTreeSet::new();
        for (name, text) in FILES {
            let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
            let count = lines.count();
            assert_eq!(count, 2 * read(text).count(), "{name}: a pair is not `en: …`, `zh: …`");
        }
        for sentence in CATALOGUE.iter() {
            assert!(seen.insert(sentence.english), "twice: {}", sentence.english);
            let places = |pieces: &[Piece]| -> BTreeSet<String> {
                pieces.iter().filter_map(place).collect()
            };
            assert_eq!(places(&sentence.pieces), places(&sentence.chinese), "{}", sentence.english);
            let text = format!("{:?}", sentence.chinese);
            assert!(is_chinese(&text), "not Chinese: {text}");
            assert!(!is_chinese(sentence.english), "not English: {}", sentence.english);
        }
    }

    fn place(piece: &Piece) -> Option<String> {
        match piece {
            Piece::Place(name) => Some(name.clone()),
            Piece::Text(_) => None,
        }
    }

    fn made(format: &str, values: &BTreeMap<&str, &str>) -> String {
        let parts = pieces(format).into_iter().map(|piece| match piece {
            Piece::Text(text) => text,
            Piece::Place(name) => values[name.as_str()].to_owned(),
        });
        parts.collect()
    }

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

    #[test]
    fn a_message_is_found_behind_its_flag_and_with_its_hint() {
        let chinese = |text| translated(text, Language::Chinese).into_owned();
        let said = chinese("--rate: `x` is not a rate; write requests per second, such as 2.5");
        assert!(said.starts_with("--rate：`x` ") && is_chinese(&said), "{said}");
        let said = chinese(
            "`--foo` is not a flag of dyno bench\n  hint: `dyno bench --help` lists the flags",
        );
        assert!(said.contains("\n  提示：") && !said.contains("hint"), "{said}");
        assert_eq!(chinese("nobody ever said this"), "nobody ever said this");
        let english = "--rate: `x` is not a rate; write requests per second, such as 2.5";
        assert_eq!(translated(english, Language::English), english);
    }

    proptest! {
        #[test]
        fn any_text_is_taken(text in any::<String>()) {
            let _ = translated(&text, Language::Chinese);
        }

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
