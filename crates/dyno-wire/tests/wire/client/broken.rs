//! Connections that break: before the response, in its head, between events, inside one.

use crate::client::desk::{Desk, HEAD, ending, token};
use dyno_drive::Transport;
use dyno_model::outcome::{FailureClass, Outcome};
use dyno_model::record::RequestRecord;
use rustix::net::sockopt;
use std::net::TcpStream;
use std::time::Duration;

#[derive(Debug, Clone, Copy)]
enum End {
    Close,
    Reset,
}

fn end(stream: TcpStream, how: End) {
    if let End::Reset = how {
        sockopt::set_socket_linger(&stream, Some(Duration::ZERO)).unwrap();
    }
    drop(stream);
}

/// The record of a response that stopped after these bytes.
fn broken(bytes: &str, how: End) -> RequestRecord {
    let mut desk = Desk::new();
    let mut stream = desk.request();
    if !bytes.is_empty() {
        desk.deliver(&mut stream, bytes.as_bytes());
    }
    end(stream, how);
    let record = desk.record();
    desk.nobody_else();
    assert_eq!(desk.client.in_flight(), 0);
    assert!(!record.resent && !record.reused, "{record:?}");
    record
}

#[track_caller]
fn is_reset(record: &RequestRecord, place: &str) {
    assert_eq!(record.outcome, Outcome::Failed(FailureClass::StreamReset));
    let detail = record.detail.as_ref().unwrap().texts()[0];
    assert!(detail.ends_with(place), "{detail}");
    // The time of the break has no timestamp, only a range that begins with the last poll.
    let widths = record.widths.unwrap();
    assert!(record.end - widths.end >= record.sent.unwrap() - widths.sent);
}

#[test]
fn a_fresh_connection_that_ends_before_any_byte_is_not_tried_again() {
    for how in [End::Close, End::Reset] {
        let record = broken("", how);
        is_reset(&record, "before any byte of the response");
        assert_eq!((record.headers, record.status), (None, None));
    }
}

#[test]
fn an_end_inside_the_head() {
    for how in [End::Close, End::Reset] {
        let record = broken(&HEAD[..HEAD.len() / 2], how);
        is_reset(&record, "inside the response headers");
        assert_eq!(record.headers, None);
    }
}

#[test]
fn an_end_between_head_and_body() {
    for how in [End::Close, End::Reset] {
        let record = broken(HEAD, how);
        is_reset(&record, "in the middle of the response");
        assert_eq!((record.status, record.first), (Some(200), None));
        assert!(record.headers.is_some() && record.output.is_none());
    }
}

#[test]
fn an_end_inside_an_event_keeps_those_before_it() {
    let [first, second] = [token("a"), token("b")];
    for how in [End::Close, End::Reset] {
        let bytes = [HEAD, &first, &second[..second.len() / 2]].concat();
        let record = broken(&bytes, how);
        is_reset(&record, "in the middle of the response");
        assert_eq!((record.chunks.len(), record.text.as_deref()), (1, Some("a")));
        assert!(!record.terminal && record.first.is_some() && record.first == record.last);
    }
}

#[test]
fn a_body_that_ends_with_the_connection_may_end_so() {
    let plain = HEAD.replace("Transfer-Encoding: chunked", "Connection: close");
    let event = r#"data: {"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}"#;
    let whole = broken(&format!("{plain}{event}\n\n"), End::Close);
    assert_eq!(whole.outcome, Outcome::Completed, "{:?}", whole.detail);
    let cut = broken(&format!("{plain}{event}"), End::Close);
    assert_eq!(cut.outcome, Outcome::Failed(FailureClass::StreamTruncated), "{:?}", cut.detail);
    let reset = broken(&format!("{plain}{event}\n\n"), End::Reset);
    assert_eq!(reset.outcome, Outcome::Failed(FailureClass::StreamReset));
}

#[test]
fn what_breaks_after_the_terminal_event_breaks_nothing() {
    let ending = ending();
    let done = ending.len() - "0\r\n\r\n".len();
    for how in [End::Close, End::Reset] {
        let record = broken(&[HEAD, &token("a"), &ending[..done]].concat(), how);
        assert_eq!(record.outcome, Outcome::Completed, "{:?}", record.detail);
    }
}

#[test]
fn bytes_that_are_not_http_are_reported_as_such() {
    let record = broken("SSH-2.0-OpenSSH_9.6\r\n\r\n", End::Close);
    assert_eq!(record.outcome, Outcome::Failed(FailureClass::StreamMalformed));
}
