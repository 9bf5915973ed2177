//! Which sentences a message consists of: alone, behind a flag or a file, or several behind each
//! other, each with further messages in its places.

use super::pairs::CATALOGUE;
use super::sentence::{Piece, Sentence};
use std::collections::HashMap;

/// How far a message is searched for other messages inside it.
const DEEPEST: usize = 4;
/// What each entry of a list on lines of their own begins with.
const LINE: &str = "\n    ";
/// The most parts of a message that are looked at, so that no message takes long.
const MOST_TEXTS: usize = 1000;
/// The fewest letters by which a sentence with places is recognised; ` is ` alone says nothing.
pub(super) const FEWEST_LETTERS: usize = 3;

/// A text in Chinese, as far as it is known.
#[derive(Debug, Clone)]
pub(super) struct Found {
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

    /// The text in Chinese where it was found, else as it is.
    pub(super) fn or(found: Option<Self>, text: &str) -> String {
        found.map_or_else(|| text.to_owned(), |found| found.said)
    }
}

/// What was found for the parts of a message. A message can often be read in several ways, as
/// `{flag}: {message}` or as `{place}: {what}; {advice}`: the one with the most known letters wins.
#[derive(Debug)]
pub(super) struct Search<'a> {
    /// The sentences whose words are all in the message.
    possible: Vec<&'static Sentence>,
    seen: HashMap<(&'a str, usize), Option<Found>>,
    /// How many more texts are looked at: a message of a server may be long and of any form.
    left: usize,
}

impl<'a> Search<'a> {
    /// A search in one message.
    pub(super) fn of(text: &str) -> Self {
        let within = |sentence: &&Sentence| sentence.texts().all(|part| text.contains(part));
        let possible = CATALOGUE.iter().filter(within);
        Self { possible: possible.collect(), seen: HashMap::new(), left: MOST_TEXTS }
    }

    /// One message, or several behind each other: `message; message`.
    pub(super) fn any(&mut self, text: &'a str, depth: usize) -> Option<Found> {
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
        let lines = self.lines(text, depth);
        if Found::rank(lines.as_ref()) > Found::rank(best.as_ref()) {
            best = lines;
        }
        self.seen.insert((text, depth), best.clone());
        best
    }

    /// The entries of a list, one on each line.
    fn lines(&mut self, text: &'a str, depth: usize) -> Option<Found> {
        let lines: Vec<&str> = text.split(LINE).collect();
        if lines.len() < 2 {
            return None;
        }
        let found: Vec<Option<Found>> =
            lines.iter().map(|line| self.any(line, depth + 1)).collect();
        let letters = found.iter().map(|found| Found::rank(found.as_ref()).0).sum();
        let said = lines.iter().zip(found).map(|(line, found)| Found::or(found, line));
        Some(Found { said: said.collect::<Vec<_>>().join(LINE), letters, apart: true })
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
                if !sentence.takes(&text[*start..], &mut values) {
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

/// Appends a text; between two Chinese words there is no space.
pub(super) fn append(said: &mut String, text: &str) {
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

    #[test]
    fn what_is_quoted_is_not_changed() {
        let text = r#"--data: f.jsonl:4: the line is "{\"a\": 1}: x"; `b: c`"#;
        assert_eq!(
            unquoted_colons(text),
            r#"--data：f.jsonl:4：the line is "{\"a\": 1}: x"; `b: c`"#
        );
    }
}
