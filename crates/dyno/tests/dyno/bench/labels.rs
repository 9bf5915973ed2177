//! A run against Dyno's own engine is labelled as simulated, wherever the engine runs.

use crate::bench::engines::{Engine, EngineProcess, QUICK};
use crate::bench::place::Place;
use crate::bench::predict::TWIN;
use crate::bench::process::run;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

const LOAD: &str = "--concurrency 2 --requests 8 --input-tokens 8 --output-tokens 4";

fn bench(place: &Place, url: &str) -> Value {
    // What the machine makes of the metrics is not asked here.
    run(place.bench(url, LOAD)).expect_status(&[0, 4]).json()
}

#[test]
fn an_engine_in_a_process_of_its_own_is_labelled_with_its_twin() {
    let place = Place::new();
    let twin = place.file("plain.toml", TWIN);
    let engine = EngineProcess::with(&place, &format!("--twin {twin}"));
    let summary = bench(&place, &engine.url());
    assert_eq!(summary["run"]["simulated"], true);
    assert_eq!(summary["run"]["predicted"], false);
    assert_eq!(summary["run"]["engine"], "plain");
    assert_eq!(summary["run"]["target"], engine.url());
    let environment = place.json("environment.json");
    assert_eq!(environment["server"]["simulated"], json!({"engine": "plain"}));

    let report =
        |args: &str| run(place.dyno(&format!("report run {args}"))).expect_status(&[0]).stdout;
    let text = report("");
    assert!(text.contains("from the embedded engine, not from a real model"), "{text}");
    assert!(text.contains("embedded engine (plain)") && text.contains(&engine.url()), "{text}");
    for layout in ["markdown", "vllm", "sglang", "evalscope", "guidellm"] {
        let shown = report(&format!("--format {layout}"));
        assert!(shown.to_lowercase().contains("simulated"), "{layout}: {shown}");
    }
    assert!(report("--lang zh").contains("并非真实模型"));
    assert_eq!(run(place.dyno("report run --json")).expect_status(&[0]).json(), summary);
}

#[test]
fn a_script_is_labelled_with_its_times() {
    let place = Place::new();
    let engine = Engine::start(QUICK, &[]);
    let summary = bench(&place, &engine.url());
    assert_eq!(summary["run"]["simulated"], true);
    assert_eq!(summary["run"]["engine"], QUICK);
}

/// Passes bytes on, with the name of the server changed as proxies do.
fn proxy(target: &str) -> String {
    let target = target.strip_prefix("http://").unwrap().to_owned();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for client in listener.incoming() {
            let Ok(client) = client else { return };
            let Ok(server) = TcpStream::connect(&target) else { return };
            let ends = (client.try_clone().unwrap(), server.try_clone().unwrap());
            thread::spawn(move || pass(client, server, false));
            thread::spawn(move || pass(ends.1, ends.0, true));
        }
    });
    format!("http://{address}")
}

fn pass(mut from: TcpStream, mut to: TcpStream, rename: bool) {
    let mut buffer = vec![0; 65_536];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        let bytes = &mut buffer[..count];
        let name = b"dyno-engine";
        if let Some(at) = bytes.windows(name.len()).position(|part| part == name)
            && rename
        {
            bytes[at..at + name.len()].copy_from_slice(b"nginx/1.2.3");
        }
        if to.write_all(bytes).is_err() {
            return;
        }
    }
    let _ = to.shutdown(std::net::Shutdown::Write);
}

#[test]
fn a_proxy_that_puts_its_name_into_the_answers_keeps_the_label() {
    let place = Place::new();
    let engine = Engine::start(QUICK, &[]);
    let summary = bench(&place, &proxy(&engine.url()));
    assert_eq!(summary["run"]["simulated"], true);
    let headers = &place.json("environment.json")["server"]["headers"];
    assert!(headers.to_string().contains("nginx/1.2.3"), "{headers}");
}

#[test]
fn without_a_list_of_models_the_header_is_enough() {
    let place = Place::new();
    let engine = Engine::start(QUICK, &["models-500"]);
    let command = place.bench(&engine.url(), &format!("{LOAD} --model dyno-scripted"));
    let summary = run(command).expect_status(&[0, 4]).json();
    assert_eq!(summary["run"]["simulated"], true);
    assert_eq!(summary["run"]["engine"], Value::Null);
}
