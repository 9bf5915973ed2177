//! The pairs of `translations/`, read once: which sentences have a translation.

use super::sentence::Sentence;
use std::cmp::Reverse;
use std::sync::LazyLock;

/// The translations, by the part of the program that the messages come from.
const FILES: &[(&str, &str)] = &[
    ("bus.txt", include_str!("../../translations/bus.txt")),
    ("commands.txt", include_str!("../../translations/commands.txt")),
    ("composed.txt", include_str!("../../translations/composed.txt")),
    ("data.txt", include_str!("../../translations/data.txt")),
    ("engine.txt", include_str!("../../translations/engine.txt")),
    ("faults.txt", include_str!("../../translations/faults.txt")),
    ("fit.txt", include_str!("../../translations/fit.txt")),
    ("model.txt", include_str!("../../translations/model.txt")),
    ("parsing.txt", include_str!("../../translations/parsing.txt")),
    ("plan.txt", include_str!("../../translations/plan.txt")),
    ("record.txt", include_str!("../../translations/record.txt")),
    ("report.txt", include_str!("../../translations/report.txt")),
    ("run.txt", include_str!("../../translations/run.txt")),
    ("system.txt", include_str!("../../translations/system.txt")),
    ("usage.txt", include_str!("../../translations/usage.txt")),
    ("wire.txt", include_str!("../../translations/wire.txt")),
];

/// Every sentence that has a translation, as it stands in the code.
#[doc(hidden)]
pub fn known() -> impl Iterator<Item = &'static str> {
    CATALOGUE.iter().map(|sentence| sentence.english)
}

/// Every sentence, the most particular one first.
pub(super) static CATALOGUE: LazyLock<Vec<Sentence>> = LazyLock::new(|| {
    let mut all: Vec<Sentence> = FILES.iter().flat_map(|(_, text)| read(text)).collect();
    // The most particular sentence first: "{a}: {b}" would match nearly everything.
    all.sort_by_key(|sentence| Reverse(sentence.particularity()));
    all
});

fn read(file: &'static str) -> impl Iterator<Item = Sentence> {
    let mut lines = file.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    std::iter::from_fn(move || {
        let english = lines.next()?.strip_prefix("en: ")?;
        let chinese = lines.next()?.strip_prefix("zh: ")?;
        Some(Sentence::of(english, chinese))
    })
}

#[cfg(test)]
mod tests {
    use super::super::search::{FEWEST_LETTERS, append};
    use super::super::sentence::Piece;
    use super::super::translated;
    use super::*;
    use crate::check::is_chinese;
    use dyno_model::Language;
    use std::collections::BTreeSet;

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
}
