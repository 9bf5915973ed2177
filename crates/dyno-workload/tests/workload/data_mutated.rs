//! The seeds of the fuzz target, each changed in many ways: whatever comes of it is read or refused, and
//! what is said about it moves no cursor. Fuzzing goes further; this runs with every test.
#![allow(clippy::expect_used)]

use std::path::Path;

use dyno_model::Language;
use dyno_workload::data::shown::{self, First};
use dyno_workload::data::{DataSet, DataSpec};

const SPECS: [&str; 5] =
    ["f,skip_bad=true", "f.csv,skip_bad=true", "lines:f", "session:f", "f,turns=all,context=b"];
const CHANGES: u64 = 60;

/// Numbers that are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % limit.max(1)
    }
}

/// A file with a few of its bytes replaced, removed or repeated.
fn changed(bytes: &[u8], numbers: &mut Numbers) -> Vec<u8> {
    const SIGNS: &[u8] = b"{}[]\",:;\n\t #0\\\x1b\xff";
    let mut bytes = bytes.to_vec();
    for _ in 0..=numbers.below(4) {
        let at = numbers.below(bytes.len());
        let to = (at + 1 + numbers.below(12)).min(bytes.len());
        match numbers.below(4) {
            0 if at < bytes.len() => bytes[at] = SIGNS[numbers.below(SIGNS.len())],
            1 => drop(bytes.drain(at..to)),
            2 => {
                let part = bytes[at..to].to_vec();
                bytes.splice(at..at, part);
            }
            _ => bytes.truncate(to),
        }
    }
    bytes
}

fn read(bytes: &[u8], spec: &str) {
    let spec: DataSpec = spec.parse().expect("a good specification");
    let name = spec.path.as_deref().and_then(Path::to_str).expect("a name").to_owned();
    let harmless =
        |text: &str| assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text:?}");
    let data = match DataSet::from_bytes(&name, bytes, &spec) {
        Ok(data) => data,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let recognised = data.recognised();
    assert!(!recognised.to_string().contains('\n'), "{recognised}");
    assert!(recognised.warnings().iter().all(|warning| !warning.to_string().contains('\n')));
    harmless(&shown::fields(recognised, Language::English));
    if let Ok(conversations) = data.conversations() {
        conversations.for_each(drop);
    }
    for item in data.open().expect("opens").map_while(Result::ok) {
        let first = First { content: item.content, tokens: 1 };
        harmless(&shown::first(&first, true, Language::Chinese));
    }
}

#[test]
fn changed_files_are_read_or_refused() {
    let mut read_seeds = 0;
    for (_, bytes) in crate::seeds::of("data_reader") {
        // The first byte chooses a kind of data in the fuzz target.
        let Some((_, file)) = bytes.split_first() else { continue };
        read_seeds += 1;
        let mut numbers = Numbers(0);
        for spec in SPECS {
            read(file, spec);
            (0..CHANGES).for_each(|_| read(&changed(file, &mut numbers), spec));
        }
    }
    assert!(read_seeds > 20, "{read_seeds} seeds");
}
