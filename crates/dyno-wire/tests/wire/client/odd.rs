//! Responses that are none of the API: the class of the failure, and what is said of it.

use crate::client::desk::{Desk, HEAD, event, token};
use dyno_model::outcome::{FailureClass, Outcome};
use dyno_model::record::RequestRecord;

/// The record of a request with this response.
fn of(head: &str, body: &[u8]) -> RequestRecord {
    let mut desk = Desk::new();
    let mut stream = desk.request();
    let length = body.len();
    let head = format!("HTTP/1.1 {head}\r\nContent-Length: {length}\r\n\r\n");
    desk.write(&mut stream, &[head.as_bytes(), body].concat());
    desk.record()
}

#[track_caller]
fn is(record: &RequestRecord, class: FailureClass, words: &str) {
    assert_eq!(record.outcome, Outcome::Failed(class), "{:?}", record.detail);
    let detail = record.detail.as_ref().unwrap().texts()[0];
    assert!(detail.starts_with(words), "{detail}");
}

const MALFORMED: FailureClass = FailureClass::StreamMalformed;

#[test]
fn a_compressed_body_is_named_whatever_its_encoding_and_type() {
    for encoding in ["gzip", "deflate", "br", "zstd"] {
        for kind in ["text/event-stream", "application/json"] {
            let head = format!("200 OK\r\nContent-Type: {kind}\r\nContent-Encoding: {encoding}");
            let record = of(&head, b"\x1f\x8b\x08\0\0\0\0\0\0\xff\x03");
            is(&record, MALFORMED, &format!("the body is compressed ({encoding}) although "));
        }
    }
}

#[test]
fn a_compressed_stream_is_refused_at_its_head() {
    let mut desk = Desk::new();
    let mut stream = desk.request();
    let head = HEAD.replace("Content-Type", "Content-Encoding: gzip\r\nContent-Type");
    desk.write(&mut stream, head.as_bytes());
    is(&desk.record(), MALFORMED, "the body is compressed (gzip) ");
    // The rest of it belongs to nobody.
    desk.dispatch();
    desk.accept();
}

#[test]
fn compression_without_its_header_is_known_by_the_first_bytes() {
    for kind in ["text/event-stream", "application/json", "text/plain"] {
        let record =
            of(&format!("200 OK\r\nContent-Type: {kind}"), b"\x1f\x8b\x08\0\0\0\0\0\0\xff\n\x03");
        is(&record, MALFORMED, "the body is compressed (gzip) ");
    }
}

#[test]
fn a_compressed_refusal_keeps_its_status() {
    let record = of("502 Bad Gateway\r\nContent-Encoding: br", b"\x0b\x02\x80no\x03");
    is(&record, FailureClass::Http(502), "the body is compressed (br) ");
}

#[test]
fn identity_is_no_compression() {
    let body = [event("x"), String::new()].concat();
    let record = of("200 OK\r\nContent-Encoding: identity", body.as_bytes());
    let detail = record.detail.unwrap().to_string();
    assert!(!detail.contains("compressed"), "{detail}");
}

#[test]
fn a_web_page_with_200_is_named_with_its_title() {
    let page = b"<!DOCTYPE html>\n<html>\n<head><title>Grafana \xe2\x80\x93 Login</title></head>\n\n<body>";
    for kind in ["text/html; charset=utf-8", "text/event-stream", "application/json", ""] {
        let record = of(&format!("200 OK\r\nContent-Type: {kind}"), page);
        is(&record, MALFORMED, "the response is a web page titled `Grafana – Login`; this is ");
    }
}

#[test]
fn a_web_page_of_another_status_keeps_status_and_words() {
    let record = of("502 Bad Gateway\r\nContent-Type: text/html", b"<html>upstream died</html>");
    is(&record, FailureClass::Http(502), "<html>upstream died</html>");
}

#[test]
fn a_redirect_says_where_to() {
    for status in [301, 302, 307, 308] {
        let head = format!("{status} Moved\r\nLocation: https://gpu.example/v1/x?token=hush");
        let record = of(&head, b"<a href='https://gpu.example'>moved</a>");
        let words = "the server redirects to https://gpu.example/v1/x?…; Dyno does not follow ";
        is(&record, FailureClass::Http(status), words);
        assert_eq!(record.status, Some(status));
    }
    let record = of("302 Found", b"");
    is(&record, FailureClass::Http(302), "the server redirects, but does not say where");
}

/// A chunk of a body.
fn chunk(text: &str) -> String {
    format!("{:x}\r\n{text}\r\n", text.len())
}

fn streamed(parts: &[&str]) -> RequestRecord {
    let mut desk = Desk::new();
    let mut stream = desk.request();
    for part in [&[HEAD], parts, &["0\r\n\r\n"]].concat() {
        desk.deliver(&mut stream, part.as_bytes());
    }
    desk.record()
}

const SAID: &str = "the server wrote into the stream: engine stalled: no token for 600 s";

#[test]
fn plain_text_in_a_stream_is_the_servers_error() {
    let text = "engine stalled: no token for 600 s";
    for end in ["", "\n", "\r\n", "\n\n"] {
        let record = streamed(&[&token("a"), &chunk(&format!("{text}{end}"))]);
        is(&record, FailureClass::StreamError, SAID);
        assert_eq!(record.chunks.len(), 1, "what came before it is kept");
    }
    // Before any event, and split in the middle of a word.
    let record = streamed(&[&chunk("engine stal"), &chunk("led: no token for 600 s")]);
    is(&record, FailureClass::StreamError, SAID);
    // Inside an event that never ends.
    let record = streamed(&[&chunk(&format!("data: {{\"a\":\n{text}\n"))]);
    is(&record, FailureClass::StreamError, SAID);
}

#[test]
fn text_in_a_stream_that_is_complete_is_ignored() {
    let done = crate::client::desk::ending().replace("0\r\n\r\n", "");
    let record = streamed(&[&token("a"), &chunk("warning: hot\n"), &done]);
    assert_eq!(record.outcome, Outcome::Completed, "{:?}", record.detail);
}

#[test]
fn comments_and_unknown_ids_are_no_text() {
    let record = streamed(&[&token("a"), &chunk(": ping\n\nid: 7\nretry: 5\nevent: x\n\n")]);
    is(&record, FailureClass::StreamTruncated, "the body ended in the middle of the response");
}

#[test]
fn an_error_as_json_outside_of_events_is_the_servers_error() {
    let error = r#"{"error":{"message":"no memory left"}}"#;
    for record in [streamed(&[&token("a"), &chunk(error)]), streamed(&[&chunk(error)])] {
        is(&record, FailureClass::StreamError, "");
        let detail = record.detail.unwrap().to_string();
        assert!(detail.contains("no memory left") && !detail.contains("wrote"), "{detail}");
    }
}

#[test]
fn a_stream_in_another_framing_is_malformed_and_keeps_its_beginning() {
    let line = "{\"model\":\"tiny\",\"message\":{\"content\":\"a\"},\"done\":false}\n";
    let record = streamed(&[&chunk(&line.repeat(100))]);
    is(&record, MALFORMED, &format!("the body is not a stream of events: {}", line.trim_end()));
    let length = record.detail.unwrap().to_string().len();
    assert!((2048..2200).contains(&length), "{length}");
}

#[test]
fn text_that_is_no_stream_is_malformed_and_keeps_its_beginning() {
    let long = "no healthy upstream ".repeat(200);
    let record = of("200 OK\r\nContent-Type: text/plain", long.as_bytes());
    is(&record, MALFORMED, "the body is not a stream of events: no healthy upstream");
    let record = of("200 OK\r\nContent-Type: application/json", long.as_bytes());
    is(&record, MALFORMED, "not a JSON response of this API");
    assert!(record.detail.unwrap().to_string().len() > 2048);
}
