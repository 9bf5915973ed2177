//! All wordings, one table per file, made by one macro, so that no language lacks any. A new message takes
//! one row here and the rule that raises it.

mod cache;
mod findings;
mod fleet;
mod import;
mod instrument;
mod lint;
mod load;
mod notes;
mod output;
mod over_time;
mod overload;
mod place;
mod server;
mod server_times;
mod slo;
mod trees;

pub use cache::CacheFinding;
pub use findings::Finding;
pub use fleet::FleetFinding;
pub use import::Problem;
pub use instrument::Measuring;
pub use lint::Defect;
pub use load::LoadNote;
pub use notes::Note;
pub use output::OutputFinding;
pub use over_time::OverTime;
pub use overload::Overloaded;
pub(crate) use place::Place;
pub use server::ServerFinding;
pub use server_times::ServerTimesFinding;
pub use slo::Undecided;
pub use trees::TreeFinding;

use crate::wording::Wording;

const TABLES: [&[Wording]; 16] = [
    Finding::ROWS,
    FleetFinding::ROWS,
    Measuring::ROWS,
    OutputFinding::ROWS,
    OverTime::ROWS,
    Overloaded::ROWS,
    ServerFinding::ROWS,
    ServerTimesFinding::ROWS,
    Undecided::ROWS,
    CacheFinding::ROWS,
    TreeFinding::ROWS,
    Note::ROWS,
    LoadNote::ROWS,
    Defect::ROWS,
    Problem::ROWS,
    Place::ROWS,
];

/// Every row of every table.
pub(crate) fn all() -> impl Iterator<Item = &'static Wording> {
    TABLES.into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check;
    use std::collections::BTreeSet;
    use std::path::Path;

    #[test]
    fn every_row_has_both_languages_and_its_own_name() {
        let mut keys = BTreeSet::new();
        for wording in all() {
            check::wording(wording);
            assert!(keys.insert(wording.key), "{} is there twice", wording.key);
        }
    }

    /// Files hold keys with the values that they had. A row that is renamed, or whose values become others, says
    /// nothing or something wrong where an older file is read: leave it as it is and add another one.
    #[test]
    fn saved_keys_and_how_many_values_they_have_stay() {
        let rows: BTreeSet<String> =
            all().map(|row| format!("{} {}", row.key, row.places())).collect();
        let saved: BTreeSet<String> = include_str!("keys.txt").lines().map(str::to_owned).collect();
        let listed =
            |rows: Vec<&String>| rows.iter().map(|row| format!("\n{row}")).collect::<String>();
        let gone = listed(saved.difference(&rows).collect());
        let new = listed(rows.difference(&saved).collect());
        assert!(gone.is_empty() && new.is_empty(), "gone:{gone}\nnew, for keys.txt:{new}");
    }

    /// The source of every crate except this table and tests.
    fn sources(folder: &Path, all: &mut String) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if path.is_dir() && !matches!(name, "catalogue" | "tests" | "target") {
                sources(&path, all);
            } else if name.ends_with(".rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                all.push_str(text.split("#[cfg(test)]").next().unwrap());
            }
        }
    }

    #[test]
    fn every_row_is_used_somewhere() {
        let mut code = String::new();
        sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."), &mut code);
        // A path counts by its end: `dyno_words::Note::Preset` is `Note::Preset`.
        let last_two = |path: &'_ str| {
            let second = path.rmatch_indices("::").nth(1);
            second.map_or(path.to_owned(), |(at, _)| path[at + 2..].to_owned())
        };
        let paths = code.split(|c: char| !(c.is_alphanumeric() || "_:".contains(c)));
        let names: BTreeSet<String> = paths.map(last_two).collect();
        for wording in all() {
            assert!(names.contains(wording.key), "nothing uses {}", wording.key);
        }
    }
}
