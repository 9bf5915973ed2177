//! Any bytes may be given to be imported.
#![no_main]

#[path = "sound.rs"]
mod sound;

use libfuzzer_sys::fuzz_target;

/// Names, as their endings may say what a file is.
const NAMES: [&str; 8] = ["f", "f.md", "f.txt", "f.json", "f.jsonl", "f.csv", "f.yaml", "f.log"];

fuzz_target!(|input: &[u8]| {
    let Some((choice, bytes)) = input.split_first() else { return };
    let Some(name) = NAMES.get(usize::from(*choice) % NAMES.len()) else { return };
    sound::check(name, bytes);
});
