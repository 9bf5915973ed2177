//! HTTP itself: keep-alive, pipelining, bodies, and clear errors.

use crate::support::{Client, End, chat, engine, metric, post, wait_for};
use dyno_engine::{EngineError, Server, ServerOptions};
use dyno_model::budget::Budget;

#[test]
fn one_connection_carries_many_requests() {
    let running = engine("ttft=1ms,itl=1ms,tokens=4", &[]);
    let mut client = Client::connect(running.addr());
    for n in [3, 1, 9] {
        let response = client.chat(n);
        assert_eq!((response.end, response.contents()), (End::Proper, n as usize));
    }
    assert_eq!(client.get("/health").status, 200);
    let models = client.get("/v1/models").json();
    assert_eq!(models["data"][0]["id"], "dyno-scripted");
    assert_eq!(models["data"][0]["max_model_len"], 131_072);
    client.send(&post("/v1/chat/completions", "Connection: close\r\n", &chat(2)));
    let last = client.response();
    assert!(last.head.contains("\r\nConnection: close\r\n"));
    assert_eq!(client.raw(), (Vec::new(), End::Closed));
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let running = engine("ttft=5ms,itl=1ms,tokens=4", &[]);
    let mut client = Client::connect(running.addr());
    let mut bytes = post("/v1/chat/completions", "", &chat(3));
    bytes.extend(b"GET /health HTTP/1.1\r\n\r\n");
    bytes.extend(post("/v1/chat/completions", "", &chat(5)));
    client.send(&bytes);
    assert_eq!(client.response().contents(), 3);
    assert_eq!(client.response().json()["status"], "ok");
    assert_eq!(client.response().contents(), 5);
}

#[test]
fn bodies_may_be_announced_chunked_and_slow() {
    let running = engine("ttft=1ms,itl=1ms,tokens=4", &[]);
    let mut client = Client::connect(running.addr());
    let body = chat(4);
    client.send(b"POST /v1/chat/completions HTTP/1.1\r\nTransfer-Encoding: chunked\r\n");
    client.send(b"Expect: 100-continue\r\n\r\n");
    let mut word = [0; 25];
    std::io::Read::read_exact(&mut client.socket, &mut word).unwrap();
    assert_eq!(&word, b"HTTP/1.1 100 Continue\r\n\r\n");
    for piece in body.as_bytes().chunks(50) {
        client.send(format!("{:x}\r\n", piece.len()).as_bytes());
        client.send(piece);
        client.send(b"\r\n");
    }
    client.send(b"0\r\n\r\n");
    assert_eq!(client.response().contents(), 4);
}

#[test]
fn wrong_requests_get_clear_errors_and_the_connection_stays_usable() {
    let running = engine("ttft=1ms,itl=1ms,tokens=4,context=1000", &[]);
    let mut client = Client::connect(running.addr());
    let chat_path = "/v1/chat/completions";
    let cases = [
        (chat_path, "{oops", 400, "line 1"),
        (chat_path, "{}", 400, "`messages`"),
        ("/v1/completions", "{}", 400, "`prompt`"),
        (chat_path, "{\"messages\":[],\"max_tokens\":0}", 400, "at least 1"),
        (chat_path, "{\"messages\":[],\"max_tokens\":1001}", 400, "1000 tokens"),
        (
            chat_path,
            "{\"messages\":[],\"model\":\"gpt-9\"}",
            404,
            "The model `gpt-9` does not exist.",
        ),
        ("/v1/nothing", "{}", 404, "/v1/nothing"),
        ("/v1/models", "{}", 405, "GET"),
    ];
    for (path, body, status, words) in cases {
        let response = client.ask(path, body);
        let error = &response.json()["error"];
        assert_eq!((response.status, error["code"].as_u64()), (status, Some(u64::from(status))));
        assert!(error["message"].as_str().unwrap().contains(words), "{error}");
    }
    assert_eq!(client.get("/v1/chat/completions").status, 405);
    assert_eq!(client.chat(2).contents(), 2);
}

#[test]
fn requests_that_are_too_large_or_not_http_are_refused_and_closed() {
    let running = engine("ttft=1ms", &[]);
    let huge_head = format!("GET / HTTP/1.1\r\nX: {}\r\n\r\n", "x".repeat(70_000));
    let huge_body = b"POST /v1/completions HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n{}";
    for (bytes, status) in [
        (huge_head.as_bytes(), 431),
        (huge_body.as_slice(), 413),
        (b"\x16\x03\x01hello\r\n\r\n", 400),
    ] {
        let mut client = Client::connect(running.addr());
        client.send(bytes);
        let response = client.response();
        assert_eq!(response.status, status);
        assert!(response.head.contains("Connection: close"));
        assert_eq!(client.raw().1, End::Closed);
    }
}

#[test]
fn a_client_that_disconnects_frees_its_stream() {
    let running = engine("ttft=10s,itl=10s,tokens=100", &[]);
    let clients: Vec<_> = (0..20)
        .map(|_| {
            let mut client = Client::connect(running.addr());
            client.send(&post("/v1/chat/completions", "", &chat(100)));
            client
        })
        .collect();
    let name = "dyno_engine_requests_running";
    wait_for(name, 20.0, || metric(running.addr(), name));
    drop(clients);
    wait_for(name, 0.0, || metric(running.addr(), name));
}

#[test]
fn a_port_in_use_is_reported_with_a_remedy() {
    let running = engine("", &[]);
    let options = ServerOptions { port: running.addr().port(), ..ServerOptions::default() };
    let error = Server::bind(options).unwrap_err();
    assert!(matches!(error, EngineError::PortInUse(addr) if addr == running.addr()));
    assert!(error.to_string().contains("in use") && error.to_string().contains("--port"));
    running.stop().unwrap();
}

#[test]
fn stopping_ends_the_server_and_frees_the_port() {
    let server = Server::bind(ServerOptions::default()).unwrap();
    let (addr, stop) = (server.addr(), server.stop_handle());
    let thread = std::thread::spawn(move || server.run());
    assert_eq!(Client::connect(addr).get("/health").status, 200);
    stop.stop();
    thread.join().unwrap().unwrap();
    let again = ServerOptions { port: addr.port(), ..ServerOptions::default() };
    Server::bind(again).unwrap();
}

#[test]
fn the_same_seed_generates_the_same_words() {
    let text = |seed| {
        let server = Server::bind(ServerOptions { seed, ..ServerOptions::default() }).unwrap();
        let running = server.spawn().unwrap();
        let body = "{\"prompt\":\"x\",\"max_tokens\":1}";
        let value = Client::connect(running.addr()).ask("/v1/completions", body).json();
        (value["id"].clone(), value["choices"][0]["text"].clone())
    };
    assert_eq!(text(3), text(3));
    assert_ne!(text(3).0, text(4).0);
}

/// M6: each request was within its limit, all of them together were not.
#[test]
fn requests_that_hold_too_much_memory_together_are_refused() {
    let budget = Budget::of(3 << 20);
    let options = ServerOptions { budget: budget.clone(), ..ServerOptions::default() };
    let running = Server::bind(options).and_then(Server::spawn).unwrap();
    let head = b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 1500000\r\n\r\n";
    let part = [&head[..], &[b'x'; 1_000_000]].concat();
    let mut clients: Vec<Client> = (0..8).map(|_| Client::connect(running.addr())).collect();
    // One that is refused may close before everything was sent, and its answer may then be lost on the way.
    let refused = |client: &mut Client| {
        let taken = client.offer(&part);
        client.patience(std::time::Duration::from_millis(300));
        client.raw().0.starts_with(b"HTTP/1.1 503 ") || !taken
    };
    let refused = clients.iter_mut().filter_map(|client| refused(client).then_some(())).count();
    assert!((1..8).contains(&refused), "{refused}");
    drop(clients);
    // What they held is given back.
    wait_for("bytes held", 0.0, || budget.used() as f64);
    let mut client = Client::connect(running.addr());
    assert_eq!(client.chat(2).contents(), 2);
}
