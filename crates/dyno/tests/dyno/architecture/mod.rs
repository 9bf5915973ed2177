//! Rules that can be counted: which crate uses which, who may have a heavy dependency, and what has one
//! home. The first two are tables that people read, too: that of
//! ARCHITECTURE.md and that of docs/dependencies.md.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod licences;
mod phrases;
mod testing;

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

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

/// The rows of the first table below `## heading` of a page: the cells by their columns.
fn table(page: &str, heading: &str) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(workspace().join(page)).unwrap();
    let section = text.split("\n## ").find(|section| section.starts_with(heading));
    let section = section.unwrap_or_else(|| panic!("{page} has no section `{heading}`"));
    let cells = |row: &str| row.trim_matches('|').split('|').map(plain).collect();
    let rows = section.lines().skip_while(|line| !line.starts_with('|'));
    rows.take_while(|line| line.starts_with('|')).skip(2).map(cells).collect()
}

fn plain(cell: &str) -> String {
    cell.trim().replace('`', "")
}

/// The crates that a cell names: `dyno-` is left out in the pages, and the command line's package
/// is not called like its folder.
fn packages(cell: &str) -> BTreeSet<String> {
    let package = |name: &str| match name.trim_start_matches("dyno-") {
        "dyno" => "llm-dyno".to_owned(),
        other @ ("xtask" | "studies") => other.to_owned(),
        short => format!("dyno-{short}"),
    };
    cell.split(", ").filter(|name| *name != "–").map(package).collect()
}

#[test]
fn crates_use_what_the_table_of_the_architecture_says() {
    let mut dependencies = dependencies();
    let ours: BTreeSet<String> = dependencies.keys().cloned().collect();
    let mut above = BTreeSet::new();
    for row in table("ARCHITECTURE.md", "The crates") {
        let [name, _, may] = row.as_slice() else { panic!("ARCHITECTURE.md: {row:?}") };
        let package = packages(name).pop_first().unwrap();
        let used = dependencies.remove(&package);
        let used =
            used.unwrap_or_else(|| panic!("`{name}` is gone: take it out of ARCHITECTURE.md"));
        let used: BTreeSet<String> = used.intersection(&ours).cloned().collect();
        assert_eq!(
            used,
            packages(may),
            "`{name}` uses the crates on the left, and ARCHITECTURE.md says those on the right. Move what \
             it needs to a crate that both may use; if the table is out of date, correct it"
        );
        if let Some(other) = used.difference(&above).next() {
            panic!("`{name}` uses `{other}`, which has no row above it in ARCHITECTURE.md");
        }
        above.insert(package);
    }
    let new: Vec<&String> = dependencies.keys().collect();
    assert!(
        new.is_empty(),
        "{new:?}: new, so say in ARCHITECTURE.md what it does and what it uses"
    );
}

#[test]
fn dependencies_are_used_where_their_table_says() {
    let dependencies = dependencies();
    let mut users: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for (name, used) in &dependencies {
        for other in used.iter().filter(|other| !dependencies.contains_key(*other)) {
            users.entry(other).or_default().insert(name.clone());
        }
    }
    for row in table("docs/dependencies.md", "In the program") {
        let [name, may, why] = row.as_slice() else { panic!("docs/dependencies.md: {row:?}") };
        let using = users.remove(name.as_str());
        let using = using.unwrap_or_else(|| panic!("`{name}` is gone: take it out of the table"));
        assert!(!why.is_empty(), "docs/dependencies.md does not say why `{name}` is there");
        assert!(
            may == "any" || using == packages(may),
            "`{name}` is used by {using:?}, and docs/dependencies.md says `{may}`: let the others ask \
             one of these crates, or correct the table"
        );
    }
    let new: Vec<&&str> = users.keys().collect();
    assert!(new.is_empty(), "{new:?}: new, so say in docs/dependencies.md who uses it and why");
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
