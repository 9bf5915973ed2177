//! Caches that would flatter: an engine with a prefix cache, as another process, measured again and
//! again.

use crate::bench::engines::EngineProcess;
use crate::bench::place::{Place, codes};
use crate::bench::process::{Process, run};
use crate::bench::web::{self, Seen, Web};
use dyno_model::frame::Frame;
use rustix::process::Signal;
use serde_json::Value;
use std::process::Command;

/// A twin that keeps the beginnings of prompts, in blocks of 16 words.
pub(crate) const TWIN: &str = r#"
schema = "dyno.twin/1"
name = "cached"
engine = "made for a test"
provenance = "made for a test"

[scheduler]
policy = "chunked"
max_seqs = 16
token_budget = 4096
block = 16
kv_blocks = 20000
prefix_cache = true
context = 4096

[cost]
base_ms = 2
prefill_token_us = 10
attention_ns = 0
decode_us = 0
kv_ns = 0
prefill_base_ms = 0
front_end_ms = 0
noise = 0

[lengths]
input = { mean = 64 }
output = { mean = 16 }
"#;

const LOAD: &str = "--concurrency 4 --requests 40 --input-tokens 256 --output-tokens 4";

fn engine(place: &Place, more: &str) -> EngineProcess {
    let twin = place.file("cached.toml", TWIN);
    EngineProcess::with(place, &format!("--twin {twin} {more}"))
}

/// `dyno bench` as people type it: without a seed, unless `args` have one.
fn bench(place: &Place, url: &str, args: &str) -> Command {
    place.dyno(&format!("bench {url} --out run --json --quiet {args}"))
}

/// The levels of a run that measured `url`. What the machine made of it is not the point.
#[track_caller]
fn levels(url: &str, args: &str) -> Vec<Value> {
    let place = Place::new();
    let ended = run(bench(&place, url, args)).expect_status(&[0, 4]);
    ended.json()["levels"].as_array().unwrap().clone()
}

#[track_caller]
fn share(level: &Value) -> f64 {
    level["cache"]["share"].as_f64().unwrap_or_else(|| panic!("{level:#}"))
}

/// What the level's findings of this code say, with whether they are notes.
fn found(level: &Value, code: &str) -> Option<(bool, String)> {
    let of = |list: &str| {
        let mut all = level[list].as_array().unwrap().iter();
        all.find(|finding| finding["code"] == code).cloned()
    };
    let (note, finding) = match (of("notes"), of("reasons")) {
        (Some(note), _) => (true, note),
        (None, reason) => (false, reason?),
    };
    let words = [&finding["what"], &finding["advice"]];
    Some((note, words.map(|words| words.as_str().unwrap_or_default().to_owned()).join(" ")))
}

#[test]
fn the_same_command_twice_sends_new_prompts() {
    let home = Place::new();
    let engine = engine(&home, "");
    let mut seeds = Vec::new();
    let mut ids = Vec::new();
    for _ in 0..2 {
        let place = Place::new();
        let ended = run(place.dyno(&format!("bench {} --out run --json {LOAD}", engine.url())));
        let ended = ended.expect_status(&[0, 4]);
        let summary = ended.json();
        let level = &summary["levels"][0];
        assert_eq!(share(level), 0.0, "{}", ended.said());
        assert_eq!(level["cache"]["reported"], 40);
        assert_eq!(found(level, "cached_random"), None);
        let seed = summary["run"]["seed"].as_u64().unwrap();
        assert_eq!(place.json("plan.json")["seed"], seed);
        assert!(ended.stderr.contains(&format!("repeat with --seed {seed}")), "{}", ended.stderr);
        let run = &summary["run"];
        seeds.push((seed, run["plan_hash"].clone()));
        ids.push(run["plan_id"].clone());
    }
    assert!(seeds[0].0 != seeds[1].0 && seeds[0].1 != seeds[1].1);
    assert!(ids[0] == ids[1] && ids[0].is_string());
}

#[test]
fn the_same_seed_twice_is_told_from_a_measurement() {
    let home = Place::new();
    let engine = engine(&home, "");
    let seeded = format!("{LOAD} --seed 1");
    assert_eq!(share(&levels(&engine.url(), &seeded)[0]), 0.0);
    let again = &levels(&engine.url(), &seeded)[0];
    assert!(share(again) > 0.9, "{again:#}");
    assert_eq!(again["verdict"], "invalid");
    let (note, words) = found(again, "cached_random").unwrap();
    assert!(!note && words.contains("94 % of the prompt tokens"), "{words}");
    for way_out in ["--seed", "--unique-prefix", "--reset-cache", "--same-prompts"] {
        assert!(words.contains(way_out), "{words}");
    }
    // A tenth of the prompts is old: not much, but more than chance gives.
    let partly = format!("{} --seed 1", LOAD.replace("40", "400"));
    let partly = &levels(&engine.url(), &partly)[0];
    assert!((0.05..0.3).contains(&share(partly)), "{partly:#}");
    let (note, words) = found(partly, "cached_random").unwrap();
    assert!(!note && !words.contains("measures the cache"), "{words}");
    let [hits, misses] = ["hits", "misses"].map(|name| &partly["cache"][name]);
    assert_eq!((&hits["requests"], &misses["requests"]), (&40.into(), &360.into()));
    assert!(hits["ttft_ms"]["p50"].is_number() && misses["ttft_ms"]["p50"].is_number());
    // What is unique is so whatever the seed.
    let unique = format!("{seeded} --unique-prefix");
    for _ in 0..2 {
        assert_eq!(share(&levels(&engine.url(), &unique)[0]), 0.0);
    }
    // And a cache that was reset has nothing.
    let reset = format!("{seeded} --reset-cache");
    assert_eq!(share(&levels(&engine.url(), &reset)[0]), 0.0);
}

#[test]
fn levels_and_rounds_send_no_prompt_again_unless_asked() {
    let home = Place::new();
    let engine = engine(&home, "");
    let args =
        "--concurrency 2,4 --repeat 2 --requests 20 --input-tokens 100-300 --output-tokens 2-9";
    let place = Place::new();
    let ended = run(bench(&place, &engine.url(), args)).expect_status(&[0, 4]);
    let all = ended.json()["levels"].as_array().unwrap().clone();
    assert!(all.len() == 4 && all.iter().all(|level| share(level) == 0.0), "{}", ended.said());
    // Rounds of a level have the same lengths.
    let lengths = |level: u32| {
        let mut of: Vec<_> = place.requests().into_iter().filter(|r| r.level == level).collect();
        of.sort_by_key(|record| record.index);
        of.iter().map(|r| (r.requested_input, r.requested_output)).collect::<Vec<_>>()
    };
    assert_eq!((lengths(0), lengths(1)), (lengths(2), lengths(3)));
    let same = levels(&engine.url(), &format!("{LOAD} --repeat 2 --same-prompts"));
    assert_eq!(share(&same[0]), 0.0);
    assert!(share(&same[1]) > 0.9);
    assert!(found(&same[1], "cached_share").unwrap().0, "it is meant, and so a note");
    assert_eq!(found(&same[1], "cached_random"), None);
}

#[test]
fn both_sides_of_one_server_are_new_to_it() {
    let home = Place::new();
    let engine = engine(&home, "");
    let place = Place::new();
    let url = engine.url();
    let versus = |more: &str| {
        let args = format!("bench {url} --versus {url} --json --quiet --seed 5 {LOAD} {more}");
        run(place.dyno(&args)).expect_status(&[0, 4]).json()
    };
    let sides = versus("--repeat 2 --out one");
    for side in ["a", "b"] {
        for level in sides[side]["levels"].as_array().unwrap() {
            assert_eq!(share(level), 0.0, "{side}: {level:#}");
        }
    }
    let sides = versus("--same-prompts --out other");
    let cached = ["a", "b"].map(|side| share(&sides[side]["levels"][0]));
    assert!(cached[1] > 0.9 || cached[0] > 0.9, "{cached:?}");
}

#[test]
fn what_an_attempt_had_sent_is_not_sent_again_when_it_is_resumed() {
    let home = Place::new();
    let engine = engine(&home, "");
    let place = Place::new();
    let args = "--concurrency 4 --requests 300 --input-tokens 256 --output-tokens 4";
    let mut process = Process::start(bench(&place, &engine.url(), args));
    let records = place.run_dir().join("records.dyno");
    process.wait_until("records on disk", || {
        std::fs::metadata(&records).is_ok_and(|file| file.len() > 4_000)
    });
    process.signal(Signal::KILL);
    process.end();
    let ended = run(place.dyno("bench --resume run --json --quiet")).expect_status(&[0, 4]);
    let level = &ended.json()["levels"][0];
    assert_eq!((share(level), &level["cache"]["reported"]), (0.0, &300.into()), "{}", ended.said());
    assert_eq!(place.json("environment.json")["attempts"], 2);
    let starts = place.frames().iter().filter(|f| matches!(f, Frame::LevelStart(_))).count();
    assert_eq!(starts, 2);
}

#[test]
fn a_file_is_read_on_from_level_to_level_and_too_few_rows_are_told() {
    let web = Web::start(web::openai);
    let place = Place::new();
    let rows: String = (0..30).map(|row| format!("{{\"prompt\": \"row {row}.\"}}\n")).collect();
    let file = place.file("rows.jsonl", &rows);
    let args = format!("--concurrency 1,2 --requests 10 --data {file} --output-tokens 4");
    let ended = run(bench(&place, &web.url(), &args)).expect_status(&[0, 4]);
    let sent = |web: &Web| {
        let prompt =
            |seen: &Seen| seen.json()["messages"][0]["content"].as_str().unwrap().to_owned();
        let mut rows: Vec<String> = web.generations().iter().map(prompt).collect();
        rows.retain(|text| text.starts_with("row"));
        rows.sort();
        rows
    };
    let once = sent(&web);
    assert_eq!(once.len(), 20);
    assert!(once.windows(2).all(|pair| pair[0] != pair[1]), "{once:?}");
    assert!(!codes(&ended.json()["notes"]).contains(&"prompts_repeat".to_owned()));

    // An engine with a cache, and a file with fewer rows than are sent.
    let home = Place::new();
    let engine = engine(&home, "");
    let words = |row: u32| (0..64).map(|word| format!("r{row}w{word} ")).collect::<String>();
    let rows: String = (0..30).map(|row| format!("{{\"prompt\": \"{}\"}}\n", words(row))).collect();
    let file = home.file("rows.jsonl", &rows);
    let args = format!("--concurrency 2 --requests 50 --data {file} --output-tokens 2");
    let place = Place::new();
    let ended = run(bench(&place, &engine.url(), &args)).expect_status(&[0, 4]);
    let summary = ended.json();
    assert!(codes(&summary["notes"]).contains(&"prompts_repeat".to_owned()), "{}", ended.said());
    let (note, words) = found(&summary["levels"][0], "cached_rows").unwrap();
    assert!(!note && words.contains("more rows"), "{words}");
    let enough = &levels(&engine.url(), &args.replace("50", "20"))[0];
    assert!(found(enough, "cached_share").unwrap().0, "a file may hold what it wants: {enough:#}");
}

#[test]
fn as_much_is_cached_as_was_asked_for_and_it_is_checked() {
    let home = Place::new();
    let engine = engine(&home, "");
    for (asked, wanted) in [("60%", 0.6), ("25%", 0.25), ("90%", 0.9)] {
        let args = format!("{LOAD} --repeat 2 --cache-hit {asked}");
        for level in levels(&engine.url(), &args) {
            assert!((share(&level) - wanted).abs() < 0.04, "{asked}: {level:#}");
            assert_eq!(found(&level, "cache_hit_missed"), None);
            assert_eq!(found(&level, "cached_random"), None);
            assert_eq!(level["requests"]["completed"], 40, "what primes is no part of it");
            // B8: nor is it part of what the server counts in the level.
            let counted = level["server"]["prefix_hit_share"].as_f64().unwrap();
            assert!((share(&level) - counted).abs() < 0.01, "{asked}: {counted} {level:#}");
            assert_eq!(found(&level, "cache_sources_differ"), None);
        }
    }
    // Two prompts are in the cache at most: what is primed is gone before it is used.
    let small = [
        ("kv_blocks = 20000", "kv_blocks = 64"),
        ("context = 4096", "context = 1024"),
        ("max_seqs = 16", "max_seqs = 2"),
    ];
    let small = small.iter().fold(TWIN.to_owned(), |text, (from, to)| text.replace(from, to));
    let small = home.file("small.toml", &small);
    let small = EngineProcess::with(&home, &format!("--twin {small}"));
    let level = &levels(&small.url(), &format!("{LOAD} --cache-hit 60%"))[0];
    let (note, words) = found(level, "cache_hit_missed").unwrap();
    assert!(!note && words.contains("too small"), "{words} {level:#}");
    let off = home.file("off.toml", &TWIN.replace("prefix_cache = true", "prefix_cache = false"));
    let off = EngineProcess::with(&home, &format!("--twin {off}"));
    let level = &levels(&off.url(), &format!("{LOAD} --cache-hit 60%"))[0];
    let (note, words) = found(level, "cache_hit_unknown").unwrap();
    assert!(note && words.contains("--enable-prompt-tokens-details"), "{words}");
    run(home.dyno("bench --cache-hit 60% --data lines:x.txt")).expect_status(&[2]);
}

#[test]
fn without_a_report_the_counters_tell() {
    let home = Place::new();
    let engine = engine(&home, "--no-cache-report");
    let args = "--concurrency 4 --duration 2500ms --input-tokens 256 --output-tokens 4 --seed 1";
    for cached in [false, true] {
        let place = Place::new();
        let ended = run(bench(&place, &engine.url(), args)).expect_status(&[0, 4]);
        assert!(place.requests().iter().all(|record| record.cached.is_none()));
        let level = &ended.json()["levels"][0];
        assert_eq!(
            (&level["cache"]["source"], &level["cache"]["reported"]),
            (&"counters".into(), &0.into())
        );
        assert_eq!(found(level, "cached_random").is_some(), cached, "{}", ended.said());
        assert_eq!(place.json("environment.json")["preflight"]["shared_tokens"], 0);
    }
}

/// A server with a chat template of 40 tokens, of which its cache has two blocks after the first
/// prompt; it reports `more` besides.
fn with_template(more: u64) -> Web {
    let asked = std::sync::atomic::AtomicU64::new(0);
    Web::start(move |request: &Seen| {
        if !request.is("POST") {
            return web::openai(request);
        }
        let before = asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let preflight = request.json()["messages"][0]["content"].as_str().unwrap().contains("OK");
        let more = if preflight { 0 } else { more };
        let cached = if before == 0 { 0 } else { 32 + more };
        let usage = format!(
            "{{\"prompt_tokens\":140,\"completion_tokens\":1,\"total_tokens\":141,\
             \"prompt_tokens_details\":{{\"cached_tokens\":{cached}}}}}"
        );
        let choice = "{\"index\":0,\"delta\":{\"content\":\" a\"},\"finish_reason\":\"length\"}";
        let event =
            format!("data: {{\"choices\":[{choice}],\"usage\":{usage}}}\n\ndata: [DONE]\n\n");
        web::answer("200 OK", "text/event-stream", &event)
    })
}

#[test]
fn what_every_prompt_shares_does_not_count_against_a_run() {
    let args = "--concurrency 2 --requests 30 --input-tokens 100 --output-tokens 1";
    for (more, severity) in [(0, None), (16, Some(false))] {
        let place = Place::new();
        let web = with_template(more);
        let ended = run(bench(&place, &web.url(), args)).expect_status(&[0, 4]);
        assert_eq!(place.json("environment.json")["preflight"]["shared_tokens"], 32);
        let level = &ended.json()["levels"][0];
        assert!(share(level) > 0.2, "{level:#}");
        let beyond = level["cache"]["beyond_shared"].as_f64().unwrap();
        assert!((beyond - more as f64 / 140.0).abs() < 1e-6, "{level:#}");
        assert_eq!(found(level, "cached_random").map(|(note, _)| note), severity, "{level:#}");
    }
}

#[test]
fn a_prediction_hits_as_a_server_would_and_is_the_same_each_time() {
    let home = Place::new();
    let twin = home.file("cached.toml", TWIN);
    let predicted = |more: &str| {
        let place = Place::new();
        let args = format!("predict --twin {twin} --out run --json --quiet {LOAD} {more}");
        let summary = run(place.dyno(&args)).expect_status(&[0]).json();
        assert_eq!(summary["run"]["seed"], 0);
        summary["levels"].clone()
    };
    for (more, wanted) in [("", 0.0), ("--cache-hit 60%", 0.625), ("--unique-prefix", 0.0)] {
        let levels = predicted(more);
        assert_eq!(share(&levels[0]), wanted, "{more}: {levels:#}");
        assert_eq!(predicted(more), levels, "{more}");
    }
    let rounds = predicted("--repeat 2 --same-prompts");
    assert_eq!((share(&rounds[0]), share(&rounds[1])), (0.0, 0.9375));
}
