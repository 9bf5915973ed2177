//! Scripts, read by shellcheck.

use super::root;
use std::process::Command;

#[test]
fn shellcheck_has_nothing_to_say() {
    let mut scripts = vec!["launch/over-ssh", "launch/slurm.sbatch", "scripts/test", ".ci/run"];
    scripts.extend(["scripts/release", "action/steps", "packaging/tools", "packaging/static"]);
    scripts.extend(["packaging/deb", "packaging/image-root", "packaging/check"]);
    let output = Command::new("shellcheck").args(scripts).current_dir(root()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}
