//! Targets that are found to be of no use before anything is measured: status 3 and the message of
//! the server or the system, or status 2 where the user has to choose.

use crate::bench::engines::{Engine, QUICK};
use crate::bench::place::Place;
use crate::bench::process::{Ended, run};
use crate::bench::web::{self, Web};
use std::net::TcpListener;

const LOAD: &str = "--concurrency 2 --requests 4 --output-tokens 16";

/// Runs against a target that is of no use; nothing must be left behind.
#[track_caller]
fn refused(url: &str, more: &str, status: i32, words: &[&str]) -> Ended {
    let place = Place::new();
    let ended = run(place.bench(url, &format!("{LOAD} {more}")))
        .expect_status(&[status])
        .expect_words(words);
    assert!(ended.stderr.starts_with("error: "), "{}", ended.said());
    assert_eq!(ended.stdout, "", "{}", ended.said());
    assert!(!place.run_dir().exists(), "a run directory was left: {}", ended.said());
    ended
}

#[test]
fn a_dead_target() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    for more in ["", "--model any"] {
        refused(&url, more, 3, &[&url, "refused"]);
    }
}

#[test]
fn prompts_that_are_too_long_for_the_server() {
    let engine = Engine::start("ttft=2ms,itl=1ms,tokens=4,context=512", &[]);
    let load = "--concurrency 2 --requests 20 --output-tokens 4 --input-tokens";
    let place = Place::new();
    let words = ["refuses prompts of 700 tokens", "context length is 512", "lower --input-tokens"];
    run(place.bench(&engine.url(), &format!("{load} 700")))
        .expect_status(&[3])
        .expect_words(&words);
    assert!(!place.run_dir().exists(), "a run directory was left");
    // Of prompts of various lengths, some fit: the run says how many failed.
    let place = Place::new();
    run(place.bench(&engine.url(), &format!("{load} 300-900"))).expect_status(&[4, 5]);
    assert!(place.run_dir().exists());
}

#[test]
fn a_host_that_does_not_exist() {
    refused(
        "http://no-such-host.invalid:8000",
        "",
        3,
        &["no-such-host.invalid", "cannot be resolved"],
    );
}

#[test]
fn a_wrong_path() {
    let engine = Engine::start(QUICK, &[]);
    let url = format!("{}/wrong", engine.url());
    refused(&url, "", 3, &["404", "There is nothing at /wrong/v1/models"]);
    let words = ["404", "There is nothing at /wrong/v1/chat/completions", "--model"];
    refused(&url, "--model dyno-scripted", 3, &words);
}

#[test]
fn a_server_that_is_elsewhere_and_something_that_is_no_server() {
    let moved = |_: &web::Seen| {
        let head = "HTTP/1.1 308 Permanent Redirect\r\nContent-Length: 0\r\n";
        format!("{head}Location: https://gpu.example/v1?key=hush\r\n\r\n").into_bytes()
    };
    let server = Web::start(moved);
    for more in ["", "--model any"] {
        let words = ["308", "redirects to https://gpu.example/v1?…", "use that URL as the target"];
        let ended = refused(&server.url(), more, 3, &words);
        assert!(!ended.stderr.contains("hush"), "{}", ended.said());
    }
    let page = "<!doctype html><html><head><title>Sign in</title></head></html>";
    let server = Web::start(move |_| web::answer("200 OK", "text/html", page));
    for more in ["", "--model any", "--model any --api anthropic-messages"] {
        refused(&server.url(), more, 3, &["a web page titled `Sign in`", "wrong port"]);
    }
}

#[test]
fn an_unknown_model() {
    let engine = Engine::start(QUICK, &[]);
    refused(&engine.url(), "--model nope", 3, &["404", "The model `nope` does not exist."]);
}

#[test]
fn a_list_of_models_that_does_not_come() {
    let engine = Engine::start(QUICK, &["models-500"]);
    refused(&engine.url(), "", 3, &["500", "The list of models is not available.", "--model"]);
}

#[test]
fn two_models_and_none() {
    let server = Web::start(|_| web::models(&["llama-small", "llama-large"]));
    refused(&server.url(), "", 2, &["--model", "llama-small", "llama-large"]);
    let server = Web::start(|_| web::models(&[]));
    refused(&server.url(), "", 2, &["--model"]);
}

#[test]
fn a_request_that_no_field_makes_acceptable() {
    let server = Web::start(|request| match request.is("GET") {
        true => web::models(&["small"]),
        false => web::json("400 Bad Request", "{\"error\":\"the moon is in the wrong phase\"}"),
    });
    refused(&server.url(), "", 3, &["400", "the moon is in the wrong phase"]);
}

#[test]
fn a_server_that_accepts_and_never_answers() {
    // The kernel accepts; nobody reads.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    refused(&url, "--timeout-total 500ms", 3, &["not complete within 500ms"]);
    refused(&url, "--timeout-first-token 500ms", 3, &["no output within 500ms"]);
    let both = "--model any --timeout-first-token 200ms";
    refused(&url, both, 3, &["no output within 200ms"]);
}

#[test]
fn a_server_that_speaks_no_tls() {
    let server = Web::start(web::openai);
    let url = server.url().replace("http:", "https:");
    // A server that waits for a request in plain text may just wait on.
    refused(&url, "--insecure --timeout-connect 2s", 3, &[&url]);
    let speaks = Web::wrapped(web::openai, |mut stream, _, _| {
        let _ = std::io::Write::write_all(&mut stream, b"HTTP/1.1 400 Bad Request\r\n\r\n");
        let _ = std::io::Read::read(&mut stream, &mut [0; 4096]);
    });
    let url = speaks.url().replace("http:", "https:");
    refused(&url, "--insecure", 3, &["TLS"]);
}

#[test]
fn control_characters_of_a_server_do_not_reach_the_terminal() {
    let server = Web::start(|_| web::json("403 Forbidden", "no\x1b[31m\x07\r\nway"));
    let ended = refused(&server.url(), "--model m", 3, &["403", "no"]);
    let odd = |c: char| c.is_control() && c != '\n';
    assert!(!ended.stderr.contains(odd), "{:?}", ended.stderr);
}

#[test]
fn an_interrupt_during_the_preflight() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let place = Place::new();
    let mut process = crate::bench::process::Process::start(place.bench(&url, LOAD));
    listener.set_nonblocking(true).unwrap();
    let mut connection = None;
    process.wait_until("a connection", || {
        connection = listener.accept().ok();
        connection.is_some()
    });
    process.signal(rustix::process::Signal::INT);
    process.end().expect_status(&[130]);
    assert!(!place.run_dir().exists());
}
