//! Licences, sources and versions of the crates that are linked: what cargo says, against two tables of
//! docs/dependencies.md.

use super::{table, workspace};
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// The processors and C libraries that are released, and the ordinary build.
const TARGETS: [&str; 3] =
    ["x86_64-unknown-linux-gnu", "x86_64-unknown-linux-musl", "aarch64-unknown-linux-musl"];

/// A crate that is linked.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Linked {
    name: String,
    version: String,
    licence: String,
}

fn linked() -> BTreeSet<Linked> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut found = BTreeSet::new();
    for target in TARGETS {
        let mut command = Command::new(&cargo);
        command.args(["tree", "--locked", "--package", "llm-dyno", "--target", target]);
        command.args([
            "--edges",
            "normal,no-proc-macro",
            "--prefix",
            "none",
            "--format",
            "{p}\t{l}",
        ]);
        let output = command.current_dir(workspace()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        for line in String::from_utf8(output.stdout).unwrap().lines() {
            let (package, licence) = line.split_once('\t').unwrap();
            let mut words = package.split(' ');
            let (name, version) = (words.next().unwrap(), words.next().unwrap());
            found.insert(Linked {
                name: name.to_owned(),
                version: version.trim_start_matches('v').to_owned(),
                licence: licence.trim_end_matches(" (*)").to_owned(),
            });
        }
    }
    assert!(found.len() > 200, "{found:?}");
    found
}

/// Whether an expression of SPDX is met by allowed licences. A slash is an older way to write OR.
fn is_met(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let (met, rest) = any(&words, allowed);
    met && rest.is_empty()
}

fn any<'a>(words: &'a [&'a str], allowed: &BTreeSet<String>) -> (bool, &'a [&'a str]) {
    let (mut met, mut rest) = all(words, allowed);
    while let Some((&"OR", after)) = rest.split_first() {
        let (other, left) = all(after, allowed);
        (met, rest) = (met | other, left);
    }
    (met, rest)
}

fn all<'a>(words: &'a [&'a str], allowed: &BTreeSet<String>) -> (bool, &'a [&'a str]) {
    let (mut met, mut rest) = one(words, allowed);
    while let Some((&"AND", after)) = rest.split_first() {
        let (other, left) = one(after, allowed);
        (met, rest) = (met & other, left);
    }
    (met, rest)
}

fn one<'a>(words: &'a [&'a str], allowed: &BTreeSet<String>) -> (bool, &'a [&'a str]) {
    match words {
        ["(", inner @ ..] => match any(inner, allowed) {
            (met, [")", rest @ ..]) => (met, rest),
            (_, rest) => (false, rest),
        },
        // An exception only permits more.
        [name, "WITH", _, rest @ ..] | [name, rest @ ..] => (allowed.contains(*name), rest),
        [] => (false, words),
    }
}

/// The first column of a table.
fn names(heading: &str) -> BTreeSet<String> {
    table("docs/dependencies.md", heading).into_iter().map(|row| row[0].clone()).collect()
}

#[test]
fn every_licence_is_allowed() {
    let allowed = names("Licences");
    assert!(allowed.contains("Apache-2.0"), "{allowed:?}");
    let wrong: Vec<Linked> =
        linked().into_iter().filter(|one| !is_met(&one.licence, &allowed)).collect();
    assert!(wrong.is_empty(), "{wrong:?}: not allowed by the licences of docs/dependencies.md");
}

#[test]
fn what_is_linked_twice_is_listed() {
    let mut versions: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for Linked { name, version, .. } in linked() {
        versions.entry(name).or_default().insert(version);
    }
    let twice: BTreeSet<String> =
        versions.into_iter().filter(|(_, all)| all.len() > 1).map(|(name, _)| name).collect();
    let listed = names("Linked in several versions");
    let new: Vec<_> = twice.difference(&listed).collect();
    let gone: Vec<_> = listed.difference(&twice).collect();
    assert!(
        new.is_empty() && gone.is_empty(),
        "docs/dependencies.md: linked in several versions now: {new:?}, no longer: {gone:?}"
    );
}

/// Everything comes from crates.io, by checksum: what does not has no checksum in Cargo.lock.
#[test]
fn every_crate_comes_from_the_registry() {
    let lock = std::fs::read_to_string(workspace().join("Cargo.lock")).unwrap();
    for entry in lock.split("[[package]]").skip(1) {
        let source = entry.lines().find(|line| line.starts_with("source = "));
        let fine = source.is_none_or(|source| {
            source.contains("registry+https://github.com/rust-lang/crates.io-index")
                && entry.contains("\nchecksum = ")
        });
        assert!(fine, "{entry}");
    }
}

#[test]
fn expressions_are_read_as_spdx_means_them() {
    let allowed: BTreeSet<String> = ["MIT", "Zlib"].map(str::to_owned).into();
    for met in [
        "MIT",
        "GPL-3.0 OR MIT",
        "MIT/Apache-2.0",
        "(MIT OR X) AND Zlib",
        "MIT WITH E",
        "X OR MIT AND Zlib",
    ] {
        assert!(is_met(met, &allowed), "{met}");
    }
    for unmet in [
        "",
        "GPL-3.0",
        "MIT AND X",
        "(MIT OR X) AND X",
        "(MIT",
        "MIT)",
        "MIT MIT",
        "X AND MIT OR Y",
    ] {
        assert!(!is_met(unmet, &allowed), "{unmet}");
    }
}
