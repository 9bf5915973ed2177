//! Many at once.

use crate::support::{Client, End, chat, engine, metric, post};

#[test]
fn a_thousand_connections_stream_at_the_same_time() {
    dyno_net::raise_open_files();
    let running = engine("ttft=700ms,itl=50ms,tokens=5", &[]);
    let request = post("/v1/chat/completions", "", &chat(5));
    let mut clients: Vec<_> = (0..1_000).map(|_| Client::connect(running.addr())).collect();
    for client in &mut clients {
        client.send(&request);
    }
    for client in &mut clients {
        let response = client.response();
        assert_eq!((response.end, response.contents()), (End::Proper, 5));
    }
    assert_eq!(metric(running.addr(), "dyno_engine_requests_running"), 0.0);
    assert_eq!(metric(running.addr(), "dyno_engine_requests_total"), 1_000.0);
    println!("{}", Client::connect(running.addr()).get("/dyno/slip").text());
}

#[test]
fn a_client_that_does_not_read_delays_no_other() {
    let running = engine("ttft=0,itl=0,tokens=1000", &["big:every=2"]);
    let mut reader = Client::connect(running.addr());
    assert_eq!(reader.chat(1_000).contents(), 1_000);
    let mut lazy = Client::connect(running.addr());
    lazy.send(&post("/v1/chat/completions", "", &chat(1_000)));
    for _ in 0..3 {
        let response = reader.get("/health");
        assert_eq!(response.status, 200);
    }
    assert_eq!(reader.chat(1_000).contents(), 1_000);
    drop(lazy);
}
