//! Servers that fix the output length, do not, or cap it, with models that end early or think: which of
//! their responses are failures, and what is said about the others.

use crate::bench::place::{Place, codes};
use crate::bench::process::run;
use crate::bench::web::{self, Seen, Web};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU64, Ordering};

/// A server and its model.
#[derive(Clone, Copy)]
struct Server {
    /// It goes on for as long as `ignore_eos` and `min_tokens` say.
    obeys: bool,
    /// How long the model's reply to the preflight's question is.
    reply: u64,
    /// How long its other responses are.
    natural: fn(u64) -> u64,
    /// It never generates more.
    cap: u64,
    /// It cuts every such response to half of its length.
    cuts_every: u64,
}

const PLAIN: Server =
    Server { obeys: true, reply: 2, natural: |n| 5 + n % 7, cap: u64::MAX, cuts_every: u64::MAX };

impl Server {
    fn start(self) -> Web {
        let count = AtomicU64::new(0);
        Web::start(move |request: &Seen| match request.is("POST /v1/") {
            true => self.respond(request, &count),
            false => web::openai(request),
        })
    }

    fn respond(&self, request: &Seen, count: &AtomicU64) -> Vec<u8> {
        let body = request.json();
        let asked = body["max_tokens"].as_u64().unwrap_or(4);
        let preflight = request.header("x-dyno-preflight").is_some();
        let number = if preflight { 0 } else { count.fetch_add(1, Ordering::SeqCst) };
        let natural = if preflight { self.reply } else { (self.natural)(number) };
        let forced = self.obeys && (body["ignore_eos"] == true || body["min_tokens"].is_u64());
        let limit = asked.min(self.cap);
        let (tokens, finish) = match forced || natural >= limit {
            _ if !preflight && (number + 1) % self.cuts_every == 0 => (limit / 2, "stop"),
            true => (limit, "length"),
            false => (natural, "stop"),
        };
        streamed(tokens, finish)
    }
}

fn streamed(tokens: u64, finish: &str) -> Vec<u8> {
    let word = json!({ "choices": [{ "delta": { "content": " x" } }] });
    let end = json!({ "choices": [{ "delta": {}, "finish_reason": finish }] });
    let usage = json!({ "prompt_tokens": 7, "completion_tokens": tokens });
    let last = json!({ "choices": [], "usage": usage });
    let words = format!("data: {word}\n\n").repeat(tokens as usize);
    let body = format!("{words}data: {end}\n\ndata: {last}\n\ndata: [DONE]\n\n");
    web::answer("200 OK", "text/event-stream", &body)
}

/// What a run of twenty requests should say.
struct Expected {
    name: &'static str,
    server: Server,
    failed: u64,
    forced: Value,
    /// Of the notes and findings about lengths, those that should be there.
    codes: &'static [&'static str],
}

const ABOUT_LENGTHS: [&str; 5] =
    ["length_not_fixed", "length_unproven", "field_ignored", "output_length", "output_capped"];

#[test]
fn only_responses_that_a_server_cuts_short_are_failures() {
    let cases = [
        Expected { name: "obeys", server: PLAIN, failed: 0, forced: json!(true), codes: &[] },
        Expected {
            name: "obeys, and the model's reply is a sentence",
            server: Server { reply: 11, ..PLAIN },
            failed: 0,
            forced: json!(true),
            codes: &[],
        },
        Expected {
            name: "ignores the fields",
            server: Server { obeys: false, ..PLAIN },
            failed: 0,
            forced: Value::Null,
            codes: &["length_not_fixed", "field_ignored", "field_ignored", "output_length"],
        },
        Expected {
            name: "ignores the fields, and the reply is longer than the first test",
            server: Server { obeys: false, reply: 30, ..PLAIN },
            failed: 0,
            forced: Value::Null,
            codes: &["length_not_fixed", "field_ignored", "field_ignored", "output_length"],
        },
        Expected {
            name: "ignores the fields, and the model thinks",
            server: Server { obeys: false, reply: 900, natural: |n| 12 + n % 90, ..PLAIN },
            failed: 0,
            forced: json!(false),
            codes: &["length_unproven", "output_length"],
        },
        Expected {
            name: "obeys, and the model thinks",
            server: Server { reply: 900, ..PLAIN },
            failed: 0,
            forced: json!(false),
            codes: &["length_unproven"],
        },
        Expected {
            name: "obeys, and cuts some responses short",
            server: Server { cuts_every: 5, ..PLAIN },
            failed: 4,
            forced: json!(true),
            codes: &[],
        },
        Expected {
            name: "obeys, and caps the length",
            server: Server { cap: 20, ..PLAIN },
            failed: 0,
            forced: json!(true),
            codes: &["output_capped"],
        },
    ];
    for Expected { name, server, failed, forced, codes: expected } in cases {
        let web = server.start();
        let place = Place::new();
        let load = "--concurrency 1 --requests 20 --output-tokens 32 --allow-failures 100%";
        let ended = run(place.bench(&web.url(), load)).expect_measured();
        let level = &ended.json()["levels"][0];
        let requests = &level["requests"];
        let failures = if failed > 0 { json!({ "output.short": failed }) } else { json!({}) };
        assert_eq!(requests["failures"], failures, "{name}: {}", ended.said());
        assert_eq!(requests["completed"], 20 - failed, "{name}");
        let environment = place.json("environment.json");
        assert_eq!(environment["preflight"]["length_forced"], forced, "{name}");
        let mut found = codes(&environment["notes"]);
        found.extend([codes(&level["reasons"]), codes(&level["notes"])].concat());
        found.retain(|code| ABOUT_LENGTHS.contains(&code.as_str()));
        assert_eq!(found, expected, "{name}");
    }
}
