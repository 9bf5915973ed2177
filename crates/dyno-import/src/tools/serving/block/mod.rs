//! The block that the serving benchmarks of vLLM (0.4 to today) and SGLang print: names and values
//! between two rules.

mod load;
mod rows;

use crate::text::part::TextPart;
use crate::text::quantity::name;
use dyno_form::lines::TextLine;
use rows::Reader;

const TITLE: &str = "Serving Benchmark Result";

/// Rows by which a block without its first line is recognised.
const FIRST_ROWS: [&str; 3] = ["successful requests", "backend", "benchmark duration"];

/// Reads the block that starts with the first of these lines; returns how many lines it takes.
/// `before` are the lines that the tool may have printed ahead of it.
pub(crate) fn read(lines: &[TextLine], before: &[String]) -> Option<(TextPart, usize)> {
    let first = lines.first()?;
    let titled = is_title(&first.text);
    if !titled && !begins_bare(lines) {
        return None;
    }
    let mut reader = Reader::new(first.number);
    reader.before(before);
    let mut taken = usize::from(titled);
    let mut closed = false;
    let mut gap = false;
    while let Some(line) = lines.get(taken).filter(|line| line.kind == first.kind) {
        let text = line.text.as_str();
        // After an empty line, an unknown line may belong to what follows.
        let strange = gap && !is_rule(text) && !is_known(&key(line).unwrap_or_default());
        let mut row = || reader.row(line.number, text);
        if is_title(text) || (!text.is_empty() && (strange || !(is_rule(text) || row()))) {
            break;
        }
        gap = text.is_empty();
        taken += 1;
        closed = !text.is_empty() && text.chars().all(|c| c == '=');
        if closed {
            break;
        }
    }
    Some((reader.finish(titled, closed), taken))
}

fn is_title(text: &str) -> bool {
    text.starts_with('=') && text.ends_with('=') && text.trim_matches('=').trim() == TITLE
}

/// A line between the parts of a block, with or without a heading in it.
fn is_rule(text: &str) -> bool {
    ["---", "==="].iter().any(|rule| text.starts_with(rule) && text.ends_with(rule))
}

/// Rows without the title line above them.
fn begins_bare(lines: &[TextLine]) -> bool {
    let first = lines.first().and_then(key);
    first.is_some_and(|key| FIRST_ROWS.contains(&key.as_str()))
        && lines.iter().take(4).filter_map(key).filter(|key| is_known(key)).count() >= 3
}

/// The name in a row, as it is compared.
fn key(line: &TextLine) -> Option<String> {
    line.text.split_once([':', '：']).map(|(key, _)| name(key).0)
}

fn is_known(key: &str) -> bool {
    let statistic = key.split_once(' ').is_some_and(|(_, figure)| {
        ["ttft", "tpot", "itl", "e2el", "e2e latency"].contains(&figure)
    });
    statistic
        || FIRST_ROWS.contains(&key)
        || key.contains("request concurrency")
        || key.contains("request rate")
        || ["failed requests", "total input tokens", "total generated tokens"].contains(&key)
        || key.ends_with("token throughput")
        || key == "request throughput"
}
