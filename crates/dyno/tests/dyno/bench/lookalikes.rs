//! Servers that imitate OpenAI's API, each in its own way: what the preflight makes of their refusals, and
//! what is measured where their usage is wrong.

use crate::bench::engines::{Engine, QUICK};
use crate::bench::place::{Place, codes};
use crate::bench::process::run;
use crate::bench::web::{self, Seen, Web};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const LOAD: &str = "--concurrency 1 --requests 4 --output-tokens 16";

/// A server that checks each generation request first.
fn strict(check: impl Fn(&Value) -> Option<Vec<u8>> + Send + Sync + 'static) -> Web {
    Web::start(move |request: &Seen| match request.is("POST /v1/") {
        true => check(&request.json()).unwrap_or_else(|| web::openai(request)),
        false => web::openai(request),
    })
}

/// The names of the fields that the server refused.
fn refused(place: &Place) -> Vec<String> {
    let refused = place.json("environment.json")["preflight"]["refused"].clone();
    let pairs = refused.as_array().unwrap().iter();
    pairs.map(|pair| pair[0].as_str().unwrap().to_owned()).collect()
}

#[test]
fn several_fields_refused_at_once_are_all_left_out() {
    // As transformers serve does.
    let server = strict(|body| {
        let unknown: Vec<_> = ["ignore_eos", "min_tokens", "stream_options"]
            .into_iter()
            .filter(|field| body.get(field).is_some())
            .map(|field| format!("'{field}'"))
            .collect();
        let detail = format!("Unexpected keys in the request: {{{}}}", unknown.join(", "));
        let body = json!({ "detail": detail }).to_string();
        (!unknown.is_empty()).then(|| web::json("422 Unprocessable Entity", &body))
    });
    let place = Place::new();
    run(place.bench(&server.url(), LOAD)).expect_measured();
    assert_eq!(refused(&place), ["ignore_eos", "stream_options", "min_tokens"]);
    let preflight = server.asked("POST /v1/").len() - server.generations().len();
    // One of them compares token counts.
    assert!(preflight <= 6, "{preflight} test requests");
    for request in server.generations() {
        assert_eq!(request.json().get("stream_options"), None);
    }
}

#[test]
fn a_field_refused_inside_of_a_200_is_left_out() {
    let server = strict(|body| {
        let error =
            "data: {\"error\":{\"message\":\"ignore_eos is not supported\",\"code\":400}}\n\n";
        let refuses = body.get("ignore_eos").is_some();
        refuses.then(|| web::answer("200 OK", "text/event-stream", error))
    });
    let place = Place::new();
    run(place.bench(&server.url(), LOAD)).expect_measured();
    assert_eq!(refused(&place), ["ignore_eos"]);
}

#[test]
fn a_refusal_that_names_nothing_costs_no_field_unless_fields_matter() {
    let count = AtomicU32::new(0);
    let server = strict(move |body| {
        count.fetch_add(1, Ordering::SeqCst);
        let refuses = body.get("min_tokens").is_some() || body.get("ignore_eos").is_some();
        refuses.then(|| web::json("400 Bad Request", "{\"error\":\"bad request\"}"))
    });
    let place = Place::new();
    run(place.bench(&server.url(), LOAD)).expect_measured();
    // In order: `continuous_usage_stats` comes first, and the request is still refused.
    assert_eq!(refused(&place).last().map(String::as_str), Some("min_tokens"));
    assert!(server.generations()[0].json().get("stream_options").is_some());

    let server = strict(|_| {
        let echo = r#"{"detail":[{"loc":["body","model"],"msg":"no such model","input":{"ignore_eos":true}}]}"#;
        Some(web::json("400 Bad Request", echo))
    });
    let place = Place::new();
    run(place.bench(&server.url(), LOAD)).expect_status(&[3]).expect_words(&["no such model"]);
    let asked = server.asked("POST /v1/");
    assert!(asked.len() <= 3, "{} test requests", asked.len());
}

#[test]
fn a_context_too_short_for_the_comparison_does_not_matter() {
    let server = strict(|body| {
        let too_long = body["max_tokens"].as_u64() > Some(20);
        let refusal =
            r#"{"error":{"message":"max_tokens is too large: the context has 32 tokens"}}"#;
        too_long.then(|| web::json("400 Bad Request", refusal))
    });
    let place = Place::new();
    run(place.bench(&server.url(), LOAD)).expect_measured();
    assert_eq!(refused(&place), [""; 0]);
    assert_eq!(place.json("environment.json")["preflight"]["length_forced"], false);
}

#[test]
fn overload_during_the_preflight_is_waited_out() {
    let count = AtomicU32::new(0);
    let busy = |wait: &str| {
        let head = format!("HTTP/1.1 429 Too Many Requests\r\nRetry-After: {wait}\r\n");
        format!("{head}Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{{}}")
            .into_bytes()
    };
    let server = strict(move |_| (count.fetch_add(1, Ordering::SeqCst) < 2).then(|| busy("0")));
    let place = Place::new();
    run(place.bench(&server.url(), LOAD)).expect_measured();
    assert_eq!(refused(&place), [""; 0]);

    let server = strict(move |_| Some(busy("3600")));
    let place = Place::new();
    run(place.bench(&server.url(), LOAD)).expect_status(&[3]).expect_words(&[
        "overloaded",
        "429",
        "3600 s",
    ]);
    assert_eq!(server.asked("POST /v1/").len(), 1);
}

/// The list of models is asked for without the API's own reading of refusals.
#[test]
fn a_list_of_models_is_asked_for_again_when_the_server_says() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let times = Arc::clone(&asked);
    let server = Web::start(move |request: &Seen| match request.is("GET /v1/models") {
        true => {
            let mut times = times.lock().unwrap();
            times.push(Instant::now());
            match times.len() {
                1 => {
                    let head = "HTTP/1.1 529 Overloaded\r\nRetry-After: 2\r\n";
                    format!("{head}Content-Length: 0\r\n\r\n").into_bytes()
                }
                _ => web::openai(request),
            }
        }
        false => web::openai(request),
    });
    let place = Place::new();
    run(place.bench(&server.url(), LOAD)).expect_measured();
    let times = asked.lock().unwrap();
    let waited = times[1] - times[0];
    assert!(waited >= Duration::from_millis(1900), "asked again after {waited:?}");
}

/// A server with a stream of its own for every request.
fn streaming(events: fn() -> Vec<Value>) -> Web {
    Web::start(move |request: &Seen| match request.is("POST /v1/") {
        true => {
            let lines = events().into_iter().map(|event| format!("data: {event}\n\n"));
            let body = format!("{}data: [DONE]\n\n", lines.collect::<String>());
            web::answer("200 OK", "text/event-stream", &body)
        }
        false => web::openai(request),
    })
}

fn word(usage: Value) -> Value {
    json!({ "choices": [{ "delta": { "content": " w" } }], "usage": usage })
}

#[test]
fn usage_of_nothing_beside_text_is_not_believed() {
    // As Ollama's completions.
    let server = streaming(|| {
        let zero = json!({ "prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0 });
        let end = json!({ "choices": [{ "delta": {}, "finish_reason": "stop" }], "usage": zero });
        (0..17).map(|_| word(zero.clone())).chain([end]).collect()
    });
    let place = Place::new();
    let ended = run(place.bench(&server.url(), LOAD)).expect_measured();
    let summary = ended.json();
    let level = &summary["levels"][0];
    assert_eq!(level["output_tokens"]["total"], 4 * 17, "{}", ended.said());
    assert_eq!(level["input_tokens"], Value::Null);
    assert!(codes(&level["notes"]).contains(&"usage_contradicts".to_owned()), "{}", ended.said());
}

/// M1: a server that counts ten times the tokens that were asked for, and 2^39, was valid.
#[test]
fn usage_beyond_the_limit_is_a_finding_of_the_report() {
    for tokens in [160_u64, 1 << 39] {
        let server = Web::start(move |request: &Seen| match request.is("POST /v1/") {
            true => {
                let end = json!({ "choices": [{ "delta": {}, "finish_reason": "length" }] });
                let usage = json!({ "prompt_tokens": 9, "completion_tokens": tokens });
                let last = json!({ "choices": [], "usage": usage });
                let asked = request.json()["max_tokens"].as_u64().unwrap_or(4);
                let events = (0..asked).map(|_| word(Value::Null)).chain([end, last]);
                let lines: String = events.map(|event| format!("data: {event}\n\n")).collect();
                let body = format!("{lines}data: [DONE]\n\n");
                web::answer("200 OK", "text/event-stream", &body)
            }
            false => web::openai(request),
        });
        let place = Place::new();
        let ended = run(place.bench(&server.url(), LOAD)).expect_measured();
        let level = &ended.json()["levels"][0];
        // The events are counted instead.
        assert_eq!(level["output_tokens"]["total"], 4 * 16, "{}", ended.said());
        let notes = codes(&level["notes"]);
        assert!(notes.contains(&"usage_contradicts".to_owned()), "{}", ended.said());
        let text = run(place.dyno("report run --details")).expect_status(&[0]).stdout;
        let text: Vec<&str> = text.split_whitespace().collect();
        let words = "the usage of 4 of 4 responses contradicts them and was not used";
        assert!(text.join(" ").contains(words), "{text:?}");
    }
}

#[test]
fn tokens_without_text_complete_without_a_first_token() {
    let server = streaming(|| {
        let end = json!({ "choices": [{ "delta": { "content": "" }, "finish_reason": "length" }] });
        let usage = json!({ "prompt_tokens": 9, "completion_tokens": 16 });
        vec![end, json!({ "choices": [], "usage": usage })]
    });
    let place = Place::new();
    let ended = run(place.bench(&server.url(), LOAD)).expect_measured();
    let level = &ended.json()["levels"][0];
    assert_eq!(level["requests"]["completed"], 4, "{}", ended.said());
    assert_eq!(level["ttft_ms"], Value::Null);
    assert!(codes(&level["notes"]).contains(&"no_text".to_owned()), "{}", ended.said());
}

#[test]
fn hidden_reasoning_is_output_but_not_between_the_tokens() {
    let server = streaming(|| {
        let end = json!({ "choices": [{ "delta": {}, "finish_reason": "stop" }] });
        let details = json!({ "reasoning_tokens": 90 });
        let usage = json!({ "prompt_tokens": 9, "completion_tokens": 96, "completion_tokens_details": details });
        let last = json!({ "choices": [], "usage": usage });
        (0..6).map(|_| word(Value::Null)).chain([end, last]).collect()
    });
    let place = Place::new();
    let ended = run(place.bench(&server.url(), LOAD)).expect_measured();
    let level = &ended.json()["levels"][0];
    assert_eq!(level["output_tokens"]["total"], 4 * 96, "{}", ended.said());
    // Six tokens came, so there are five gaps in each response.
    assert_eq!(level["itl_ms"]["count"], 4 * 5);
    for record in place.requests() {
        assert_eq!((record.unstreamed, record.streamed_tokens()), (Some(90), Some(6)));
    }
    assert!(codes(&level["notes"]).contains(&"reasoning_hidden".to_owned()), "{}", ended.said());
    let reasoning = json!({ "requests": 4, "mean": 90.0, "share": 0.9375 });
    assert_eq!(level["reasoning_tokens"], reasoning, "{}", ended.said());
    let text = run(place.dyno("report run")).expect_status(&[0]).stdout;
    assert!(text.contains("94 % of the output tokens were reasoning"), "{text}");
}

/// A server that counts, but refuses what `refuses` says.
pub(crate) fn counting(refuses: impl Fn(&Value, u32) -> bool + Send + Sync + 'static) -> Web {
    let calls = AtomicU32::new(0);
    Web::start(move |request: &Seen| match request.is("POST /tokenize") {
        true => {
            let body = request.json();
            if refuses(&body, calls.fetch_add(1, Ordering::SeqCst)) {
                return web::json("400 Bad Request", "{\"detail\":\"Field required: prompt\"}");
            }
            let words = body["prompt"].as_str().unwrap_or("a b").split(' ').count();
            web::json("200 OK", &json!({ "count": words }).to_string())
        }
        false => web::openai(request),
    })
}

#[test]
fn a_tokenizer_that_refuses_messages_counts_their_text() {
    // As SGLang 0.5.4 to 0.5.11.
    let server = counting(|body, _| body.get("messages").is_some());
    let place = Place::new();
    run(place.bench(&server.url(), &format!("{LOAD} --input-tokens 20"))).expect_measured();
    let notes = codes(&place.json("environment.json")["notes"]);
    assert!(notes.contains(&"tokenizer_text_only".to_owned()), "{notes:?}");
    for request in server.generations() {
        let text = request.json()["messages"][0]["content"].as_str().unwrap().to_owned();
        assert_eq!(text.split(' ').count(), 20, "{text}");
    }
}

#[test]
fn a_tokenizer_that_fails_gives_way_to_the_estimate() {
    let server = counting(|_, call| call > 3);
    let place = Place::new();
    run(place.bench(&server.url(), &format!("{LOAD} --input-tokens 20"))).expect_measured();
    let notes = codes(&place.json("environment.json")["notes"]);
    for code in ["tokenizer_failed", "tokenizer_estimate"] {
        assert!(notes.contains(&code.to_owned()), "{notes:?}");
    }
}

#[test]
fn only_the_counts_that_are_missing_are_named() {
    let engine = Engine::start(QUICK, &["no-usage"]);
    let place = Place::new();
    run(place.bench(&engine.url(), "--concurrency 2 --requests 4 --output-tokens 4"))
        .expect_measured();
    let summary = place.json("summary.json").to_string();
    assert!(summary.contains("no token count for the input of 4 requests"), "{summary}");
    assert!(!summary.contains("the output of 0"), "{summary}");
}

/// Gateways count for servers that cannot, each in its own way.
#[test]
fn a_counter_that_is_no_tokenizer_does_not_end_a_run() {
    type Counter = fn(&str) -> Value;
    let counters: [(&str, Counter); 4] = [
        ("tokenizer_estimate", |_| json!({"count": 7})),
        ("tokenizer_estimate", |_| json!({"tokens": []})),
        ("tokenizer_estimate", |_| json!({"count": 0})),
        // It adds up, but no word is a token.
        ("tokenizer_failed", |text| json!({"count": 3 + text.len() / 2})),
    ];
    for (code, count) in counters {
        let server = Web::start(move |request: &Seen| match request.is("POST /tokenize") {
            true => {
                let body = request.json();
                let text = body["prompt"].as_str().or(body["content"].as_str());
                web::json("200 OK", &count(text.unwrap_or("hello")).to_string())
            }
            false => web::openai(request),
        });
        let place = Place::new();
        run(place.bench(&server.url(), &format!("{LOAD} --input-tokens 64"))).expect_measured();
        let notes = codes(&place.json("environment.json")["notes"]);
        assert!(notes.iter().any(|note| note == code), "{code}: {notes:?}");
    }
}

/// Before as few as two requests, too.
#[test]
fn a_prompt_that_is_too_long_is_refused_before_a_tiny_run() {
    let server = strict(|body| {
        let long = body["messages"][0]["content"].as_str().is_some_and(|text| text.len() > 4000);
        let refusal =
            r#"{"error":{"message":"This model's maximum context length is 512 tokens"}}"#;
        long.then(|| web::json("400 Bad Request", refusal))
    });
    let args = "--concurrency 1 --requests 2 --output-tokens 4 --input-tokens 9000";
    let ended = run(Place::new().bench(&server.url(), args));
    ended.expect_status(&[3]).expect_words(&["as too long", "lower --input-tokens"]);
    assert!(server.generations().is_empty());
}

#[test]
fn what_is_wrong_with_a_model_or_a_key_is_named() {
    let server = Web::start(|request: &Seen| match request.is("POST ") {
        true => web::json("404 Not Found", r#"{"error":"The model `x` does not exist."}"#),
        false => web::openai(request),
    });
    let ended = run(Place::new().bench(&server.url(), &format!("{LOAD} --model x")));
    ended.expect_status(&[3]).expect_words(&["`x` is not among the models", "`small`"]);
    let locked = Web::start(|_: &Seen| web::json("401 Unauthorized", r#"{"error":"bad key"}"#));
    for args in [format!("{LOAD} --model x"), LOAD.to_owned()] {
        let place = Place::new();
        let mut bench = place.bench(&locked.url(), &args);
        bench.env("DYNO_API_KEY", "sk-wrong-key");
        run(bench).expect_status(&[3]).expect_words(&["refuses the key that was given"]);
        let ended = run(Place::new().bench(&locked.url(), &args));
        ended.expect_status(&[3]).expect_words(&["pass a key with --api-key-file"]);
    }
}

/// As Python's `http.server` does.
#[test]
fn the_page_of_an_error_is_not_printed() {
    let server = Web::start(|request: &Seen| match request.is("POST ") {
        true => {
            let page = "<!DOCTYPE HTML>\n<html><head><title>Error response</title></head></html>";
            web::answer("501 Unsupported method", "text/html;charset=utf-8", page)
        }
        false => web::openai(request),
    });
    let ended = run(Place::new().bench(&server.url(), LOAD));
    let ended = ended.expect_status(&[3]).expect_words(&["a web page titled `Error response`"]);
    assert!(!ended.stderr.contains("<html>"), "{}", ended.said());
}
