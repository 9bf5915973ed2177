//! The Python module: its own tests, against this program.

use super::super::root;
use crate::bench::place::NOT_OURS;
use std::process::Command;

#[test]
fn the_python_module_does_what_it_says() {
    let mut command = Command::new("python3");
    command.args(["-m", "unittest", "--quiet", "test_module"]);
    command.current_dir(root().join("python/tests"));
    NOT_OURS.iter().for_each(|name| {
        command.env_remove(name);
    });
    command.env("LLM_DYNO_PROGRAM", env!("CARGO_BIN_EXE_dyno")).env("PYTHONDONTWRITEBYTECODE", "1");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The SBOM and the licences are made of what cargo says: complete, and without what is not linked.
#[test]
fn the_bill_of_materials_is_complete() {
    let mut command = Command::new("python3");
    command.args(["packaging/sbom.py", "x86_64-unknown-linux-gnu"]).current_dir(root());
    let output = command.env("PYTHONDONTWRITEBYTECODE", "1").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let bill: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let parts = bill["components"].as_array().unwrap();
    let named = |name: &str| parts.iter().find(|part| part["name"] == name);
    let serde = named("serde").unwrap();
    assert_eq!(serde["hashes"][0]["content"].as_str().unwrap().len(), 64);
    assert!(
        named("rust-std").is_some() && named("dyno-run").is_some() && named("sqlite").is_some()
    );
    assert!(named("insta").is_none() && named("serde_derive").is_none() && named("musl").is_none());
    let refs: Vec<&str> = parts.iter().map(|part| part["bom-ref"].as_str().unwrap()).collect();
    for row in bill["dependencies"].as_array().unwrap() {
        for needed in row["dependsOn"].as_array().unwrap() {
            assert!(refs.contains(&needed.as_str().unwrap()), "{needed}");
        }
    }
}
