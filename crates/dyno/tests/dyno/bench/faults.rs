//! Each failure that a server can cause: every tenth request of a hundred is hit, so exactly ten
//! fail, all in the right class, and ninety complete. Nothing hangs. What is unconfirmed counts as
//! such.

use crate::bench::engines::{Engine, QUICK};
use crate::bench::place::Place;
use crate::bench::process::run;
use dyno_engine::Fault;
use serde_json::json;

/// Long enough for a busy machine, short enough for ten stalls.
fn timeouts(class: &str) -> &'static str {
    match class {
        "timeout.idle" => "--timeout-idle 1s",
        "timeout.first_token" => "--timeout-first-token 1s",
        "timeout.total" => "--timeout-total 1s",
        _ => "",
    }
}

/// Words that must be among the examples of a failure.
fn words(fault: &str) -> &'static str {
    match fault {
        "error-event" => "died in the middle of this response",
        "json-error" => "its front end did not notice",
        "not-json" => "oops",
        "no-finish-reason" => "without a finish reason, after 8 of 16 tokens",
        "short" => "8 output tokens instead of the 16",
        "stall" => "the stream paused for 1s",
        "stall-first" | "stall-headers" => "no output within 1s",
        "drip" => "not complete within 1s",
        http if http.starts_with("http-") => "The engine was told to refuse this request.",
        _ => "",
    }
}

/// What is wrong with a run in which every tenth request should have failed in `class`.
fn check(fault: &str, class: &str, more: &str) -> Result<(), String> {
    let engine = Engine::start(QUICK, &[&format!("{fault}:every=10")]);
    let place = Place::new();
    let load = "--concurrency 8 --requests 100 --output-tokens 16 --input-tokens 16";
    let args = format!("{load} {} {more}", timeouts(class));
    let ended = run(place.bench(&engine.url(), &args));
    let wrong = |what: String| Err(format!("{fault} {more}: {what}\n{}", ended.said()));
    if let Some(amiss) = ended.amiss(5) {
        return wrong(amiss);
    }
    let level = &ended.json()["levels"][0];
    let requests = &level["requests"];
    let shed = ["http.429", "http.503"].contains(&class);
    let [failed, unconfirmed, refused] = match class {
        "unconfirmed" => [0, 10, 0],
        _ if shed => [0, 0, 10],
        _ => [10, 0, 0],
    };
    let wanted = json!({
        "planned": 100, "completed": 90, "failed": failed, "unconfirmed": unconfirmed,
        "shed": refused, "dropped": 0, "censored": 0, "failures": if shed { json!({}) } else { json!({ class: 10 }) },
    });
    for (name, value) in wanted.as_object().unwrap() {
        if requests[name] != *value {
            return wrong(format!("`{name}` is {} instead of {value}", requests[name]));
        }
    }
    let samples = level["failure_samples"][class].to_string();
    let words = if more.is_empty() { words(fault) } else { "" };
    if samples == "null" || !samples.contains(words) {
        return wrong(format!("the examples do not say `{words}`: {samples}"));
    }
    Ok(())
}

fn check_all(cases: impl Iterator<Item = (String, String, &'static str)>) {
    let checked = cases.map(|(fault, class, more)| check(&fault, &class, more));
    let wrong: Vec<String> = checked.filter_map(Result::err).collect();
    assert!(wrong.is_empty(), "{} kinds are wrong:\n{}", wrong.len(), wrong.join("\n\n"));
}

/// Failures of single requests, halved so that two cores have something to do.
fn half(which: usize) -> impl Iterator<Item = (String, String, &'static str)> {
    let kinds = Fault::all().iter().filter(|info| !info.in_preflight);
    let failing =
        kinds.filter_map(|info| Some((info.name.to_owned(), info.class?.to_string(), "")));
    failing.enumerate().filter(move |(i, _)| i % 2 == which).map(|(_, case)| case)
}

#[test]
fn every_tenth_request_fails_in_its_class() {
    check_all(half(0));
}

#[test]
fn every_tenth_request_fails_in_its_class_too() {
    check_all(half(1));
}

#[test]
fn answers_that_are_not_streamed_fail_in_their_class() {
    let cases = [
        ("http-500", "http.500"),
        ("error-event", "stream.error"),
        ("not-json", "stream.malformed"),
        ("reset", "stream.reset"),
        ("close", "stream.reset"),
        ("empty", "stream.empty"),
        ("short", "output.short"),
        ("stall", "timeout.idle"),
        ("stall-first", "timeout.first_token"),
    ];
    check_all(cases.iter().map(|(f, c)| (f.to_string(), c.to_string(), "--no-stream")));
}

#[test]
fn failures_within_what_is_allowed_are_fine() {
    let engine = Engine::start(QUICK, &["http-500:every=10"]);
    let place = Place::new();
    let args = "--concurrency 8 --requests 100 --output-tokens 16 --allow-failures 10%";
    run(place.bench(&engine.url(), args)).expect_measured();
}
