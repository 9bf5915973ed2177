//! Every frame comes back as it was; every cut or flipped byte leaves what came before.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::common;
use dyno_model::frame::Frame;
use dyno_record::{Damage, RecordReader, Recorder, RunDir, encode_file};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

struct Read {
    frames: Vec<Frame>,
    damage: Option<Damage>,
    complete: bool,
}

fn read(bytes: &[u8]) -> Option<Read> {
    let mut reader = RecordReader::from_bytes(bytes).ok()?;
    let frames = reader.by_ref().collect();
    assert!(reader.next().is_none(), "once over, always over");
    Some(Read { frames, damage: reader.damage(), complete: reader.complete() })
}

/// Where each frame ends; the first is the end of the header.
fn boundaries(frames: &[Frame]) -> Vec<usize> {
    (0..=frames.len())
        .map(|n| encode_file(&common::header(), &frames[..n]).unwrap().len())
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn frames_come_back_as_they_were(frames in vec(common::frame(), 0..12)) {
        let bytes = encode_file(&common::header(), &frames).unwrap();
        let got = read(&bytes).unwrap();
        prop_assert_eq!(got.damage, None);
        prop_assert_eq!(got.complete, frames.iter().any(|f| matches!(f, Frame::RunEnd(_))));
        prop_assert_eq!(got.frames, frames);
        let reader = RecordReader::from_bytes(&bytes).unwrap();
        prop_assert_eq!(reader.header(), &common::header());
    }

    #[test]
    fn a_cut_file_gives_every_whole_frame(
        frames in vec(common::frame(), 1..8),
        cut in any::<Index>(),
    ) {
        let bytes = encode_file(&common::header(), &frames).unwrap();
        let ends = boundaries(&frames);
        let cut = cut.index(bytes.len());
        match read(&bytes[..cut]) {
            None => prop_assert!(cut < ends[0]),
            Some(got) => {
                let whole = ends.iter().filter(|end| **end <= cut).count() - 1;
                prop_assert_eq!(&got.frames[..], &frames[..whole]);
                let offset = got.damage.map(|damage| damage.offset);
                let cut_within = (!ends.contains(&cut)).then_some(ends[whole] as u64);
                prop_assert_eq!(offset, cut_within);
            }
        }
    }

    #[test]
    fn a_flipped_byte_never_gives_a_false_frame(
        frames in vec(common::frame(), 1..8),
        at in any::<Index>(),
        flip in 1_u8..,
    ) {
        let mut bytes = encode_file(&common::header(), &frames).unwrap();
        let ends = boundaries(&frames);
        let at = at.index(bytes.len());
        bytes[at] ^= flip;
        match read(&bytes) {
            None => prop_assert!(at < ends[0]),
            Some(got) => {
                let whole = ends.iter().filter(|end| **end <= at).count() - 1;
                prop_assert_eq!(&got.frames[..], &frames[..whole]);
                prop_assert!(got.damage.is_some());
            }
        }
    }

    #[test]
    fn any_bytes_at_all_are_read_without_panic(
        payload in vec(any::<u8>(), 0..200),
        kind in 0_u8..6,
    ) {
        let _ = read(&payload);
        let mut bytes = encode_file(&common::header(), &[]).unwrap();
        let payload = [&[kind], &payload[..]].concat();
        bytes.extend((payload.len() as u32).to_le_bytes());
        bytes.extend(crc32fast::hash(&payload).to_le_bytes());
        bytes.extend(&payload);
        let got = read(&bytes).unwrap();
        prop_assert!(got.frames.len() <= 1);
        let again = encode_file(&common::header(), &got.frames).unwrap();
        prop_assert_eq!(read(&again).unwrap().frames, got.frames);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, ..ProptestConfig::default() })]

    #[test]
    fn the_recorder_writes_the_same_bytes(frames in vec(common::frame(), 0..300)) {
        let root = tempfile::tempdir().unwrap();
        let dir = RunDir::create(root.path().join("run")).unwrap();
        let recorder = Recorder::start(&dir, common::header()).unwrap();
        frames.iter().for_each(|frame| recorder.send(frame.clone()));
        prop_assert_eq!(recorder.finish().frames_written, frames.len() as u64);
        let bytes = std::fs::read(dir.path().join("records.dyno")).unwrap();
        prop_assert!(bytes == encode_file(&common::header(), &frames).unwrap());
        prop_assert_eq!(dir.records().unwrap().collect::<Vec<_>>(), frames);
    }
}

#[test]
fn every_cut_of_one_file_is_read() {
    let frames: Vec<_> = (0..20)
        .map(|i| {
            let mut record = dyno_model::record::RequestRecord::new(
                0,
                i,
                0,
                dyno_model::record::Phase::Measured,
                i * 1_000_000,
            );
            (0..i).for_each(|j| record.chunks.push((i + j) * 1_000_000, false, 1));
            Frame::Request(Box::new(record))
        })
        .collect();
    let bytes = encode_file(&common::header(), &frames).unwrap();
    let ends = boundaries(&frames);
    for cut in ends[0]..bytes.len() {
        let got = read(&bytes[..cut]).unwrap();
        let whole = ends.iter().filter(|end| **end <= cut).count() - 1;
        assert_eq!(got.frames, frames[..whole]);
        assert_eq!(got.damage.is_some(), !ends.contains(&cut));
    }
}

#[test]
fn lengths_that_lie_and_zeros_at_the_end_are_damage() {
    let whole = encode_file(&common::header(), &[]).unwrap();
    let tails: [(&[u8], &str); 4] = [
        (&[0; 4096], "impossible length"),
        (&[0xff; 64], "impossible length"),
        (&[0, 0, 0, 4, 1, 2, 3, 4, 5], "cut off"),
        (&[1, 0, 0], "cut off"),
    ];
    for (tail, what) in tails {
        let got = read(&[&whole[..], tail].concat()).unwrap();
        let damage = got.damage.unwrap();
        assert_eq!(damage.offset, whole.len() as u64);
        assert!(damage.what.to_string().contains(what), "{damage}");
    }
}

#[test]
fn a_file_of_a_later_format_or_of_something_else_is_named_as_such() {
    let header = common::header();
    let json = serde_json::to_string(&header).unwrap().replace("\"format\":1", "\"format\":9");
    let mut bytes = b"dyno.records/1\n".to_vec();
    bytes.extend((json.len() as u32).to_le_bytes());
    bytes.extend(crc32fast::hash(json.as_bytes()).to_le_bytes());
    bytes.extend(json.as_bytes());
    let error = RecordReader::from_bytes(&bytes).unwrap_err().to_string();
    assert!(error.contains("format 9") && error.contains("dyno 0.1.0"), "{error}");
    let error = RecordReader::from_bytes(b"PK\x03\x04 and so on").unwrap_err().to_string();
    assert!(error.contains("does not begin like a record file"), "{error}");
}
