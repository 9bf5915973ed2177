//! What can be measured by one client can be measured by several: every kind of load and data, with the same
//! requests, counted once.

use crate::bench::engines::{Engine, QUICK};
use crate::bench::fleet::{children, expect_all_indices};
use crate::bench::lookalikes::counting;
use crate::bench::place::{Place, codes};
use crate::bench::process::{Process, run};
use crate::bench::web::{self, Seen, Web};
use serde_json::json;
use std::collections::BTreeMap;

fn prompts(server: &Web) -> Vec<String> {
    let text = |seen: &Seen| seen.json()["messages"][0]["content"].as_str().unwrap().to_owned();
    let mut sent: Vec<String> = server.generations().iter().map(text).collect();
    sent.sort();
    sent
}

/// How many requests each of two agents sent.
fn parts(place: &Place) -> [usize; 2] {
    let records = place.requests();
    [0, 1].map(|agent| records.iter().filter(|record| record.agent == Some(agent)).count())
}

#[test]
fn pinned_agents_have_a_cpu_of_their_own() {
    let engine = Engine::start("ttft=50ms,itl=5ms,tokens=16", &[]);
    let place = Place::new();
    let load = "--agents 2 --pin --concurrency 4 --requests 60 --output-tokens 16";
    let mut process = Process::start(place.bench(&engine.url(), load));
    process.wait_until("requests under way", || engine.begun() >= 12);
    let allowed = |pid: u32| {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
        line.unwrap().trim().to_owned()
    };
    let own = allowed(std::process::id());
    let mut cpus: Vec<String> = children(process.id()).into_iter().map(allowed).collect();
    process.end().expect_measured();
    cpus.sort();
    assert!(cpus.iter().all(|cpu| cpu.parse::<u32>().is_ok()), "{cpus:?}");
    assert_eq!(cpus[0] == cpus[1], own.parse::<u32>().is_ok(), "{cpus:?} of {own}");
    expect_all_indices(&place, 0, 60);
}

#[test]
fn in_turns_the_agents_of_both_count_with_the_first_server() {
    // The second counts every prompt as longer: its prompts would be shorter.
    let a = counting(|body, _| body.get("messages").is_some());
    let b = Web::start(|request: &Seen| match request.is("POST /tokenize") {
        true => web::json("200 OK", "{\"count\":1000}"),
        false => web::openai(request),
    });
    let place = Place::new();
    let line = format!(
        "bench {} --versus {} --out run --json --agents 2 --concurrency 2 --requests 8 --output-tokens 4 \
         --input-tokens 20",
        a.url(),
        b.url()
    );
    let ended = run(place.dyno(&line)).expect_measured();
    let said = ended.json();
    for (side, server) in [("a", &a), ("b", &b)] {
        assert_eq!(said[side]["levels"][0]["requests"]["completed"], 8, "{}", ended.said());
        let words: Vec<usize> = prompts(server).iter().map(|p| p.split(' ').count()).collect();
        assert_eq!(words, [20; 8], "{side}");
    }
    assert!(b.asked("POST /tokenize").is_empty(), "the second is not asked");
}

#[test]
fn a_capacity_is_found_by_several() {
    // Slow enough to be measured on any machine.
    let engine = Engine::start("ttft=200ms,itl=100ms,tokens=3", &[]);
    let place = Place::new();
    let mut command = place.dyno(&format!(
        "capacity {} --agents 2 --out run --quiet --over concurrency --between 8..16 --levels 4 \
         --requests 100 --output-tokens 3",
        engine.url()
    ));
    command.args(["--slo", "latency.p90<30s"]);
    // A level that a busy machine made invalid is measured again; the status is the result of the search.
    let ended = run(command).expect_status(&[0, 6]);
    let summary = place.json("summary.json");
    let levels = summary["levels"].as_array().unwrap();
    for (number, level) in (0..).zip(levels) {
        let completed = level["requests"]["completed"].as_u64().unwrap();
        expect_all_indices(&place, number, completed);
        assert_eq!(level["agents"].as_array().unwrap().len(), 2, "{}", ended.said());
    }
    let known = ["CAPACITY: about ", "CAPACITY: at least "];
    let found = known.iter().any(|start| ended.stdout.contains(start));
    assert_eq!(found, ended.status == Some(0), "{}", ended.said());
}

#[test]
fn a_trace_is_replayed_once_by_all_together() {
    let line =
        |n: u64| json!({ "timestamp": n * 20, "input_length": 30 + n, "output_length": 1 + n % 3 });
    let lines: String = (0..40).map(|n| format!("{}\n", line(n))).collect();
    let sent = [1, 2].map(|agents| {
        let (server, place) = (Web::start(web::openai), Place::new());
        let file = place.file("trace.jsonl", &lines);
        let args = format!("--agents {agents} --data trace:{file},speed=10");
        run(place.bench(&server.url(), &args)).expect_measured();
        expect_all_indices(&place, 0, 40);
        let mut records = place.requests();
        records.sort_by_key(|record| record.index);
        let from = records[0].intended;
        let times: Vec<u64> =
            records.iter().map(|r| (r.intended - from).div_ceil(1_000_000)).collect();
        let lengths: Vec<_> =
            records.iter().map(|r| (r.requested_input, r.requested_output)).collect();
        if agents == 2 {
            assert_eq!(parts(&place), [20, 20]);
        }
        (times, lengths)
    });
    assert_eq!(sent[0].1, sent[1].1);
    // The clocks of two agents are known to much less than that, even on a busy machine.
    let apart = sent[0].0.iter().zip(&sent[1].0).map(|(one, two)| one.abs_diff(*two)).max();
    assert!(apart < Some(20), "{sent:?}");
}

#[test]
fn conversations_stay_whole() {
    let (server, place) = (Web::start(web::openai), Place::new());
    let args = "--agents 2 --data session,turns=4 --concurrency 2 --requests 32 --output-tokens 3";
    run(place.bench(&server.url(), args)).expect_measured();
    expect_all_indices(&place, 0, 32);
    let mut turns: BTreeMap<u64, Vec<(u32, Option<u32>)>> = BTreeMap::new();
    for record in place.requests() {
        let turn = record.turn.unwrap();
        turns.entry(turn.session).or_default().push((turn.number, record.agent));
    }
    assert_eq!(turns.len(), 8);
    for (session, turns) in &turns {
        let numbers: Vec<u32> = turns.iter().map(|(number, _)| *number).collect();
        assert_eq!(numbers, [1, 2, 3, 4], "session {session}");
        assert!(
            turns.iter().all(|(_, agent)| *agent == turns[0].1),
            "session {session}: {turns:?}"
        );
    }
    assert!(parts(&place).iter().all(|sent| *sent > 0));
    let sessions = &place.json("summary.json")["levels"][0]["sessions"];
    assert_eq!((&sessions["started"], &sessions["turns"]), (&json!(8), &json!(32)));
}

#[test]
fn a_condition_ends_the_run_after_the_level_that_meets_it() {
    let engine = Engine::start(QUICK, &["http-500:every=2"]);
    let place = Place::new();
    let args =
        "--agents 2 --concurrency 2,4,6 --requests 10x --output-tokens 4 --stop-on errors>5%";
    let ended = run(place.bench(&engine.url(), args)).expect_unless_invalid(5);
    let summary = ended.json();
    assert_eq!(summary["levels"].as_array().map(Vec::len), Some(1), "{}", ended.said());
    assert!(codes(&summary["notes"]).contains(&"stopped_on".to_owned()), "{}", ended.said());
}

#[test]
fn what_is_said_of_the_data_is_the_same_for_one_client_and_for_several() {
    let server = Web::start(web::openai);
    let words = |count: usize| vec!["word"; count].join(" ");
    // Short, long and broken ones among the good; fewer than requests.
    let line = |count| format!("{}\n", json!({ "question": words(count) }));
    let lines: String = [2, 20, 21, 22, 90, 23, 3].into_iter().map(line).collect();
    let said = |agents: &str, args: &str| -> Vec<String> {
        let place = Place::new();
        let file = place.file("asked.jsonl", &format!("{lines}{{\"question\": \n"));
        let args = format!(
            "{agents} --concurrency 2 --requests 9 --output-tokens 4 --data {file},skip_bad=true {args}"
        );
        run(place.bench(&server.url(), &args)).expect_measured();
        let summary = place.json("summary.json");
        let notes = summary["notes"].as_array().unwrap().iter();
        let mut notes: Vec<String> =
            notes.map(|note| note["what"].as_str().unwrap().to_owned()).collect();
        notes.sort();
        notes
    };
    let bounds = "--min-input-tokens 10 --max-input-tokens 60";
    for (args, expected) in [
        ("", vec!["malformed records skipped, over all levels: 1", "sent more than once"]),
        (bounds, vec!["too short, over all levels: 2", "too long, over all levels: 1"]),
        (&format!("{bounds} --truncate"), vec!["cut to the maximum length, over all levels: 1"]),
    ] {
        let one = said("", args);
        assert_eq!(said("--agents 2", args), one, "{args}");
        for words in expected {
            assert!(one.iter().any(|note| note.contains(words)), "{words} of {one:?}");
        }
    }
}
