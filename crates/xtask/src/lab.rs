//! The laboratory: the release binary, the engine in a separate process on one core, and
//! measured programs on the other.

use anyhow::{Context, Result, bail};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// The core of the engine, and that of the measured program.
const SERVER_CORE: &str = "0";
const CLIENT_CORE: &str = "1";

/// Builds the release binary and returns its path; `DYNO` names another one, so that two versions can
/// be compared.
pub fn build() -> Result<PathBuf> {
    if let Some(other) = std::env::var_os("DYNO") {
        return Ok(other.into());
    }
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let mut build = Command::new(cargo);
    build.args(["build", "--release", "--quiet", "--package", "llm-dyno"]);
    // What cargo tells this program of its own crate: ring's build script watches it, and would have ring
    // and all that uses it built again.
    for (name, _) in std::env::vars_os() {
        let told = |of: &str| name.to_str().is_some_and(|name| name.starts_with(of));
        if told("CARGO_PKG_") || told("CARGO_MANIFEST_") {
            build.env_remove(&name);
        }
    }
    let status = build.status()?;
    anyhow::ensure!(status.success(), "the release build failed");
    let own = std::env::current_exe()?;
    Ok(own.parent().context("no target directory")?.join("dyno"))
}

/// An engine in a separate process, which ends when this value is dropped.
pub struct Engine {
    child: Child,
    /// Where it listens.
    pub address: String,
}

impl Engine {
    /// Starts one with a script, on its core.
    pub fn start(dyno: &PathBuf, script: &str) -> Result<Self> {
        Self::with(dyno, &["--scripted", script])
    }

    /// Starts one with these flags, on its core.
    pub fn with(dyno: &PathBuf, flags: &[&str]) -> Result<Self> {
        let mut command = Command::new("taskset");
        command.args(["-c", SERVER_CORE]).arg(dyno);
        Self::spawn(command, flags).context("taskset (util-linux) is needed")
    }

    /// Starts one with these flags, on any core.
    pub fn on_any_core(dyno: &Path, flags: &[&str]) -> Result<Self> {
        Self::spawn(Command::new(dyno), flags)
    }

    /// Its process, or that of the program that runs it.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    fn spawn(mut command: Command, flags: &[&str]) -> Result<Self> {
        command.args(["engine", "--port", "0", "--until-stdin-closes"]).args(flags);
        Self::spawn_as(&mut command)
    }

    /// Starts one by a command that is complete.
    pub fn spawn_as(command: &mut Command) -> Result<Self> {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let stdout = child.stdout.take().context("no stdout")?;
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        let Some((_, address)) = line.trim().split_once("http://") else {
            bail!("the engine did not say where it listens: `{line}`")
        };
        Ok(Self { child, address: address.to_owned() })
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// What a measured program printed, and the CPU time it took.
pub struct Ran {
    /// What it printed.
    pub stdout: String,
    /// Seconds of CPU time, of its children too.
    pub cpu_s: f64,
}

/// Runs a program on the client's core and measures its CPU time, including its children.
pub fn run(program: &PathBuf, arguments: &[String]) -> Result<Ran> {
    // bash's `time` needs no installation, unlike GNU time.
    let script = r#"TIMEFORMAT='cpu %U %S'; time "$@""#;
    let output = Command::new("taskset")
        .args(["-c", CLIENT_CORE, "bash", "-c", script, "bash"])
        .arg(program)
        .args(arguments)
        .output()?;
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    // Status 4 and 5 are verdicts, which the benchmark prints anyway.
    anyhow::ensure!(
        matches!(output.status.code(), Some(0 | 4 | 5)),
        "{} {arguments:?} ended with {}: {stderr}",
        program.display(),
        output.status
    );
    let times = stderr.lines().rev().find_map(|line| line.strip_prefix("cpu ")).unwrap_or("");
    let cpu_s = times.split_whitespace().filter_map(|t| t.parse::<f64>().ok()).sum();
    let stdout = String::from_utf8(output.stdout)?;
    Ok(Ran { stdout, cpu_s })
}

static NEXT: AtomicU32 = AtomicU32::new(0);

/// A fresh directory for a run, which the caller removes.
pub fn scratch() -> PathBuf {
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let name = format!("dyno-xtask-{}-{number}", std::process::id());
    std::env::temp_dir().join(name)
}

/// Runs `dyno bench` on the client's core; its summary and CPU time.
pub fn bench(
    dyno: &PathBuf,
    engine: &Engine,
    arguments: &[&str],
) -> Result<(serde_json::Value, Ran)> {
    let out = scratch();
    let mut all = vec!["bench".to_owned(), format!("http://{}", engine.address)];
    all.extend(arguments.iter().map(|a| (*a).to_owned()));
    all.extend(["--json", "--quiet", "--no-progress", "--out"].map(str::to_owned));
    all.push(out.display().to_string());
    let ran = run(dyno, &all);
    let _ = std::fs::remove_dir_all(&out);
    let ran = ran?;
    let summary = serde_json::from_str(&ran.stdout).context("the summary is not JSON")?;
    Ok((summary, ran))
}

/// What a twin predicts for the same plan.
pub fn predict(dyno: &PathBuf, twin: &str, arguments: &[&str]) -> Result<serde_json::Value> {
    let out = scratch();
    let mut all = vec!["predict".to_owned(), "--twin".to_owned(), twin.to_owned()];
    all.extend(arguments.iter().map(|a| (*a).to_owned()));
    all.extend(["--json", "--quiet", "--no-progress", "--out"].map(str::to_owned));
    all.push(out.display().to_string());
    let ran = run(dyno, &all);
    let _ = std::fs::remove_dir_all(&out);
    serde_json::from_str(&ran?.stdout).context("the summary is not JSON")
}

/// Runs the bare receiver on the client's core; its metrics and CPU time.
pub fn bare(
    engine: &Engine,
    streams: u32,
    requests: u32,
    tokens: u32,
    gap_ns: u32,
) -> Result<(serde_json::Value, Ran)> {
    let own = std::env::current_exe()?;
    let arguments = ["bare".to_owned(), engine.address.clone()]
        .into_iter()
        .chain([streams, requests, tokens, gap_ns].map(|n| n.to_string()));
    let ran = run(&own, &arguments.collect::<Vec<_>>())?;
    Ok((serde_json::from_str(&ran.stdout)?, ran))
}

/// The median.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// A number in a JSON value, by its path.
pub fn number(value: &serde_json::Value, pointer: &str) -> f64 {
    value.pointer(pointer).and_then(serde_json::Value::as_f64).unwrap_or(f64::NAN)
}
