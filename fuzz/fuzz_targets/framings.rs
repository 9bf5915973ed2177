//! Any bytes as server-sent events, JSON lines and NUL-terminated documents, with a small limit or a
//! large one: cut anywhere, and byte by byte, the frames, what is left over and the refusal are those of one
//! piece. Input: the framing, the limit, where to cut (two bytes), and the body.
#![no_main]

use dyno_wire::framing::{Framer, Framing, TooLarge};
use libfuzzer_sys::fuzz_target;

const FRAMINGS: [Framing; 3] = [Framing::Sse, Framing::Ndjson, Framing::Nul];
const NO_LIMIT: usize = 1 << 20;

/// Frames with their names, and what is left over: a frame that has begun, and text outside of frames.
type Decoded = (Vec<(Vec<u8>, Vec<u8>)>, Result<(Vec<u8>, Vec<u8>), TooLarge>);

fn decode<'a>(framing: Framing, limit: usize, parts: impl Iterator<Item = &'a [u8]>) -> Decoded {
    let mut framer = Framer::new(framing, limit);
    let mut frames = Vec::new();
    for mut part in parts {
        loop {
            match framer.next(&mut part) {
                Ok(Some(frame)) => {
                    assert!(frame.kind.len() <= limit && frame.data.len() <= limit);
                    frames.push((frame.kind.to_vec(), frame.data.to_vec()));
                }
                Ok(None) => break,
                Err(large) => return (frames, Err(large)),
            }
        }
    }
    (frames, Ok((framer.pending(), framer.stray())))
}

fuzz_target!(|input: &[u8]| {
    let [framing, limit, left, right, body @ ..] = input else { return };
    let framing = FRAMINGS[usize::from(*framing) % FRAMINGS.len()];
    let limit = if *limit == 0 { NO_LIMIT } else { usize::from(*limit) };
    let cut = usize::from(u16::from_le_bytes([*left, *right])) % (body.len() + 1);
    let whole = decode(framing, limit, [body].into_iter());
    assert_eq!(decode(framing, limit, [&body[..cut], &body[cut..]].into_iter()), whole);
    assert_eq!(decode(framing, limit, body.chunks(1)), whole);
});
