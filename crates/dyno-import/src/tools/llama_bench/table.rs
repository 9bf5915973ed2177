//! The Markdown table that llama-bench prints: a row a test, with the settings that are not the
//! default's, `test` and `t/s`.

use super::test::{Shape, Test, levels, speed};
use crate::text::part::{TextPart, unread};
use dyno_form::table::Table;
use dyno_model::summary::{LevelExtras, Recognised};
use dyno_words::Problem;

/// Reads it, if it is one.
pub(super) fn read(table: &Table) -> Option<TextPart> {
    let header = table.rows.first()?;
    let names: Vec<String> = header.cells.iter().map(|cell| named(cell)).collect();
    let place = |name: &str| names.iter().position(|known| known == name);
    let (test, result) = (place("test")?, place("t/s")?);
    // Tools that test a server print such tables as well, with latencies and peaks.
    if names.iter().any(|name| name.ends_with("(ms)") || name.starts_with("peak")) {
        return None;
    }
    let shape = |cells: &[String]| Shape::by_name(cells.get(test)?);
    table.rows.iter().skip(1).find_map(|row| shape(&row.cells))?;
    let by = ["test", "t/s"];
    // Without the columns that it always has, someone may have made the table.
    let whole = ["model", "size", "params", "backend"].iter().all(|name| place(name).is_some());
    let recognised = if whole { Recognised::certain(by) } else { Recognised::likely(by) };
    let mut part = TextPart::new("llama-bench", "table", header.line, recognised);
    let mut tests = Vec::new();
    for row in table.rows.iter().skip(1) {
        if row.has_cells(names.len(), &mut part.findings).is_none() {
            continue;
        }
        let (name, value) = (&row.cells[test], &row.cells[result]);
        let (Some(shape), (Some(mean), spread)) = (Shape::by_name(name), speed(value)) else {
            part.findings.push(unread(row.line, name, value));
            continue;
        };
        let fields = names.iter().cloned().zip(row.cells.iter().cloned()).collect();
        tests.push(Test { line: row.line, shape, speed: Some(mean), spread, fields });
    }
    let models: Vec<&str> = tests.iter().filter_map(|test| test.get("model")).collect();
    let one = models.first().copied().filter(|first| models.iter().all(|model| model == first));
    (part.model, part.label) = (one.map(str::to_owned), one.map(str::to_owned));
    let mut all = levels(&tests);
    if one.is_none() {
        for (level, test) in all.iter_mut().zip(&tests) {
            level.label = format!("{} {}", test.get("model").unwrap_or_default(), level.label);
        }
    }
    part.levels = all.into_iter().map(|level| (level, LevelExtras::default())).collect();
    part.findings.push(Problem::NotServing.with(["llama-bench"]).at(header.line));
    Some(part)
}

/// A column as llama-bench names it; translated pages translate the header as well.
fn named(cell: &str) -> String {
    match cell.to_lowercase().as_str() {
        "模型" => "model".to_owned(),
        "大小" => "size".to_owned(),
        "参数" | "参数量" => "params".to_owned(),
        "后端" => "backend".to_owned(),
        "测试" => "test".to_owned(),
        name => name.to_owned(),
    }
}
