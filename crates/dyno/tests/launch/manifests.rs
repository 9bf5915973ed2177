//! The manifests for Kubernetes, JobSet and compose: valid, without unknown fields, and in agreement.
//! `check_manifests.py` has the checks.

use super::root;
use std::path::PathBuf;
use std::process::Command;

/// The oldest and the newest version of Kubernetes that the manifests are for.
const VERSIONS: [&str; 2] = ["1.29", "1.37"];

fn manifests() -> Vec<PathBuf> {
    let folder = std::fs::read_dir(root().join("launch/kubernetes")).unwrap();
    let mut files: Vec<PathBuf> = folder.map(|entry| entry.unwrap().path()).collect();
    files.push(root().join("launch/compose.yaml"));
    files.sort();
    files
}

/// What the checks say, and whether all is well.
fn checked(version: &str, files: &[PathBuf]) -> (bool, String) {
    let python = root().join("target/test-clients/bin/python");
    let hint = "the schemas are missing; run scripts/test, which installs them";
    assert!(python.exists(), "{hint}: {}", python.display());
    let script = root().join("crates/dyno/tests/launch/check_manifests.py");
    let output = Command::new(python).arg(script).arg(version).args(files).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap() + &String::from_utf8_lossy(&output.stderr);
    (output.status.success(), text)
}

#[test]
fn every_manifest_is_valid_in_old_and_new_clusters() {
    for version in VERSIONS {
        let (valid, said) = checked(version, &manifests());
        assert!(valid, "Kubernetes {version}:\n{said}");
    }
}

#[test]
fn a_mistake_in_a_manifest_is_found() {
    let place = tempfile::tempdir().unwrap();
    for (file, right, wrong, said) in [
        (
            "kubernetes/agents.yaml",
            "completionMode:",
            "completionsMode:",
            "'completionsMode' was unexpected",
        ),
        (
            "kubernetes/agents.yaml",
            "cpu: \"2\", memory: 3Gi",
            "cpu: 1500m, memory: 3Gi",
            "whole cores",
        ),
        (
            "kubernetes/bus.yaml",
            "readinessProbe:",
            "readynessProbe:",
            "'readynessProbe' was unexpected",
        ),
        ("kubernetes/bus.yaml", "replicas: 1", "replicas: one", "'one' is not of type"),
        (
            "kubernetes/jobset.yaml",
            "maxRestarts:",
            "maxRestart:",
            "maxRestart: there is no such field",
        ),
        ("kubernetes/jobset.yaml", "sizeLimit:", "size:", "'size' was unexpected"),
        ("kubernetes/jobset.yaml", "{name: bus, status", "{name: base, status", "depends on base"),
        ("kubernetes/jobset.yaml", "--agents=8", "--agents=9", "[8] agents, and [9] are called"),
        ("compose.yaml", "depends_on:", "depend_on:", "'depend_on' was unexpected"),
    ] {
        let text = std::fs::read_to_string(root().join("launch").join(file)).unwrap();
        assert!(text.contains(right), "{file} has no `{right}`");
        let changed = place.path().join("changed.yaml");
        std::fs::write(&changed, text.replace(right, wrong)).unwrap();
        let (valid, text) = checked(VERSIONS[1], &[changed]);
        assert!(!valid && text.contains(said), "{file} with `{wrong}`:\n{text}");
    }
}
