//! The manifests for Kubernetes, JobSet and compose: valid, without unknown fields, and in agreement.
//! `check_manifests.py` has the checks.

use crate::launch::root;
use std::path::PathBuf;
use std::process::Command;

/// The oldest and the newest version of Kubernetes that the manifests are for.
const VERSIONS: &str = "1.29,1.37";

fn manifests() -> Vec<PathBuf> {
    let folder = std::fs::read_dir(root().join("launch/kubernetes")).unwrap();
    let mut files: Vec<PathBuf> = folder.map(|entry| entry.unwrap().path()).collect();
    files.push(root().join("launch/compose.yaml"));
    files.sort();
    files
}

/// What the checks say of groups of files, and whether all is well.
fn checked<'a>(groups: impl Iterator<Item = &'a [PathBuf]>) -> (bool, String) {
    let python = root().join("target/test-clients/bin/python");
    let hint = "the schemas are missing; run scripts/test, which installs them";
    assert!(python.exists(), "{hint}: {}", python.display());
    let mut command = Command::new(python);
    command
        .arg(root().join("crates/dyno/tests/dyno/launch/needs_python/check_manifests.py"))
        .arg(VERSIONS);
    groups.for_each(|files| {
        command.args(files).arg("--");
    });
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap() + &String::from_utf8_lossy(&output.stderr);
    (output.status.success(), text)
}

#[test]
fn every_manifest_is_valid_in_old_and_new_clusters() {
    let (valid, said) = checked([manifests().as_slice()].into_iter());
    assert!(valid, "{said}");
}

/// A file of `launch/`, what it has, what it has after a mistake, and what must be said then.
const MISTAKES: [(&str, &str, &str, &str); 9] = [
    (
        "kubernetes/agents.yaml",
        "completionMode:",
        "completionsMode:",
        "'completionsMode' was unexpected",
    ),
    ("kubernetes/agents.yaml", "cpu: \"2\", memory: 3Gi", "cpu: 1500m, memory: 3Gi", "whole cores"),
    (
        "kubernetes/bus.yaml",
        "readinessProbe:",
        "readynessProbe:",
        "'readynessProbe' was unexpected",
    ),
    ("kubernetes/bus.yaml", "replicas: 1", "replicas: one", "'one' is not of type"),
    ("kubernetes/jobset.yaml", "maxRestarts:", "maxRestart:", "maxRestart: there is no such field"),
    ("kubernetes/jobset.yaml", "sizeLimit:", "size:", "'size' was unexpected"),
    ("kubernetes/jobset.yaml", "{name: bus, status", "{name: base, status", "depends on base"),
    ("kubernetes/jobset.yaml", "--agents=8", "--agents=9", "[8] agents, and [9] are called"),
    ("compose.yaml", "depends_on:", "depend_on:", "'depend_on' was unexpected"),
];

#[test]
fn a_mistake_in_a_manifest_is_found() {
    let place = tempfile::tempdir().unwrap();
    let changed = MISTAKES.iter().enumerate().map(|(i, (file, right, wrong, _))| {
        let text = std::fs::read_to_string(root().join("launch").join(file)).unwrap();
        assert!(text.contains(right), "{file} has no `{right}`");
        let changed = place.path().join(format!("mistake-{i}.yaml"));
        std::fs::write(&changed, text.replace(right, wrong)).unwrap();
        changed
    });
    let changed: Vec<PathBuf> = changed.collect();
    let (valid, said) = checked(changed.iter().map(std::slice::from_ref));
    assert!(!valid);
    for (changed, (_, _, wrong, expected)) in changed.iter().zip(MISTAKES) {
        let mut lines = said.lines().filter(|line| line.starts_with(changed.to_str().unwrap()));
        assert!(lines.any(|line| line.contains(expected)), "`{wrong}` is not found:\n{said}");
    }
}
