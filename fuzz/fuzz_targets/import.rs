//! Any bytes may be given to be imported: they are read or refused, and whatever is read is made
//! of sound metrics and can be written down.
#![no_main]

use dyno_import::import_bytes;
use libfuzzer_sys::fuzz_target;

/// Names, as their endings may say what a file is.
const NAMES: [&str; 6] = ["f", "f.md", "f.txt", "f.json", "f.jsonl", "f.csv"];

fuzz_target!(|input: &[u8]| {
    let Some((choice, bytes)) = input.split_first() else { return };
    let Some(name) = NAMES.get(usize::from(*choice) % NAMES.len()) else { return };
    let imported = match import_bytes(name, bytes) {
        Ok(imported) => imported,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    assert!(!imported.runs.is_empty() || !imported.problems.is_empty());
    for problem in &imported.problems {
        assert!(!problem.what.is_empty() && problem.advice.is_some());
    }
    for run in &imported.runs {
        for level in &run.summary.levels {
            let mut reported = level.reported.iter().flat_map(|level| level.figures.values());
            assert!(reported.all(|figure| figure.is_finite()));
        }
        assert!(serde_json::to_string(&run.summary).is_ok());
    }
});
