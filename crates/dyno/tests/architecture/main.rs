//! The rules of ARCHITECTURE.md that can be counted: which crate may know which, who may have a
//! heavy dependency, how large a crate may grow, and what has one home.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod phrases;
mod translations;

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Every crate of the workspace, with those of them that it may use. A crate names only crates
/// above it.
const MAY_KNOW: [(&str, &[&str]); 28] = [
    ("dyno-model", &[]),
    ("dyno-stats", &[]),
    ("dyno-net", &[]),
    ("dyno-words", &["dyno-model"]),
    ("dyno-fleet", &["dyno-model", "dyno-net"]),
    ("dyno-chart", &["dyno-model"]),
    ("dyno-search", &["dyno-stats"]),
    ("dyno-tokenizer", &["dyno-model"]),
    ("dyno-random", &["dyno-model", "dyno-tokenizer"]),
    ("dyno-workload", &["dyno-model", "dyno-random", "dyno-tokenizer", "dyno-words"]),
    ("dyno-drive", &["dyno-model"]),
    ("dyno-dialect", &["dyno-model"]),
    ("dyno-wire", &["dyno-dialect", "dyno-drive", "dyno-model", "dyno-net", "dyno-words"]),
    ("dyno-record", &["dyno-model"]),
    ("dyno-respond", &["dyno-model", "dyno-stats"]),
    ("dyno-engine", &["dyno-model", "dyno-net", "dyno-respond", "dyno-stats"]),
    ("dyno-analysis", &["dyno-model", "dyno-record", "dyno-search", "dyno-stats", "dyno-words"]),
    ("dyno-draw", &["dyno-analysis", "dyno-chart", "dyno-model", "dyno-words"]),
    (
        "dyno-report",
        &["dyno-analysis", "dyno-chart", "dyno-draw", "dyno-model", "dyno-search", "dyno-words"],
    ),
    ("dyno-form", &["dyno-model", "dyno-words"]),
    ("dyno-import", &["dyno-analysis", "dyno-form", "dyno-model", "dyno-words"]),
    ("dyno-live", &["dyno-analysis", "dyno-chart", "dyno-model", "dyno-net", "dyno-words"]),
    ("dyno-fit", &["dyno-drive", "dyno-engine", "dyno-model", "dyno-stats"]),
    (
        "dyno-run",
        &[
            "dyno-analysis",
            "dyno-drive",
            "dyno-engine",
            "dyno-fit",
            "dyno-fleet",
            "dyno-model",
            "dyno-net",
            "dyno-record",
            "dyno-stats",
            "dyno-wire",
            "dyno-words",
            "dyno-workload",
        ],
    ),
    ("dyno-doctor", &["dyno-model", "dyno-net", "dyno-run", "dyno-words"]),
    (
        "dyno-twins",
        &["dyno-analysis", "dyno-engine", "dyno-fit", "dyno-model", "dyno-record", "dyno-words"],
    ),
    (
        "llm-dyno",
        &[
            "dyno-analysis",
            "dyno-doctor",
            "dyno-draw",
            "dyno-engine",
            "dyno-import",
            "dyno-live",
            "dyno-model",
            "dyno-net",
            "dyno-record",
            "dyno-report",
            "dyno-run",
            "dyno-search",
            "dyno-twins",
            "dyno-words",
            "dyno-workload",
        ],
    ),
    // It runs the binary, times a bare receiver on the same loop, and fits engines that it knows and records.
    (
        "xtask",
        &[
            "dyno-engine",
            "dyno-fit",
            "dyno-model",
            "dyno-net",
            "dyno-record",
            "dyno-stats",
            "dyno-twins",
        ],
    ),
];

/// What others wrote and any crate may have.
const LIGHT: [&str; 5] = ["libm", "memchr", "serde", "serde_json", "thiserror"];

/// What else others wrote, with the only crates that may have it.
const HEAVY: [(&str, &[&str]); 35] = [
    ("anyhow", &["xtask"]),
    ("async-nats", &["dyno-fleet"]),
    ("clap", &["llm-dyno"]),
    ("clap_complete", &["llm-dyno"]),
    ("clap_mangen", &["llm-dyno"]),
    ("crc32fast", &["dyno-record"]),
    ("csv", &["dyno-form"]),
    ("flate2", &["dyno-workload"]),
    ("futures-util", &["dyno-fleet"]),
    ("getrandom", &["llm-dyno"]),
    ("httparse", &["dyno-engine", "dyno-wire"]),
    ("idna_adapter", &["dyno-fleet"]),
    ("jiff", &["dyno-model", "dyno-tokenizer", "dyno-workload"]),
    ("minijinja", &["dyno-tokenizer"]),
    ("minijinja-contrib", &["dyno-tokenizer"]),
    ("nix", &["dyno-net"]),
    ("parquet", &["dyno-report", "dyno-workload"]),
    ("rand_chacha", &["dyno-drive", "dyno-random", "dyno-workload"]),
    ("ratatui-core", &["dyno-live"]),
    ("ratatui-widgets", &["dyno-live"]),
    ("resvg", &["dyno-draw"]),
    ("rusqlite", &["dyno-form"]),
    ("rustix", &["dyno-engine", "dyno-live", "dyno-net", "dyno-run", "dyno-wire", "llm-dyno"]),
    ("rustls", &["dyno-wire"]),
    ("rustls-native-certs", &["dyno-wire"]),
    ("ruzstd", &["dyno-workload"]),
    ("sha2", &["dyno-model", "dyno-report", "dyno-run"]),
    ("signal-hook", &["llm-dyno"]),
    ("strsim", &["dyno-model"]),
    ("tempfile", &["dyno-form", "dyno-run"]),
    ("tokenizers", &["dyno-tokenizer"]),
    ("tokio", &["dyno-fleet"]),
    ("toml", &["dyno-engine", "llm-dyno"]),
    ("unicode-width", &["dyno-words"]),
    ("yaml-rust2", &["dyno-form"]),
];

/// Lines of the command line's own source. It is glue.
const DYNO_LINES: usize = 11_500;
/// Lines of any other crate's source.
const CRATE_LINES: usize = 12_500;

/// Source files that spell out one metric's name. Who goes through all metrics asks the registry.
const FILES_WITH_TTFT: usize = 11;
/// Where metrics are at home: the registry and the records.
const HOME_OF_METRICS: [&str; 2] = ["dyno-model", "dyno-record"];

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every crate with what it depends on outside of tests.
fn dependencies() -> BTreeMap<String, BTreeSet<String>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--no-deps", "--format-version", "1", "--offline"])
        .current_dir(workspace())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    let name = |of: &Value| of["name"].as_str().unwrap().to_owned();
    let used = |package: &Value| {
        let all = package["dependencies"].as_array().unwrap();
        all.iter().filter(|one| one["kind"] != "dev").map(name).collect()
    };
    let packages = told["packages"].as_array().unwrap();
    packages.iter().map(|package| (name(package), used(package))).collect()
}

/// Every source file of a folder under `crates/`, with its text.
fn sources(folder: &str) -> Vec<(PathBuf, String)> {
    let mut folders = vec![workspace().join("crates").join(folder).join("src")];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") {
                found.push((path.clone(), std::fs::read_to_string(path).unwrap()));
            }
        }
    }
    found
}

fn folders() -> Vec<String> {
    let all = std::fs::read_dir(workspace().join("crates")).unwrap();
    let mut all: Vec<_> = all.map(|one| one.unwrap().file_name().into_string().unwrap()).collect();
    all.sort();
    all
}

#[test]
fn crates_know_only_whom_they_may() {
    let dependencies = dependencies();
    let ours: BTreeSet<&String> = dependencies.keys().collect();
    let table: BTreeMap<&str, &[&str]> = MAY_KNOW.into_iter().collect();
    for (name, used) in &dependencies {
        let may = table.get(name.as_str()).unwrap_or_else(|| {
            panic!(
                "`{name}` is new: say in MAY_KNOW whom it may know, and its job in ARCHITECTURE.md"
            )
        });
        for other in used.iter().filter(|other| ours.contains(other)) {
            assert!(
                may.contains(&other.as_str()),
                "`{name}` may not know `{other}`. Move what it needs to a crate that both may know; \
                 if the arrow is right, add it to MAY_KNOW and look at ARCHITECTURE.md"
            );
        }
    }
    for (place, (name, may)) in MAY_KNOW.into_iter().enumerate() {
        assert!(dependencies.contains_key(name), "`{name}` is gone: take it out of MAY_KNOW");
        for other in may {
            let above = MAY_KNOW[..place].iter().any(|(above, _)| above == other);
            assert!(above, "`{name}` names `{other}`, which is not above it in MAY_KNOW");
        }
    }
}

#[test]
fn heavy_dependencies_stay_where_they_are() {
    let dependencies = dependencies();
    let table: BTreeMap<&str, &[&str]> = HEAVY.into_iter().collect();
    for (name, used) in &dependencies {
        for other in used {
            if dependencies.contains_key(other) || LIGHT.contains(&other.as_str()) {
                continue;
            }
            let may = table.get(other.as_str()).unwrap_or_else(|| {
                panic!("`{other}` is new: say why in docs/dependencies.md, and who has it in HEAVY")
            });
            assert!(
                may.contains(&name.as_str()),
                "`{name}` may not have `{other}`; only {may:?} may: let it ask one of them"
            );
        }
    }
}

#[test]
fn no_crate_is_too_large() {
    for folder in folders() {
        let is_test = |path: &Path| path.file_name().is_some_and(|name| name == "tests.rs");
        let sources = sources(&folder).into_iter().filter(|(path, _)| !is_test(path));
        let lines: usize = sources.map(|(_, text)| text.lines().count()).sum();
        let limit = if folder == "dyno" { DYNO_LINES } else { CRATE_LINES };
        assert!(
            lines <= limit,
            "crates/{folder}/src has {lines} lines, more than {limit}: find the part of it that \
             could stand alone"
        );
    }
}

#[test]
fn a_kind_of_load_is_a_type() {
    for (path, text) in sources("dyno-model") {
        let text_as_kind = text.lines().any(|line| line.trim_end().ends_with("kind: String,"));
        assert!(!text_as_kind, "{}: a kind is an enum, not a text", path.display());
    }
}

#[test]
fn metrics_have_one_home() {
    let elsewhere = folders().into_iter().filter(|one| !HOME_OF_METRICS.contains(&one.as_str()));
    let files: Vec<_> = elsewhere.flat_map(|folder| sources(&folder)).collect();
    let named = files.iter().filter(|(_, text)| text.contains("ttft_ms"));
    let named: Vec<_> = named.map(|(path, _)| path.display().to_string()).collect();
    assert!(
        named.len() <= FILES_WITH_TTFT,
        "{} source files name `ttft_ms`, more than {FILES_WITH_TTFT}: ask the registry of metrics \
         instead\n{}",
        named.len(),
        named.join("\n")
    );
}

/// Where an API's name may stand besides its own modules: the default of a plan, and where other tools'
/// names for it are read and written.
const KNOW_NAMES: [&str; 6] = [
    "dyno-dialect/src/",
    "dyno-respond/src/",
    "dyno-model/src/plan.rs",
    "dyno-import/src/",
    "dyno-report/src/layout/",
    "xtask/src/",
];

#[test]
fn only_dialects_know_their_names() {
    let at_home = |path: &str| {
        path.ends_with("tests.rs") || KNOW_NAMES.iter().any(|home| path.contains(home))
    };
    let mut wrong = Vec::new();
    for (path, text) in folders().iter().flat_map(|folder| sources(folder)) {
        let path = path.display().to_string();
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        for about in dyno_run::apis().filter(|_| !at_home(&path)) {
            let quoted =
                [about.name.to_owned(), about.whole_path()].map(|name| format!("\"{name}\""));
            wrong.extend(
                quoted
                    .iter()
                    .filter(|name| code.contains(*name))
                    .map(|name| format!("{path}: {name}")),
            );
        }
    }
    assert!(
        wrong.is_empty(),
        "an API is known by name outside of its dialect; ask for its facts (`About`) instead:\n{}",
        wrong.join("\n")
    );
}
