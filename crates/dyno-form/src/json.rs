//! JSON as tools write it: one document, one a line, or several in a row; with Python's `NaN` and
//! `Infinity`; cut off in the middle. Complete documents are read.

use dyno_model::Diagnostic;
use dyno_model::budget::{Budget, HeldBytes, json_weight};
use dyno_model::message::json_reason;
use dyno_words::{Problem, values};
use serde_json::Value;

/// After this many lines that are not JSON, the rest is skipped.
const MOST_BAD_LINES: usize = 100;
/// The longest path of a value's name.
const DEEPEST: usize = 12;
/// The most values that are kept of one level.
const MOST_FIGURES: usize = 20_000;

/// The documents of a file.
#[derive(Debug, Default)]
pub struct Documents {
    /// Each with the line at which it begins, from 1.
    pub values: Vec<(u64, Value)>,
    /// What could not be read.
    pub problems: Vec<Diagnostic>,
    /// Nothing was read, or not all, because there is not enough memory.
    pub too_large: bool,
    /// The memory of the values.
    pub(crate) held: Option<HeldBytes>,
}

/// Whether it may be JSON at all.
pub fn looks_like_json(bytes: &[u8]) -> bool {
    let first = without_mark(bytes).iter().find(|byte| !byte.is_ascii_whitespace());
    matches!(first, Some(b'{' | b'['))
}

/// The bytes without a byte order mark.
pub fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

/// Reads every document of a file.
pub fn documents(bytes: &[u8]) -> Documents {
    documents_within(bytes, &Budget::foreign())
}

fn documents_within(bytes: &[u8], budget: &Budget) -> Documents {
    let clean = without_constants(without_mark(bytes));
    let mut rest = clean.as_slice();
    let (mut found, mut line, mut bad) = (Documents::default(), 1, 0);
    match budget.hold(json_weight(&clean)) {
        Ok(held) => found.held = Some(held),
        Err(over) => {
            found.problems.push(Problem::TooLarge.with([over.mib()]));
            found.too_large = true;
            return found;
        }
    }
    loop {
        let blank = rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        line += lines(&rest[..blank]);
        rest = &rest[blank..];
        if rest.is_empty() || bad >= MOST_BAD_LINES {
            return found;
        }
        let mut stream = serde_json::Deserializer::from_slice(rest).into_iter::<Value>();
        match stream.next() {
            Some(Ok(value)) => {
                let read = stream.byte_offset().max(1).min(rest.len());
                found.values.push((line, value));
                line += lines(&rest[..read]);
                rest = &rest[read..];
            }
            Some(Err(error)) => {
                bad += 1;
                found.problems.push(broken(&error, line, clean.len()));
                if error.is_eof() {
                    return found;
                }
                let next =
                    rest.iter().position(|byte| *byte == b'\n').map_or(rest.len(), |n| n + 1);
                line += lines(&rest[..next]);
                rest = &rest[next..];
            }
            None => return found,
        }
    }
}

fn lines(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|byte| **byte == b'\n').count() as u64
}

fn broken(error: &serde_json::Error, line: u64, length: usize) -> Diagnostic {
    let at = line + (error.line() as u64).saturating_sub(1);
    if error.is_eof() {
        return Problem::JsonCut.with([length]).at(line);
    }
    Problem::JsonBroken.with(values![error.column(), json_reason(error)]).at(at)
}

/// Python writes numbers that JSON does not have; here they become `null` and text.
fn without_constants(bytes: &[u8]) -> Vec<u8> {
    const CONSTANTS: [(&[u8], &[u8]); 3] =
        [(b"NaN", b"null"), (b"-Infinity", b"\"-inf\""), (b"Infinity", b"\"inf\"")];
    let mut out = Vec::with_capacity(bytes.len());
    let (mut i, mut in_text) = (0, false);
    while let Some(&byte) = bytes.get(i) {
        if in_text && byte == b'\\' {
            out.extend(&bytes[i..bytes.len().min(i + 2)]);
            i += 2;
            continue;
        }
        in_text ^= byte == b'"';
        let constant = CONSTANTS.iter().find(|(name, _)| !in_text && bytes[i..].starts_with(name));
        match constant {
            Some((name, instead)) => {
                out.extend(*instead);
                i += name.len();
            }
            None => {
                out.push(byte);
                i += 1;
            }
        }
    }
    out
}

/// The value at a path of names.
pub fn at<'a>(value: &'a Value, path: &[&str]) -> Option<&'a Value> {
    path.iter().try_fold(value, |value, name| value.get(name))
}

/// The number at a path.
pub fn number(value: &Value, path: &[&str]) -> Option<f64> {
    at(value, path)?.as_f64().filter(|number| number.is_finite())
}

/// The count at a path: a whole number that is not negative.
pub fn count(value: &Value, path: &[&str]) -> Option<u64> {
    whole(number(value, path)?)
}

/// A number that is a count.
pub fn whole(number: f64) -> Option<u64> {
    let fits = (0.0..9e15).contains(&number) && number.fract() == 0.0;
    fits.then_some(number as u64)
}

/// A number, also one that is written as text.
pub fn amount(value: &Value) -> Option<f64> {
    let number = match value {
        Value::String(text) => text.trim().parse().ok(),
        _ => value.as_f64(),
    };
    number.filter(|number: &f64| number.is_finite())
}

/// The text at a path, unless it is blank.
pub fn text(value: &Value, path: &[&str]) -> Option<String> {
    let text = at(value, path)?.as_str()?.trim();
    (!text.is_empty()).then(|| text.chars().take(200).collect())
}

/// The list at a path.
pub fn list<'a>(value: &'a Value, path: &[&str]) -> Option<&'a Vec<Value>> {
    at(value, path)?.as_array()
}

/// Every named number below, without lists.
pub fn figures(value: &Value) -> std::collections::BTreeMap<String, f64> {
    let mut found = std::collections::BTreeMap::new();
    collect(value, &mut Vec::new(), &mut found);
    found
}

fn collect<'a>(
    value: &'a Value,
    path: &mut Vec<&'a str>,
    found: &mut std::collections::BTreeMap<String, f64>,
) {
    if found.len() >= MOST_FIGURES || path.len() > DEEPEST {
        return;
    }
    match value {
        Value::Number(number) => {
            if let Some(number) = number.as_f64().filter(|number| number.is_finite()) {
                found.insert(path.join("."), number);
            }
        }
        Value::Object(fields) => {
            for (name, value) in fields {
                path.push(name);
                collect(value, path, found);
                path.pop();
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_follow_one_another_in_any_way() {
        let text = b"\xef\xbb\xbf\n{\"a\": 1}\r\n{\"b\": [2]}{\"c\":\n 3}\n";
        let found = documents(text);
        let lines: Vec<u64> = found.values.iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [2, 3, 3]);
        assert_eq!(found.problems, []);
    }

    #[test]
    fn a_bad_line_costs_itself_alone() {
        let found = documents(b"{\"a\": 1}\n{\"b\" 2}\n{\"c\": 3}\n");
        assert_eq!(found.values.len(), 2);
        assert_eq!(found.problems[0].line(), Some(2));
    }

    #[test]
    fn truncated_json_is_reported_with_its_place() {
        let found = documents(b"{\"a\": 1}\n{\"b\": [1, 2");
        assert_eq!(found.values.len(), 1);
        assert_eq!(found.problems[0].line(), Some(2));
        assert!(found.problems[0].what.contains("byte 20"), "{:?}", found.problems[0]);
    }

    /// M6: a file of 21 MB took more than 2.4 GB.
    #[test]
    fn a_file_that_needs_too_much_memory_is_not_read() {
        let bomb = format!("[{}0]", "{\"\":0},".repeat(20_000));
        let budget = Budget::of(8 << 20);
        let found = documents_within(bomb.as_bytes(), &budget);
        assert!(found.too_large && found.values.is_empty());
        assert_eq!(found.problems[0].code, "import_too_large");
        let found = documents_within(b"{\"a\": 1}", &budget);
        assert!(budget.used() > 0 && found.values.len() == 1);
        drop(found);
        assert_eq!(budget.used(), 0);
    }

    #[test]
    fn numbers_of_python_are_understood_outside_of_texts() {
        let text = br#"{"a": NaN, "b": -Infinity, "c": Infinity, "d": "NaN \" Infinity"}"#;
        let found = documents(text);
        let (_, value) = &found.values[0];
        assert_eq!(value["a"], Value::Null);
        assert_eq!(value["b"], "-inf");
        assert_eq!(value["c"], "inf");
        assert_eq!(value["d"], "NaN \" Infinity");
    }

    #[test]
    fn figures_go_by_their_path() {
        let value = serde_json::json!({"a": {"b": 1.5, "c": "x", "d": [1]}, "e": 2});
        let found: Vec<_> = figures(&value).into_iter().collect();
        assert_eq!(found, [("a.b".to_owned(), 1.5), ("e".to_owned(), 2.0)]);
    }
}
