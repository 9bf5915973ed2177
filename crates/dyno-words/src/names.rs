//! The names of runs that are compared, short enough for a legend and still different: what all of
//! them share is elided from their middle, never the part in which they differ.

use crate::columns::width;

/// Stands for what is left out.
const ELISION: char = '…';
/// Shared parts that are no longer than this are kept.
const KEPT: usize = 6;
/// The longest word that is kept of them.
const LONGEST: usize = 12;

fn is_boundary(c: char) -> bool {
    !c.is_alphanumeric() && c != '.'
}

/// How many characters all names start with in common, up to the end of a word.
fn shared(names: &[Vec<char>]) -> usize {
    let Some((first, others)) = names.split_first() else { return 0 };
    let same = |i: &usize| others.iter().all(|name| name.get(*i) == Some(&first[*i]));
    let length = (0..first.len()).take_while(same).count();
    // A name that is part of the others must keep its last word.
    let length = if names.iter().any(|name| name.len() == length) {
        length.saturating_sub(1)
    } else {
        length
    };
    (1..=length).rev().find(|end| is_boundary(first[end - 1])).unwrap_or(0)
}

/// The first word of what all names start with, and an ellipsis.
fn first_word(shared: &[char]) -> String {
    if shared.len() <= KEPT {
        return shared.iter().collect();
    }
    let end = shared.iter().position(|c| is_boundary(*c)).map_or(KEPT, |at| (at + 1).min(LONGEST));
    if end == shared.len() { shared.iter().collect() } else { squeezed(shared, end, 0) }
}

/// An ellipsis, and the last word of what all names end with.
fn last_word(shared: &[char]) -> String {
    let reversed: Vec<char> = shared.iter().rev().copied().collect();
    first_word(&reversed).chars().rev().collect()
}

/// Keeps the first and last characters of a long part.
fn squeezed(part: &[char], head: usize, tail: usize) -> String {
    if part.len() <= head + tail + 1 {
        return part.iter().collect();
    }
    let (start, end) = (&part[..head], &part[part.len() - tail..]);
    start.iter().chain([&ELISION]).chain(end).collect()
}

/// The names, each at most `longest` columns wide where that leaves them different. Names that are
/// short enough stay as they are.
pub fn elided(names: &[&str], longest: usize) -> Vec<String> {
    let whole: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    if whole.iter().all(|name| width(name) <= longest) {
        return whole;
    }
    let letters: Vec<Vec<char>> = names.iter().map(|name| name.chars().collect()).collect();
    let start = if names.len() > 1 { shared(&letters) } else { 0 };
    let reversed: Vec<Vec<char>> =
        letters.iter().map(|name| name[start..].iter().rev().copied().collect()).collect();
    let end = if names.len() > 1 { shared(&reversed) } else { 0 };
    let short: Vec<String> = letters
        .iter()
        .map(|name| {
            let (head, rest) = name.split_at(start);
            let (own, tail) = rest.split_at(rest.len() - end);
            let (head, tail) = (first_word(head), last_word(tail));
            let room = longest.saturating_sub(head.chars().count() + tail.chars().count()).max(8);
            format!("{head}{}{tail}", squeezed(own, room / 2, room.saturating_sub(1) / 2))
        })
        .collect();
    let different =
        |names: &[String]| names.iter().enumerate().all(|(i, name)| !names[..i].contains(name));
    if different(&short) || !different(&whole) { short } else { whole }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_differs_is_kept_and_what_is_common_elided() {
        let names = [
            "qwen2.5-72b-instruct-awq-tp2-vllm-0.6.3-a100-80g-prefix-cache-on",
            "qwen2.5-72b-instruct-awq-tp2-vllm-0.6.4-a100-80g-prefix-cache-on",
        ];
        assert_eq!(elided(&names, 28), ["qwen2.5-…0.6.3…-on", "qwen2.5-…0.6.4…-on"]);
        assert_eq!(elided(&["before", "after"], 28), ["before", "after"]);
        let part = ["a-very-long-name-of-a-run", "a-very-long-name-of-a-run-again"];
        let short = elided(&part, 16);
        assert_ne!(short[0], short[1], "{short:?}");
        assert!(elided(&["one-long-name-and-no-other-to-compare"], 20)[0].contains(ELISION));
    }

    proptest! {
        #[test]
        fn different_names_stay_different(names in proptest::collection::vec("[a-c模-]{0,40}", 2..5), longest in 4..40_usize) {
            let all: Vec<&str> = names.iter().map(String::as_str).collect();
            let short = elided(&all, longest);
            for (i, name) in all.iter().enumerate() {
                for (j, other) in all.iter().enumerate() {
                    prop_assert!(name == other || short[i] != short[j], "{:?}", short);
                }
            }
        }
    }
}
