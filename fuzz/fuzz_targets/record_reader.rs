//! Any bytes may stand in a record file: the reader stops where they make no sense, and what it
//! does read can be written and read again.
#![no_main]

use dyno_model::frame::{Frame, RunHeader};
use dyno_record::{RecordReader, encode_file};
use libfuzzer_sys::fuzz_target;

fn read(bytes: &[u8]) -> Vec<Frame> {
    let Ok(mut reader) = RecordReader::from_bytes(bytes) else { return Vec::new() };
    let frames = reader.by_ref().collect();
    if let Some(damage) = reader.damage() {
        assert!(damage.offset <= bytes.len() as u64);
    }
    frames
}

fn header() -> RunHeader {
    RunHeader {
        format: 1,
        run_id: String::new(),
        shard: 0,
        shards: 1,
        anchor_unix_ns: 0,
        plan_hash: String::new(),
        version: String::new(),
    }
}

/// A file with one frame whose checksum is right, or no mutation would ever get past it.
fn file_with(payload: &[u8]) -> Vec<u8> {
    let mut file = encode_file(&header(), &[]).expect("the header is plain JSON");
    file.extend((payload.len() as u32).to_le_bytes());
    file.extend(crc32fast::hash(payload).to_le_bytes());
    file.extend(payload);
    file
}

fuzz_target!(|data: &[u8]| {
    for frames in [read(data), read(&file_with(data))] {
        for chunk in frames.iter().filter_map(|frame| match frame {
            Frame::Request(record) => Some(record.chunks.iter().count() == record.chunks.len()),
            _ => None,
        }) {
            assert!(chunk);
        }
        let again = encode_file(&header(), &frames).expect("the header is plain JSON");
        assert_eq!(read(&again), frames);
    }
});
