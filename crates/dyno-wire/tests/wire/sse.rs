//! Events out of a stream, however its bytes are split.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use dyno_wire::framing::TooLarge;
use dyno_wire::framing::sse::*;

fn decode(parts: &[&[u8]]) -> Vec<(String, String)> {
    let mut decoder = SseDecoder::new(1 << 20);
    let mut events = Vec::new();
    for part in parts {
        let mut input = *part;
        while let Some(event) = decoder.next(&mut input).unwrap() {
            events.push((
                String::from_utf8_lossy(event.kind).into_owned(),
                String::from_utf8_lossy(event.data).into_owned(),
            ));
        }
        assert!(input.is_empty());
    }
    events
}

fn data(bytes: &[u8]) -> Vec<String> {
    decode(&[bytes]).into_iter().map(|(_, data)| data).collect()
}

#[test]
fn line_ends_spaces_comments_and_other_fields() {
    assert_eq!(data(b"data: a\n\ndata: b\n\n"), ["a", "b"]);
    assert_eq!(data(b"data: a\r\n\r\ndata: b\r\n\r\n"), ["a", "b"]);
    assert_eq!(data(b"data: a\r\rdata: b\r\r"), ["a", "b"]);
    assert_eq!(data(b"data:a\n\ndata:  b\n\n"), ["a", " b"]);
    assert_eq!(data(b": ping\n\ndata: a\n: inside\n\n:\n\n"), ["a"]);
    assert_eq!(data(b"id: 1\nretry: 5\ndata: a\n\n"), ["a"]);
    assert_eq!(data(b"data: a\ndata: b\n\n"), ["a\nb"]);
    assert_eq!(data(b"data\ndata\n\n"), ["\n"]);
    assert_eq!(data(b"database: a\n\n"), Vec::<String>::new());
    assert_eq!(data(b"\xef\xbb\xbfdata: a\n\n"), ["a"]);
    assert_eq!(
        decode(&[b"event: x\ndata: a\n\ndata: b\n\n"]),
        [("x".into(), "a".into()), (String::new(), "b".into())]
    );
    assert_eq!(decode(&[b"event: x\n\ndata: b\n\n"]), [(String::new(), "b".into())]);
}

#[test]
fn what_is_pending_at_the_end_is_told() {
    let mut decoder = SseDecoder::new(100);
    let mut input: &[u8] = b"data: a\n\ndata: [DO";
    assert!(decoder.next(&mut input).unwrap().is_some());
    assert!(decoder.next(&mut input).unwrap().is_none());
    assert_eq!(decoder.pending(), b"[DO");
    let mut input: &[u8] = b"NE]\n";
    assert!(decoder.next(&mut input).unwrap().is_none());
    assert_eq!(decoder.pending(), b"[DONE]");
}

#[test]
fn an_event_over_the_limit_is_refused_in_one_piece_or_many() {
    let big = [b"data: a\n\ndata: ".as_slice(), &[b'x'; 200], b"\n\n"].concat();
    for size in [1, 7, 64, big.len()] {
        let mut decoder = SseDecoder::new(100);
        let mut refused = false;
        for part in big.chunks(size) {
            let mut input = part;
            loop {
                match decoder.next(&mut input) {
                    Ok(Some(_)) => {}
                    Ok(None) => break,
                    Err(TooLarge(100)) => {
                        refused = true;
                        break;
                    }
                    Err(other) => panic!("{other}"),
                }
            }
        }
        assert!(refused, "in parts of {size}");
    }
}
