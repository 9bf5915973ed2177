//! Responses of an engine with continuous batching: times, lengths and rejections.

use crate::support::{Client, End, SCHEDULER, chat, post, running, twin, vllm, wait_for};
use dyno_engine::core::{Core, Cost, Scheduler};
use dyno_engine::{SlipReport, TwinBrain};
use std::time::{Duration, Instant};

#[test]
fn no_token_comes_before_its_step_has_ended() {
    // Three words of prompt at 10 ms each and a step of 5 ms, then steps of 5 ms.
    let cost = Cost { base: 0.005, prefill_token: 0.01, front_end: 0.02, ..Cost::default() };
    let core = Core::new(SCHEDULER, cost, 1).unwrap();
    let running = running(TwinBrain::new("x", core, 1_000, 8).into(), &[]);
    let before = Instant::now();
    let response = Client::connect(running.addr()).chat(20);
    assert_eq!((response.end, response.contents()), (End::Proper, 20));
    for (k, (at, _)) in response.chunks.iter().take(20).enumerate() {
        let due = Duration::from_millis(55 + 5 * k as u64);
        assert!(*at - before >= due, "token {k} after {:?}, due after {due:?}", *at - before);
    }
}

#[test]
fn whole_responses_come_with_their_last_token() {
    let running = running(twin(SCHEDULER, 5.0), &[]);
    for (path, prompt) in [
        ("/v1/chat/completions", "\"messages\":[{\"role\":\"user\",\"content\":\"a b\"}]"),
        ("/v1/completions", "\"prompt\":\"a b\""),
    ] {
        let before = Instant::now();
        let response = Client::connect(running.addr()).ask(path, &format!("{{{prompt}}}"));
        assert!(before.elapsed() >= Duration::from_millis(40), "eight steps");
        let value = response.json();
        assert_eq!(value["usage"]["prompt_tokens"], 2);
        assert_eq!(value["usage"]["completion_tokens"], 8);
        assert_eq!(value["choices"][0]["finish_reason"], "stop");
    }
}

#[test]
fn lengths_and_usage_are_as_asked() {
    let running = running(twin(SCHEDULER, 1.0), &[]);
    let mut client = Client::connect(running.addr());
    let mut ask = |more: &str| {
        let body = format!("{{\"prompt\":\"a b c\",\"stream\":true,{more}\"n\":1}}");
        let values = client.ask("/v1/completions", &body).values();
        let last = values.iter().rev().find(|v| !v["choices"][0].is_null()).unwrap();
        let finish = last["choices"][0]["finish_reason"].as_str().unwrap().to_owned();
        (values, finish)
    };
    let natural = ask("");
    assert_eq!((natural.0.len(), natural.1.as_str()), (8, "stop"));
    assert!(natural.0.iter().all(|v| v["usage"].is_null()));
    let cut = ask("\"max_tokens\":3,");
    assert_eq!((cut.0.len(), cut.1.as_str()), (3, "length"));
    assert_eq!(ask("\"max_tokens\":30,").0.len(), 8);
    assert_eq!(ask("\"max_tokens\":30,\"ignore_eos\":true,").0.len(), 30);
    assert_eq!(ask("\"max_tokens\":30,\"min_tokens\":12,").0.len(), 12);
    let each = "\"stream_options\":{\"include_usage\":true,\"continuous_usage_stats\":true},";
    let (values, _) = ask(each);
    let counts: Vec<_> = values.iter().map(|v| v["usage"]["completion_tokens"].as_u64()).collect();
    assert_eq!(counts, [1, 2, 3, 4, 5, 6, 7, 8, 8].map(Some));
}

#[test]
fn the_context_bounds_prompt_and_response() {
    let running = running(twin(SCHEDULER, 0.1), &[]);
    let mut client = Client::connect(running.addr());
    let models = client.get("/v1/models").json();
    assert_eq!(models["data"][0]["max_model_len"], 1_000);
    assert_eq!(models["data"][0]["twin"], "a-twin");
    let tokenized = client.ask("/tokenize", "{\"prompt\":\"a b c\"}").json();
    assert_eq!(
        (tokenized["count"].as_u64(), tokenized["max_model_len"].as_u64()),
        (Some(3), Some(1_000))
    );
    let mut complete = |words: usize, more: &str| {
        let body = format!("{{\"prompt\":\"{}\"{more}}}", "x ".repeat(words));
        client.ask("/v1/completions", &body)
    };
    for (words, more) in [(1_001, ""), (1_000, ""), (990, ",\"max_tokens\":11")] {
        let refused = complete(words, more);
        let message = refused.json()["error"]["message"].as_str().unwrap().to_owned();
        assert_eq!((refused.status, refused.json()["error"]["code"].as_u64()), (400, Some(400)));
        assert!(message.contains("maximum context length is 1000 tokens"), "{message}");
        assert!(message.contains(&format!("{words} input tokens")), "{message}");
    }
    let value = complete(997, "").json();
    assert_eq!(value["usage"]["completion_tokens"], 3);
    assert_eq!(value["choices"][0]["finish_reason"], "length");
    let empty = complete(0, "");
    assert_eq!(empty.status, 400);
    assert!(empty.text().contains("cannot be empty"));
}

#[test]
fn requests_that_never_fit_the_cache_are_refused_and_others_served() {
    let small = Scheduler { kv_blocks: 5, ..SCHEDULER };
    let running = running(twin(small, 1.0), &[]);
    let mut client = Client::connect(running.addr());
    let refused = client.chat(19);
    assert_eq!(refused.status, 400);
    assert!(refused.text().contains("holds 20 tokens"), "{}", refused.text());
    // Just as much as fits: three words, 18 tokens of which the last needs no place.
    assert_eq!(client.chat(18).contents(), 18);
    assert_eq!(vllm(running.addr(), "kv_cache_usage_perc"), 0.0);
}

#[test]
fn requests_without_a_slot_wait_for_one() {
    let one = Scheduler { max_seqs: 1, ..SCHEDULER };
    let running = running(twin(one, 2.0), &[]);
    let mut first = Client::connect(running.addr());
    let mut second = Client::connect(running.addr());
    first.send(&post("/v1/chat/completions", "", &chat(100)));
    wait_for("running", 1.0, || vllm(running.addr(), "num_requests_running"));
    second.send(&post("/v1/chat/completions", "", &chat(2)));
    wait_for("waiting", 1.0, || vllm(running.addr(), "num_requests_waiting"));
    let (first, second) = (first.response(), second.response());
    assert_eq!((first.contents(), second.contents()), (100, 2));
    let ends = first.chunks.last().unwrap().0;
    assert!(second.chunks.last().unwrap().0 > ends, "it waited");
}

#[test]
fn a_client_that_disconnects_frees_its_slot() {
    let running = running(twin(Scheduler { max_seqs: 8, ..SCHEDULER }, 5.0), &[]);
    let clients: Vec<_> = (0..20)
        .map(|_| {
            let mut client = Client::connect(running.addr());
            client.send(&post("/v1/chat/completions", "", &chat(900)));
            client
        })
        .collect();
    wait_for("running", 8.0, || vllm(running.addr(), "num_requests_running"));
    wait_for("waiting", 12.0, || vllm(running.addr(), "num_requests_waiting"));
    drop(clients);
    wait_for("running", 0.0, || vllm(running.addr(), "num_requests_running"));
    assert_eq!(vllm(running.addr(), "num_requests_waiting"), 0.0);
    assert_eq!(vllm(running.addr(), "kv_cache_usage_perc"), 0.0);
    assert_eq!(Client::connect(running.addr()).chat(3).contents(), 3);
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let running = running(twin(SCHEDULER, 1.0), &[]);
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
fn hundreds_stream_at_the_same_time_and_the_engine_reports_its_lateness() {
    dyno_net::raise_open_files();
    let running = running(twin(SCHEDULER, 20.0), &[]);
    let request = post("/v1/chat/completions", "", &chat(8));
    let mut clients: Vec<_> = (0..300).map(|_| Client::connect(running.addr())).collect();
    for client in &mut clients {
        client.send(&request);
    }
    for client in &mut clients {
        let response = client.response();
        assert_eq!((response.end, response.contents()), (End::Proper, 8));
    }
    let slip = |path| -> SlipReport {
        serde_json::from_slice(&Client::connect(running.addr()).get(path).body).unwrap()
    };
    let report = slip("/dyno/slip?reset=1");
    let (first, last) = (report.first.unwrap(), report.last.unwrap());
    // A client that is behind gets several tokens in one write.
    assert!((300..=2_400).contains(&report.all.count), "{report:?}");
    assert!(first.count >= 1 && first.count == last.count, "{report:?}");
    assert!(first.p50_ns <= last.p50_ns && last.max_ns <= report.all.max_ns, "{report:?}");
    let empty = slip("/dyno/slip");
    assert_eq!((empty.all.count, empty.first, empty.last), (0, None, None));
}

#[test]
fn a_client_that_does_not_read_delays_no_other() {
    let running = running(twin(SCHEDULER, 0.2), &["big:every=2"]);
    let mut reader = Client::connect(running.addr());
    assert_eq!(reader.chat(100).contents(), 100);
    let mut lazy = Client::connect(running.addr());
    lazy.send(&post("/v1/chat/completions", "", &chat(100)));
    assert_eq!(reader.chat(300).contents(), 300);
    // What it did not read in time comes when it reads.
    let late = lazy.response();
    assert_eq!((late.end, late.chunks.len()), (End::Proper, 102));
}

#[test]
fn usage_reports_cached_tokens_unless_disabled() {
    use dyno_engine::{Server, ServerOptions};
    let scheduler = Scheduler { prefix_cache: true, ..SCHEDULER };
    let started = |cache_report, scheduler| {
        let brain = twin(scheduler, 0.1);
        let options = ServerOptions { brain, cache_report, ..ServerOptions::default() };
        Server::bind(options).unwrap().spawn().unwrap()
    };
    // Blocks of four words; the last word of a prompt is always computed.
    let prompt = "one two three four five six seven eight";
    let ask = |running: &dyno_engine::Running, more: &str| {
        let body = format!("{{\"prompt\":\"{prompt}\"{more}}}");
        Client::connect(running.addr()).ask("/v1/completions", &body)
    };
    let running = started(true, scheduler);
    let cached = |value: &serde_json::Value| {
        value["usage"]["prompt_tokens_details"]["cached_tokens"].as_u64()
    };
    assert_eq!(cached(&ask(&running, "").json()), Some(0));
    assert_eq!(cached(&ask(&running, "").json()), Some(4));
    assert_eq!(cached(&ask(&running, ",\"max_tokens\":1").json()), Some(4));
    let streamed = ",\"stream\":true,\"stream_options\":{\"include_usage\":true}";
    let text = ask(&running, streamed).text();
    assert!(text.contains("\"cached_tokens\":4}"), "{text}");
    for silent in [started(false, scheduler), started(true, SCHEDULER)] {
        for _ in 0..2 {
            assert!(ask(&silent, "").json()["usage"]["prompt_tokens_details"].is_null());
        }
    }
}
