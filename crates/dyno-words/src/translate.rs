//! Chinese for messages that reach the terminal as finished English text: errors of all crates,
//! wrong usage, hints. The libraries write English, because their messages are also recorded;
//! the printer looks up the sentence that a message was made from in `translations/` and fills its
//! values into the Chinese one. A message that is not found there stays English.

use dyno_model::Language;
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::LazyLock;

/// The translations, by the part of the program that the messages come from.
const FILES: &[(&str, &str)] = &[
    ("commands.txt", include_str!("../translations/commands.txt")),
    ("composed.txt", include_str!("../translations/composed.txt")),
    ("data.txt", include_str!("../translations/data.txt")),
    ("engine.txt", include_str!("../translations/engine.txt")),
    ("faults.txt", include_str!("../translations/faults.txt")),
    ("fit.txt", include_str!("../translations/fit.txt")),
    ("model.txt", include_str!("../translations/model.txt")),
    ("parsing.txt", include_str!("../translations/parsing.txt")),
    ("plan.txt", include_str!("../translations/plan.txt")),
    ("record.txt", include_str!("../translations/record.txt")),
    ("report.txt", include_str!("../translations/report.txt")),
    ("run.txt", include_str!("../translations/run.txt")),
    ("system.txt", include_str!("../translations/system.txt")),
    ("usage.txt", include_str!("../translations/usage.txt")),
    ("wire.txt", include_str!("../translations/wire.txt")),
];

/// How far a message is searched for other messages inside it.
const DEEPEST: usize = 4;
/// The most parts of a message that are looked at, so that no message takes long.
const MOST_TEXTS: usize = 1000;
/// The fewest letters by which a sentence with places is recognised; ` is ` alone says nothing.
const FEWEST_LETTERS: usize = 3;

/// The hint that follows an error on a line of its own.
const HINT: [&str; 2] = ["\n  hint: ", "\n  提示："];

/// The message in the language; the same where no translation is known.
pub fn translated(text: &str, language: Language) -> Cow<'_, str> {
    if language == Language::English {
        return Cow::Borrowed(text);
    }
    let mut search = Search::of(text);
    let parts: Vec<Option<Found>> = text.split(HINT[0]).map(|part| search.any(part, 0)).collect();
    if parts.len() == 1 && parts[0].is_none() {
        return Cow::Borrowed(text);
    }
    let said = text.split(HINT[0]).zip(parts).map(|(part, found)| Found::or(found, part));
    Cow::Owned(said.collect::<Vec<_>>().join(HINT[1]))
}

/// Every sentence that has a translation, as it stands in the code.
#[doc(hidden)]
pub fn known() -> impl Iterator<Item = &'static str> {
    CATALOGUE.iter().map(|sentence| sentence.english)
}

/// A text in Chinese, as far as it is known.
#[derive(Debug, Clone)]
struct Found {
    said: String,
    /// How many letters of the English text belong to known sentences.
    letters: usize,
    /// Whether no sentence begins with a place that holds several messages: `{file} is empty`
    /// begins with one file.
    apart: bool,
}

impl Found {
    fn rank(found: Option<&Self>) -> (usize, bool) {
        found.map_or((0, false), |found| (found.letters, found.apart))
    }

    fn or(found: Option<Self>, text: &str) -> String {
        found.map_or_else(|| text.to_owned(), |found| found.said)
    }
}

/// What was found for the parts of a message. A message can often be read in several ways, as
/// `{flag}: {message}` or as `{place}: {what}; {advice}`: the one with the most known letters wins.
#[derive(Debug)]
struct Search<'a> {
    /// The sentences whose words are all in the message.
    possible: Vec<&'static Sentence>,
    seen: HashMap<(&'a str, usize), Option<Found>>,
    /// How many more texts are looked at: a message of a server may be long and of any form.
    left: usize,
}

/// Whether a place of a text is inside quotes: what users and files wrote is not changed.
fn is_quoted(text: &str, at: usize) -> bool {
    let before = text[..at].replace("\\\"", "");
    ['"', '`'].into_iter().any(|quote| before.matches(quote).count() % 2 == 1)
}

/// A text with Chinese colons, but for what is quoted.
fn unquoted_colons(text: &str) -> String {
    let mut said = String::new();
    let mut from = 0;
    for (at, colon) in text.match_indices(": ").filter(|(at, _)| !is_quoted(text, *at)) {
        said.push_str(&text[from..at]);
        said.push('：');
        from = at + colon.len();
    }
    said + &text[from..]
}

impl<'a> Search<'a> {
    fn of(text: &str) -> Self {
        let within = |sentence: &&Sentence| texts(&sentence.pieces).all(|part| text.contains(part));
        let possible = CATALOGUE.iter().filter(within);
        Self { possible: possible.collect(), seen: HashMap::new(), left: MOST_TEXTS }
    }

    /// One message, or several behind each other: `message; message`.
    fn any(&mut self, text: &'a str, depth: usize) -> Option<Found> {
        // One word is translated only if it is the whole message: it may be a name.
        if depth > DEEPEST || (depth > 0 && !text.contains(' ')) {
            return None;
        }
        if let Some(found) = self.seen.get(&(text, depth)) {
            return found.clone();
        }
        let mut best = self.one(text, depth);
        for (at, _) in text.match_indices("; ") {
            let (left, right) = (&text[..at], &text[at + 2..]);
            let (first, rest) = (self.one(left, depth), self.any(right, depth));
            let ranks = [Found::rank(first.as_ref()), Found::rank(rest.as_ref())];
            let letters = ranks.iter().map(|(letters, _)| letters).sum();
            let apart = ranks.iter().all(|(letters, apart)| *apart || *letters == 0);
            if letters > 0 && (letters, apart) > Found::rank(best.as_ref()) {
                let said = format!("{}；{}", Found::or(first, left), Found::or(rest, right));
                best = Some(Found { said, letters, apart });
            }
        }
        self.seen.insert((text, depth), best.clone());
        best
    }

    /// A message, or the last part of one: `FLAG: message`, `FILE: line 3: message`.
    fn one(&mut self, text: &'a str, depth: usize) -> Option<Found> {
        self.left = self.left.checked_sub(1)?;
        // Behind a Chinese colon: an English value at the end of a sentence that is Chinese already.
        let colons = text.match_indices(": ").chain(text.match_indices('：'));
        let colons = colons.filter(|(at, _)| !is_quoted(text, *at));
        let parts = colons.map(|(at, colon)| (at, at + colon.len()));
        let parts: Vec<(usize, usize)> = std::iter::once((0, 0)).chain(parts).collect();
        let mut best: Option<(Found, usize)> = None;
        for sentence in self.possible.clone() {
            for (end, start) in &parts {
                let mut values = Vec::new();
                if !take(&sentence.pieces, &text[*start..], &mut values) {
                    continue;
                }
                let mut found = sentence.in_chinese(&values, depth, self);
                if found.letters < FEWEST_LETTERS && !values.is_empty() {
                    continue;
                }
                if *start > 0 {
                    let before = &text[..*end];
                    let known = self.any(before, depth + 1);
                    found.letters += Found::rank(known.as_ref()).0;
                    let before = Found::or(known, &unquoted_colons(before));
                    found.said = format!("{before}：{}", found.said);
                }
                // A flag or a file before a message is no part of the message.
                let rank = (Found::rank(Some(&found)), *start);
                if best.as_ref().is_none_or(|(best, at)| rank > (Found::rank(Some(best)), *at)) {
                    best = Some((found, *start));
                }
            }
        }
        best.map(|(found, _)| found)
    }
}

/// An English sentence of the code with its Chinese translation. Places are written as in
/// `format!`.
#[derive(Debug)]
struct Sentence {
    english: &'static str,
    /// The letters that are always the same.
    letters: usize,
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
    all.sort_by_key(|sentence| Reverse((sentence.letters, fixed(&sentence.pieces))));
    all
});

fn read(file: &'static str) -> impl Iterator<Item = Sentence> {
    let mut lines = file.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    std::iter::from_fn(move || {
        let english = lines.next()?.strip_prefix("en: ")?;
        let chinese = lines.next()?.strip_prefix("zh: ")?;
        let [pieces, chinese] = [english, chinese].map(|text| pieces(&unescaped(text)));
        Some(Sentence { english, letters: letters(&pieces), pieces, chinese })
    })
}

/// The text that a literal of the code stands for.
fn unescaped(literal: &str) -> String {
    literal.replace("\\n", "\n").replace("\\\"", "\"").replace("\\\\", "\\")
}

/// How many letters of a sentence are always the same.
fn letters(pieces: &[Piece]) -> usize {
    texts(pieces).map(|text| text.chars().filter(|c| c.is_alphabetic()).count()).sum()
}

/// How many bytes of a sentence are always the same.
fn fixed(pieces: &[Piece]) -> usize {
    texts(pieces).map(str::len).sum()
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

impl Sentence {
    fn in_chinese<'a>(
        &self,
        values: &[(&str, &'a str)],
        depth: usize,
        search: &mut Search<'a>,
    ) -> Found {
        let (mut said, mut letters) = (String::new(), self.letters);
        for (at, piece) in self.chinese.iter().enumerate() {
            let Piece::Place(name) = piece else {
                let Piece::Text(text) = piece else { continue };
                append(&mut said, text);
                continue;
            };
            let Some((_, value)) = values.iter().find(|(known, _)| known == name) else { continue };
            match search.any(value, depth + 1) {
                Some(found) => {
                    append(&mut said, &found.said);
                    let again = self.chinese[..at].contains(piece);
                    letters += if again { 0 } else { found.letters };
                }
                None => append(&mut said, value),
            }
        }
        let several = |value: &str| value.contains(": ") || value.contains("; ");
        let apart = match (self.pieces.first(), values.first()) {
            (Some(Piece::Place(_)), Some((_, value))) => !several(value),
            _ => true,
        };
        Found { said, letters, apart }
    }
}

/// Appends a text; between two Chinese words there is no space.
fn append(said: &mut String, text: &str) {
    let chinese = |c: char| ('\u{4e00}'..='\u{9fff}').contains(&c) || "（），；：。".contains(c);
    let before = |said: &str| said.trim_end().chars().next_back().is_some_and(chinese);
    let after = text.trim_start().chars().next().is_some_and(chinese);
    if said.is_empty() || text.is_empty() || !before(said) || !after {
        said.push_str(text);
        return;
    }
    said.truncate(said.trim_end().len());
    said.push_str(text.trim_start());
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

    #[test]
    fn every_sentence_is_found_by_its_own_words() {
        let mut wrong = Vec::new();
        for sentence in CATALOGUE.iter().filter(|sentence| sentence.letters >= FEWEST_LETTERS) {
            let filled = |pieces: &[Piece]| {
                let mut said = String::new();
                for piece in pieces {
                    match piece {
                        Piece::Text(text) => append(&mut said, text),
                        Piece::Place(name) => append(&mut said, &format!("v{name}")),
                    }
                }
                said
            };
            let english = filled(&sentence.pieces);
            let is_place = |piece: &Piece| matches!(piece, Piece::Place(_));
            let adjacent = sentence.pieces.windows(2).any(|two| two.iter().all(is_place));
            if english.contains(' ') && !adjacent {
                let said = translated(&english, Language::Chinese).into_owned();
                if said != filled(&sentence.chinese) {
                    wrong.push((english, said));
                }
            }
        }
        assert_eq!(wrong, []);
    }

    #[test]
    fn the_reading_with_the_most_known_words_wins() {
        let chinese = |text| translated(text, Language::Chinese).into_owned();
        assert_eq!(
            chinese(
                "--data: q.jsonl:3: there is no field b; the fields are a, c; write prompt=FIELD \
                 for the one that holds the prompt, or skip_bad=true to skip such records"
            ),
            "--data：q.jsonl:3：没有字段 b；字段有 a, c；请用 prompt=FIELD 指定提示词所在的字段，\
             或用 skip_bad=true 跳过此类记录"
        );
        assert_eq!(
            chinese("twin file a.toml, line 3: `noise` is 7; give a finite number of at least 0"),
            "孪生模型文件 a.toml 第 3 行：`noise` 为 7；请给出不小于 0 的有限数"
        );
        assert_eq!(
            chinese("--data: q.jsonl has nothing left to send: 3 records could not be read"),
            "--data：q.jsonl 没有可发送的内容：3 条记录无法读取"
        );
        assert_eq!(chinese("the sky is blue; nobody knows"), "the sky is blue; nobody knows");
    }

    #[test]
    fn a_long_message_takes_no_long_time() {
        let text = "HTTP 400: a is b; the field x is y, not z: or at line 3 column 5; ".repeat(40);
        let start = std::time::Instant::now();
        let _ = translated(&text, Language::Chinese);
        assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
    }

    #[test]
    fn what_is_quoted_is_not_changed() {
        let text = r#"--data: f.jsonl:4: the line is "{\"a\": 1}: x"; `b: c`"#;
        assert_eq!(
            unquoted_colons(text),
            r#"--data：f.jsonl:4：the line is "{\"a\": 1}: x"; `b: c`"#
        );
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
