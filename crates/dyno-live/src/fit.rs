//! Fitting texts into a line: what does not fit is left out as a whole, the least important first.
//! Half a number would be a wrong number.

use dyno_words::columns::width;

/// What stands between the parts of a line.
const GAP: &str = "  ";

/// A part of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    /// 0 is the most important.
    rank: u8,
    text: String,
    /// What stays when the text does not.
    shorter: Option<String>,
}

impl Part {
    pub(crate) fn new(rank: u8, text: impl Into<String>) -> Self {
        Self { rank, text: text.into(), shorter: None }
    }

    /// When it does not fit, `shorter` takes its place and is left out last.
    pub(crate) fn or(self, shorter: impl Into<String>) -> Self {
        Self { shorter: Some(shorter.into()), ..self }
    }
}

/// The parts in their order, as many as fit into `room` columns.
pub(crate) fn fitted(mut parts: Vec<Part>, room: usize) -> String {
    loop {
        let line = joined(&parts);
        if width(&line) <= room {
            return line;
        }
        // Of two parts of the same rank the later one goes first.
        let ranked = parts.iter().enumerate();
        let Some(least) = ranked.max_by_key(|(at, part)| (part.rank, *at)).map(|(at, _)| at) else {
            return String::new();
        };
        match parts[least].shorter.take() {
            Some(shorter) => parts[least] = Part::new(0, shorter),
            None => drop(parts.remove(least)),
        }
    }
}

/// All parts, however long that is.
pub(crate) fn joined(parts: &[Part]) -> String {
    let texts: Vec<&str> = parts.iter().map(|part| part.text.as_str()).collect();
    texts.join(GAP)
}

/// The first of several texts that fits; nothing if none does.
pub(crate) fn first_that_fits(texts: impl IntoIterator<Item = String>, room: usize) -> String {
    texts.into_iter().find(|text| width(text) <= room).unwrap_or_default()
}

/// Whole words of a label: the first ones, an ellipsis, and the last ones, which tell levels apart.
pub(crate) fn elided(label: &str, room: usize) -> String {
    if width(label) <= room {
        return label.to_owned();
    }
    let words: Vec<&str> = label.split_whitespace().collect();
    let lengths = (1..words.len()).rev();
    let shorter = lengths.map(|kept| {
        let first = kept / 2;
        let (head, tail) = (&words[..first], &words[words.len() - (kept - first)..]);
        format!("{} … {}", head.join(" "), tail.join(" ")).trim_start().to_owned()
    });
    first_that_fits(shorter, room)
}

/// A text cut to `room` columns, with an ellipsis, and never within a number.
pub(crate) fn cut(text: &str, room: usize) -> String {
    if width(text) <= room {
        return text.to_owned();
    }
    let mut kept: Vec<char> = Vec::new();
    let mut rest = text.chars().peekable();
    let mut taken = 1;
    while let Some(c) = rest.next_if(|c| taken + width(c.encode_utf8(&mut [0; 4])) <= room) {
        taken += width(c.encode_utf8(&mut [0; 4]));
        kept.push(c);
    }
    let of_number = |c: &char| c.is_ascii_digit() || matches!(c, '.' | '/' | ',');
    if rest.peek().is_some_and(of_number) {
        while kept.last().is_some_and(of_number) {
            kept.pop();
        }
    }
    if room > 0 {
        kept.push('…');
    }
    kept.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn parts_are_left_out_whole_and_the_least_important_first() {
        let parts = || {
            vec![
                Part::new(4, "1/3 concurrency 8").or("1/3"),
                Part::new(1, "225/225"),
                Part::new(2, "0 failed"),
                Part::new(3, "12 s left"),
            ]
        };
        assert_eq!(fitted(parts(), 80), "1/3 concurrency 8  225/225  0 failed  12 s left");
        assert_eq!(fitted(parts(), 40), "1/3  225/225  0 failed  12 s left");
        assert_eq!(fitted(parts(), 25), "1/3  225/225  0 failed");
        assert_eq!(fitted(parts(), 11), "1/3");
        assert_eq!(fitted(parts(), 2), "");
    }

    #[test]
    fn wide_characters_take_two_columns() {
        let parts = vec![Part::new(0, "剩余"), Part::new(1, "5 s")];
        assert_eq!(fitted(parts.clone(), 9), "剩余  5 s");
        assert_eq!(fitted(parts, 8), "剩余");
    }

    #[test]
    fn a_text_is_not_cut_within_a_number() {
        assert_eq!(cut("6 of 225 failed", 15), "6 of 225 failed");
        assert_eq!(cut("6 of 225 failed", 12), "6 of 225 fa…");
        assert_eq!(cut("6 of 225 failed", 7), "6 of …");
        assert_eq!(cut("共 225 个请求", 6), "共 …");
        assert_eq!(cut("abc", 0), "");
    }

    #[test]
    fn labels_lose_words_and_never_digits() {
        let label = "in 1024 out 128 concurrency 64";
        assert_eq!(elided(label, 30), label);
        assert_eq!(elided(label, 26), "in 1024 … concurrency 64");
        assert_eq!(elided(label, 10), "in … 64");
        assert_eq!(elided(label, 5), "… 64");
        assert_eq!(elided("12345678", 5), "");
    }

    proptest! {
        #[test]
        fn every_number_shown_is_whole(values in prop::collection::vec(0_u64..1_000_000, 1..8),
                                       room in 0_usize..90) {
            let ranked = values.iter().enumerate();
            let parts = ranked.map(|(at, n)| Part::new((at % 5) as u8, n.to_string())).collect();
            let line = fitted(parts, room);
            prop_assert!(width(&line) <= room);
            let whole: Vec<String> = values.iter().map(u64::to_string).collect();
            prop_assert!(line.split_whitespace().all(|word| whole.iter().any(|n| n == word)));
        }
    }
}
