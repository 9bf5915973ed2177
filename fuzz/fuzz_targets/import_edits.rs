//! Result files of every tool, edited: the first byte chooses a fixture of `dyno-import`, and each four
//! bytes after it are an edit. `DYNO_FUZZ_ONLY=guidellm` limits it to the fixtures with that in their
//! names.
#![no_main]

#[path = "../../crates/dyno-import/tests/import/files/edits.rs"]
mod edits;
#[path = "sound.rs"]
mod sound;

use libfuzzer_sys::fuzz_target;
use std::path::Path;
use std::sync::LazyLock;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/dyno-import/tests/fixtures");

static FIXTURES: LazyLock<Vec<(String, Vec<u8>)>> = LazyLock::new(|| {
    let only = std::env::var("DYNO_FUZZ_ONLY").unwrap_or_default();
    let mut all = Vec::new();
    for folder in [FOLDER.to_owned(), format!("{FOLDER}/files")] {
        let entries = std::fs::read_dir(Path::new(&folder)).expect("the fixtures of dyno-import");
        for path in entries.map(|entry| entry.expect("a fixture").path()) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_file() && !name.ends_with(".db") && name.contains(&only) {
                all.push((name, std::fs::read(&path).expect("a fixture")));
            }
        }
    }
    assert!(!all.is_empty(), "no fixture has `{only}` in its name");
    all.sort();
    all
});

fuzz_target!(|input: &[u8]| {
    let Some((choice, rest)) = input.split_first() else { return };
    let (name, bytes) = &FIXTURES[usize::from(*choice) % FIXTURES.len()];
    let edits: Vec<edits::Edit> = rest
        .chunks_exact(4)
        .take(16)
        .map(|edit| (edit[0], u16::from_le_bytes([edit[1], edit[2]]), edit[3]))
        .collect();
    sound::check(name, &edits::edited(bytes, &edits));
});
