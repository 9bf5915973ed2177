//! The Prometheus text format, read line by line: series with a name, labels and a value. Comments are
//! skipped, and a malformed line does not affect the others.

use std::borrow::Cow;

/// One line: a value of a series at this moment.
#[derive(Debug, Clone, PartialEq)]
pub struct PrometheusSeries<'a> {
    /// The name of the metric.
    pub name: &'a str,
    /// Its labels, in the order written.
    pub labels: Vec<(&'a str, Cow<'a, str>)>,
    /// The value; may be NaN or infinite.
    pub value: f64,
}

/// A line that is neither a series nor a comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BadLine;

/// All series of a text, in order.
pub fn series(text: &str) -> impl Iterator<Item = Result<PrometheusSeries<'_>, BadLine>> {
    let lines = text.split('\n').map(|line| line.trim_matches([' ', '\t', '\r']));
    lines.filter(|line| !line.is_empty() && !line.starts_with('#')).map(read)
}

fn read(line: &str) -> Result<PrometheusSeries<'_>, BadLine> {
    let mut rest = line;
    let name = take_name(&mut rest, true).ok_or(BadLine)?;
    skip_blanks(&mut rest);
    let labels = match rest.strip_prefix('{') {
        Some(inside) => {
            rest = inside;
            take_labels(&mut rest)?
        }
        None => Vec::new(),
    };
    // An exemplar follows `#`; it is not part of the value.
    let numbers = rest.split('#').next().unwrap_or_default();
    let mut numbers = numbers.split_ascii_whitespace();
    let value = numbers.next().ok_or(BadLine)?;
    let value = value.parse().map_err(|_| BadLine)?;
    if numbers.next().is_some_and(|time| time.parse::<f64>().is_err()) {
        return Err(BadLine);
    }
    if numbers.next().is_some() {
        return Err(BadLine);
    }
    Ok(PrometheusSeries { name, labels, value })
}

/// A name; those of series may have colons in them.
fn take_name<'a>(rest: &mut &'a str, colons: bool) -> Option<&'a str> {
    let good = |c: char| c.is_ascii_alphanumeric() || c == '_' || (colons && c == ':');
    let end = rest.find(|c| !good(c)).unwrap_or(rest.len());
    let (name, after) = rest.split_at(end);
    *rest = after;
    (!name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit())).then_some(name)
}

fn skip_blanks(rest: &mut &str) {
    *rest = rest.trim_start_matches([' ', '\t']);
}

fn take(rest: &mut &str, wanted: char) -> bool {
    skip_blanks(rest);
    let after = rest.strip_prefix(wanted);
    *rest = after.unwrap_or(rest);
    after.is_some()
}

/// Labels up to the closing brace; a comma before it is allowed.
fn take_labels<'a>(rest: &mut &'a str) -> Result<Vec<(&'a str, Cow<'a, str>)>, BadLine> {
    let mut labels = Vec::new();
    loop {
        if take(rest, '}') {
            return Ok(labels);
        }
        let name = take_name(rest, false).ok_or(BadLine)?;
        if !take(rest, '=') || !take(rest, '"') {
            return Err(BadLine);
        }
        labels.push((name, take_quoted(rest)?));
        if !take(rest, ',') {
            skip_blanks(rest);
            if !rest.starts_with('}') {
                return Err(BadLine);
            }
        }
    }
}

/// The text before the closing quote, with `\\`, `\"` and `\n` resolved.
fn take_quoted<'a>(rest: &mut &'a str) -> Result<Cow<'a, str>, BadLine> {
    let text = *rest;
    let mut whole = String::new();
    let (mut from, mut escaped) = (0, false);
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => {
                escaped = false;
                match c {
                    'n' => whole.push('\n'),
                    '\\' | '"' => whole.push(c),
                    _ => whole.extend(['\\', c]),
                }
                from = at + c.len_utf8();
            }
            '\\' => {
                whole.push_str(&text[from..at]);
                escaped = true;
            }
            '"' => {
                *rest = &text[at + 1..];
                let last = &text[from..at];
                return Ok(match from {
                    0 => Cow::Borrowed(last),
                    _ => Cow::Owned(whole + last),
                });
            }
            _ => {}
        }
    }
    Err(BadLine)
}
