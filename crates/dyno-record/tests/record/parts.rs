//! What agents keep in a run directory is a part of its records until the level has an end.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::common;
use dyno_model::frame::{Ending, Frame, LevelEnd, LevelStart, RunHeader};
use dyno_model::record::{Phase, RequestRecord};
use dyno_record::{RecordError, Recorder, RunDir};
use std::path::Path;

const MS: u64 = 1_000_000;

fn header() -> RunHeader {
    RunHeader { shard: 0, shards: 1, ..common::header() }
}

fn start(at: u64) -> Frame {
    Frame::LevelStart(LevelStart { level: 0, started: at })
}

fn request(index: u64, at: u64) -> Frame {
    Frame::Request(Box::new(RequestRecord::new(0, index, 0, Phase::Measured, at)))
}

fn end() -> Frame {
    Frame::LevelEnd(Box::new(LevelEnd::at(0, Ending::Requests, 9 * MS)))
}

fn write(path: &Path, header: RunHeader, frames: &[Frame]) -> RunDir {
    let dir = RunDir::create(path).unwrap();
    let recorder = Recorder::start(&dir, header).unwrap();
    frames.iter().for_each(|frame| recorder.send(frame.clone()));
    assert!(recorder.finish().error.is_none());
    dir
}

/// A part of the second of three agents, whose clock started 2 ms after that of the run.
fn part(run: &RunDir, frames: &[Frame]) -> RunDir {
    let anchor_unix_ns = header().anchor_unix_ns + 2 * MS;
    let header = RunHeader { shard: 1, shards: 3, anchor_unix_ns, ..header() };
    write(&run.path().join(RunDir::part_name(1)), header, frames)
}

/// Starts with their time, and requests with index, time and agent.
fn seen(run: &RunDir) -> Vec<(Option<u64>, u64, Option<u32>)> {
    let one = |frame| match frame {
        Frame::LevelStart(start) => Some((None, start.started / MS, None)),
        Frame::Request(record) => Some((Some(record.index), record.intended / MS, record.agent)),
        _ => None,
    };
    run.all_records().unwrap().filter_map(one).collect()
}

#[test]
fn parts_complete_a_level_without_an_end_and_are_taken_over() {
    let root = tempfile::tempdir().unwrap();
    // The coordinator was killed while it wrote what it had fetched.
    let run =
        write(root.path(), header(), &[start(5 * MS), request(0, 5 * MS), request(1, 6 * MS)]);
    let kept = part(&run, &[start(3 * MS), request(1, 4 * MS), request(4, 5 * MS), end()]);
    let all = [(None, 5, None), (Some(0), 5, None), (Some(1), 6, None), (Some(4), 7, Some(1))];
    assert_eq!(seen(&run), all);
    let recorder = Recorder::resume(&run).unwrap();
    assert!(!kept.path().exists());
    assert!(recorder.finish().error.is_none());
    assert_eq!(seen(&run), all);
}

#[test]
fn parts_of_a_level_with_an_end_or_of_another_run_do_not_count() {
    let root = tempfile::tempdir().unwrap();
    let ended = write(&root.path().join("a"), header(), &[start(5 * MS), end()]);
    part(&ended, &[start(3 * MS), request(4, 5 * MS)]);
    assert_eq!(seen(&ended), [(None, 5, None)]);
    let other = RunHeader { run_id: "other".to_owned(), ..header() };
    let other = write(&root.path().join("b"), other, &[start(5 * MS)]);
    part(&other, &[start(3 * MS), request(4, 5 * MS)]);
    assert_eq!(seen(&other), [(None, 5, None)]);
}

#[test]
fn a_level_whose_start_only_agents_have_written_starts_once() {
    let root = tempfile::tempdir().unwrap();
    let run = write(root.path(), header(), &[]);
    part(&run, &[start(3 * MS), request(4, 5 * MS)]);
    let third = RunHeader { shard: 2, shards: 3, ..header() };
    write(&run.path().join("agent-3"), third, &[start(5 * MS), request(5, 6 * MS)]);
    assert_eq!(seen(&run), [(None, 5, None), (Some(4), 7, Some(1)), (Some(5), 6, Some(2))]);
}

#[test]
fn a_run_is_not_resumed_while_an_agent_is_still_writing() {
    let root = tempfile::tempdir().unwrap();
    let run = write(root.path(), header(), &[start(5 * MS)]);
    let dir = RunDir::create(run.path().join("agent-1")).unwrap();
    let writing = Recorder::start(&dir, header()).unwrap();
    assert!(matches!(Recorder::resume(&run), Err(RecordError::InUse(path)) if path == dir.path()));
    drop(writing);
    assert!(Recorder::resume(&run).unwrap().finish().error.is_none());
}
