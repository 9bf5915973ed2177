//! However the bytes are split into reads, the events and the record are the same.
#![allow(clippy::unwrap_used)]

use dyno_model::SEC;
use dyno_model::budget::Budget;
use dyno_model::outcome::{FailureClass, Outcome};
use dyno_model::record::{Phase, RequestRecord};
use dyno_wire::client::ArrivalTime;
use dyno_wire::dialect::{DIALECTS, Keep};
use dyno_wire::exchange::{Exchange, ExchangeProgress, Rules};
use dyno_wire::framing::sse::SseDecoder;
use dyno_wire::framing::{Framer, Framing, TooLarge};
use dyno_wire::redact::Redactor;
use proptest::prelude::*;

/// Server-sent events exactly as specified, decoded from the whole text at once.
const ARRIVAL: ArrivalTime = ArrivalTime { after: 1_000_000, at: 1_000_000, last_byte_slack: 0 };

fn reference(bytes: &[u8]) -> Vec<(Vec<u8>, Vec<u8>)> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let (mut lines, mut line, mut at) = (Vec::new(), Vec::new(), 0);
    while at < bytes.len() {
        match bytes[at] {
            b'\n' => lines.push(std::mem::take(&mut line)),
            b'\r' => {
                lines.push(std::mem::take(&mut line));
                at += usize::from(bytes.get(at + 1) == Some(&b'\n'));
            }
            byte => line.push(byte),
        }
        at += 1;
    }
    let (mut events, mut kind, mut data) = (Vec::new(), Vec::new(), None::<Vec<u8>>);
    for line in lines {
        if line.is_empty() {
            if let Some(data) = data.take() {
                events.push((std::mem::take(&mut kind), data));
            }
            kind.clear();
            continue;
        }
        let colon = line.iter().position(|b| *b == b':').unwrap_or(line.len());
        let value = line.get(colon + 1..).unwrap_or(b"");
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match &line[..colon] {
            b"data" => match &mut data {
                Some(data) => {
                    data.push(b'\n');
                    data.extend_from_slice(value);
                }
                None => data = Some(value.to_vec()),
            },
            b"event" => kind = value.to_vec(),
            _ => {}
        }
    }
    events
}

fn decode(bytes: &[u8], cuts: &[usize]) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut decoder = SseDecoder::new(1 << 20);
    let mut events = Vec::new();
    for mut part in split(bytes, cuts) {
        while let Some(event) = decoder.next(&mut part).unwrap() {
            events.push((event.kind.to_vec(), event.data.to_vec()));
        }
    }
    events
}

/// Frames up to the first that is too large, and whether there was one.
fn decode_limited(framing: Framing, limit: usize, parts: &[&[u8]]) -> (Vec<Vec<u8>>, bool) {
    let mut framer = Framer::new(framing, limit);
    let mut frames = Vec::new();
    for part in parts {
        let mut input = *part;
        loop {
            match framer.next(&mut input) {
                Ok(Some(frame)) => frames.push(frame.data.to_vec()),
                Ok(None) => break,
                Err(TooLarge(_)) => return (frames, true),
            }
        }
    }
    (frames, false)
}

fn split<'a>(bytes: &'a [u8], cuts: &[usize]) -> Vec<&'a [u8]> {
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
    cuts.extend([0, bytes.len()]);
    cuts.sort_unstable();
    cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect()
}

/// Text made of pieces that are hard to frame.
fn stream_text() -> impl Strategy<Value = Vec<u8>> {
    const PIECES: &[&[u8]] = &[
        b"data: ",
        b"data:",
        b"data",
        b"event: x",
        b": ping",
        b"id: 1",
        b"retry: 5",
        b"\n",
        b"\r\n",
        b"\r",
        b"\n\n",
        b"\r\n\r\n",
        b"{\"a\":1}",
        "汉字🙂".as_bytes(),
        b" ",
        b":",
        b"[DONE]",
        b"\xef\xbb\xbf",
        b"dat",
        b"\xff\x00",
    ];
    let piece = prop::sample::select(PIECES);
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

fn rules() -> Rules {
    Rules {
        dialect: DIALECTS[0],
        stream: true,
        keep: Keep { text: true, content: true },
        redactor: Redactor::default(),
        budget: Budget::foreign(),
    }
}

fn exchange() -> Exchange {
    let mut record = RequestRecord::new(0, 0, 0, Phase::Measured, 0);
    record.requested_output = Some(4);
    Exchange::new(record, true)
}

/// The record of a response that arrived in these parts, after which the connection was closed.
fn read(bytes: &[u8], cuts: &[usize]) -> (RequestRecord, bool) {
    let (rules, mut exchange) = (rules(), exchange());
    let (mut received, mut reusable) = (0, None);
    for part in split(bytes, cuts) {
        let progress = exchange.on_data(&rules, part, ARRIVAL);
        received += exchange.newly_received();
        if let ExchangeProgress::Over { reusable: kept } = progress {
            reusable = Some(kept);
            break;
        }
    }
    if reusable.is_none() {
        exchange.on_close(&rules, None, ARRIVAL);
        received += exchange.newly_received();
    }
    // What is counted as it arrives adds up to what the record has in the end.
    assert_eq!(received, exchange.record.output.map_or(0, |output| output.tokens));
    (exchange.record, reusable.unwrap_or(false))
}

fn answer(body: &str, chunk: usize) -> Vec<u8> {
    let mut bytes = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\
                      Transfer-Encoding: chunked\r\n\r\n"
        .to_vec();
    for part in body.as_bytes().chunks(chunk) {
        bytes.extend_from_slice(format!("{:x}\r\n", part.len()).as_bytes());
        bytes.extend_from_slice(part);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(b"0\r\n\r\n");
    bytes
}

fn chunk(content: &str, finish: Option<&str>, tokens: u32) -> String {
    let value = serde_json::json!({
        "choices": [{"index": 0, "delta": {"content": content}, "finish_reason": finish}],
        "usage": {"prompt_tokens": 9, "completion_tokens": tokens}
    });
    format!("data: {value}\n\n")
}

fn good_body() -> String {
    let words = ["汉", " 字", " 🙂", " end"];
    let chunks = (0..4).map(|i| chunk(words[i], (i == 3).then_some("length"), i as u32 + 1));
    chunks.collect::<String>() + ": ping\r\n\r\ndata: [DONE]\n\n"
}

/// A record without what depends on the number of reads.
fn timeless(mut record: RequestRecord) -> RequestRecord {
    let tokens: Vec<u32> = record.chunks.iter().map(|chunk| chunk.tokens).collect();
    record.chunks = Default::default();
    tokens.iter().for_each(|tokens| record.chunks.push(1_000_000, false, *tokens));
    record
}

#[test]
fn a_good_answer_at_every_single_cut_and_byte_by_byte() {
    for size in [1, 5, 64, 10_000] {
        let bytes = answer(&good_body(), size);
        let (whole, reusable) = read(&bytes, &[]);
        assert_eq!(whole.outcome, Outcome::Completed, "{:?}", whole.detail);
        assert!(reusable && whole.terminal && whole.chunk_tokens_known);
        assert_eq!(whole.text.as_deref(), Some("汉 字 🙂 end"));
        assert_eq!(whole.output.unwrap().tokens, 4);
        assert_eq!(whole.input.unwrap().tokens, 9);
        for cut in 0..bytes.len() {
            assert_eq!(timeless(read(&bytes, &[cut]).0), timeless(whole.clone()), "cut at {cut}");
        }
        let every: Vec<usize> = (0..bytes.len()).collect();
        assert_eq!(timeless(read(&bytes, &every).0), timeless(whole.clone()));
    }
}

#[test]
fn events_of_one_read_are_coalesced_and_of_two_are_not() {
    let bytes = answer(&good_body(), 10_000);
    let marks =
        |record: RequestRecord| record.chunks.iter().map(|c| c.coalesced).collect::<Vec<_>>();
    assert_eq!(marks(read(&bytes, &[]).0), [false, true, true, true]);
    let every: Vec<usize> = (0..bytes.len()).collect();
    assert_eq!(marks(read(&bytes, &every).0), [false; 4]);
}

#[test]
fn an_answer_cut_off_anywhere_never_completes() {
    // Cut in the chunked framing: the connection ended too early.
    let bytes = answer(&good_body(), 64);
    let done = bytes.windows(6).position(|w| w == b"[DONE]").unwrap();
    for end in 0..done {
        let (record, _) = read(&bytes[..end], &[]);
        assert_eq!(record.outcome, Outcome::Failed(FailureClass::StreamReset), "cut at {end}");
    }
    // The body itself is cut but ends cleanly: truncated until the finish reason has arrived.
    let body = good_body();
    let finish = body.find("\"length\"").unwrap();
    for end in (1..body.len()).filter(|end| body.is_char_boundary(*end)) {
        let (record, _) = read(&answer(&body[..end], 64), &[]);
        match record.outcome {
            Outcome::Failed(FailureClass::StreamTruncated) => {}
            Outcome::Completed => assert!(end > finish, "completed when cut at {end}"),
            other => panic!("cut at {end}: {other:?}"),
        }
    }
}

#[test]
fn a_refusal_by_an_overloaded_server_is_shed_wherever_it_is_cut() {
    let body = r#"{"error":{"message":"too many requests in the queue"}}"#;
    let refusal = |status: u16, headers: &str| {
        let length = body.len();
        format!("HTTP/1.1 {status} No\r\n{headers}Content-Length: {length}\r\n\r\n{body}")
    };
    for status in [429, 503, 529] {
        let bytes = refusal(status, "Retry-After: 2\r\n");
        for cut in 1..bytes.len() {
            let (record, reusable) = read(bytes.as_bytes(), &[cut]);
            assert_eq!(record.outcome, Outcome::Shed(FailureClass::Http(status)), "cut at {cut}");
            assert_eq!((record.retry_after, reusable), (Some(2 * SEC), true));
            assert_eq!(record.detail.as_ref().map(ToString::to_string).as_deref(), Some(body));
        }
    }
    let (record, _) = read(refusal(503, "").as_bytes(), &[]);
    assert_eq!(record.retry_after, None);
    // What else is refused has failed, whatever it asks for.
    for status in [400, 500, 502, 504] {
        let (record, _) = read(refusal(status, "Retry-After: 2\r\n").as_bytes(), &[]);
        assert_eq!(record.outcome, Outcome::Failed(FailureClass::Http(status)));
        assert_eq!(record.retry_after, None);
    }
}

#[test]
fn fixed_lengths_are_checked_and_a_finish_chunk_may_bring_the_last_token() {
    let short = chunk("a", None, 1) + &chunk("b", Some("stop"), 2) + "data: [DONE]\n\n";
    let (record, _) = read(&answer(&short, 999), &[]);
    assert_eq!(record.outcome, Outcome::Failed(FailureClass::OutputShort));
    assert!(record.detail.unwrap().to_string().contains("2 output tokens instead of the 4"));
    let words = ["a", "b", "c", ""];
    let last_is_empty: String =
        (0..4).map(|i| chunk(words[i], (i == 3).then_some("length"), i as u32 + 1)).collect();
    let (record, _) = read(&answer(&last_is_empty, 999), &[]);
    assert_eq!(record.outcome, Outcome::Completed);
    assert_eq!((record.chunks.len(), record.finish_tokens), (3, Some(1)));
    assert!(!record.terminal);
}

#[test]
fn a_token_without_text_belongs_to_the_next_output() {
    let body = chunk("a", None, 1)
        + &chunk("", None, 2)
        + &chunk("", None, 3)
        + &chunk("汉", None, 4)
        + &chunk("", Some("length"), 5)
        + "data: [DONE]\n\n";
    let (record, _) = read(&answer(&body, 999), &[]);
    let tokens: Vec<u32> = record.chunks.iter().map(|chunk| chunk.tokens).collect();
    assert_eq!((tokens, record.finish_tokens), (vec![1, 3], Some(1)));
    assert_eq!(record.output.unwrap().tokens, 5);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn the_decoder_agrees_with_the_specification(
        text in stream_text(),
        cuts in prop::collection::vec(0_usize..500, 0..12),
    ) {
        prop_assert_eq!(decode(&text, &cuts), reference(&text));
    }

    #[test]
    fn what_is_too_large_is_so_for_every_split(
        text in stream_text(),
        cuts in prop::collection::vec(0_usize..500, 0..12),
        framing in prop::sample::select(vec![Framing::Sse, Framing::Ndjson, Framing::Nul]),
        limit in 1_usize..40,
    ) {
        let whole = decode_limited(framing, limit, &[&text]);
        prop_assert!(whole.0.iter().all(|data| data.len() <= limit));
        prop_assert_eq!(decode_limited(framing, limit, &split(&text, &cuts)), whole);
    }

    #[test]
    fn the_record_is_the_same_for_every_split(
        body in stream_text(),
        chunk in 1_usize..40,
        cuts in prop::collection::vec(0_usize..2000, 0..12),
    ) {
        let bytes = answer(&String::from_utf8_lossy(&body), chunk);
        prop_assert_eq!(timeless(read(&bytes, &cuts).0), timeless(read(&bytes, &[]).0));
    }

    #[test]
    fn any_bytes_at_all_give_one_outcome_and_no_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..400),
        cuts in prop::collection::vec(0_usize..400, 0..5),
    ) {
        let (record, _) = read(&bytes, &cuts);
        prop_assert!(matches!(record.outcome, Outcome::Failed(_)));
    }
}
