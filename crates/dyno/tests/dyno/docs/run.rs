//! Runs the blocks of one page in its own directory, and compares or renews its samples.

use super::page::{Block, Command, Mark, blocks};
use super::shape;
use std::io::{BufRead, BufReader};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

/// A command that takes longer does not belong into a page that is run on every change.
const LIMIT_S: &str = "120";
/// Where the pages say that the server is.
const DOCUMENTED: &str = "http://localhost:8000";

/// The binary under test, in a directory that goes into the `PATH`; beside it a wrapper that adds
/// `--dry-run`.
pub(super) struct Programs {
    dir: tempfile::TempDir,
}

impl Programs {
    pub(super) fn new(binary: &Path) -> Self {
        let dir = tempfile::tempdir().unwrap();
        for sub in ["run", "plan"] {
            std::fs::create_dir(dir.path().join(sub)).unwrap();
        }
        std::os::unix::fs::symlink(binary, dir.path().join("run/dyno")).unwrap();
        let wrapper = format!(
            "#!/bin/sh\ncase \"$1\" in\n  bench | predict | capacity) exec '{}' \"$@\" --dry-run ;;\nesac\n\
             echo \"dyno $1 has no --dry-run: mark the block otherwise\" >&2\nexit 99\n",
            binary.display()
        );
        let file = dir.path().join("plan/dyno");
        std::fs::write(&file, wrapper).unwrap();
        let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&file, executable).unwrap();
        Programs { dir }
    }

    fn path(&self, mark: &Mark) -> String {
        let sub = if *mark == Mark::Plan { "plan" } else { "run" };
        let system = std::env::var("PATH").unwrap_or_default();
        format!("{}:{system}", self.dir.path().join(sub).display())
    }
}

/// An engine that ends with this value.
struct Engine {
    process: Child,
    address: String,
}

impl Drop for Engine {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A page while it is run.
struct Session<'a> {
    programs: &'a Programs,
    dir: PathBuf,
    engine: Option<Engine>,
}

impl Session<'_> {
    fn bash(&self, mark: &Mark, script: &str) -> std::process::Command {
        let mut command = std::process::Command::new("timeout");
        command
            .args(["-k", "5", LIMIT_S, "bash", "-e", "-o", "pipefail", "-c", script])
            .current_dir(&self.dir)
            .env_clear()
            .env("PATH", self.programs.path(mark))
            .env("HOME", &self.dir)
            .env("LANG", "C")
            .stdin(Stdio::null());
        command
    }

    /// Starts an engine with the command of the page, on a free port.
    fn serve(&mut self, script: &str) -> Result<(), String> {
        self.engine = None;
        let script = format!("exec {}", script.replace("--port 8000", "--port 0"));
        let mut process = std::process::Command::new("bash")
            .args(["-c", &script])
            .current_dir(&self.dir)
            .env("PATH", self.programs.path(&Mark::Serve))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let stdout = process.stdout.take().unwrap();
        BufReader::new(stdout).read_line(&mut line).unwrap();
        let address = line.find("http://").map(|at| line[at..].trim().to_owned());
        self.engine = Some(Engine { process, address: address.clone().unwrap_or_default() });
        address.map(|_| ()).ok_or_else(|| format!("`{script}` prints no address: {line}"))
    }

    /// What a command prints on both streams, with the names that the page uses.
    fn output(&self, block: &Block, command: &Command, status: i32) -> Result<String, String> {
        let mut script = command.script.replace("cargo run --release --", "dyno");
        if let Some(engine) = &self.engine {
            script = script.replace(DOCUMENTED, &engine.address);
        }
        let file = self.dir.join(".printed");
        let printed = std::fs::File::create(&file).unwrap();
        let ended = self
            .bash(&block.mark, &script)
            .stdout(printed.try_clone().unwrap())
            .stderr(printed)
            .status()
            .unwrap()
            .code();
        let mut text = String::from_utf8_lossy(&std::fs::read(&file).unwrap()).into_owned();
        if let Some(engine) = &self.engine {
            text = text.replace(&engine.address, DOCUMENTED);
            let bare = engine.address.trim_start_matches("http://");
            text = text.replace(bare, "localhost:8000");
        }
        // An invalid run is no fault of the page.
        if ended == Some(status) || (block.measured && ended == Some(4)) {
            return Ok(text);
        }
        let ended = match ended {
            Some(124) => format!("it did not end within {LIMIT_S} s"),
            Some(code) => format!("status {code} instead of {status}"),
            None => "ended by a signal".to_owned(),
        };
        Err(format!("{ended}\n$ {script}\n{text}"))
    }
}

/// What the last block printed.
#[derive(Default)]
struct Printed {
    text: String,
    measured: bool,
}

/// The part of a page that becomes other lines.
struct Change {
    lines: Range<usize>,
    with: Vec<String>,
}

/// Runs the blocks of `page` in order. Returns what is wrong with it; with `renew`, rewrites the
/// samples that differ instead of reporting them.
pub(super) fn page(
    file: &Path,
    programs: &Programs,
    files: &[PathBuf],
    renew: bool,
) -> Vec<String> {
    let text = std::fs::read_to_string(file).unwrap();
    let blocks = match blocks(&text) {
        Ok(blocks) => blocks,
        Err(mistakes) => return mistakes,
    };
    let dir = tempfile::tempdir().unwrap();
    files.iter().for_each(|files| copy(files, dir.path()));
    let mut session = Session { programs, dir: dir.path().to_owned(), engine: None };
    let lines: Vec<&str> = text.lines().collect();
    let (mut wrong, mut changes, mut last) = (Vec::new(), Vec::new(), Printed::default());
    for block in &blocks {
        if let Err(what) = run_block(&mut session, block, &lines, renew, &mut last, &mut changes) {
            wrong.push(format!("line {}: {what}", block.line));
        }
    }
    if !changes.is_empty() {
        rewrite(file, &lines, changes);
    }
    wrong
}

fn run_block(
    session: &mut Session<'_>,
    block: &Block,
    lines: &[&str],
    renew: bool,
    last: &mut Printed,
    changes: &mut Vec<Change>,
) -> Result<(), String> {
    match block.mark {
        Mark::Shown => return Ok(()),
        Mark::Serve => return session.serve(&block.commands[0].script),
        Mark::Engine if session.engine.is_none() => session.serve("dyno engine --port 0")?,
        _ => {}
    }
    if block.mark == Mark::Output && last.text.is_empty() {
        return Err("there is no output before this sample".to_owned());
    }
    let count = block.commands.len();
    let mut printed = String::new();
    for (number, command) in block.commands.iter().enumerate() {
        let status = if number + 1 == count { block.status } else { 0 };
        let output = match block.mark {
            Mark::Output => last.text.clone(),
            _ => session.output(block, command, status)?,
        };
        if let Some(sample) = &command.sample {
            let measured = block.measured || (block.mark == Mark::Output && last.measured);
            changes.extend(compare(sample, lines, &output, measured, renew)?);
        }
        printed.push_str(&output);
    }
    if block.mark != Mark::Output {
        *last = Printed { text: printed, measured: block.measured };
    }
    Ok(())
}

/// `Ok(None)` where the sample has the shape of the output.
fn compare(
    sample: &Range<usize>,
    lines: &[&str],
    output: &str,
    measured: bool,
    renew: bool,
) -> Result<Option<Change>, String> {
    let was = &lines[sample.clone()];
    let same = if measured {
        let (was, is) = (shape::without_luck(&was.join("\n")), shape::without_luck(output));
        shape::matches(&was.lines().collect::<Vec<_>>(), &is.lines().collect::<Vec<_>>())
    } else {
        shape::matches(was, &output.lines().collect::<Vec<_>>())
    };
    let output: Vec<&str> = output.lines().collect();
    if !renew && same {
        return Ok(None);
    }
    let indent: String =
        was.first().map_or("", |line| *line).chars().take_while(|c| *c == ' ').collect();
    let indent = if was.iter().all(|line| line.is_empty() || line.starts_with(&indent)) {
        indent
    } else {
        String::new()
    };
    let fence = lines[sample.start - 1];
    let indent = if fence.starts_with(' ') { indent } else { String::new() };
    let Some(is) = shape::renewed(was, &output) else {
        let everything = output.iter().map(|line| format!("      {line}\n")).collect::<String>();
        return Err(format!(
            "the sample is nowhere in the output; renew it by hand:\n{everything}"
        ));
    };
    if renew {
        let with = is.iter().map(|line| format!("{indent}{line}").trim_end().to_owned()).collect();
        return Ok(Some(Change { lines: sample.clone(), with }));
    }
    let is: Vec<&str> = is.iter().map(String::as_str).collect();
    Err(format!("the sample is out of date:\n{}", shape::difference(was, &is)))
}

fn rewrite(file: &Path, lines: &[&str], changes: Vec<Change>) {
    let mut lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
    for change in changes.into_iter().rev() {
        lines.splice(change.lines, change.with);
    }
    std::fs::write(file, lines.join("\n") + "\n").unwrap();
}

/// Copies what is in a folder.
fn copy(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            std::fs::create_dir(&to).unwrap();
            copy(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), to).unwrap();
        }
    }
}
