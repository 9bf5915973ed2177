//! Real processes: one that is killed while it writes, and one that may not write any more.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::common;
use dyno_model::frame::Frame;
use dyno_model::plan::{Plan, Target};
use dyno_model::record::{Phase, RequestRecord};
use dyno_model::run_entry::RunState;
use dyno_record::{Recorder, RunDir, delete_run, list_runs};
use dyno_testing::process::{KillOnDrop, only, this_binary};
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Set in a process that is this test binary run again; its value is the run directory.
const CHILD: &str = "DYNO_RECORD_CHILD_DIR";

fn child_dir() -> Option<PathBuf> {
    std::env::var_os(CHILD).map(PathBuf::from)
}

fn request(index: u64, text: &str) -> Frame {
    let mut record = RequestRecord::new(0, index, 0, Phase::Measured, index);
    record.text = Some(text.into());
    Frame::Request(Box::new(record))
}

fn indices(dir: &RunDir) -> Vec<u64> {
    let frames = dir.records().unwrap();
    frames
        .map(|frame| match frame {
            Frame::Request(record) => record.index,
            other => panic!("{other:?}"),
        })
        .collect()
}

/// In the child: sends a record each millisecond and says when, until it is killed.
#[test]
fn child_writes_until_killed() {
    let Some(path) = child_dir() else { return };
    let dir = RunDir::create(path).unwrap();
    let recorder = Recorder::start(&dir, common::header()).unwrap();
    let start = Instant::now();
    for index in 0.. {
        recorder.send(request(index, ""));
        let mut out = std::io::stdout().lock();
        writeln!(out, "sent {index} {}", start.elapsed().as_millis()).unwrap();
        drop(out);
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn kill_9_loses_at_most_the_last_moment() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("run");
    let mut child = this_binary();
    child.args(only("process::child_writes_until_killed")).env(CHILD, &path).stdout(Stdio::piped());
    let mut child = KillOnDrop(child.spawn().unwrap());
    let lines = BufReader::new(child.0.stdout.take().unwrap()).lines();
    let mut sent: Vec<(u64, u64)> = Vec::new();
    for line in lines {
        let line = line.unwrap();
        let Some((_, line)) = line.split_once("sent ") else {
            continue;
        };
        let (index, ms) = line.split_once(' ').unwrap();
        sent.push((index.parse().unwrap(), ms.parse().unwrap()));
        if sent.last().unwrap().1 > 1000 {
            break;
        }
    }
    drop(child);
    let dir = RunDir::open(&path).unwrap();
    let read = indices(&dir);
    assert!(!dir.records().unwrap().complete());
    assert!(read.iter().copied().eq(0..read.len() as u64), "a prefix of what was sent");
    // 100 ms are promised; the rest is for a machine that is busy with other things.
    let killed = sent.last().unwrap().1;
    let safe = sent.iter().filter(|(_, at)| at + 400 < killed).count();
    assert!(safe > 0 && read.len() >= safe, "{} of {safe} kept", read.len());
}

#[test]
fn a_killed_run_is_not_listed_as_running() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("run");
    let mut child = this_binary();
    child.args(only("process::child_writes_until_killed")).env(CHILD, &path).stdout(Stdio::piped());
    let mut child = KillOnDrop(child.spawn().unwrap());
    let mut lines = BufReader::new(child.0.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("sent ")));
    let dir = RunDir::open(&path).unwrap();
    dir.write_plan(&Plan::new(Target::at("http://127.0.0.1:8000"))).unwrap();
    let state = || list_runs(root.path()).unwrap()[0].state;
    assert_eq!(state(), RunState::Running);
    child.0.kill().unwrap();
    child.0.wait().unwrap();
    assert_eq!(state(), RunState::Unfinished, "at once");
    delete_run(root.path(), &path).unwrap();
}

const FRAMES: u64 = 500;

/// In the child, which may not write more than a few KiB to a file: goes on regardless, and
/// accounts for every record.
#[test]
fn child_writes_beyond_its_limit() {
    let Some(path) = child_dir() else { return };
    let dir = RunDir::create(path).unwrap();
    let recorder = Recorder::start(&dir, common::header()).unwrap();
    (0..FRAMES).for_each(|index| recorder.send(request(index, &"x".repeat(100))));
    let given_up = Instant::now() + Duration::from_secs(30);
    let trouble = loop {
        match recorder.trouble() {
            Some(trouble) => break trouble.to_string(),
            None => assert!(Instant::now() < given_up, "the limit was not noticed"),
        }
        std::thread::sleep(Duration::from_millis(1));
    };
    let finished = recorder.finish();
    let error = finished.error.unwrap().to_string();
    assert_eq!(error, trouble);
    for part in ["records.dyno", "File too large", "ulimit -f"] {
        assert!(error.contains(part), "{error}");
    }
    let on_disk = indices(&dir);
    assert_eq!(on_disk.len() as u64, finished.frames_written);
    let unwritten = finished.unwritten.iter().map(|frame| match frame {
        Frame::Request(record) => record.index,
        other => panic!("{other:?}"),
    });
    assert!(on_disk.into_iter().chain(unwritten).eq(0..FRAMES));
    println!("every record accounted for");
}

#[test]
fn a_file_that_may_not_grow_keeps_whole_records_and_the_rest_is_handed_back() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("run");
    let output = Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 8; exec \"$0\" \"$@\""])
        .arg(std::env::current_exe().unwrap())
        .args(only("process::child_writes_beyond_its_limit"))
        .env(CHILD, &path)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("every record accounted for"), "{output:?}");
    let mut records = RunDir::open(&path).unwrap().records().unwrap();
    assert!(records.by_ref().count() > 0);
    assert_eq!(records.damage(), None);
}
