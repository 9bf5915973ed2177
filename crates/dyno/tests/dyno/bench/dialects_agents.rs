//! The APIs that agents speak, Anthropic Messages and OpenAI Responses: against the engine, which
//! answers in both, and against small servers where the engine is too well-behaved.

use crate::bench::engines::{Engine, EngineProcess, QUICK};
use crate::bench::place::{Place, codes};
use crate::bench::process::run;
use crate::bench::web::{self, Seen, Web};
use serde_json::{Value, json};

const LOAD: &str = "--concurrency 2 --requests 8 --input-tokens 24 --output-tokens 16";
const BOTH: [&str; 2] = ["anthropic-messages", "openai-responses"];

/// The only level of a run over an API.
#[track_caller]
fn level(place: &Place, url: &str, args: &str) -> Value {
    run(place.bench(url, args)).expect_measured();
    place.json("summary.json")["levels"][0].clone()
}

#[test]
fn both_are_measured_streamed_and_whole() {
    let engine = Engine::start(&QUICK.replace("tokens=16", "tokens=64"), &[]);
    for (api, finish) in BOTH.into_iter().zip(["max_tokens", "max_output_tokens"]) {
        for more in ["", "--no-stream"] {
            let place = Place::new();
            let level = level(&place, &engine.url(), &format!("--api {api} {LOAD} {more}"));
            assert_eq!(level["requests"]["completed"], 8, "{api} {more}");
            assert_eq!(level["output_tokens"]["total"], 128, "{api} {more}");
            let sources = json!({"input": "usage", "output": "usage"});
            assert_eq!(level["token_source"], sources, "{api} {more}");
            for record in place.requests() {
                assert_eq!(record.finish_reason.as_deref(), Some(finish), "{api} {more}");
                assert_eq!(record.streamed, more.is_empty(), "{api} {more}");
                // Events that only announce something are no tokens.
                let chunks = if more.is_empty() { 16 } else { 0 };
                assert_eq!(record.chunks.len(), chunks, "{api} {more}");
            }
            assert_eq!(place.json("summary.json")["run"]["api"], api);
        }
    }
}

#[test]
fn a_path_alone_says_which_api_it_is() {
    let engine = Engine::start(QUICK, &[]);
    for (api, path) in BOTH.into_iter().zip(["/v1/messages", "/v1/responses"]) {
        let place = Place::new();
        level(&place, &format!("{}{path}", engine.url()), LOAD);
        assert_eq!(place.json("summary.json")["run"]["api"], api);
    }
}

#[test]
fn a_length_that_cannot_be_fixed_is_reported_beside_the_requested_one() {
    let engine = Engine::start(QUICK, &[]);
    let place = Place::new();
    let args = LOAD.replace("--output-tokens 16", "--output-tokens 64");
    let messages = level(&place, &engine.url(), &format!("--api anthropic-messages {args}"));
    let lengths = json!({
        "requested_mean": 64.0, "received_mean": 16.0, "reached_share": 0.0, "fixed": false
    });
    assert_eq!(messages["output_lengths"], lengths);
    assert_eq!(place.json("environment.json")["preflight"]["length_field"], Value::Null);
    assert!(codes(&messages["notes"]).contains(&"output_length".to_owned()), "{messages}");
    let report = |more: &str| run(place.dyno(&format!("report run {more}"))).stdout;
    let text = report("");
    let beside =
        "output lengths: 64.0 tokens requested, 16.0 received on average; 0 % of the responses";
    let one_line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(one_line.contains(beside), "{text}");
    assert!(text.contains("# depends on the output length"), "{text}");
    let chinese = report("--lang zh");
    assert!(chinese.contains("输出长度") && chinese.contains("# 与输出长度有关"), "{chinese}");
    run(place.dyno("report run --format html --out page.html")).expect_status(&[0]);
    let page = std::fs::read_to_string(place.path().join("page.html")).unwrap();
    assert!(page.contains("Output lengths") && page.contains("Requested tokens, mean"));
    // Responses has a field for it, which the engine obeys.
    let place = Place::new();
    let responses = level(&place, &engine.url(), &format!("--api openai-responses {args}"));
    assert_eq!(responses["output_lengths"], Value::Null);
    assert_eq!(responses["output_tokens"]["mean"], 64.0);
    assert_eq!(place.json("environment.json")["preflight"]["length_field"], "ignore_eos");
}

#[test]
fn thinking_is_output_and_cached_tokens_are_input() {
    let place = Place::new();
    let twin = place.file("cached.toml", crate::bench::cache::TWIN);
    let engine = EngineProcess::with(&place, &format!("--twin {twin}"));
    let thinking = Engine::start(QUICK, &["reasoning:rate=1"]);
    for api in BOTH {
        let place = Place::new();
        let thought = level(&place, &thinking.url(), &format!("--api {api} {LOAD} --save-text"));
        assert_eq!(thought["requests"]["completed"], 8, "{api}");
        assert!(place.requests().iter().all(|record| record.chunks.len() == 16), "{api}");
        // The same prompts again: the second run finds what the first left in the cache.
        let args = format!("--api {api} --concurrency 1 --requests 4 --input-tokens 256 --seed 7");
        let place = Place::new();
        level(&place, &engine.url(), &format!("{args} --output-tokens 4"));
        let again = Place::new();
        level(&again, &engine.url(), &format!("{args} --output-tokens 4"));
        let inputs = |place: &Place| -> Vec<u64> {
            let counts = place.requests().into_iter().map(|r| r.input.unwrap().tokens);
            counts.collect()
        };
        assert_eq!(inputs(&place), inputs(&again), "{api}: cached tokens are part of the input");
        let cached: u64 = again.requests().iter().map(|r| r.cached.unwrap()).sum();
        assert!(cached >= 4 * 192, "{api}: {cached}");
    }
}

#[test]
fn failures_are_of_their_class_and_in_the_words_of_the_server() {
    for api in BOTH {
        for (fault, class, words) in [
            ("error-event", "stream.error", "died in the middle of this response"),
            ("json-error", "stream.error", "its front end did not notice"),
            ("not-json", "stream.malformed", "oops"),
            ("truncate", "stream.truncated", "terminal event"),
            ("truncate-event", "stream.truncated", "in the middle of an event"),
            ("empty", "stream.empty", ""),
            ("http-500", "http.500", "told to refuse"),
        ] {
            let engine = Engine::start(QUICK, &[&format!("{fault}:every=4")]);
            let place = Place::new();
            let args = format!("--api {api} {LOAD} --allow-failures 50%");
            let level = level(&place, &engine.url(), &args);
            let counts = &level["requests"];
            assert_eq!(counts["completed"], 6, "{api} {fault}: {level}");
            assert_eq!(counts["failures"], json!({ class: 2 }), "{api} {fault}");
            let samples = level["failure_samples"][class].to_string();
            assert!(samples.contains(words), "{api} {fault}: {samples}");
        }
    }
}

/// Answers what is no generation: only the list of models is there.
fn aside(request: &Seen) -> Option<Vec<u8>> {
    match request {
        _ if is_generation(request) => None,
        _ if request.is("GET /v1/models") => Some(web::models(&["small"])),
        _ => Some(web::json("404 Not Found", "{}")),
    }
}

fn is_generation(request: &Seen) -> bool {
    request.is("POST /v1/messages ") || request.is("POST /v1/responses ")
}

/// The requests that were measured.
fn measured(server: &Web) -> Vec<Seen> {
    server.generations().into_iter().filter(is_generation).collect()
}

fn event(data: &Value) -> String {
    format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap())
}

fn stream(events: &[Value]) -> Vec<u8> {
    web::answer("200 OK", "text/event-stream", &events.iter().map(event).collect::<String>())
}

/// A message of as many words as were asked for.
fn message(asked: u64) -> Vec<u8> {
    let delta = json!({"type": "text_delta", "text": "word "});
    let usage = json!({"input_tokens": 9, "output_tokens": 1});
    let mut events = vec![json!({"type": "message_start", "message": {"usage": usage}})];
    events.extend((0..asked).map(|_| json!({"type": "content_block_delta", "delta": delta})));
    events.push(json!({
        "type": "message_delta", "delta": {"stop_reason": "max_tokens"},
        "usage": {"output_tokens": asked}
    }));
    events.push(json!({"type": "message_stop"}));
    stream(&events)
}

/// A response with these deltas, each with its number.
fn response(numbers: &[u64], end: u64, tokens: u64, status: &str) -> Vec<u8> {
    let mut events =
        vec![json!({"type": "response.created", "sequence_number": 0, "response": {}})];
    events.extend(numbers.iter().map(|number| {
        json!({"type": "response.output_text.delta", "sequence_number": number, "delta": "word "})
    }));
    let response = json!({
        "status": status, "incomplete_details": {"reason": "max_output_tokens"},
        "output": [], "usage": {"input_tokens": 9, "output_tokens": tokens}
    });
    events
        .push(json!({"type": "response.completed", "sequence_number": end, "response": response}));
    stream(&events)
}

/// A response of so many tokens, with nothing missing.
fn counted(tokens: u64, status: &str) -> Vec<u8> {
    response(&(1..=tokens).collect::<Vec<_>>(), tokens + 1, tokens, status)
}

#[test]
fn messages_are_sent_with_both_kinds_of_key_and_the_version() {
    let server = Web::start(|request| {
        aside(request).unwrap_or_else(|| message(request.json()["max_tokens"].as_u64().unwrap()))
    });
    let place = Place::new();
    let mut command = place.bench(&server.url(), &format!("--api anthropic-messages {LOAD}"));
    command.env("DYNO_API_KEY", "sesame");
    run(command).expect_measured();
    assert_eq!(measured(&server).len(), 8);
    for request in measured(&server) {
        assert_eq!(request.header("x-api-key"), Some("sesame"));
        assert_eq!(request.header("authorization"), Some("Bearer sesame"));
        assert_eq!(request.header("anthropic-version"), Some("2023-06-01"));
        let sent = request.json();
        let mut fields: Vec<&str> = sent.as_object().unwrap().keys().map(String::as_str).collect();
        fields.sort_unstable();
        assert_eq!(fields, ["max_tokens", "messages", "model", "stream"]);
    }
    let files = place.files();
    assert!(!files.iter().any(|(_, bytes)| crate::bench::place::holds(bytes, "sesame")));
}

#[test]
fn conversations_have_what_the_system_says_beside_their_messages() {
    let talk = r#"{"messages": [{"role": "system", "content": "be brief"},
        {"role": "user", "content": "one"}, {"role": "assistant", "content": "x"},
        {"role": "user", "content": "two"}]}"#;
    let said = |role: &str, text: &str| json!({"role": role, "content": text});
    // Responses want to know that it was output.
    let output = json!([{"type": "output_text", "text": "word word "}]);
    let output = json!({"type": "message", "role": "assistant", "content": output});
    for (api, system, field, reply) in [
        (BOTH[0], "system", "messages", said("assistant", "word word ")),
        (BOTH[1], "instructions", "input", output),
    ] {
        let turns = [
            json!([said("user", "one")]),
            json!([said("user", "one"), reply, said("user", "two")]),
        ];
        let server = Web::start(move |request| {
            aside(request).unwrap_or_else(|| match request.json()["max_tokens"].as_u64() {
                Some(asked) => message(asked),
                None => {
                    let asked = request.json()["max_output_tokens"].as_u64().unwrap();
                    counted(asked, "incomplete")
                }
            })
        });
        let place = Place::new();
        let file = place.file("talk.jsonl", &talk.replace('\n', " "));
        let load = "--concurrency 1 --requests 2 --output-tokens 2";
        let args = format!("--api {api} --data session:{file} {load}");
        level(&place, &server.url(), &args);
        let sent: Vec<Value> = measured(&server).iter().map(Seen::json).collect();
        assert_eq!(sent.len(), 2, "{api}");
        for (request, turn) in sent.iter().zip(&turns) {
            assert_eq!(request[system], "be brief", "{api}");
            assert_eq!(request[field], *turn, "{api}");
        }
        if api == BOTH[1] {
            assert_eq!(sent[0]["store"], false);
        }
    }
}

#[test]
fn two_tokens_less_are_a_note_and_three_are_a_limit_of_the_server() {
    for (fewer, code) in [(2, "output_fewer"), (3, "output_capped")] {
        let server = Web::start(move |request| {
            aside(request).unwrap_or_else(|| {
                let asked = request.json()["max_output_tokens"].as_u64().unwrap();
                let aside = request.header("x-dyno-preflight").is_some();
                match request.json()["ignore_eos"] == true {
                    true if aside => counted(asked, "incomplete"),
                    true => counted(asked - fewer, "incomplete"),
                    // By itself, the model has little to say.
                    false => counted(asked.min(3), "completed"),
                }
            })
        });
        let place = Place::new();
        let args = format!("--api openai-responses {LOAD} --allow-failures 100%");
        run(place.bench(&server.url(), &args)).expect_status(&[0, 4, 5]);
        let level = &place.json("summary.json")["levels"][0];
        assert_eq!(level["requests"]["failed"], 0, "{level}");
        let mut said = codes(&level["notes"]);
        said.extend(codes(&level["reasons"]));
        let of_length: Vec<_> = said.iter().filter(|code| code.starts_with("output_")).collect();
        assert_eq!(of_length, [code], "{level}");
    }
}

#[test]
fn events_that_never_arrived_are_noted_and_numbers_that_run_back_say_nothing() {
    let server = Web::start(|request| {
        aside(request).unwrap_or_else(|| match request.header("x-dyno-preflight") {
            Some(_) => counted(request.json()["max_output_tokens"].as_u64().unwrap(), "incomplete"),
            None => response(&(1..=12).chain(15..=16).collect::<Vec<_>>(), 17, 16, "incomplete"),
        })
    });
    let place = Place::new();
    let lost = level(&place, &server.url(), &format!("--api openai-responses {LOAD}"));
    assert_eq!(lost["requests"]["completed"], 8, "{lost}");
    let notes = lost["notes"].as_array().unwrap();
    let noted = notes.iter().find(|note| note["code"] == "events_lost").unwrap();
    assert!(noted["what"].as_str().unwrap().starts_with("16 events of 8 of 8 streams"), "{noted}");
    let server = Web::start(|request| {
        aside(request).unwrap_or_else(|| match request.header("x-dyno-preflight") {
            Some(_) => counted(request.json()["max_output_tokens"].as_u64().unwrap(), "incomplete"),
            None => response(&[1, 2, 2, 3], 4, 16, "incomplete"),
        })
    });
    let place = Place::new();
    let level = level(&place, &server.url(), &format!("--api openai-responses {LOAD}"));
    assert_eq!(level["requests"]["completed"], 8, "{level}");
    assert!(!codes(&level["notes"]).contains(&"events_lost".to_owned()), "{level}");
}

#[test]
fn an_overload_inside_of_a_stream_is_told_apart_from_an_error() {
    let error =
        |kind: &str| json!({"type": "error", "error": {"type": kind, "message": "No room"}});
    let server = Web::start(move |request| {
        let kind = if request.head.contains("overload") { "overloaded_error" } else { "api_error" };
        aside(request).unwrap_or_else(|| match request.header("x-dyno-preflight") {
            Some(_) => message(16),
            None => stream(&[error(kind)]),
        })
    });
    for (more, is_shed) in [("--header X-Kind:overload", true), ("--header X-Kind:other", false)] {
        let place = Place::new();
        let args = format!("--api anthropic-messages {LOAD} {more}");
        run(place.bench(&server.url(), &args)).expect_status(&[4, 5]);
        let outcomes: Vec<String> =
            place.requests().iter().map(|record| format!("{:?}", record.outcome)).collect();
        let wanted = if is_shed { "Shed(StreamError)" } else { "Failed(StreamError)" };
        assert_eq!(outcomes, vec![wanted; 8]);
    }
}
