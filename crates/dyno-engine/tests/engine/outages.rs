//! A service that stops responding.

use crate::support::{Client, End, SCHEDULER, chat, post, scripted, twin};
use dyno_engine::{Brain, Running, Server, ServerOptions};
use std::net::TcpStream;
use std::time::Duration;

fn both() -> [Brain; 2] {
    [scripted("ttft=2ms,itl=2ms"), twin(SCHEDULER, 2.0)]
}

fn start(brain: Brain, die_after: Option<u64>, hang_after: Option<u64>) -> Running {
    let options = ServerOptions { brain, die_after, hang_after, ..ServerOptions::default() };
    Server::bind(options).unwrap().spawn().unwrap()
}

#[test]
fn it_dies_after_so_many_responses_with_all_connections_reset() {
    for brain in both() {
        let running = start(brain, Some(3), None);
        let mut idle = Client::connect(running.addr());
        assert_eq!(idle.get("/health").status, 200);
        let mut long = Client::connect(running.addr());
        long.send(&post("/v1/chat/completions", "", &chat(900)));
        let mut client = Client::connect(running.addr());
        client.send(&post("/v1/chat/completions", "X-Dyno-Preflight: 1\r\n", &chat(2)));
        assert_eq!(client.response().contents(), 2, "not counted");
        for _ in 0..3 {
            let response = client.chat(2);
            assert_eq!((response.end, response.contents()), (End::Proper, 2));
        }
        assert_eq!(client.raw(), (Vec::new(), End::Reset));
        assert_eq!(long.response().end, End::Reset);
        assert_eq!(idle.raw(), (Vec::new(), End::Reset));
        assert!(TcpStream::connect(running.addr()).is_err(), "its port is closed");
        running.stop().unwrap();
    }
}

#[test]
fn it_hangs_after_so_many_responses_and_still_accepts_everything() {
    for brain in both() {
        let running = start(brain, None, Some(2));
        let mut long = Client::connect(running.addr());
        long.send(&post("/v1/chat/completions", "", &chat(900)));
        let mut client = Client::connect(running.addr());
        for _ in 0..2 {
            assert_eq!(client.chat(2).contents(), 2);
        }
        long.patience(Duration::from_millis(100));
        assert_eq!(long.response().end, End::Silent, "it stopped in mid-stream");
        client.patience(Duration::from_millis(50));
        assert_eq!(client.chat(2).end, End::Silent);
        let mut fresh = Client::connect(running.addr());
        fresh.patience(Duration::from_millis(50));
        // More than a socket buffers, so the server must read it.
        fresh.send(&post("/v1/chat/completions", "", &"x".repeat(16 << 20)));
        assert_eq!(fresh.response().end, End::Silent);
        assert_eq!(fresh.get("/health").end, End::Silent);
        running.stop().unwrap();
    }
}

#[test]
fn only_so_many_are_answered_though_more_are_due_at_once() {
    // Ten responses end in the same step; only the first four of them come.
    let running = start(twin(SCHEDULER, 100.0), None, Some(4));
    let mut clients: Vec<_> = (0..10).map(|_| Client::connect(running.addr())).collect();
    for client in &mut clients {
        client.send(&post("/v1/chat/completions", "", &chat(3)));
    }
    for client in &mut clients {
        client.patience(Duration::from_millis(1_000));
    }
    let answers: Vec<_> = clients
        .into_iter()
        .map(|mut client| std::thread::spawn(move || client.response().end))
        .collect();
    let ends: Vec<_> = answers.into_iter().map(|response| response.join().unwrap()).collect();
    assert_eq!(ends.iter().filter(|end| **end == End::Proper).count(), 4, "{ends:?}");
}
