//! What llama-bench prints for SQL databases: an `INSERT` statement a test, with the fields of its JSON.

use super::result::by_fields;
use super::test::levels;
use crate::text::part::TextPart;
use dyno_form::lines::TextLine;
use dyno_model::summary::{LevelExtras, Recognised};
use dyno_words::Problem;

/// The table, by its name today and the first one.
const TABLES: [&str; 2] = ["llama_bench", "test"];

/// Reads the statements that start with the first of these lines, and returns how many lines they take.
pub(super) fn read(lines: &[TextLine], _: &[String]) -> Option<(TextPart, usize)> {
    let first = lines.first()?;
    statement(&first.text)?;
    let mut part = TextPart::new(
        "llama-bench",
        "sql",
        first.number,
        Recognised::certain(["INSERT INTO", "n_prompt", "avg_ts"]),
    );
    let mut tests = Vec::new();
    let mut taken = 0;
    for line in lines {
        match statement(&line.text) {
            Some(fields) => match by_fields(line.number, fields) {
                Some(test) => tests.push(test),
                None => part.findings.push(
                    Problem::TestIncomplete.with(["n_prompt, n_gen, avg_ts"]).at(line.number),
                ),
            },
            None if line.text.is_empty() => {}
            None => break,
        }
        taken += 1;
    }
    let model = tests.first().and_then(|test| test.get("model_type")).map(str::to_owned);
    (part.model, part.label) = (model.clone(), model);
    part.version = tests.first().and_then(|test| test.get("build_number")).map(str::to_owned);
    part.levels = levels(&tests).into_iter().map(|level| (level, LevelExtras::default())).collect();
    part.findings.push(Problem::NotServing.with(["llama-bench"]).at(first.number));
    Some((part, taken))
}

/// The fields of `INSERT INTO llama_bench (a, b) VALUES ('1', '2');`.
fn statement(text: &str) -> Option<Vec<(String, String)>> {
    let rest = text.strip_prefix("INSERT INTO ")?;
    let (table, rest) = rest.split_once(" (")?;
    let (names, values) = rest.split_once(") VALUES (")?;
    let known = TABLES.contains(&table.trim()) && names.contains("avg_ts");
    let values = values.trim_end().strip_suffix(");").filter(|_| known)?;
    let names: Vec<&str> = names.split(',').map(str::trim).collect();
    let values = quoted(values);
    (names.len() == values.len())
        .then(|| names.iter().map(|name| (*name).to_owned()).zip(values).collect())
}

/// The texts of `'a', 'it''s'`.
fn quoted(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut rest = text;
    while let Some((_, from)) = rest.split_once('\'') {
        let mut value = String::new();
        rest = from;
        loop {
            let Some((piece, after)) = rest.split_once('\'') else { return found };
            value.push_str(piece);
            rest = after;
            let Some(after) = rest.strip_prefix('\'') else { break };
            value.push('\'');
            rest = after;
        }
        found.push(value);
    }
    found
}
