//! Keys and header values: they reach the server, and nothing else.

use crate::bench::engines::{Engine, QUICK};
use crate::bench::place::{Place, holds};
use crate::bench::process::{Ended, run};
use crate::bench::web::{self, Web};
use serde_json::json;
use std::sync::atomic::{AtomicUsize, Ordering};

const LOAD: &str = "--concurrency 2 --requests 4 --output-tokens 16";

/// Fails if a secret is anywhere in what the run left.
#[track_caller]
fn is_kept(place: &Place, ended: &Ended, secret: &str) {
    for (what, text) in [("stdout", &ended.stdout), ("stderr", &ended.stderr)] {
        assert!(!text.contains(secret), "`{secret}` is on {what}: {}", ended.said());
    }
    if place.run_dir().exists() {
        for (name, bytes) in place.files() {
            assert!(!holds(&bytes, secret), "`{secret}` is in {name}: {}", ended.said());
        }
    }
}

#[test]
fn without_a_key_the_servers_words_are_told() {
    let engine = Engine::start(QUICK, &["auth"]);
    for more in ["", "--model dyno-scripted"] {
        let place = Place::new();
        run(place.bench(&engine.url(), &format!("{LOAD} {more}")))
            .expect_status(&[3])
            .expect_words(&["401", "Invalid API key", "--api-key-file", "DYNO_API_KEY"]);
        assert!(!place.run_dir().exists());
    }
}

#[test]
fn a_key_works_and_stays_secret() {
    let engine = Engine::start(QUICK, &["auth"]);
    for way in ["variable", "file", "flag"] {
        let place = Place::new();
        let mut command = place.bench(&engine.url(), LOAD);
        match way {
            "variable" => command.env("DYNO_API_KEY", "sesame"),
            "file" => command.args(["--api-key-file", &place.file("key.txt", "sesame\n")]),
            _ => command.args(["--api-key", "sesame"]),
        };
        let ended = run(command).expect_measured();
        assert_eq!(ended.json()["levels"][0]["requests"]["completed"], 4, "{way}");
        let warned = ended.stderr.contains("--api-key is visible in the process list");
        assert_eq!(warned, way == "flag", "{}", ended.said());
        is_kept(&place, &ended, "sesame");
    }
}

#[test]
fn a_server_that_repeats_a_secret_does_not_give_it_away() {
    // It says the secrets back wherever it can: its list of models, its headers, its answers.
    let asked = AtomicUsize::new(0);
    let server = Web::start(move |request| {
        let header = |name| request.header(name).unwrap_or("nothing");
        let words = format!("{} and {}", header("authorization"), header("x-pass"));
        let answer = match asked.fetch_add(1, Ordering::SeqCst) % 2 {
            _ if request.is("GET") => web::json("500 Internal Server Error", &words),
            1 if request.header("x-dyno-preflight").is_none() => {
                web::json("500 Internal Server Error", &words)
            }
            _ => web::spoken(request, &words),
        };
        let named = format!("\r\nServer: {words}\r\n");
        String::from_utf8(answer).unwrap().replacen("\r\n", &named, 1).into_bytes()
    });
    let place = Place::new();
    let more = "--model small --save-text --header X-Pass:barley-and-rye --allow-failures 100%";
    // Without --quiet: notes must not tell either.
    let mut command = place.dyno(&format!("bench {} --out run --json {LOAD} {more}", server.url()));
    command.env("DYNO_API_KEY", "open-sesame");
    let ended = run(command).expect_measured().expect_words(&["models could not be listed"]);
    let requests = &ended.json()["levels"][0]["requests"];
    assert_eq!((&requests["completed"], &requests["failed"]), (&json!(2), &json!(2)));
    is_kept(&place, &ended, "open-sesame");
    is_kept(&place, &ended, "barley-and-rye");
}

#[test]
fn a_key_in_the_servers_refusal_is_not_repeated() {
    let refuse = |request: &web::Seen| {
        let key = request.header("authorization").unwrap_or("none");
        web::json("401 Unauthorized", &format!("{{\"error\":\"wrong key {key}\"}}"))
    };
    let server = Web::start(refuse);
    for more in ["", "--model small"] {
        let place = Place::new();
        let mut command = place.bench(&server.url(), &format!("{LOAD} {more}"));
        command.env("DYNO_API_KEY", "open-sesame");
        let ended = run(command).expect_status(&[3]).expect_words(&["401", "wrong key"]);
        is_kept(&place, &ended, "open-sesame");
    }
}

/// A key that comes as a header of the user's own, and cookies. The server says back only what it looked
/// up: the part after the scheme, and the value of a cookie.
#[test]
fn a_key_in_a_header_and_cookies_stay_secret_where_only_their_values_are_repeated() {
    let asked = AtomicUsize::new(0);
    let server = Web::start(move |request| {
        let after = |name: &str, mark: &str| {
            let value = request.header(name).unwrap_or("nothing");
            value.split(mark).nth(1).unwrap_or("nothing").to_owned()
        };
        let words =
            format!("{} {}", after("authorization", "Bearer "), after("cookie", "session="));
        assert!(!words.contains("nothing"), "the headers did not come: {}", request.head);
        let answer = match asked.fetch_add(1, Ordering::SeqCst) % 2 {
            _ if request.is("GET /v1/models") => web::models(&["small", &words]),
            _ if request.is("GET") => web::json("500 Internal Server Error", &words),
            1 if request.header("x-dyno-preflight").is_none() => {
                web::json("500 Internal Server Error", &words)
            }
            _ => web::spoken(request, &words),
        };
        let named = format!("\r\nServer: {words}\r\n");
        String::from_utf8(answer).unwrap().replacen("\r\n", &named, 1).into_bytes()
    });
    let place = Place::new();
    let more = "--model small --save-text --allow-failures 100%";
    let mut command = place.dyno(&format!("bench {} --out run --json {LOAD} {more}", server.url()));
    command.args(["--header", "Authorization: Bearer wheat-and-oats"]);
    command.args(["--header", "Cookie: theme=dark; session=poppy-seeds"]);
    let ended = run(command).expect_measured();
    assert!(ended.json()["levels"][0]["requests"]["failed"].as_u64() > Some(0), "{}", ended.said());
    let report = |format| run(place.dyno(&format!("report run --format {format}")));
    let told =
        ["table", "csv --per-request", "html"].map(|format| report(format).expect_status(&[0]));
    for secret in ["wheat-and-oats", "poppy-seeds"] {
        for ended in told.iter().chain([&ended]) {
            is_kept(&place, ended, secret);
        }
    }
    assert!(told.iter().any(|ended| ended.stdout.contains("[secret]")), "nothing was repeated");
}

/// M8: keys come back as PHP, URLs, browsers and `Basic` write them, and as the name of the model.
#[test]
fn a_key_that_is_repeated_in_another_spelling_or_as_a_model_stays_secret() {
    const KEY: &str = "AbCd/EfGh+IjKl\"MnOp==";
    const SPELLINGS: [&str; 5] = [
        "AbCd\\/EfGh+IjKl\\\"MnOp==",
        "AbCd\\u002fEfGh\\u002bIjKl\\u0022MnOp\\u003d\\u003d",
        "AbCd%2FEfGh%2BIjKl%22MnOp%3D%3D",
        "AbCd/EfGh+IjKl&quot;MnOp==",
        "QWJDZC9FZkdoK0lqS2wiTW5PcD09",
    ];
    let asked = AtomicUsize::new(0);
    let server = Web::start(move |request| {
        let number = asked.fetch_add(1, Ordering::SeqCst);
        let words = SPELLINGS[number % 5];
        match number % 2 {
            _ if request.is("GET /v1/models") => web::models(&["small-AbCd/EfGh+IjKl\\\"MnOp=="]),
            _ if request.is("GET") => web::json("500 Internal Server Error", words),
            1 if request.header("x-dyno-preflight").is_none() => {
                web::json("500 Internal Server Error", words)
            }
            _ => web::spoken(request, words),
        }
    });
    let place = Place::new();
    let load = "--concurrency 2 --requests 20 --output-tokens 16";
    let more = "--save-text --allow-failures 100%";
    let mut command = place.dyno(&format!("bench {} --out run --json {load} {more}", server.url()));
    command.env("DYNO_API_KEY", KEY);
    let ended = run(command).expect_measured();
    let failed = ended.json()["levels"][0]["requests"]["failed"].as_u64();
    assert!(failed > Some(0), "{}", ended.said());
    let report = |format| run(place.dyno(&format!("report run --format {format}")));
    let told =
        ["table", "csv --per-request", "html"].map(|format| report(format).expect_status(&[0]));
    // A part that no spelling changes is enough.
    for secret in SPELLINGS.into_iter().chain([KEY, "IjKl", "S2wiTW5P"]) {
        for ended in told.iter().chain([&ended]) {
            is_kept(&place, ended, secret);
        }
    }
    assert!(told.iter().any(|ended| ended.stdout.contains("[secret]")), "nothing was repeated");
}
