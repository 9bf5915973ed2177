//! Control requests: one at a time, aborted when they take too long or are no longer needed.

use crate::client::desk::{Desk, whole};
use dyno_drive::StopSignal;
use dyno_model::outcome::{FailureClass, Outcome};
use dyno_model::{MS, SEC};
use dyno_wire::client::Interrupted;
use dyno_wire::redact::Redactor;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread::JoinHandle;
use std::time::Duration;

/// Replies to the next request on a new connection with these bytes, which may be empty; returns the
/// connection.
fn answering(listener: TcpListener, answer: &'static str) -> JoinHandle<TcpStream> {
    std::thread::spawn(move || {
        listener.set_nonblocking(false).unwrap();
        let (mut stream, _) = listener.accept().unwrap();
        // The desk shares it.
        listener.set_nonblocking(true).unwrap();
        let mut request = Vec::new();
        while !request.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            request.push(byte[0]);
        }
        assert!(request.starts_with(b"GET /health HTTP/1.1\r\n"));
        stream.write_all(answer.as_bytes()).unwrap();
        stream
    })
}

const FINE: &str = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nalive";

#[test]
fn a_control_request_gets_its_response() {
    let mut desk = Desk::new();
    let server = answering(desk.listener(), FINE);
    let fetched = desk.client.fetch("/health", 30 * SEC, &StopSignal::new()).unwrap();
    assert_eq!(fetched.ok(), Some(b"alive".as_slice()));
    server.join().unwrap();
}

#[test]
fn a_body_that_is_too_large_is_not_taken() {
    let mut desk = Desk::new();
    let server = answering(desk.listener(), FINE);
    let fetched = desk.client.fetch_up_to("/health", 4, 30 * SEC, &StopSignal::new()).unwrap();
    assert_eq!(fetched.record.outcome, Outcome::Failed(FailureClass::StreamMalformed));
    assert!(fetched.words(&Redactor::default()).to_string().contains("larger than 4 bytes"));
    server.join().unwrap();
}

#[test]
fn a_response_of_something_else_is_explained() {
    for (answer, words) in [
        (
            "HTTP/1.1 308 Permanent Redirect\r\nLocation: https://gpu.example/health\r\n\
             Content-Length: 0\r\n\r\n",
            "HTTP 308: the server redirects to https://gpu.example/health; ",
        ),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 41\r\n\r\n\
             <!doctype html><title>Sign in</title>\n...",
            "HTTP 200: the response is a web page titled `Sign in`; ",
        ),
        (
            "HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 2\r\n\r\n\x0b\x01",
            "HTTP 200: the body is compressed (br) ",
        ),
    ] {
        let mut desk = Desk::new();
        let server = answering(desk.listener(), answer);
        let fetched = desk.client.fetch("/health", 30 * SEC, &StopSignal::new()).unwrap();
        let said = fetched.words(&Redactor::default()).to_string();
        assert!(said.starts_with(words), "{said}");
        server.join().unwrap();
    }
}

#[test]
fn one_without_a_response_times_out_and_its_connection_is_closed() {
    let mut desk = Desk::new();
    let server = answering(desk.listener(), "");
    let fetched = desk.client.fetch("/health", 100 * MS, &StopSignal::new()).unwrap();
    assert_eq!(fetched.record.outcome, Outcome::Failed(FailureClass::TimeoutTotal));
    assert!(fetched.words(&Redactor::default()).to_string().contains("no response within 100ms"));
    // A late response does not belong to a later request.
    let mut late = server.join().unwrap();
    let _ = late.write_all(FINE.as_bytes());
    is_usable(&mut desk);
}

#[test]
fn one_that_is_no_longer_needed_ends_at_once() {
    let mut desk = Desk::new();
    let server = answering(desk.listener(), "");
    let stop = StopSignal::new();
    let ours = stop.clone();
    let raised = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(50));
        ours.raise();
    });
    let stopped = desk.client.fetch("/health", 600 * SEC, &stop);
    assert!(matches!(stopped, Err(Interrupted::Stopped)));
    raised.join().unwrap();
    server.join().unwrap();
    is_usable(&mut desk);
}

/// The client can be used as before.
fn is_usable(desk: &mut Desk) {
    let mut stream = desk.request();
    desk.deliver(&mut stream, whole().as_bytes());
    let record = desk.record();
    assert_eq!(record.outcome, Outcome::Completed, "{:?}", record.detail);
    assert!(!record.reused && !record.resent);
}

/// M6: a list of models of 60 MB took 2.8 GB. L11: a model had a name of 10 MB.
#[test]
fn json_that_needs_too_much_memory_is_not_parsed() {
    let body = format!("{{\"data\":[{}0]}}", "{\"\":0},".repeat(400_000));
    let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    let mut desk = Desk::new();
    let server = answering(desk.listener(), answer.leak());
    let fetched = desk.client.fetch("/health", 30 * SEC, &StopSignal::new()).unwrap();
    assert_eq!(fetched.json(), None);
    let said = fetched.words(&Redactor::default()).to_string();
    let expected =
        "HTTP 200: more than 128 MiB of memory would be needed for the values of the response";
    assert_eq!(said, expected);
    server.join().unwrap();
    let long = serde_json::json!({"data": [{"id": "m".repeat(2000)}, {"id": "m"}]});
    assert_eq!(dyno_wire::dialect::ModelList::OPENAI.names(&long), ["m"]);
}
