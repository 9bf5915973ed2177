//! The metrics of an engine with continuous batching, under vLLM's names.

use crate::support::{Client, SCHEDULER, chat, metric, post, running, twin, vllm, wait_for};
use dyno_engine::core::{Core, Cost, Scheduler};
use dyno_engine::{LiveEvent, LiveLog, TwinBrain, prompt_of};

#[test]
fn tokens_times_and_reasons_are_counted() {
    let running = running(twin(SCHEDULER, 5.0), &[]);
    let addr = running.addr();
    let mut client = Client::connect(addr);
    client.chat(5);
    client.chat(1);
    client.ask("/v1/completions", "{\"prompt\":\"a b\"}");
    let mut gone = Client::connect(addr);
    gone.send(&post("/v1/chat/completions", "", &chat(900)));
    wait_for("running", 1.0, || vllm(addr, "num_requests_running"));
    drop(gone);
    wait_for("running", 0.0, || vllm(addr, "num_requests_running"));

    let finished = |reason: &str| {
        let labels =
            format!("engine=\"0\",model_name=\"dyno-scripted\",finished_reason=\"{reason}\"");
        metric(addr, &format!("vllm:request_success_total{{{labels}}}"))
    };
    assert_eq!((finished("length"), finished("stop"), finished("abort")), (2.0, 1.0, 1.0));
    // The one that left may have got some.
    let firsts = vllm(addr, "time_to_first_token_seconds_count");
    assert!(firsts == 3.0 || firsts == 4.0);
    assert_eq!(vllm(addr, "prompt_tokens_total"), 8.0 + 3.0 * (firsts - 3.0));
    let gaps = vllm(addr, "inter_token_latency_seconds_count");
    assert_eq!(vllm(addr, "generation_tokens_total"), gaps + firsts);
    assert!(gaps >= 4.0 + 7.0);
    assert_eq!(vllm(addr, "e2e_request_latency_seconds_count"), 3.0);
    // A step takes exactly 5 ms by the engine's own clock, whatever the machine does.
    let mean = vllm(addr, "inter_token_latency_seconds_sum") / gaps;
    assert!((mean - 0.005).abs() < 1e-6, "{mean}");
    assert_eq!(vllm(addr, "time_per_output_token_seconds_count"), gaps);
    assert!(vllm(addr, "e2e_request_latency_seconds_sum") >= 0.07 - 1e-9);
    assert_eq!(vllm(addr, "num_preemptions_total"), 0.0);
    assert_eq!(metric(addr, "dyno_engine_info{twin=\"a-twin\"}"), 1.0);
    assert!(metric(addr, "dyno_engine_step_first_write_slip_seconds_count") >= 3.0);
    assert!(metric(addr, "dyno_engine_step_last_write_slip_seconds_sum") > 0.0);
}

#[test]
fn time_to_first_token_includes_the_wait() {
    let one = Scheduler { max_seqs: 1, ..SCHEDULER };
    let core = Core::new(one, Cost { base: 0.002, ..Cost::default() }, 1).unwrap();
    let log = LiveLog::default();
    let brain = TwinBrain::new("x", core, 1_000, 8).with_log(log.clone());
    let running = running(brain.into(), &[]);
    let mut first = Client::connect(running.addr());
    first.send(&post("/v1/chat/completions", "", &chat(100)));
    wait_for("running", 1.0, || vllm(running.addr(), "num_requests_running"));
    Client::connect(running.addr()).chat(1);
    assert_eq!(first.response().contents(), 100);

    let (mut arrived, mut there) = (Vec::new(), Vec::new());
    for event in log.take() {
        match event {
            LiveEvent::Arrived { at, .. } => arrived.push(at),
            LiveEvent::Stepped(step) if step.prefills > 0 => there.push(step.end),
            _ => {}
        }
    }
    assert_eq!((arrived.len(), there.len()), (2, 2));
    let expected: Vec<_> = there.iter().zip(&arrived).map(|(there, at)| there - at).collect();
    assert!(there[1] - there[0] == 200_000_000, "the second waits for all 100 steps of the first");
    let told = vllm(running.addr(), "time_to_first_token_seconds_sum");
    assert!((told - expected.iter().sum::<u64>() as f64 / 1e9).abs() < 1e-9, "{told} {expected:?}");
}

#[test]
fn a_small_cache_causes_preemptions_and_all_requests_are_served() {
    let small = Scheduler { kv_blocks: 20, ..SCHEDULER };
    let running = running(twin(small, 0.5), &[]);
    let mut clients: Vec<_> = (0..4).map(|_| Client::connect(running.addr())).collect();
    for client in &mut clients {
        client.send(&post("/v1/chat/completions", "", &chat(60)));
    }
    for client in &mut clients {
        assert_eq!(client.response().contents(), 60);
    }
    assert!(vllm(running.addr(), "num_preemptions_total") >= 1.0);
    assert_eq!(vllm(running.addr(), "kv_cache_usage_perc"), 0.0);
}

#[test]
fn common_prefixes_are_found_in_the_prefix_cache_until_it_is_cleared() {
    let running = running(twin(Scheduler { prefix_cache: true, ..SCHEDULER }, 0.5), &[]);
    let addr = running.addr();
    let mut client = Client::connect(addr);
    let ask = |words: &str| {
        format!("{{\"messages\":[{{\"role\":\"user\",\"content\":\"{words}\"}}],\"max_tokens\":1}}")
    };
    let body = ask("a b c d e f g h i");
    let prompt = prompt_of(body.as_bytes(), true, SCHEDULER.block).unwrap();
    assert_eq!((prompt.tokens, prompt.hashes.len()), (9, 2));
    let mut hits_of = |body: &str| {
        let before = vllm(addr, "prefix_cache_hits_total");
        assert_eq!(client.ask("/v1/chat/completions", body).status, 200);
        vllm(addr, "prefix_cache_hits_total") - before
    };
    assert_eq!(hits_of(&body), 0.0);
    assert_eq!(hits_of(&body), 8.0);
    assert_eq!(hits_of(&ask("a b c d x")), 4.0);
    assert_eq!(hits_of(&ask("x b c d e f")), 0.0);
    assert_eq!(vllm(addr, "prefix_cache_queries_total"), 9.0 + 9.0 + 5.0 + 6.0);
    let cleared = Client::connect(addr).ask("/reset_prefix_cache", "");
    assert_eq!((cleared.status, cleared.body.len()), (200, 0));
    assert_eq!(hits_of(&body), 0.0);
    assert_eq!(Client::connect(addr).get("/reset_prefix_cache").status, 405);
}
