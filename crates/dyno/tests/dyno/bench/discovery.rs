//! `--api auto`: what a server says about itself decides, the plan has what was found, and a note says
//! why. An API that a server does not have is named, with what it has instead.

use crate::bench::engines::{Engine, QUICK};
use crate::bench::place::{Place, codes};
use crate::bench::process::run;
use crate::bench::web::{self, Seen, Web};
use serde_json::{Value, json};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

const LOAD: &str = "--concurrency 2 --requests 4 --output-tokens 4";

/// The API in the plan of a run with `--api auto`, and the note that says why.
#[track_caller]
fn found(url: &str, more: &str) -> (Value, String) {
    let place = Place::new();
    let ended = run(place.bench(url, &format!("--api auto {LOAD} {more}"))).expect_measured();
    let notes = &place.json("environment.json")["notes"];
    let about = notes
        .as_array()
        .unwrap()
        .iter()
        .find(|note| note["code"].as_str().is_some_and(|code| code.starts_with("api_")));
    let note = about.unwrap_or_else(|| panic!("{}", ended.said()));
    (place.json("plan.json")["target"]["api"].clone(), note["what"].as_str().unwrap().to_owned())
}

fn ollama(request: &Seen) -> Vec<u8> {
    if request.is("GET / ") {
        return web::answer("200 OK", "text/plain; charset=utf-8", "Ollama is running");
    }
    if request.is("GET /api/version") {
        return web::json("200 OK", r#"{"version":"0.33.0"}"#);
    }
    if request.is("GET /api/tags") {
        return web::json("200 OK", r#"{"models":[{"name":"tide:1b","model":"tide:1b"}]}"#);
    }
    if request.is("POST /api/chat") {
        let words = [
            "{\"model\":\"tide:1b\",\"message\":{\"role\":\"assistant\",\"content\":\"hi\"},\"done\":false}",
            "{\"model\":\"tide:1b\",\"message\":{\"role\":\"assistant\",\"content\":\"\"},\"done\":true,\
             \"done_reason\":\"stop\",\"prompt_eval_count\":9,\"eval_count\":1}",
        ];
        let body = words.map(|line| format!("{line}\n")).concat();
        return web::answer("200 OK", "application/x-ndjson", &body);
    }
    web::json("404 Not Found", r#"{"error":"not found"}"#)
}

#[test]
fn a_server_with_an_api_of_its_own_is_measured_by_that() {
    let server = Web::start(ollama);
    let (api, why) = found(&server.url(), "");
    assert_eq!(api, "ollama-chat");
    assert!(why.contains("Ollama"), "{why}");
}

#[test]
fn what_a_server_lists_decides() {
    let listing = |paths: Value| {
        move |request: &Seen| match request.is("GET /openapi.json") {
            true => web::json("200 OK", &json!({"paths": paths}).to_string()),
            false if request.is("POST ") || request.is("GET /v1/models") => web::openai(request),
            false => web::json("404 Not Found", r#"{"detail":"Not Found"}"#),
        }
    };
    let server = Web::start(listing(json!({"/v1/completions": {}})));
    let (api, why) = found(&server.url(), "");
    assert_eq!(api, "openai-completions");
    assert!(why.contains("/openapi.json lists /v1/completions"), "{why}");
    let server = Web::start(listing(json!({"/v1/completions": {}, "/v1/chat/completions": {}})));
    assert_eq!(found(&server.url(), "").0, "openai-chat");
}

/// vLLM takes seconds to make its list of paths, the first time, and does nothing else meanwhile.
#[test]
fn a_path_that_takes_another_method_decides_before_the_list_is_asked_for() {
    let server = Web::start(|request| match request.is("GET /v1/completions") {
        true => web::json("405 Method Not Allowed", r#"{"detail":"Method Not Allowed"}"#),
        false if request.is("POST ") || request.is("GET /v1/models") => web::openai(request),
        false => web::json("404 Not Found", r#"{"detail":"Not Found"}"#),
    });
    let (api, why) = found(&server.url(), "");
    assert_eq!(api, "openai-completions");
    assert!(why.contains("/v1/completions is there"), "{why}");
    assert!(server.asked("GET /openapi.json").is_empty());
}

#[test]
fn chat_is_taken_where_nothing_tells() {
    let server = Web::start(|request| match request.is("POST ") {
        true => web::openai(request),
        false => web::json("404 Not Found", "{}"),
    });
    let (api, why) = found(&server.url(), "--model any");
    assert_eq!(api, "openai-chat");
    assert!(why.contains("nothing tells") && why.contains("/openapi.json 404"), "{why}");
    let models_only = Web::start(web::openai);
    assert_eq!(found(&models_only.url(), "").0, "openai-chat");
    let engine = Engine::start(QUICK, &[]);
    assert_eq!(found(&engine.url(), "").0, "openai-chat");
}

#[test]
fn a_full_path_needs_no_asking() {
    let server = Web::start(web::openai);
    let place = Place::new();
    let url = format!("{}/v1/completions", server.url());
    run(place.bench(&url, &format!("--api auto {LOAD}"))).expect_measured();
    assert_eq!(place.json("plan.json")["target"]["api"], "openai-completions");
    assert!(server.asked("GET /openapi.json").is_empty());
    assert!(!codes(&place.json("environment.json")["notes"]).contains(&"api_found".to_owned()));
}

#[test]
fn an_api_that_the_server_does_not_have_is_named_with_what_it_has() {
    let server = Web::start(|request| match request.is("POST /v1/chat") || request.is("GET /v1") {
        true => web::openai(request),
        false => web::json("404 Not Found", r#"{"detail":"Not Found"}"#),
    });
    let place = Place::new();
    let ended = run(place.bench(&server.url(), &format!("--api sglang-generate {LOAD}")));
    // A list of models alone proves nothing, but a request does.
    let words = ["/generate, the path of sglang-generate", "404", "use --api openai-chat"];
    ended.expect_status(&[3]).expect_words(&words);
    // Its models are elsewhere, too.
    let ended = run(place.bench(&server.url(), &format!("--api ollama-chat {LOAD}")));
    let words = ["/api/chat, the path of ollama-chat", "404", "use --api openai-chat"];
    ended.expect_status(&[3]).expect_words(&words);
    let nothing = Web::start(|_| web::json("404 Not Found", r#"{"detail":"Not Found"}"#));
    let args = format!("--api sglang-generate --model any {LOAD}");
    let words = ["nothing tells which API it has", "/openapi.json 404", "--api takes openai-chat"];
    run(place.bench(&nothing.url(), &args)).expect_status(&[3]).expect_words(&words);
}

/// As Text Embeddings Inference is without a list of models.
fn tei(request: &Seen) -> Vec<u8> {
    if request.is("GET /info") {
        return web::json("200 OK", r#"{"model_id":"bge","model_type":{"embedding":{}}}"#);
    }
    if request.is("POST /v1/embeddings") {
        let usage = json!({"prompt_tokens": 3, "total_tokens": 3});
        let vector = json!({"index": 0, "embedding": [0.5, 0.5]});
        return web::json("200 OK", &json!({"data": [vector], "usage": usage}).to_string());
    }
    web::answer("404 Not Found", "text/plain", "")
}

#[test]
fn a_server_that_embeds_is_named_and_says_its_model() {
    let server = Web::start(tei);
    let place = Place::new();
    let ended = run(place.bench(&server.url(), LOAD));
    let ended = ended.expect_status(&[3]).expect_words(&["use --api openai-embeddings", "404)"]);
    assert!(!ended.stderr.contains("404:"), "{}", ended.said());
    let args = "--api openai-embeddings --concurrency 2 --requests 4";
    run(place.bench(&server.url(), args)).expect_measured();
    assert_eq!(place.json("environment.json")["preflight"]["model"], "bge");
}

#[test]
fn a_server_that_embeds_and_ranks_is_told_of_both() {
    let paths = json!({"/v1/rerank": {}, "/v1/embeddings": {}});
    let listing = Web::start(move |request| match request.is("GET /openapi.json") {
        true => web::json("200 OK", &json!({"paths": paths}).to_string()),
        false => web::json("404 Not Found", "{}"),
    });
    let refusing = Web::start(|request| {
        match request.is("GET /v1/embeddings") || request.is("GET /v1/rerank") {
            true => web::json("405 Method Not Allowed", "{}"),
            false => web::json("404 Not Found", "{}"),
        }
    });
    for server in [listing, refusing] {
        let place = Place::new();
        let words = ["--api openai-embeddings | rerank"];
        run(place.bench(&server.url(), LOAD)).expect_status(&[3]).expect_words(&words);
        let args = format!("--api auto {LOAD}");
        run(place.bench(&server.url(), &args)).expect_status(&[2]).expect_words(&words);
    }
}

#[test]
fn a_path_that_is_no_api_is_named() {
    let server = Web::start(|_| web::json("404 Not Found", "{}"));
    let url = format!("{}/v1/foo", server.url());
    let words =
        ["check the path of the target", "`/v1/foo` is the path of no API", "; try http://"];
    let ended = run(Place::new().bench(&url, LOAD)).expect_status(&[3]).expect_words(&words);
    assert!(ended.stderr.contains(&format!("try {}, or", server.url())), "{}", ended.said());
}

#[test]
fn a_path_that_two_apis_have_is_explained() {
    let server = Web::start(|request| match request.is("POST /rerank") {
        true => web::json("400 Bad Request", r#"{"error":"Field required: documents"}"#),
        false => web::json("404 Not Found", "{}"),
    });
    let url = format!("{}/rerank", server.url());
    let ended = run(Place::new().bench(&url, "--concurrency 2 --requests 4"));
    let words = ["Field required: documents", "try --api rerank with http", "name a --model"];
    ended.expect_status(&[3]).expect_words(&words);
    let ended = run(Place::new().bench(&url, "--concurrency 2 --requests 4 --model any"));
    let words = ["Field required: documents", "--api rerank", "is refused, too"];
    ended.expect_status(&[3]).expect_words(&words);
}

/// As Infinity is: the API `rerank` at the path that Text Embeddings Inference has for its own, and no
/// prefix.
fn infinity(request: &Seen) -> Vec<u8> {
    if request.is("GET /models ") {
        return web::models(&["bge"]);
    }
    if request.is("GET /rerank ") {
        return web::json("405 Method Not Allowed", r#"{"detail":"Method Not Allowed"}"#);
    }
    if !request.is("POST /rerank ") {
        return web::json("404 Not Found", r#"{"detail":"Not Found"}"#);
    }
    match request.json()["documents"].as_array() {
        Some(documents) => {
            let scored = |index: usize| json!({"index": index, "relevance_score": 0.5});
            let results: Vec<Value> = (0..documents.len()).map(scored).collect();
            let usage = json!({"prompt_tokens": 9, "total_tokens": 9});
            web::json("200 OK", &json!({"results": results, "usage": usage}).to_string())
        }
        None => web::json("422 Unprocessable Entity", r#"{"detail":"Field required: documents"}"#),
    }
}

#[test]
fn hints_for_a_reranker_do_not_lead_in_a_circle() {
    let (server, load) = (Web::start(infinity), "--concurrency 2 --requests 4");
    let named = format!("use --api rerank with {}/rerank as the target", server.url());
    for api in ["rerank", "tei-rerank"] {
        let ended = run(Place::new().bench(&server.url(), &format!("--api {api} {load}")));
        ended.expect_status(&[3]).expect_words(&[&named]);
    }
    let url = format!("{}/rerank", server.url());
    let ended = run(Place::new().bench(&url, load));
    ended.expect_status(&[3]).expect_words(&[&named]);
    run(Place::new().bench(&url, &format!("--api rerank {load}"))).expect_measured();
}

#[test]
fn triton_is_named() {
    let server = Web::start(|request| match request {
        _ if request.is("GET /v2 ") => web::json("200 OK", r#"{"name":"triton","version":"2.60"}"#),
        _ if request.is("POST /v2/models/") => {
            web::json("400 Bad Request", r#"{"error":"unexpected input"}"#)
        }
        _ => web::json("404 Not Found", "{}"),
    });
    for path in ["", "/v2/models/llama/generate"] {
        let url = format!("{}{path}", server.url());
        let ended = run(Place::new().bench(&url, &format!("--model llama {LOAD}")));
        let ended =
            ended.expect_status(&[3]).expect_words(&["Triton Inference Server", "frontend"]);
        assert!(!ended.stderr.contains("ollama"), "{}", ended.said());
    }
}

/// What a server has seen that is asked which APIs it has.
#[derive(Default)]
struct Asked {
    /// The first question, and the first request after the last one.
    first: Option<Instant>,
    used: Option<Instant>,
    questions: usize,
}

/// A server that responds to the first question, which is for its models, and does this before it responds
/// to a further one. What a run needs is there at once.
fn asked_about(further: impl Fn() + Send + Sync + 'static) -> (Web, Arc<Mutex<Asked>>) {
    let asked = Arc::new(Mutex::new(Asked::default()));
    let seen = Arc::clone(&asked);
    let server = Web::start(move |request| {
        let is_question = {
            let mut asked = seen.lock().unwrap_or_else(PoisonError::into_inner);
            let is_first = asked.first.is_none();
            asked.first.get_or_insert_with(Instant::now);
            let needed = request.is("POST /v1/chat") || request.is("GET /v1/models");
            if needed && !is_first {
                asked.used.get_or_insert_with(Instant::now);
            }
            asked.questions += usize::from(asked.used.is_none());
            !is_first && asked.used.is_none()
        };
        if is_question {
            further();
        }
        web::openai(request)
    });
    (server, asked)
}

/// Without a bound, the wait for a single response that never comes is ten seconds.
#[test]
fn a_server_that_stops_answering_is_asked_for_a_second() {
    let release = Arc::new((Mutex::new(false), Condvar::new()));
    let held = Arc::clone(&release);
    let (server, asked) = asked_about(move || {
        let (free, changed) = &*held;
        let mut free = free.lock().unwrap();
        while !*free {
            free = changed.wait(free).unwrap();
        }
    });
    let (api, why) = found(&server.url(), "");
    let (free, changed) = &*release;
    *free.lock().unwrap() = true;
    changed.notify_all();
    assert_eq!(api, "openai-chat");
    assert!(why.contains("/v1/models"), "{why}");
    let asked = asked.lock().unwrap();
    assert_eq!(asked.questions, 2, "after one that got no response, no more are asked");
    let took = asked.used.unwrap() - asked.first.unwrap();
    assert!(took >= Duration::from_millis(900), "it was not waited for: {took:?}");
    assert!(took < Duration::from_secs(8), "{took:?}");
}

/// Each response alone is quick enough.
#[test]
fn a_slow_server_is_not_asked_everything() {
    let (server, asked) = asked_about(|| std::thread::sleep(Duration::from_millis(300)));
    let (api, _) = found(&server.url(), "");
    assert_eq!(api, "openai-chat");
    // The first at once, three within a second, and a fourth that is cut off.
    let questions = asked.lock().unwrap().questions;
    assert!((2..=5).contains(&questions), "{questions} questions");
}
