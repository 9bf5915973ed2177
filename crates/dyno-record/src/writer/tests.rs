//! The writer against a disk that fills up, gets room again, or breaks in other ways.

use super::*;
use crate::reader::RecordReader;
use dyno_model::frame::{Ending, LevelStart, RunEnd, RunHeader};
use dyno_model::record::{Phase, RequestRecord};
use proptest::prelude::*;

/// A disk with room for so many bytes.
#[derive(Clone, Default)]
struct Disk(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    bytes: Vec<u8>,
    room: usize,
    truncate_works: bool,
    sync_works: bool,
    syncs: usize,
    /// At most so many bytes are taken by one write.
    stride: Option<usize>,
}

impl Disk {
    fn new(bytes: Vec<u8>, room: usize) -> Self {
        let state =
            State { bytes, room, truncate_works: true, sync_works: true, ..State::default() };
        Self(Arc::new(Mutex::new(state)))
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.0.lock().unwrap());
    }

    fn bytes(&self) -> Vec<u8> {
        self.0.lock().unwrap().bytes.clone()
    }
}

impl Write for Disk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut state = self.0.lock().unwrap();
        let n = bytes.len().min(state.room - state.bytes.len());
        let n = n.min(state.stride.unwrap_or(n));
        if n == 0 {
            return Err(io::Error::from_raw_os_error(28));
        }
        state.bytes.extend_from_slice(&bytes[..n]);
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Sink for Disk {
    fn truncate(&mut self, length: u64) -> io::Result<()> {
        let mut state = self.0.lock().unwrap();
        if !state.truncate_works {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        state.bytes.truncate(length as usize);
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        let mut state = self.0.lock().unwrap();
        state.syncs += 1;
        if state.sync_works { Ok(()) } else { Err(io::Error::from_raw_os_error(5)) }
    }
}

fn opening() -> Vec<u8> {
    let header = RunHeader {
        format: 1,
        run_id: "r".into(),
        shard: 0,
        shards: 1,
        anchor_unix_ns: 0,
        plan_hash: String::new(),
        version: String::new(),
    };
    crate::file::opening(&header).unwrap()
}

fn request(index: u64, text: usize) -> Frame {
    let mut record = RequestRecord::new(1, index, 0, Phase::Measured, index);
    record.text = Some("x".repeat(text));
    Frame::Request(Box::new(record))
}

fn run_end() -> Frame {
    Frame::RunEnd(RunEnd { ended: 1, ending: Ending::Requests })
}

fn limits() -> WriteLimits {
    WriteLimits { buffer: 400, retry: Duration::ZERO, ..WriteLimits::default() }
}

fn writer(disk: &Disk, limits: WriteLimits) -> Writer<Disk> {
    let length = disk.bytes().len() as u64;
    Writer::new(disk.clone(), "run/records.dyno".into(), length, limits, Arc::default())
}

fn read(bytes: &[u8]) -> (Vec<Frame>, bool) {
    let mut reader = RecordReader::from_bytes(bytes).unwrap();
    let frames = reader.by_ref().collect();
    (frames, reader.damage().is_some())
}

#[test]
fn a_full_disk_keeps_whole_frames_and_hands_back_the_rest() {
    let disk = Disk::new(opening(), opening().len() + 1000);
    let mut writer = writer(&disk, limits());
    let frames: Vec<_> = (0..40).map(|i| request(i, 50)).chain([run_end()]).collect();
    for frame in &frames {
        writer.add(frame.clone());
    }
    let trouble = writer.trouble.message().unwrap().to_string();
    for part in ["run/records.dyno", "No space left", "free some space", "results so far are kept"]
    {
        assert!(trouble.contains(part), "{trouble}");
    }
    let finished = writer.finish();
    let (on_disk, damaged) = read(&disk.bytes());
    assert!(!damaged && !on_disk.is_empty());
    assert_eq!(on_disk.len() as u64, finished.frames_written);
    let all: Vec<_> = on_disk.into_iter().chain(finished.unwritten).collect();
    assert_eq!(all, frames);
    assert!(matches!(finished.error, Some(RecordError::Write { .. })), "{:?}", finished.error);
}

#[test]
fn when_there_is_room_again_nothing_is_missing_and_the_trouble_is_over() {
    for truncate_works in [true, false] {
        let disk = Disk::new(opening(), opening().len() + 1000);
        disk.change(|state| state.truncate_works = truncate_works);
        let mut writer = writer(&disk, limits());
        let frames: Vec<_> = (0..40).map(|i| request(i, 50)).collect();
        for frame in &frames[..30] {
            writer.add(frame.clone());
        }
        assert!(writer.trouble.message().is_some());
        disk.change(|state| state.room = usize::MAX);
        frames[30..].iter().for_each(|frame| writer.add(frame.clone()));
        writer.flush();
        assert_eq!(writer.trouble.message(), None);
        let finished = writer.finish();
        assert_eq!((finished.frames_written, finished.unwritten.len()), (40, 0));
        assert!(finished.error.is_none());
        assert_eq!(read(&disk.bytes()), (frames, false));
    }
}

#[test]
fn after_a_failure_the_disk_is_left_alone_for_a_while_but_asked_again_at_the_end() {
    let disk = Disk::new(opening(), opening().len());
    let patient = WriteLimits { retry: Duration::from_secs(3600), ..limits() };
    let mut writer = writer(&disk, patient);
    (0..20).for_each(|i| writer.add(request(i, 50)));
    disk.change(|state| state.room = usize::MAX);
    (20..40).for_each(|i| writer.add(request(i, 50)));
    writer.flush();
    assert_eq!(disk.bytes(), opening());
    assert_eq!(writer.finish().frames_written, 40);
}

#[test]
fn memory_is_bounded_and_what_is_given_up_is_counted() {
    let disk = Disk::new(opening(), opening().len());
    let mut writer = writer(&disk, WriteLimits { kept: 2000, ..limits() });
    (0..100).for_each(|i| writer.add(request(i, 50)));
    writer.add(run_end());
    assert!(writer.buffer.len() < 2100);
    disk.change(|state| state.room = usize::MAX);
    let finished = writer.finish();
    assert!(finished.lost > 0);
    assert_eq!(finished.frames_written + finished.lost, 101);
    assert!(
        matches!(finished.error, Some(RecordError::Lost { lost, .. }) if lost == finished.lost)
    );
    assert_eq!(read(&disk.bytes()).0.last(), Some(&run_end()));
}

#[test]
fn a_record_beyond_measure_is_kept_without_its_text() {
    let disk = Disk::new(opening(), usize::MAX);
    let mut writer = writer(&disk, WriteLimits { frame: 1000, ..limits() });
    writer.add(request(7, 2000));
    let finished = writer.finish();
    assert!(matches!(finished.error, Some(RecordError::TooLarge { level: 1, index: 7, .. })));
    let Frame::Request(record) = &read(&disk.bytes()).0[0] else { panic!() };
    assert_eq!((record.index, record.text.as_deref()), (7, None));
}

#[test]
fn the_disk_is_waited_for_at_the_end_of_a_level_and_of_the_run() {
    let disk = Disk::new(opening(), usize::MAX);
    let mut writer = writer(&disk, limits());
    writer.add(Frame::LevelStart(LevelStart { level: 0, started: 0 }));
    writer.flush();
    assert_eq!(disk.0.lock().unwrap().syncs, 0);
    writer.add(run_end());
    writer.flush();
    writer.flush();
    assert_eq!(disk.0.lock().unwrap().syncs, 1);
    disk.change(|state| state.sync_works = false);
    let finished = writer.finish();
    assert_eq!(finished.frames_written, 2);
    assert!(matches!(finished.error, Some(RecordError::Write { .. })));
}

proptest! {
    /// Whatever the disk takes at a time, wherever it is full and whether or not it gets room
    /// again: each frame is either in the file or handed back, in order.
    #[test]
    fn every_frame_is_somewhere(
        room in 0_usize..4000,
        stride in 1_usize..300,
        truncate_works: bool,
        more in proptest::option::of((0_u64..40, 0_usize..6000)),
        buffer in 1_usize..1000,
    ) {
        let disk = Disk::new(opening(), opening().len() + room);
        disk.change(|state| {
            state.stride = Some(stride);
            state.truncate_works = truncate_works;
        });
        let mut writer = writer(&disk, WriteLimits { buffer, ..limits() });
        let frames: Vec<_> = (0..40).map(|i| request(i, i as usize * 3)).collect();
        for (i, frame) in frames.iter().enumerate() {
            if let Some((at, room)) = more && at == i as u64 {
                disk.change(|state| state.room += room);
            }
            writer.add(frame.clone());
        }
        let finished = writer.finish();
        let (on_disk, damaged) = read(&disk.bytes());
        prop_assert!(!damaged || !truncate_works);
        prop_assert_eq!(on_disk.len() as u64, finished.frames_written);
        prop_assert_eq!(finished.error.is_some(), !finished.unwritten.is_empty());
        let all: Vec<_> = on_disk.into_iter().chain(finished.unwritten).collect();
        prop_assert_eq!(all, frames);
    }
}
