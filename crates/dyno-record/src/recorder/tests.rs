//! The recorder with its thread: frames get to the file by themselves, and a disk that is slow
//! makes senders wait.

use super::*;
use crate::reader::RecordReader;
use dyno_model::frame::LevelStart;
use std::io::{self, Write};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Condvar, Mutex};
use std::time::Instant;

/// Takes nothing until its gate is opened.
#[derive(Clone, Default)]
struct Gated(Arc<Gate>);

#[derive(Default)]
struct Gate {
    state: Mutex<(bool, Vec<u8>)>,
    opened: Condvar,
}

impl Gated {
    fn open(&self) {
        self.0.state.lock().unwrap().0 = true;
        self.0.opened.notify_all();
    }
}

impl Write for Gated {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let state = self.0.state.lock().unwrap();
        let mut state = self.0.opened.wait_while(state, |(open, _)| !*open).unwrap();
        state.1.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Sink for Gated {
    fn truncate(&mut self, _: u64) -> io::Result<()> {
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn header() -> RunHeader {
    RunHeader {
        format: 0,
        run_id: "r".into(),
        shard: 0,
        shards: 1,
        anchor_unix_ns: 0,
        plan_hash: String::new(),
        version: String::new(),
    }
}

fn frame(level: u32) -> Frame {
    Frame::LevelStart(LevelStart { level, started: 0 })
}

#[test]
fn a_stuck_disk_makes_the_sender_wait_and_loses_nothing() {
    let sink = Gated::default();
    let queue = QueueLimits { frames: 10, bytes: 1 << 20 };
    let recorder =
        Recorder::with(sink.clone(), "r".into(), 0, WriteLimits::default(), queue).unwrap();
    let sent = AtomicU32::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            for level in 0..1000 {
                recorder.send(frame(level));
                sent.fetch_add(1, Ordering::SeqCst);
            }
        });
        let given_up = Instant::now() + Duration::from_secs(20);
        while recorder.queue.blocked() == 0 && Instant::now() < given_up {
            thread::yield_now();
        }
        let sent_by_then = sent.load(Ordering::SeqCst);
        sink.open();
        // Either the writer has not come yet, or it sits on one batch.
        assert!(sent_by_then <= 20, "{sent_by_then}");
    });
    let finished = recorder.finish();
    assert_eq!(finished.frames_written, 1000);
    let bytes = sink.0.state.lock().unwrap().1.clone();
    let file = [opening(&header()).unwrap(), bytes].concat();
    let frames: Vec<_> = RecordReader::from_bytes(&file).unwrap().collect();
    assert_eq!(frames, (0..1000).map(frame).collect::<Vec<_>>());
}

#[test]
fn a_single_frame_gets_to_the_file_without_another_coming() {
    let root = tempfile::tempdir().unwrap();
    let dir = RunDir::create(root.path().join("run")).unwrap();
    let recorder = Recorder::start(&dir, header()).unwrap();
    recorder.send(frame(3));
    let given_up = Instant::now() + Duration::from_secs(20);
    while dir.records().unwrap().next() != Some(frame(3)) {
        assert!(Instant::now() < given_up, "the frame was never flushed");
        thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(recorder.trouble(), None);
    let finished = recorder.finish();
    assert_eq!((finished.frames_written, finished.lost), (1, 0));
    assert!(finished.error.is_none() && finished.unwritten.is_empty());
}

#[test]
fn a_dropped_recorder_still_writes() {
    let root = tempfile::tempdir().unwrap();
    let dir = RunDir::create(root.path()).unwrap();
    let recorder = Recorder::start(&dir, header()).unwrap();
    (0..100).for_each(|level| recorder.send(frame(level)));
    drop(recorder);
    assert_eq!(dir.records().unwrap().count(), 100);
    assert!(Recorder::start(&dir, header()).is_err(), "a run is never written over");
}

#[test]
fn records_begin_only_once_they_are_described() {
    let root = tempfile::tempdir().unwrap();
    let dir = RunDir::create(root.path()).unwrap();
    let records = root.path().join(RECORDS);
    let length = || std::fs::metadata(&records).unwrap().len();
    let describe = || {
        assert_eq!(length(), 0, "a run that is killed here has records without a plan");
        assert!(Recorder::start(&dir, header()).is_err(), "another run took the directory");
        std::fs::write(root.path().join("plan.json"), "{}").unwrap();
        Ok(())
    };
    assert!(Recorder::start_described(&dir, header(), describe).unwrap().finish().error.is_none());
    assert!(length() > 0);
}

#[test]
fn what_was_sent_since_some_place_is_read_back_while_the_recording_goes_on() {
    let root = tempfile::tempdir().unwrap();
    let dir = RunDir::create(root.path()).unwrap();
    let recorder = Recorder::start(&dir, header()).unwrap();
    (0..100).for_each(|level| recorder.send(frame(level)));
    let place = recorder.written().unwrap();
    assert!(place.rest.is_empty());
    let send = recorder.sender();
    thread::spawn(move || (100..200).for_each(|level| send(frame(level)))).join().unwrap();
    assert!(recorder.written().unwrap().length > place.length);
    let since: Vec<_> = dir.records_from(place.length).unwrap().collect();
    assert_eq!(since, (100..200).map(frame).collect::<Vec<_>>());
    assert_eq!(recorder.finish().frames_written, 200);
}

/// Takes nothing.
struct Full;

impl Write for Full {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::StorageFull.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Sink for Full {
    fn truncate(&mut self, _: u64) -> io::Result<()> {
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn what_a_full_disk_does_not_take_is_told_and_a_closed_queue_answers_no_one() {
    let limits = (WriteLimits::default(), QueueLimits::default());
    let recorder = Recorder::with(Full, "r".into(), 7, limits.0, limits.1).unwrap();
    (0..3).for_each(|level| recorder.send(frame(level)));
    let written = recorder.written().unwrap();
    assert_eq!(written, WrittenFile { length: 7, rest: (0..3).map(frame).collect() });
    recorder.queue.close();
    assert_eq!(recorder.written(), None);
}
