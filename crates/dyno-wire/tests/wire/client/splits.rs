//! Responses that arrive in pieces, and events that arrive together.

use crate::client::desk::{Desk, EXACT_US, HEAD, TOLERANCE, WHILE, Written, ending, token, whole};
use dyno_drive::Transport;
use dyno_model::outcome::Outcome;
use dyno_model::record::RequestRecord;

/// Where each of the two tokens is complete.
fn ends_of_tokens() -> [usize; 2] {
    let first = HEAD.len() + token("a").len();
    // An event is complete before the end of its chunk.
    [first, first + token("b").len()].map(|end| end - 2)
}

#[track_caller]
fn is_whole(record: &RequestRecord) {
    assert_eq!(record.outcome, Outcome::Completed, "{:?}", record.detail);
    assert_eq!(record.text.as_deref(), Some("ab"));
    assert_eq!(record.finish_reason.as_deref(), Some("length"));
    assert!(record.terminal && record.streamed && !record.resent);
    let [headers, first, last] = [record.headers, record.first, record.last].map(Option::unwrap);
    let sent = record.sent.unwrap();
    assert!(sent <= headers + TOLERANCE && headers <= first && first <= last);
    assert!(last <= record.end);
}

/// The response in two writes; each token must be found in the one that completed it.
fn in_two(cut: usize, read_between: bool) -> RequestRecord {
    let mut desk = Desk::new();
    let mut stream = desk.request();
    let answer = whole();
    let (one, two) = answer.as_bytes().split_at(cut);
    let writes = if read_between {
        [desk.deliver(&mut stream, one), desk.deliver(&mut stream, two)]
    } else {
        let first = desk.write(&mut stream, one);
        let second = desk.write(&mut stream, two);
        desk.heard_since(first);
        [first, second]
    };
    let record = desk.record();
    is_whole(&record);
    for (chunk, end) in record.chunks.iter().zip(ends_of_tokens()) {
        writes[usize::from(end > cut)].holds(chunk);
    }
    record
}

#[test]
fn a_response_may_be_split_anywhere() {
    for cut in 1..whole().len() {
        let record = in_two(cut, true);
        let coalesced: Vec<bool> = record.chunks.iter().map(|chunk| chunk.coalesced).collect();
        let [first, second] = ends_of_tokens();
        let apart = (first..second).contains(&cut);
        assert_eq!(coalesced, [false, !apart], "cut at {cut}");
    }
}

#[test]
fn two_packets_in_one_read_may_be_split_anywhere() {
    for cut in 1..whole().len() {
        let record = in_two(cut, false);
        assert!(record.chunks.iter().nth(1).unwrap().coalesced, "cut at {cut}");
    }
}

#[test]
fn an_event_that_ends_a_read_is_exact() {
    let mut desk = Desk::new();
    let mut stream = desk.request();
    desk.deliver(&mut stream, HEAD.as_bytes());
    let mut writes = Vec::new();
    for (text, received) in [("a", 1), ("b", 2)] {
        std::thread::sleep(WHILE);
        let written = desk.write(&mut stream, token(text).as_bytes());
        // However late it is read.
        std::thread::sleep(WHILE);
        desk.heard_since(written);
        writes.push(written);
        assert_eq!(desk.client.tokens_received(), Some(received), "while the stream runs");
    }
    desk.deliver(&mut stream, ending().as_bytes());
    let record = desk.record();
    is_whole(&record);
    for (chunk, written) in record.chunks.iter().zip(writes) {
        written.holds(chunk);
        assert!(!chunk.coalesced && chunk.loose_us < EXACT_US, "{chunk:?}");
    }
    let widths = record.widths.unwrap();
    assert!(widths.first < EXACT_US * 1_000, "{widths:?}");
    assert_eq!(desk.client.take_health().unstamped_reads, 0);
}

#[test]
fn events_before_it_are_as_loose_as_the_time_since_the_last_look() {
    let mut desk = Desk::new();
    let mut stream = desk.request();
    desk.deliver(&mut stream, HEAD.as_bytes());
    let looked = desk.now();
    desk.turn();
    let mut writes: Vec<Written> = Vec::new();
    for text in ["a", "b", "c"] {
        std::thread::sleep(WHILE);
        writes.push(desk.write(&mut stream, token(text).as_bytes()));
    }
    desk.heard_since(writes[0]);
    let all_read = desk.now();
    desk.deliver(&mut stream, ending().as_bytes());
    let record = desk.record();
    assert_eq!(record.outcome, Outcome::Completed, "{:?}", record.detail);
    let chunks: Vec<_> = record.chunks.iter().collect();
    let coalesced: Vec<bool> = chunks.iter().map(|chunk| chunk.coalesced).collect();
    assert_eq!(coalesced, [false, true, true]);
    for (chunk, written) in chunks.iter().zip(&writes) {
        written.holds(*chunk);
    }
    assert!(chunks[2].loose_us < EXACT_US, "{chunks:?}");
    for chunk in &chunks[..2] {
        let width = WHILE.as_micros() as u64;
        assert!(chunk.loose_us >= width, "{chunk:?} came with a later one");
        let since_the_look = (chunk.at_us * 1_000).saturating_sub(looked) + TOLERANCE;
        assert!(chunk.loose_us * 1_000 <= since_the_look, "{chunk:?}, looked at {looked}");
    }
    let widths = record.widths.unwrap();
    assert_eq!(widths.first / 1_000, chunks[0].loose_us);
    assert!(record.first.unwrap() <= all_read);
}

#[test]
fn a_head_that_comes_with_the_first_token_says_when_at_the_latest() {
    let mut desk = Desk::new();
    let mut stream = desk.request();
    let head = desk.write(&mut stream, HEAD.as_bytes());
    std::thread::sleep(WHILE);
    let written = desk.write(&mut stream, token("a").as_bytes());
    desk.heard_since(head);
    desk.deliver(&mut stream, (token("b") + &ending()).as_bytes());
    let record = desk.record();
    is_whole(&record);
    let first = record.chunks.iter().next().unwrap();
    written.holds(first);
    assert!(first.loose_us < EXACT_US, "{first:?}");
    assert_eq!(record.headers, record.first);
}

#[test]
fn half_an_event_makes_the_one_before_it_loose() {
    let mut desk = Desk::new();
    let mut stream = desk.request();
    desk.deliver(&mut stream, HEAD.as_bytes());
    let second = token("b");
    let (half, rest) = second.split_at(second.len() / 2);
    let first = desk.write(&mut stream, token("a").as_bytes());
    std::thread::sleep(WHILE);
    desk.write(&mut stream, half.as_bytes());
    desk.heard_since(first);
    let last = desk.deliver(&mut stream, rest.as_bytes());
    desk.deliver(&mut stream, ending().as_bytes());
    let record = desk.record();
    is_whole(&record);
    let chunks: Vec<_> = record.chunks.iter().collect();
    first.holds(chunks[0]);
    assert!(chunks[0].loose_us >= WHILE.as_micros() as u64, "{chunks:?}");
    last.holds(chunks[1]);
    assert!(chunks[1].loose_us < EXACT_US && !chunks[1].coalesced, "{chunks:?}");
}
