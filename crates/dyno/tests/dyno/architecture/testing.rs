//! How tests are organised: one program for each crate, no file in two of them, and what `scripts/test quick` leaves
//! out by the names of modules.

use super::{folders, workspace};
use std::path::{Path, PathBuf};

/// Programs of tests beside the one of their crate, each with the reason.
const SEPARATE: &[(&str, &str)] =
    &[("dyno-engine/tests/files.rs", "it limits the open files of its process")];

/// What a test uses, and the module that it has to be in.
const NEEDS: [(&str, &str); 4] = [
    ("dyno_testing::nats", "needs_nats"),
    ("exec chromium", "needs_chromium"),
    ("test-clients/bin/python", "needs_python"),
    ("Command::new(\"shellcheck\")", "needs_shellcheck"),
];

fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") {
            found.push(path);
        }
    }
}

/// Every Rust file of a crate, by its path below `crates/`, with its text.
fn files(folder: &str) -> Vec<(String, String)> {
    let crates = workspace().join("crates");
    let mut found = Vec::new();
    rust_files(&crates.join(folder), &mut found);
    let name = |path: &Path| path.strip_prefix(&crates).unwrap().display().to_string();
    found.iter().map(|path| (name(path), std::fs::read_to_string(path).unwrap())).collect()
}

#[test]
fn a_crate_has_one_program_of_integration_tests() {
    for folder in folders() {
        let short = folder.trim_start_matches("dyno-");
        for (path, _) in files(&folder) {
            let parts: Vec<&str> = path.split('/').collect();
            let is_program = matches!(parts[..], [_, "tests", _] | [_, "tests", _, "main.rs"]);
            let is_its_own = parts[..] == [&folder, "tests", short, "main.rs"];
            let is_separate = SEPARATE.iter().any(|(separate, _)| *separate == path);
            assert!(
                !is_program || is_its_own || is_separate,
                "{path} is a program of its own, which takes seconds to link: make it a module of \
                 crates/{folder}/tests/{short}/main.rs, or say here why it needs a process"
            );
        }
    }
}

#[test]
fn no_file_is_in_two_programs() {
    let by_path = format!("#[{} =", "path");
    for (path, text) in folders().iter().flat_map(|folder| files(folder)) {
        assert!(
            !text.contains(&by_path),
            "{path}: what several crates' tests share belongs in dyno-testing"
        );
    }
}

#[test]
fn what_takes_another_program_is_named_so() {
    let testing = "dyno/tests/dyno/architecture/testing.rs";
    let files = folders().into_iter().flat_map(|folder| files(&folder));
    let tests = files.filter(|(path, _)| path.contains("/tests/") && path != testing);
    let mut found = [0; NEEDS.len()];
    for (path, text) in tests {
        for (found, (use_of, module)) in found.iter_mut().zip(NEEDS) {
            if text.contains(use_of) {
                *found += 1;
                assert!(
                    path.contains(&format!("/{module}/"))
                        || path.ends_with(&format!("/{module}.rs")),
                    "{path} has `{use_of}`: move it to a module `{module}`, which scripts/test quick leaves out"
                );
            }
        }
    }
    assert!(found.iter().all(|count| *count > 0), "{NEEDS:?}: found {found:?}");
}
