//! Empty summaries, from which every reader starts.

use dyno_model::load::LoadKind;
use dyno_model::summary::{LoadSummary, Origin, RunSummary, SUMMARY_SCHEMA};
use dyno_model::{LevelSummary, Summary};

/// A load of another tool's result: `kind` as in [`LoadSummary`], its value if it is stated.
pub(crate) fn load(kind: LoadKind, value: Option<f64>) -> LoadSummary {
    LoadSummary { kind, value }
}

/// A level of which only the load is known.
pub(crate) fn level(label: impl Into<String>, load: LoadSummary) -> LevelSummary {
    LevelSummary { label: label.into(), load, ..LevelSummary::default() }
}

/// A run with these levels, in this order; they are numbered here.
pub(crate) fn run(id: impl Into<String>, origin: Origin, mut levels: Vec<LevelSummary>) -> Summary {
    for (index, level) in (0..).zip(&mut levels) {
        level.index = index;
    }
    let run = RunSummary {
        id: id.into(),
        origin: Some(origin),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        // No failure limit was set, so none is missed.
        allow_failures: 1.0,
        levels_planned: levels.len() as u64,
        ..RunSummary::default()
    };
    Summary {
        schema: SUMMARY_SCHEMA.to_owned(),
        run,
        levels,
        repeats: Vec::new(),
        search: None,
        notes: Vec::new(),
    }
}

/// The id of a run: the file's name in plain letters, and which run of the file it is, from 1.
pub(crate) fn id(file: &str, ordinal: usize) -> String {
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    let mut slug = String::new();
    for c in stem.chars().flat_map(char::to_lowercase).take(60) {
        match c {
            'a'..='z' | '0'..='9' => slug.push(c),
            _ if slug.is_empty() || slug.ends_with('-') => {}
            _ => slug.push('-'),
        }
    }
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() { format!("import-{ordinal}") } else { format!("{slug}-{ordinal}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_a_plain_word() {
        assert_eq!(id("Qwen2 72B (L20).md", 3), "qwen2-72b-l20-3");
        assert_eq!(id("结果.txt", 1), "import-1");
        assert_eq!(id(".", 2), "import-2");
    }
}
