//! Servers that respond before they have read the request, and close the connection: the response is
//! the reason, not the broken pipe.

use crate::client::desk::Desk;
use crate::client::tls;
use dyno_drive::Transport;
use dyno_model::outcome::{FailureClass, Outcome};
use dyno_model::record::RequestRecord;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

/// Far more than the buffers of both sockets hold.
const LARGE: usize = 10 << 20;

fn large_request() -> Vec<u8> {
    let mut request = format!("POST / HTTP/1.1\r\nContent-Length: {LARGE}\r\n\r\n").into_bytes();
    request.resize(request.len() + LARGE, b'x');
    request
}

fn refusal(status: &str, message: &str) -> String {
    let length = message.len();
    format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{message}")
}

/// The record of a large request to a server that does `serve` on a thread, and then closes.
fn sent_to(desk: &mut Desk, serve: impl FnOnce(TcpStream) + Send + 'static) -> RequestRecord {
    desk.dispatch_bytes(large_request());
    let stream = desk.accept();
    stream.set_nonblocking(false).unwrap();
    let server = thread::spawn(move || serve(stream));
    let record = desk.record();
    server.join().unwrap();
    desk.nobody_else();
    assert_eq!(desk.client.in_flight(), 0);
    assert!(record.sent.is_none() && !record.resent, "{record:?}");
    record
}

/// Reads a little, writes and closes with most of the request unread, which resets the connection.
fn respond_early(bytes: String) -> impl FnOnce(TcpStream) + Send {
    move |mut stream| {
        stream.read_exact(&mut [0; 512]).unwrap();
        stream.write_all(bytes.as_bytes()).unwrap();
    }
}

#[test]
fn an_early_refusal_is_the_reason_whatever_its_status() {
    for (status, number) in [
        ("413 Content Too Large", 413),
        ("400 Bad Request", 400),
        ("401 Unauthorized", 401),
        ("429 Too Many Requests", 429),
        ("503 Service Unavailable", 503),
    ] {
        let serve = respond_early(refusal(status, "the limit is 4 MiB"));
        let record = sent_to(&mut Desk::new(), serve);
        let class = FailureClass::Http(number);
        let shed = matches!(number, 429 | 503);
        let outcome = if shed { Outcome::Shed(class) } else { Outcome::Failed(class) };
        assert_eq!(record.outcome, outcome, "{record:?}");
        assert_eq!(
            record.detail.as_ref().map(ToString::to_string).as_deref(),
            Some("the limit is 4 MiB")
        );
        assert_eq!(record.status, Some(number));
    }
}

#[test]
fn a_refusal_in_parts_and_one_that_ends_with_the_connection() {
    let serve = |mut stream: TcpStream| {
        stream.read_exact(&mut [0; 512]).unwrap();
        for part in ["HTTP/1.1 413 Too ", "Large\r\n\r\n", "at most ", "4 MiB"] {
            stream.write_all(part.as_bytes()).unwrap();
            thread::sleep(Duration::from_millis(2));
        }
    };
    let record = sent_to(&mut Desk::new(), serve);
    assert_eq!(record.outcome, Outcome::Failed(FailureClass::Http(413)), "{record:?}");
    assert_eq!(record.detail.as_ref().map(ToString::to_string).as_deref(), Some("at most 4 MiB"));
}

#[test]
fn of_a_refusal_that_is_cut_the_status_counts() {
    let whole = refusal("413 Content Too Large", "the limit is 4 MiB");
    let record = sent_to(&mut Desk::new(), respond_early(whole[..whole.len() - 6].to_owned()));
    assert_eq!(record.outcome, Outcome::Failed(FailureClass::Http(413)), "{record:?}");
    assert_eq!(record.detail.as_ref().map(ToString::to_string).as_deref(), Some("the limit is"));
}

#[test]
fn a_refusal_at_the_door_is_read_although_sending_fails_at_once() {
    let mut desk = Desk::new();
    desk.dispatch_bytes(large_request());
    // The client has not polled yet: its first write meets a connection that is closed already.
    let (mut stream, _) = desk.until("a connection", |desk| desk.listener().accept().ok());
    stream.write_all(refusal("503 Service Unavailable", "too many clients").as_bytes()).unwrap();
    drop(stream);
    let record = desk.record();
    assert_eq!(record.outcome, Outcome::Shed(FailureClass::Http(503)), "{record:?}");
    assert_eq!(
        record.detail.as_ref().map(ToString::to_string).as_deref(),
        Some("too many clients")
    );
}

#[test]
fn a_refusal_that_takes_several_reads_is_read_although_sending_fails_meanwhile() {
    let page = "<p>no</p>".repeat(20_000);
    let record = sent_to(&mut Desk::new(), respond_early(refusal("413 Content Too Large", &page)));
    assert_eq!(record.outcome, Outcome::Failed(FailureClass::Http(413)), "{record:?}");
    assert!(record.detail.unwrap().to_string().starts_with("<p>no</p>"));
}

#[test]
fn a_close_without_a_response_says_that_the_request_was_not_sent() {
    let serve = |mut stream: TcpStream| stream.read_exact(&mut [0; 512]).unwrap();
    let record = sent_to(&mut Desk::new(), serve);
    assert_eq!(record.outcome, Outcome::Failed(FailureClass::StreamReset));
    let detail = record.detail.unwrap().to_string();
    assert!(detail.contains("before the request was sent whole"), "{detail}");
    assert!(detail.contains("it was lost with the connection"), "{detail}");
    assert_eq!(record.status, None);
}

#[test]
fn a_close_in_the_head_or_the_body_is_not_a_refusal() {
    for (bytes, place) in [
        ("HTTP/1.1 413 Too", "inside the response headers"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab", "in the middle of the response"),
    ] {
        let record = sent_to(&mut Desk::new(), respond_early(bytes.to_owned()));
        assert_eq!(record.outcome, Outcome::Failed(FailureClass::StreamReset));
        let detail = record.detail.unwrap().to_string();
        assert!(detail.contains("before the request was sent whole"), "{detail}");
        assert!(detail.ends_with(place), "{detail}");
    }
}

#[test]
fn the_same_over_tls() {
    for message in ["the limit is 4 MiB", ""] {
        let bytes = refusal("413 Content Too Large", message);
        let record = sent_to(&mut tls::desk(), move |stream| {
            let mut server = tls::Secure::new(stream);
            server.read_some();
            let record = server.record(&bytes);
            server.stream.write_all(&record).unwrap();
        });
        assert_eq!(record.outcome, Outcome::Failed(FailureClass::Http(413)), "{record:?}");
        assert_eq!(record.detail.as_ref().map(ToString::to_string).as_deref(), Some(message));
    }
}

#[test]
fn the_next_request_has_a_connection_of_its_own() {
    let mut desk = Desk::new();
    let record = sent_to(&mut desk, respond_early(refusal("413 Content Too Large", "no")));
    assert!(!record.reused);
    let stream = desk.request();
    drop(stream);
    assert!(!desk.record().reused);
}
