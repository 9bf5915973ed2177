//! Failures before a request is on its way: refused, not accepted in time, and this machine's own
//! lack of file descriptors, which is nobody else's fault.

use crate::bench::engines::{Engine, QUICK};
use crate::bench::place::{Place, codes};
use crate::bench::process::run;
use crate::bench::web;
use dyno_model::outcome::Outcome;
use rustix::net::{AddressFamily, SocketType, bind, listen, socket};
use serde_json::json;
use std::io::Write;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::time::Duration;

/// A listener with room for one connection that nobody has accepted.
fn narrow() -> TcpListener {
    let fd: OwnedFd = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    bind(&fd, &SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
    listen(&fd, 0).unwrap();
    TcpListener::from(fd)
}

/// Answers the two requests of a preflight, each on a connection of its own, and has something
/// happen to the listener just before the last answer goes out.
fn answer_the_preflight<T>(listener: TcpListener, happens: impl FnOnce(TcpListener) -> T) -> T {
    let answer_one = |stream: &mut TcpStream, happens: &mut dyn FnMut()| {
        let request = web::next_request(stream, &mut Vec::new()).unwrap();
        happens();
        let answer = String::from_utf8(web::openai(&request)).unwrap();
        let answer = answer.replacen("\r\n", "\r\nConnection: close\r\n", 1);
        stream.write_all(answer.as_bytes()).unwrap();
    };
    answer_one(&mut listener.accept().unwrap().0, &mut || ());
    let (mut last, _) = listener.accept().unwrap();
    let (mut listener, mut happens, mut left) = (Some(listener), Some(happens), None);
    answer_one(&mut last, &mut || {
        left = happens.take().zip(listener.take()).map(|(happens, listener)| happens(listener));
    });
    left.unwrap()
}

/// Runs a burst of six against a server to which something happens after the preflight; every
/// request must fail in `class`.
fn all_fail<T: Send + 'static>(
    listener: TcpListener,
    happens: impl FnOnce(TcpListener) -> T + Send + 'static,
    class: &str,
    words: &str,
) {
    let url = format!("http://{}", listener.local_addr().unwrap());
    let server = std::thread::spawn(move || answer_the_preflight(listener, happens));
    let place = Place::new();
    let args = "--burst 6 --output-tokens 4 --timeout-connect 500ms";
    let ended = run(place.bench(&url, args)).expect_status(&[3]);
    let level = &ended.json()["levels"][0];
    assert_eq!(level["requests"]["failures"], json!({ class: 6 }), "{}", ended.said());
    let samples = level["failure_samples"][class].to_string();
    assert!(samples.contains(words), "{samples}: {}", ended.said());
    assert_eq!(level["ttft_ms"], serde_json::Value::Null, "{}", ended.said());
    server.join().unwrap();
}

#[test]
fn a_server_that_is_gone_refuses() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    all_fail(listener, drop, "connect", "refused");
}

#[test]
fn a_server_that_does_not_accept_is_given_up() {
    // Its queue is full: connections beyond it are neither made nor refused.
    let fill = |listener: TcpListener| {
        let addr = listener.local_addr().unwrap();
        let patience = Duration::from_millis(200);
        let queue = std::iter::from_fn(|| TcpStream::connect_timeout(&addr, patience).ok());
        (queue.take(1000).collect::<Vec<_>>(), listener)
    };
    all_fail(narrow(), fill, "timeout.connect", "no connection within 500ms");
}

#[test]
fn want_of_file_descriptors_is_the_clients_own_fault() {
    let engine = Engine::start(QUICK, &[]);
    // B11: what is sure to need more is refused before anything is sent.
    for load in ["--burst 100", "--concurrency 100 --requests 1000"] {
        let args = format!("{load} --output-tokens 16 --input-tokens 16");
        let place = Place::new();
        run(place.bench_within("ulimit -n 70", &engine.url(), &args))
            .expect_status(&[2])
            .expect_words(&["100 connections", "can open 6", "ulimit -n 164", "--agents 17"]);
    }
    let place = Place::new();
    let args = "--rate 5000 --requests 300 --output-tokens 16 --input-tokens 16";
    let ended = run(place.bench_within("ulimit -n 40", &engine.url(), args)).expect_status(&[4]);
    let level = &ended.json()["levels"][0];
    assert_eq!(level["verdict"], "invalid", "{}", ended.said());
    let has = |list: &str, code: &str| codes(&level[list]).iter().any(|found| found == code);
    assert!(has("reasons", "off_schedule"), "{}", ended.said());
    assert!(has("notes", "out_of_files"), "{}", ended.said());
    let requests = &level["requests"];
    assert!(requests["dropped"].as_u64().unwrap() > 0, "{}", ended.said());
    assert!(requests["completed"].as_u64().unwrap() > 0, "{}", ended.said());
    assert_eq!(requests["failed"], 0, "{}", ended.said());
    let why = place.requests().into_iter().find_map(|request| match request.outcome {
        Outcome::Dropped(why) => Some(why),
        _ => None,
    });
    assert!(why.is_some_and(|why| why.contains("file descriptors")), "{}", ended.said());
}
