//! Edits to a result file that keep most of its form: another number, a missing field, a line twice. They
//! reach what random bytes do not. The fuzz target `import_edits` makes them, too.

/// Values that a reader may not expect where it wants a number.
const ODD: [&str; 16] = [
    "0",
    "-1",
    "1e308",
    "-1e-308",
    "18446744073709551616",
    "0.1",
    "null",
    "true",
    "\"\"",
    "\"NaN\"",
    "NaN",
    "[]",
    "{}",
    "[1, \"x\", null]",
    "1,234.5",
    "",
];

/// One edit, by three numbers: what to do, where, and with what.
pub(crate) type Edit = (u8, u16, u8);

/// The file after these edits.
pub(crate) fn edited(bytes: &[u8], edits: &[Edit]) -> Vec<u8> {
    let mut text = String::from_utf8_lossy(bytes).into_owned();
    for (kind, place, with) in edits {
        text = one(&text, *kind, usize::from(*place), usize::from(*with));
    }
    text.into_bytes()
}

fn one(text: &str, kind: u8, place: usize, with: usize) -> String {
    match kind % 7 {
        0 | 1 => replace(text, &numbers(text), place, ODD[with % ODD.len()]),
        // A field or a title of another name.
        2 => {
            replace(text, &words(text), place, ["x", "", "duration", "model", "metrics"][with % 5])
        }
        3 => lines(text, |lines| {
            let at = place % lines.len();
            lines.remove(at);
        }),
        4 => lines(text, |lines| {
            let at = place % lines.len();
            lines.insert(at, lines[at]);
        }),
        5 => lines(text, |lines| {
            let (a, b) = (place % lines.len(), with % lines.len());
            lines.swap(a, b);
        }),
        _ => {
            let mut end = text.len().saturating_sub(place % text.len().max(1));
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            text[..end].to_owned()
        }
    }
}

fn lines(text: &str, edit: impl FnOnce(&mut Vec<&str>)) -> String {
    let mut lines: Vec<&str> = text.split('\n').collect();
    edit(&mut lines);
    lines.join("\n")
}

fn replace(text: &str, places: &[(usize, usize)], place: usize, with: &str) -> String {
    if places.is_empty() {
        return text.to_owned();
    }
    let (from, to) = places[place % places.len()];
    format!("{}{with}{}", &text[..from], &text[to..])
}

fn numbers(text: &str) -> Vec<(usize, usize)> {
    spans(text, |c| c.is_ascii_digit() || ".-+e".contains(c), |part| part.parse::<f64>().is_ok())
}

fn words(text: &str) -> Vec<(usize, usize)> {
    spans(text, |c| c.is_alphanumeric() || c == '_', |part| part.parse::<f64>().is_err())
}

/// Where the longest stretches of such characters are that pass a test.
fn spans(
    text: &str,
    is: impl Fn(char) -> bool,
    fits: impl Fn(&str) -> bool,
) -> Vec<(usize, usize)> {
    let (mut found, mut start) = (Vec::new(), None);
    for (at, c) in text.char_indices().chain([(text.len(), '\n')]) {
        match (is(c), start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                if fits(&text[from..at]) {
                    found.push((from, at));
                }
                start = None;
            }
            _ => {}
        }
    }
    found
}
