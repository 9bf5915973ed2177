//! Connections that are reused, that are not, and that turn out to be closed.

use crate::client::desk::{Desk, HEAD, WHILE, whole};
use dyno_drive::Transport;
use dyno_model::outcome::{FailureClass, Outcome};
use std::io::{ErrorKind, Read};
use std::net::TcpStream;

/// A connection that has carried one request and is idle.
fn idle(desk: &mut Desk) -> TcpStream {
    let mut stream = desk.request();
    desk.deliver(&mut stream, whole().as_bytes());
    let record = desk.record();
    assert_eq!(record.outcome, Outcome::Completed, "{:?}", record.detail);
    assert!(!record.reused);
    stream
}

/// The client has closed its end.
#[track_caller]
fn is_closed(desk: &mut Desk, mut stream: TcpStream) {
    desk.until("a hang-up", |_| match stream.read(&mut [0; 64]) {
        Ok(0) => Some(()),
        Ok(_) => panic!("the client has sent something"),
        Err(error) if error.kind() == ErrorKind::WouldBlock => None,
        Err(_) => Some(()),
    });
}

#[test]
fn a_connection_carries_one_request_after_another() {
    let mut desk = Desk::new();
    let mut stream = idle(&mut desk);
    for _ in 0..3 {
        desk.dispatch();
        desk.expect_request(&mut stream);
        desk.deliver(&mut stream, whole().as_bytes());
        let record = desk.record();
        assert!(record.reused && !record.resent && record.outcome == Outcome::Completed);
        assert_eq!(record.connected, record.dispatched);
    }
    desk.nobody_else();
}

#[test]
fn a_request_on_a_connection_that_was_closed_meanwhile_is_sent_again() {
    let mut desk = Desk::new();
    let stale = idle(&mut desk);
    drop(stale);
    std::thread::sleep(WHILE);
    // The client has not polled the connection since.
    desk.dispatch();
    let mut fresh = desk.accept();
    desk.expect_request(&mut fresh);
    desk.deliver(&mut fresh, whole().as_bytes());
    let record = desk.record();
    assert_eq!(record.outcome, Outcome::Completed, "{:?}", record.detail);
    assert!(record.resent && !record.reused);
    assert!(record.connected.unwrap() > record.dispatched.unwrap());
    assert!(record.sent.unwrap() >= record.connected.unwrap());
    desk.nobody_else();
    assert_eq!(desk.client.in_flight(), 0);
}

#[test]
fn a_request_is_sent_again_only_once() {
    let mut desk = Desk::new();
    let stale = idle(&mut desk);
    drop(stale);
    std::thread::sleep(WHILE);
    desk.dispatch();
    let mut fresh = desk.accept();
    desk.expect_request(&mut fresh);
    drop(fresh);
    let record = desk.record();
    assert!(record.resent);
    assert_eq!(record.outcome, Outcome::Failed(FailureClass::StreamReset));
    desk.nobody_else();
}

#[test]
fn a_reused_connection_that_breaks_within_the_response_is_a_failure() {
    let mut desk = Desk::new();
    let mut stream = idle(&mut desk);
    desk.dispatch();
    desk.expect_request(&mut stream);
    desk.deliver(&mut stream, &HEAD.as_bytes()[..20]);
    drop(stream);
    let record = desk.record();
    assert_eq!(record.outcome, Outcome::Failed(FailureClass::StreamReset));
    assert!(record.reused && !record.resent);
    desk.nobody_else();
}

#[test]
fn a_connection_that_was_seen_to_close_is_not_used() {
    let mut desk = Desk::new();
    let stream = idle(&mut desk);
    drop(stream);
    std::thread::sleep(WHILE);
    desk.turn();
    let _fresh = desk.request();
    let mut ended = Vec::new();
    desk.client.censor(&mut ended);
    let record = &ended[0].record;
    assert!(!record.resent && !record.reused && record.outcome == Outcome::Censored);
}

#[test]
fn a_connection_that_the_server_will_close_is_not_reused() {
    let mut desk = Desk::new();
    let mut stream = desk.request();
    let answer = whole().replacen("\r\n\r\n", "\r\nConnection: close\r\n\r\n", 1);
    desk.deliver(&mut stream, answer.as_bytes());
    assert_eq!(desk.record().outcome, Outcome::Completed);
    is_closed(&mut desk, stream);
    let _fresh = desk.request();
}

#[test]
fn a_response_with_an_immediate_close_is_a_response() {
    let mut desk = Desk::new();
    let mut stream = desk.request();
    let written = desk.write(&mut stream, whole().as_bytes());
    drop(stream);
    desk.heard_since(written);
    assert_eq!(desk.record().outcome, Outcome::Completed);
    // Whether or not the close has been seen by now: the next request gets its response.
    desk.dispatch();
    let mut fresh = desk.accept();
    desk.expect_request(&mut fresh);
    desk.deliver(&mut fresh, whole().as_bytes());
    assert_eq!(desk.record().outcome, Outcome::Completed);
}

#[test]
fn bytes_after_the_end_of_a_body_end_the_connection() {
    let mut desk = Desk::new();
    let mut stream = desk.request();
    desk.deliver(&mut stream, (whole() + "HTTP/1.1 200").as_bytes());
    let record = desk.record();
    assert_eq!(record.outcome, Outcome::Completed, "{:?}", record.detail);
    is_closed(&mut desk, stream);
    let _fresh = desk.request();
}

#[test]
fn unexpected_data_on_an_idle_connection_closes_it() {
    let mut desk = Desk::new();
    let mut stream = idle(&mut desk);
    desk.deliver(&mut stream, b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n");
    is_closed(&mut desk, stream);
    let _fresh = desk.request();
    assert_eq!(desk.client.in_flight(), 1);
    assert_eq!(desk.client.take_health().unasked, 0);
}

/// L10: the response before it may have been that of another request.
#[test]
fn a_response_that_nobody_asked_for_is_counted() {
    let mut desk = Desk::new();
    let mut stream = idle(&mut desk);
    desk.deliver(&mut stream, whole().as_bytes());
    is_closed(&mut desk, stream);
    assert_eq!(desk.client.take_health().unasked, 1);
    assert_eq!(desk.client.take_health().unasked, 0);
}

/// L10: the client has not polled since, so that only the socket knows of it.
#[test]
fn a_response_that_came_before_the_request_is_not_its_response() {
    let mut desk = Desk::new();
    let mut stream = idle(&mut desk);
    desk.write(&mut stream, whole().as_bytes());
    std::thread::sleep(WHILE);
    desk.dispatch();
    let mut fresh = desk.accept();
    desk.expect_request(&mut fresh);
    desk.deliver(&mut fresh, whole().as_bytes());
    let record = desk.record();
    assert!(!record.reused && !record.resent, "{record:?}");
    assert_eq!(record.outcome, Outcome::Completed, "{:?}", record.detail);
    is_closed(&mut desk, stream);
}

#[test]
fn the_end_of_a_body_that_comes_late_frees_its_connection() {
    let mut desk = Desk::new();
    let mut stream = desk.request();
    let answer = whole();
    let (all, end) = answer.split_at(answer.len() - "0\r\n\r\n".len());
    desk.deliver(&mut stream, all.as_bytes());
    // The response is complete with its terminal event.
    assert_eq!(desk.record().outcome, Outcome::Completed);
    desk.deliver(&mut stream, end.as_bytes());
    desk.dispatch();
    desk.expect_request(&mut stream);
    desk.deliver(&mut stream, whole().as_bytes());
    assert!(desk.record().reused);
    desk.nobody_else();
}

#[test]
fn a_response_before_the_request_was_sent_does_not_free_its_connection() {
    let mut desk = Desk::new();
    // More than both ends of a socket hold.
    desk.dispatch_bytes(vec![b'x'; 64 << 20]);
    let mut stream = desk.accept();
    desk.deliver(&mut stream, b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n");
    let record = desk.record();
    assert_eq!(record.outcome, Outcome::Failed(FailureClass::Http(413)));
    assert_eq!(record.sent, None);
    let _fresh = desk.request();
}
