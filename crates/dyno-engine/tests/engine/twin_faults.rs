//! Faults of an engine with continuous batching are those of a scripted one: the same bytes apart from
//! their times. They occur at a rate or for given requests.

use crate::support::{
    Client, End, Response, SCHEDULER, chat, engine, post, running, twin, vllm, wait_for,
};
use dyno_engine::{Fault, Running, Server, ServerOptions};
use std::time::Duration;

const STREAMED: &str = "\"stream\":true,\"stream_options\":{\"include_usage\":true}";

fn ask(running: &Running, path: &str, more: &str, patience: Duration) -> Response {
    let prompt = match path {
        "/v1/completions" => "\"prompt\":\"one two three\"",
        _ => "\"messages\":[{\"role\":\"user\",\"content\":\"one two three\"}]",
    };
    let body = format!("{{{prompt},\"max_tokens\":9,\"ignore_eos\":true,{more}}}");
    let mut client = Client::connect(running.addr());
    client.patience(patience);
    client.ask(path, &body)
}

/// What can be compared of a response: all but the second in which it was made.
fn shown(response: &Response) -> (u16, End, String) {
    let mut text = String::new();
    for (i, part) in response.text().split("\"created\":").enumerate() {
        text += if i == 0 { part } else { part.trim_start_matches(|c: char| c.is_ascii_digit()) };
    }
    (response.status, response.end, text)
}

fn same_bytes(fault: &str, patience: Duration) {
    let scripted = engine("ttft=1ms,itl=1ms,tokens=8", &[fault]);
    let twin = running(twin(SCHEDULER, 1.0), &[fault]);
    for (path, more) in [
        ("/v1/chat/completions", STREAMED),
        ("/v1/completions", STREAMED),
        ("/v1/chat/completions", "\"stream\":false"),
    ] {
        let expected = ask(&scripted, path, more, patience);
        let got = ask(&twin, path, more, patience);
        assert!(shown(&got) == shown(&expected), "{fault} {path} {more}: {got:?}");
    }
    // Nothing of a faulty response stays in the engine once its client has disconnected.
    wait_for("running", 0.0, || vllm(twin.addr(), "num_requests_running"));
    assert_eq!(vllm(twin.addr(), "num_requests_waiting"), 0.0, "{fault}");
}

#[test]
fn every_fault_gives_the_same_bytes_from_both_engines() {
    // The client here cannot read anything of these.
    let apart = ["garbage", "drop", "drip"];
    let names = Fault::all().iter().map(|info| info.name).filter(|name| !apart.contains(name));
    let (stalls, others): (Vec<_>, Vec<_>) = names.partition(|name| name.starts_with("stall"));
    let patient = |name| (name, Duration::from_secs(10));
    let all = stalls.into_iter().map(|name| (name, Duration::from_millis(400)));
    let all: Vec<_> = all.chain(others.into_iter().map(patient)).collect();
    std::thread::scope(|scope| {
        for part in 0..6 {
            let mine = all.iter().skip(part).step_by(6);
            scope.spawn(|| mine.for_each(|(name, patience)| same_bytes(name, *patience)));
        }
    });
}

#[test]
fn drip_sends_slowly() {
    let running = running(twin(SCHEDULER, 1.0), &["drip"]);
    for tokens in [1, 5] {
        let mut client = Client::connect(running.addr());
        client.send(&post("/v1/chat/completions", "", &chat(tokens)));
        let mut seen = Vec::new();
        while String::from_utf8_lossy(&seen).matches(": ping").count() < 3 {
            let mut piece = [0; 4096];
            let n = std::io::Read::read(&mut client.socket, &mut piece).unwrap();
            assert!(n > 0);
            seen.extend_from_slice(&piece[..n]);
        }
        let text = String::from_utf8(seen).unwrap();
        assert_eq!(text.matches("data: ").count(), 1, "{text}");
    }
}

/// Numbers of the requests, from 1, that were answered with status 500.
fn struck(fault: &str, seed: u64, twin_brain: bool) -> Vec<u32> {
    let faults = vec![fault.parse().unwrap()];
    let brain = match twin_brain {
        true => twin(SCHEDULER, 0.1),
        false => crate::support::scripted("ttft=0,itl=0"),
    };
    let options = ServerOptions { brain, faults, seed, ..ServerOptions::default() };
    let running = Server::bind(options).unwrap().spawn().unwrap();
    let mut client = Client::connect(running.addr());
    let mut struck = Vec::new();
    for number in 1..=60 {
        client.send(&post("/v1/chat/completions", "X-Dyno-Preflight: 1\r\n", &chat(1)));
        assert_eq!(client.response().status, 200, "a preflight is neither counted nor struck");
        match client.chat(1).status {
            500 => struck.push(number),
            status => assert_eq!(status, 200),
        }
    }
    struck
}

#[test]
fn faults_occur_at_a_rate_and_at_given_numbers() {
    for brain in [false, true] {
        assert_eq!(struck("http-500:at=3,7,12", 5, brain), [3, 7, 12]);
        assert_eq!(struck("http-500:every=20", 5, brain), [20, 40, 60]);
    }
    let by_rate = struck("http-500:rate=0.3", 5, false);
    assert!((6..=32).contains(&by_rate.len()), "{by_rate:?}");
    assert_eq!(struck("http-500:rate=0.3", 5, true), by_rate, "by the seed alone");
    assert_ne!(struck("http-500:rate=0.3", 6, false), by_rate);
}
