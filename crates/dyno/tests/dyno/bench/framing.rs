//! Each framing quirk and each trait of a server: a hundred requests, a hundred completed, with
//! the right metrics, and what the server lacks said in a note.

use crate::bench::engines::{Engine, QUICK};
use crate::bench::place::{Place, codes};
use crate::bench::process::{Ended, run};
use dyno_engine::Fault;
use serde_json::{Value, json};

const LOAD: &str = "--concurrency 8 --requests 100 --output-tokens 16 --input-tokens 16";

/// The scripted TTFT less what a busy machine may lose between sending and looking at the clock.
/// A chunk without output comes within a fraction of a millisecond.
const LEAST_TTFT_MS: f64 = 4.0;

/// Checks that come to nothing or to a complaint.
struct Findings(Vec<String>);

impl Findings {
    fn equal(&mut self, what: &str, found: &Value, wanted: impl Into<Value>) {
        let wanted = wanted.into();
        let same = match (found.as_f64(), wanted.as_f64()) {
            (Some(found), Some(wanted)) => found == wanted,
            _ => *found == wanted,
        };
        if !same {
            self.0.push(format!("{what} is {found} instead of {wanted}"));
        }
    }

    fn within(&mut self, what: &str, found: &Value, least: f64, most: f64) {
        if !found.as_f64().is_some_and(|found| (least..=most).contains(&found)) {
            self.0.push(format!("{what} is {found}, not within {least} and {most}"));
        }
    }
}

fn check(faults: &[&str], more: &str, notes: &[&str]) -> (Place, Ended, Findings) {
    let engine = Engine::start(QUICK, faults);
    let place = Place::new();
    let ended = run(place.bench(&engine.url(), &format!("{LOAD} {more}")));
    let mut found = Findings(Vec::new());
    if let Some(wrong) = ended.amiss(0) {
        found.0.push(wrong);
        return (place, ended, found);
    }
    let summary = ended.json();
    let level = &summary["levels"][0];
    found.equal("completed", &level["requests"]["completed"], 100);
    found.equal("failures", &level["requests"]["failures"], json!({}));
    found.equal("output tokens", &level["output_tokens"]["total"], 1600);
    found.equal("multi-token share", &level["integrity"]["multi_token_share"], 0);
    let environment = place.json("environment.json");
    for list in [&environment["notes"], &summary["notes"]] {
        let mut codes = codes(list);
        codes.sort();
        found.equal("notes", &json!(codes), json!(notes));
    }
    (place, ended, found)
}

/// What a stream of sixteen tokens looks like, however it is framed.
fn check_stream(level: &Value, source: &str, found: &mut Findings) {
    found.equal("token source", &level["token_source"]["output"], source);
    for figure in ["ttft_ms", "latency_ms", "tpot_ms"] {
        found.equal(figure, &level[figure]["count"], 100);
    }
    for figure in ["itl_ms", "chunk_gap_ms"] {
        found.equal(figure, &level[figure]["count"], 1500);
    }
    found.within("TTFT p50", &level["ttft_ms"]["p50"], LEAST_TTFT_MS, 10_000.0);
    found.within("latency p50", &level["latency_ms"]["p50"], LEAST_TTFT_MS + 14.0, 10_000.0);
    for share in ["coalesced_share", "one_burst_share"] {
        found.within(share, &level["integrity"][share], 0.0, 1.0);
    }
}

fn report(wrong: Vec<String>) {
    assert!(wrong.is_empty(), "{} quirks are wrong:\n{}", wrong.len(), wrong.join("\n\n"));
}

/// Quirks of single answers, halved so that two cores have something to do.
fn check_half(which: usize) {
    let quirks = Fault::all().iter().filter(|info| info.class.is_none() && !info.in_preflight);
    let mut wrong = Vec::new();
    for info in quirks.enumerate().filter(|(i, _)| i % 2 == which).map(|(_, info)| info) {
        let (_place, ended, mut found) = check(&[info.name], "", &[]);
        if ended.amiss(0).is_none() {
            let level = &ended.json()["levels"][0];
            check_stream(level, "usage", &mut found);
            let integrity = &level["integrity"];
            let unterminated = if info.name == "no-done" { 1 } else { 0 };
            found.equal("no-terminal share", &integrity["no_terminal_share"], unterminated);
            match info.name {
                "coalesce" => {
                    found.within("coalesced share", &integrity["coalesced_share"], 0.8, 0.9);
                    let said = codes(&level["notes"]).contains(&"coalesced".to_owned());
                    found.equal("a note says coalesced", &json!(said), true);
                    // Of events that come together only the last one's time is known.
                    found.equal("verdict", &level["verdict"], "invalid");
                }
                // Only the eight connections opened ahead carry a first request.
                "idle-close-race" => {
                    found.within("resent", &level["requests"]["resent"], 92.0, 100.0);
                    let said = codes(&level["notes"]).contains(&"resent".to_owned());
                    found.equal("a note says resent", &json!(said), true);
                }
                _ => found.equal("resent", &level["requests"]["resent"], 0),
            }
        }
        if !found.0.is_empty() {
            wrong.push(format!("{}: {}\n{}", info.name, found.0.join("; "), ended.said()));
        }
    }
    report(wrong);
}

#[test]
fn every_quirk_gives_the_right_figures() {
    check_half(0);
}

#[test]
fn every_quirk_gives_the_right_figures_too() {
    check_half(1);
}

/// A trait of a server, and what the preflight should settle because of it.
struct Trait {
    faults: &'static [&'static str],
    more: &'static str,
    notes: &'static [&'static str],
    source: &'static str,
    length_field: Option<&'static str>,
}

/// A server without fault.
const PLAIN: Trait =
    Trait { faults: &[], more: "", notes: &[], source: "usage", length_field: Some("ignore_eos") };

const TRAITS: &[Trait] = &[
    Trait { faults: &["no-usage"], notes: &["no_usage"], source: "events", ..PLAIN },
    Trait { faults: &["no-stream"], notes: &["not_streamed"], ..PLAIN },
    Trait { faults: &["refuse-min-tokens"], ..PLAIN },
    Trait { faults: &["refuse-max-tokens"], notes: &["field_refused"], ..PLAIN },
    Trait {
        faults: &["refuse-ignore-eos"],
        notes: &["field_refused"],
        length_field: Some("min_tokens"),
        ..PLAIN
    },
    Trait {
        faults: &["refuse-ignore-eos", "refuse-min-tokens"],
        notes: &["field_refused", "field_refused", "length_not_fixed"],
        length_field: None,
        ..PLAIN
    },
    Trait {
        faults: &["refuse-stream-options"],
        notes: &["field_refused", "no_usage"],
        source: "events",
        ..PLAIN
    },
    Trait {
        faults: &["models-500"],
        more: "--model dyno-scripted",
        notes: &["models_unknown"],
        ..PLAIN
    },
    // Of other APIs: nothing changes here.
    Trait { faults: &["incremental-output", "bare-list"], ..PLAIN },
];

#[test]
fn every_trait_is_found_before_the_first_level() {
    let mut tried: Vec<&str> = Vec::new();
    let mut wrong = Vec::new();
    for Trait { faults, more, notes, source, length_field } in TRAITS {
        tried.extend(*faults);
        let (place, ended, mut found) = check(faults, more, notes);
        if ended.amiss(0).is_none() {
            let level = &ended.json()["levels"][0];
            if faults == &["no-stream"] {
                for figure in ["ttft_ms", "tpot_ms", "itl_ms", "chunk_gap_ms"] {
                    found.equal(figure, &level[figure], Value::Null);
                }
                found.equal("latency", &level["latency_ms"]["count"], 100);
                // With no stream, nothing is known of chunks.
                found.0.retain(|words| !words.starts_with("multi-token"));
            } else {
                check_stream(level, source, &mut found);
            }
            let preflight = &place.json("environment.json")["preflight"];
            found.equal("length field", &preflight["length_field"], json!(length_field));
            let limit = match faults[0] {
                "refuse-max-tokens" => "max_completion_tokens",
                _ => "max_tokens",
            };
            found.equal("limit", &preflight["max_tokens_field"], limit);
        }
        if !found.0.is_empty() {
            wrong.push(format!("{faults:?}: {}\n{}", found.0.join("; "), ended.said()));
        }
    }
    let all = Fault::all().iter().filter(|info| info.class.is_none() && info.in_preflight);
    wrong.extend(all.filter(|info| !tried.contains(&info.name)).map(|i| format!("untried: {i:?}")));
    report(wrong);
}

#[test]
fn a_server_that_closes_idle_connections_causes_no_failure() {
    let engine = Engine::start(QUICK, &["idle-close"]);
    let place = Place::new();
    // Gaps of 400 ms, and connections that are closed after 300.
    let args = "--rate 2.5 --arrival constant --requests 5 --output-tokens 16";
    let ended = run(place.bench(&engine.url(), args)).expect_measured();
    let requests = &ended.json()["levels"][0]["requests"];
    assert_eq!(requests["completed"], 5, "{}", ended.said());
    assert_eq!(requests["failed"], 0, "{}", ended.said());
}
