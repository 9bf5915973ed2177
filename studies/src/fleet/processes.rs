//! A run in processes that can be watched and disturbed: what `/proc` says of them, and what the engine
//! says of its requests.

use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use xtask::lab::{Engine, scratch};

/// A run of agents in a directory of its own, with a folder for temporary files beside it.
pub(super) struct Run {
    pub(super) child: Child,
    pub(super) began: Instant,
    pub(super) place: PathBuf,
}

impl Run {
    /// Starts `dyno bench` on an engine.
    pub(super) fn start(dyno: &Path, engine: &Engine, arguments: &str) -> Result<Self> {
        Self::start_at(place()?, dyno, engine, arguments)
    }

    /// The same in a directory that is there.
    pub(super) fn start_at(
        place: PathBuf,
        dyno: &Path,
        engine: &Engine,
        arguments: &str,
    ) -> Result<Self> {
        let arguments: Vec<&str> = arguments.split_whitespace().collect();
        Self::start_with(place, dyno, engine, &arguments)
    }

    /// The same with arguments that may contain blanks.
    pub(super) fn start_with(
        place: PathBuf,
        dyno: &Path,
        engine: &Engine,
        arguments: &[&str],
    ) -> Result<Self> {
        let url = format!("http://{}", engine.address);
        let child = command(dyno, &place)
            .args(["bench", &url, "--out", "run", "--json", "--quiet", "--no-progress"])
            .args(arguments)
            .stdout(fs::File::create(place.join("stdout"))?)
            .stderr(fs::File::create(place.join("stderr"))?)
            .spawn()?;
        Ok(Self { child, began: Instant::now(), place })
    }

    /// Its agents' process ids.
    pub(super) fn agents(&self) -> Vec<u32> {
        children(self.child.id())
    }

    /// Waits for its end: its exit status, absent where a signal ended it.
    pub(super) fn end(&mut self, within: Duration) -> Result<Option<i32>> {
        let until = Instant::now() + within;
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status.code());
            }
            if Instant::now() > until {
                self.child.kill()?;
                self.child.wait()?;
                bail!("it still ran after {within:?}: {}", self.said());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// What it printed.
    pub(super) fn said(&self) -> String {
        let read = |name: &str| fs::read_to_string(self.place.join(name)).unwrap_or_default();
        read("stderr")
    }

    /// Whether an agent has prepared a level: on this machine in the directory of the run, on a bus elsewhere.
    pub(super) fn is_prepared(&self) -> bool {
        self.has_folder("dyno-agent-") || self.place.join("run/agent-1").exists()
    }

    /// Whether a temporary folder of this kind is there.
    pub(super) fn has_folder(&self, prefix: &str) -> bool {
        self.folders().iter().any(|name| name.starts_with(prefix))
    }

    /// The temporary folders, and those within them.
    pub(super) fn folders(&self) -> Vec<String> {
        let mut found = Vec::new();
        let entries = |path: &Path| fs::read_dir(path).into_iter().flatten().flatten();
        for outer in entries(&self.place.join("tmp")) {
            found.push(outer.file_name().to_string_lossy().into_owned());
            let inner = entries(&outer.path());
            found.extend(inner.map(|entry| entry.file_name().to_string_lossy().into_owned()));
        }
        found
    }

    /// The report of what is on disk.
    pub(super) fn report(&self, dyno: &Path) -> Result<Value> {
        let arguments = ["report", "run", "--json"];
        let output = command(dyno, &self.place).args(arguments).output()?;
        let said = || String::from_utf8_lossy(&output.stderr).into_owned();
        serde_json::from_slice(&output.stdout).with_context(said)
    }

    /// Resumes it: the exit status and the summary.
    pub(super) fn resume(&self, dyno: &Path, more: &str) -> Result<(Option<i32>, Value)> {
        let arguments = ["bench", "--resume", "run", "--json", "--quiet", "--no-progress"];
        let all = arguments.into_iter().chain(more.split_whitespace());
        let output = command(dyno, &self.place).args(all).output()?;
        let said = || String::from_utf8_lossy(&output.stderr).into_owned();
        Ok((output.status.code(), serde_json::from_slice(&output.stdout).with_context(said)?))
    }
}

/// A directory for a run, with a folder for temporary files.
pub(super) fn place() -> Result<PathBuf> {
    let place = scratch();
    fs::create_dir_all(place.join("tmp"))?;
    Ok(place)
}

impl Drop for Run {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.place);
    }
}

fn command(dyno: &Path, place: &Path) -> Command {
    let mut command = Command::new(dyno);
    command.current_dir(place).env("TMPDIR", place.join("tmp")).stdin(Stdio::null());
    command
}

/// Sends a signal to a process.
pub(super) fn signal(process: u32, name: &str) {
    let _ = Command::new("kill")
        .args([format!("-{name}"), process.to_string()])
        .stderr(Stdio::null())
        .status();
}

/// The children of a process.
pub(super) fn children(of: u32) -> Vec<u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers.filter(|number| stat(*number).is_some_and(|stat| stat.parent == of)).collect()
}

/// Whether a process is there and not just waiting to be collected.
pub(super) fn is_alive(process: u32) -> bool {
    stat(process).is_some_and(|stat| !"ZX".contains(stat.state))
}

/// What the kernel says of a process.
pub(super) struct Stat {
    state: char,
    parent: u32,
    pub(super) threads: u32,
}

pub(super) fn stat(process: u32) -> Option<Stat> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let (_, rest) = text.rsplit_once(") ")?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    Some(Stat {
        state: fields.first()?.chars().next()?,
        parent: fields.get(1)?.parse().ok()?,
        threads: fields.get(17)?.parse().ok()?,
    })
}

/// CPU time of all threads of a process, in seconds.
pub(super) fn cpu(process: u32) -> f64 {
    cpu_of(process, |_| true)
}

/// CPU time of the threads of a process whose names fit, in seconds.
pub(super) fn cpu_of(process: u32, fits: impl Fn(&str) -> bool) -> f64 {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let of_task = |path: PathBuf| {
        let name = fs::read_to_string(path.join("comm")).ok()?;
        if !fits(name.trim_end()) {
            return None;
        }
        let text = fs::read_to_string(path.join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse::<f64>().ok()
    };
    tasks.filter_map(|task| of_task(task.path())).sum::<f64>() / 1e9
}

/// A line of `/proc/PID/status` or `smaps_rollup` in KiB.
pub(super) fn kib(process: u32, file: &str, line: &str) -> f64 {
    let text = fs::read_to_string(format!("/proc/{process}/{file}")).unwrap_or_default();
    let found = text.lines().find_map(|each| each.strip_prefix(line));
    found.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(f64::NAN)
}

/// Open descriptors of a process.
pub(super) fn descriptors(process: u32) -> usize {
    fs::read_dir(format!("/proc/{process}/fd")).map_or(0, Iterator::count)
}

/// Requests that the engine has begun to answer, and those under way.
pub(super) fn requests(engine: &Engine) -> Result<(u64, u64)> {
    let mut stream = TcpStream::connect(&engine.address)?;
    write!(stream, "GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")?;
    let mut text = String::new();
    stream.read_to_string(&mut text)?;
    let number = |name: &str| {
        let found = text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
        found.context("the engine does not count its requests")
    };
    Ok((number("dyno_engine_requests_total ")?, number("dyno_engine_requests_running ")?))
}

/// The codes of a level's reasons.
pub(super) fn codes(level: &Value) -> Vec<String> {
    let reasons = level["reasons"].as_array().into_iter().flatten();
    reasons.filter_map(|reason| Some(reason["code"].as_str()?.to_owned())).collect()
}
