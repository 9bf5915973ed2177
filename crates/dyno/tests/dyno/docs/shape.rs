//! Whether a sample still has the shape of what a command prints: numbers are masked and line breaks
//! ignored, words and their order must be equal. `…` on a line stands for anything, and a sample may
//! begin and end anywhere in the output. Where real time was measured, a busy machine may change
//! verdicts, and the marks of inaccurate values need their legend: both are ignored.

/// One token: a word as it is, or `#` for numbers that follow one another.
type Tokens = Vec<String>;

/// A line that stands for anything.
fn is_gap(line: &str) -> bool {
    line.trim() == "…"
}

/// A number, an identifier with digits, or an absent value. Percentile names stay as they are.
fn mask(word: &str) -> Option<&str> {
    let bar = |c: char| matches!(c, '▁'..='█' | '░' | '─' | '│' | '=' | '[' | ']');
    let percentile = |part: &str| {
        part.strip_prefix('p')
            .is_some_and(|rest| !rest.is_empty() && rest.chars().all(|c| c.is_ascii_digit()))
    };
    if word.chars().all(bar) {
        return None;
    }
    if word.split('/').all(percentile) {
        return Some(word);
    }
    let masked =
        word.chars().any(|c| c.is_ascii_digit()) || word.chars().all(|c| matches!(c, '–' | '/'));
    Some(if masked { "#" } else { word })
}

const VERDICTS: [&str; 6] = ["valid", "suspect", "invalid", "有效", "存疑", "无效"];

/// A text without what depends on how busy the machine was.
pub(super) fn without_luck(text: &str) -> String {
    let mut kept = String::new();
    for line in text.lines() {
        if ["~ ", "! "].iter().any(|legend| line.trim_start().starts_with(legend)) {
            continue;
        }
        for word in line.split(' ') {
            let bare = word.trim_end_matches(['：', ':']);
            let verdict = VERDICTS.iter().any(|verdict| bare.ends_with(verdict));
            kept.push_str(if verdict { "0" } else { word });
            kept.push(' ');
        }
        kept.push('\n');
    }
    kept
}

fn tokens<'a>(lines: impl IntoIterator<Item = &'a str>) -> Tokens {
    let mut tokens: Tokens = Vec::new();
    for word in lines.into_iter().flat_map(str::split_whitespace).filter_map(mask) {
        if word != "#" || tokens.last().is_none_or(|last| last != "#") {
            tokens.push(word.to_owned());
        }
    }
    tokens
}

/// The pieces of a sample between the lines that stand for anything.
fn pieces<'a>(sample: &[&'a str]) -> Vec<Vec<&'a str>> {
    let has_text = |piece: &&[&str]| piece.iter().any(|line| !line.trim().is_empty());
    sample.split(|line| is_gap(line)).filter(has_text).map(<[&str]>::to_vec).collect()
}

/// Whether `output` contains the pieces of `sample`, in order.
pub(super) fn matches(sample: &[&str], output: &[&str]) -> bool {
    let output = tokens(output.iter().copied());
    let mut rest = output.as_slice();
    pieces(sample).into_iter().all(|piece| {
        let piece = tokens(piece);
        let found = rest.windows(piece.len().max(1)).position(|window| window == piece.as_slice());
        rest = found.map_or(&[], |at| &rest[at + piece.len()..]);
        found.is_some() || piece.is_empty()
    })
}

/// How many words of `one` are in `other`, each as often as it is in both.
fn shared(one: &[String], other: &[String]) -> f64 {
    let mut left = other.to_vec();
    let common = one.iter().filter(|word| {
        let at = left.iter().position(|w| &w == word);
        at.map(|at| left.swap_remove(at)).is_some()
    });
    let common = u32::try_from(common.count()).unwrap_or(u32::MAX);
    f64::from(common)
}

/// The share of masked words that two lines have in common, 1 for equal shapes; and a little for
/// equal numbers, so that of lines with the same words the same one is found again.
fn likeness(one: &str, other: &str) -> f64 {
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let numbers = 0.03 * shared(&words(one), &words(other));
    let (one, other) = (tokens([one]), tokens([other]));
    let total = u32::try_from(one.len() + other.len()).unwrap_or(u32::MAX).max(1);
    let share = if one == other { 1.0 } else { 2.0 * shared(&one, &other) / f64::from(total) };
    share + numbers
}

/// The line of `output` from `from` on that is most like `wanted`. Each line of distance from `near`
/// counts `pull` against it, and of equals the nearest is taken.
fn most_like(wanted: &str, output: &[&str], from: usize, near: usize, pull: f64) -> Option<usize> {
    let mut best: Option<(f64, usize)> = None;
    for (at, line) in output.iter().enumerate().skip(from) {
        let distance = at.abs_diff(near);
        let worth =
            likeness(wanted, line) - pull * f64::from(u32::try_from(distance).unwrap_or(u32::MAX));
        let better = best.is_none_or(|(most, held)| {
            worth > most || (worth >= most && distance < held.abs_diff(near))
        });
        if better {
            best = Some((worth, at));
        }
    }
    best.filter(|(_, at)| likeness(wanted, output[*at]) >= 0.5).map(|(_, at)| at)
}

/// The sample with each piece replaced by the lines of `output` in its place; `None` where a piece
/// begins or ends with a line that nothing in the output resembles.
pub(super) fn renewed(sample: &[&str], output: &[&str]) -> Option<Vec<String>> {
    let mut renewed = Vec::new();
    let mut from = 0;
    for (number, piece) in sample.split(|line| is_gap(line)).enumerate() {
        if number > 0 {
            renewed.push("…".to_owned());
        }
        let text: Vec<&str> =
            piece.iter().copied().filter(|line| !line.trim().is_empty()).collect();
        let (Some(first), Some(last)) = (text.first(), text.last()) else {
            renewed.extend(piece.iter().map(|line| (*line).to_owned()));
            continue;
        };
        let start = most_like(first, output, from, from, 0.0)?;
        // A piece keeps its length, more or less: its last line is not looked for in another paragraph.
        let end = most_like(last, output, start, start + piece.len() - 1, 0.015)?;
        renewed.extend(output[start..=end].iter().map(|line| line.trim_end().to_owned()));
        from = end + 1;
    }
    Some(renewed)
}

/// The lines in which two texts differ, `-` before those of `was` and `+` before those of `is`.
pub(super) fn difference(was: &[&str], is: &[&str]) -> String {
    let same = |one: &str, other: &str| tokens([one]) == tokens([other]);
    let mut longest = vec![vec![0_usize; is.len() + 1]; was.len() + 1];
    for i in (0..was.len()).rev() {
        for j in (0..is.len()).rev() {
            longest[i][j] = if same(was[i], is[j]) {
                longest[i + 1][j + 1] + 1
            } else {
                longest[i + 1][j].max(longest[i][j + 1])
            };
        }
    }
    let (mut i, mut j, mut text) = (0, 0, String::new());
    while i < was.len() || j < is.len() {
        let (sign, line) = if i < was.len() && j < is.len() && same(was[i], is[j]) {
            (i, j) = (i + 1, j + 1);
            (' ', is[j - 1])
        } else if j == is.len() || (i < was.len() && longest[i + 1][j] >= longest[i][j + 1]) {
            i += 1;
            ('-', was[i - 1])
        } else {
            j += 1;
            ('+', is[j - 1])
        };
        text.push_str(&format!("    {sign} {line}\n"));
    }
    text
}
