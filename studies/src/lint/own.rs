//! How often `dyno lint` reports an error where there is none: clean sweeps of twins in virtual time,
//! each with its own lengths, noise and arrivals.

use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::process::Command;
use xtask::lab::{build, scratch};

/// Twins of each kind of server, without failures of their client.
const TWINS: [&str; 8] = [
    "generic-7b-24gb",
    "qwen2-72b-4xa100-vllm",
    "qwen2-72b-8xl20-lmdeploy",
    "qwen2-72b-8xl20-sglang",
    "qwen1-5-7b-8x910b4-mindie",
    "qwen2-moe-57b-4xl20-vllm",
    "qwen2-72b-gptq-int8-4xl20-vllm",
    "deepseek-coder-6-7b-8x910b4-mindie",
];

/// Typical sweeps.
const LOADS: [&str; 4] = [
    "--concurrency 1,4,16,64,128 --requests 300 --input-tokens 128-512 --output-tokens 32-256",
    "--sweep --requests 300 --input-tokens 256-768 --output-tokens 64-192",
    "--burst 1,8,64,256 --input-tokens 80 --output-tokens 64-128",
    "--concurrency 8 --requests 60 --input-tokens 128,512,1024 --output-tokens 64,256,512",
];

pub(crate) fn run(sweeps: u64) -> Result<()> {
    let dyno = build()?;
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    let (mut errors, mut warnings) = (0, 0);
    for seed in 0..sweeps {
        let twin = TWINS[seed as usize % TWINS.len()];
        let load = LOADS[seed as usize / TWINS.len() % LOADS.len()];
        let dir = scratch();
        let out = dir.to_str().context("a path that is text")?;
        let args =
            format!("predict --twin {twin} --quiet --report none --seed {seed} --out {out} {load}");
        let ran = Command::new(&dyno).args(args.split_whitespace()).output()?;
        if !matches!(ran.status.code(), Some(0 | 4 | 5)) {
            bail!("{args}: {}", String::from_utf8_lossy(&ran.stderr));
        }
        let linted = Command::new(&dyno).args(["lint", out, "--format", "json"]).output()?;
        let findings: Vec<Value> = serde_json::from_slice(&linted.stdout)
            .with_context(|| String::from_utf8_lossy(&linted.stderr).into_owned())?;
        let of = |weight: &str| {
            let is = |finding: &&Value| finding["weight"] == weight;
            let name = |finding: &Value| format!("{}: {}", finding["check"], finding["what"]);
            findings.iter().filter(is).map(name).collect::<Vec<_>>()
        };
        errors += u64::from(!of("error").is_empty());
        warnings += u64::from(!of("warning").is_empty());
        if !findings.is_empty() {
            found.push((args, [of("error"), of("warning")].concat()));
        }
        std::fs::remove_dir_all(&dir)?;
    }
    for (args, findings) in &found {
        println!("{args}");
        findings.iter().for_each(|finding| println!("    {finding}"));
    }
    let share = |n: u64| 100.0 * n as f64 / sweeps as f64;
    println!(
        "{sweeps} clean sweeps: {errors} with an error ({:.1} %), {warnings} with a warning ({:.1} %)",
        share(errors),
        share(warnings)
    );
    Ok(())
}
