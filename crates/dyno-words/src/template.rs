//! Texts with placeholders for values.
//!
//! `{}` is the next value, `{0}` the first wherever it stands, and `{0|one|many}` the first form
//! where the first value is `1`, else the second. Any other brace is itself.

use std::collections::BTreeSet;

#[derive(Debug, PartialEq, Eq)]
enum Piece<'a> {
    Text(&'a str),
    Value(usize),
    Forms(usize, [&'a str; 2]),
}

/// The text with its placeholders filled in; a missing value leaves its place empty.
pub fn fill(text: &str, values: &[impl AsRef<str>]) -> String {
    let value = |at: usize| values.get(at).map_or("", AsRef::as_ref);
    let filled = pieces(text).into_iter().map(|piece| match piece {
        Piece::Text(text) => text,
        Piece::Value(at) => value(at),
        Piece::Forms(at, [one, many]) => match value(at) {
            "1" => one,
            _ => many,
        },
    });
    filled.collect()
}

/// Which values a text shows, counted from 0.
pub fn places(text: &str) -> BTreeSet<usize> {
    let shown = |piece| match piece {
        Piece::Value(at) => Some(at),
        Piece::Text(_) | Piece::Forms(..) => None,
    };
    pieces(text).into_iter().filter_map(shown).collect()
}

fn pieces(text: &str) -> Vec<Piece<'_>> {
    let (mut pieces, mut rest, mut next) = (Vec::new(), text, 0);
    let mut searched = 0;
    while let Some(open) = rest[searched..].find('{').map(|at| at + searched) {
        let place = rest[open..].find('}').map(|at| open + at);
        let found =
            place.and_then(|close| Some((close, inner(&rest[open + 1..close], &mut next)?)));
        let Some((close, piece)) = found else {
            searched = open + 1;
            continue;
        };
        pieces.extend([Piece::Text(&rest[..open]), piece]);
        (rest, searched) = (&rest[close + 1..], 0);
    }
    pieces.push(Piece::Text(rest));
    pieces
}

/// The piece between braces; nothing where they are not a placeholder.
fn inner<'a>(text: &'a str, next: &mut usize) -> Option<Piece<'a>> {
    if text.is_empty() {
        *next += 1;
        return Some(Piece::Value(*next - 1));
    }
    let mut parts = text.split('|');
    let at = parts.next()?.parse().ok()?;
    match (parts.next(), parts.next(), parts.next()) {
        (None, ..) => Some(Piece::Value(at)),
        (Some(one), Some(many), None) => Some(Piece::Forms(at, [one, many])),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn places_are_filled_in_order_or_by_number() {
        assert_eq!(fill("{} of {}", &["a", "b"]), "a of b");
        assert_eq!(fill("{1} 个中的 {0} 个", &["3", "7"]), "7 个中的 3 个");
        assert_eq!(fill("{} and {}", &["{}"]), "{} and ");
        assert_eq!(fill("{x} {0|a} { {}", &["v"]), "{x} {0|a} { v");
    }

    #[test]
    fn forms_follow_their_value() {
        let text = "{} {0|request was|requests were} late";
        assert_eq!(fill(text, &["1"]), "1 request was late");
        assert_eq!(fill(text, &["12"]), "12 requests were late");
        assert_eq!(places(text), BTreeSet::from([0]));
        assert_eq!(places("{1} and {}"), BTreeSet::from([0, 1]));
    }

    proptest! {
        #[test]
        fn any_text_is_taken(text in any::<String>(), values in proptest::collection::vec(any::<String>(), 0..3)) {
            let _ = fill(&text, &values);
        }

        #[test]
        fn without_braces_a_text_is_itself(text in "[^{}]*", value in any::<String>()) {
            prop_assert_eq!(fill(&text, &[value]), text);
        }
    }
}
