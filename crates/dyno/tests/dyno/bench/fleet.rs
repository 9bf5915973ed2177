//! Several load generators as children of `dyno bench`: one run, whole, whatever becomes of them.

use crate::bench::engines::{Engine, EngineProcess, QUICK};
use crate::bench::place::{Place, accounted, holds};
use crate::bench::process::{Process, run};
use crate::bench::web::{self, Seen, Web};
use dyno_model::frame::Ending;
use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// Slow enough to be interrupted at any time.
const STEADY: &str = "ttft=50ms,itl=5ms,tokens=16";

/// The processes that a process has started and that have not ended.
pub(crate) fn children(of: u32) -> Vec<u32> {
    let stat = |entry: std::fs::DirEntry| {
        let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
        let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
        let mut after_name = stat.rsplit_once(')')?.1.split_whitespace();
        let (state, parent) = (after_name.next()?, after_name.next()?);
        (parent.parse() == Ok(of) && state != "Z").then_some(pid)
    };
    let entries = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    entries.filter_map(stat).collect()
}

/// Waits until the engine has got so many requests, more than a preflight sends; the agents.
fn under_way(process: &mut Process, engine: &Engine, agents: usize, requests: u64) -> Vec<u32> {
    process.wait_until("requests under way", || engine.begun() >= requests);
    let agents_of_it = children(process.id());
    assert_eq!(agents_of_it.len(), agents);
    agents_of_it
}

#[track_caller]
fn expect_gone(agents: &[u32]) {
    let begun = Instant::now();
    let is_there = |pid: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
    };
    while agents.iter().any(is_there) {
        assert!(begun.elapsed() < Duration::from_secs(5), "an agent is left behind: {agents:?}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Each index once, and all up to the highest.
#[track_caller]
pub(crate) fn expect_all_indices(place: &Place, level: u32, count: u64) {
    let records = place.requests();
    let of_level: Vec<u64> = records.iter().filter(|r| r.level == level).map(|r| r.index).collect();
    assert_eq!(of_level.len() as u64, count);
    assert_eq!(of_level.into_iter().collect::<BTreeSet<_>>(), (0..count).collect());
}

#[test]
fn agents_send_all_of_it_once_and_leave() {
    let engine = Engine::start(STEADY, &[]);
    let place = Place::new();
    let load = "--agents 2 --concurrency 4 --requests 60 --output-tokens 16";
    let mut process = Process::start(place.bench(&engine.url(), load));
    let agents = under_way(&mut process, &engine, 2, 12);
    let ended = process.end().expect_measured();
    expect_gone(&agents);
    let summary = ended.json();
    assert_eq!(summary["levels"][0]["requests"]["completed"], 60, "{}", ended.said());
    expect_all_indices(&place, 0, 60);
    let sent_by = |agent| place.requests().iter().filter(|r| r.agent == Some(agent)).count();
    assert!(sent_by(0) > 0 && sent_by(1) > 0 && sent_by(0) + sent_by(1) == 60);
    let ends = place.level_ends();
    let parts: Vec<_> = ends[0].agents.iter().map(|agent| (&*agent.name, agent.issued)).collect();
    assert_eq!(parts, [("1", sent_by(0) as u64), ("2", sent_by(1) as u64)]);
    assert_eq!(place.json("plan.json")["fleet"]["agents"], 2);
}

#[test]
fn without_the_flag_nothing_is_started_and_one_agent_is_one_process() {
    let engine = Engine::start(STEADY, &[]);
    for (flag, started) in [("", 0), ("--agents 1", 1)] {
        let place = Place::new();
        let (begun, load) = (engine.begun(), "--concurrency 2 --requests 60 --output-tokens 16");
        let mut process = Process::start(place.bench(&engine.url(), &format!("{flag} {load}")));
        under_way(&mut process, &engine, started, begun + 12);
        process.end().expect_measured();
        expect_all_indices(&place, 0, 60);
    }
}

#[test]
fn ctrl_c_once_drains_and_twice_stops_at_once() {
    for times in [1, 2] {
        let faults: &[&str] = if times == 2 { &["stall-first:every=5"] } else { &[] };
        let engine = Engine::start(STEADY, faults);
        let place = Place::new();
        let line = format!(
            "bench {} --out run --json --agents 2 --concurrency 4 --requests 10000 --output-tokens 16",
            engine.url()
        );
        let mut process = Process::start(place.dyno(&line));
        let agents = under_way(&mut process, &engine, 2, 12);
        process.signal(Signal::INT);
        process.wait_for_words("stopping: waiting");
        if times == 2 {
            process.signal(Signal::INT);
        }
        let ended = process.end().expect_status(&[130]);
        let ended = ended.expect_words(&["to resume: dyno bench --resume run"]);
        expect_gone(&agents);
        let level = &ended.json()["levels"][0];
        assert_eq!(accounted(level), place.requests().len() as u64, "{}", ended.said());
        let censored = level["requests"]["censored"].as_u64().unwrap();
        assert_eq!(censored > 0, times == 2, "{}", ended.said());
        assert_eq!(place.level_ends()[0].ending, Ending::Interrupted);
    }
}

#[test]
fn a_killed_agent_ends_the_level_and_the_run_can_be_resumed() {
    let engine = Engine::start(STEADY, &[]);
    let place = Place::new();
    let line = format!(
        "bench {} --out run --json --seed 0 --agents 2 --concurrency 4,6 --requests 60 --output-tokens 16",
        engine.url()
    );
    let mut process = Process::start(place.dyno(&line));
    let agents = under_way(&mut process, &engine, 2, 24);
    kill_process(Pid::from_raw(agents[1] as i32).unwrap(), Signal::KILL).unwrap();
    let ended = process.end().expect_status(&[4]);
    let ended = ended.expect_words(&[
        " was lost in level 1: its process ended (signal: 9",
        "their records are kept",
        "to resume: dyno bench --resume run",
    ]);
    expect_gone(&agents);
    let ends = place.level_ends();
    assert_eq!((ends.len(), ends[0].ending), (1, Ending::AgentLost), "{}", ended.said());
    let lost: Vec<_> = ends[0].agents.iter().filter(|agent| agent.lost.is_some()).collect();
    assert_eq!(lost.len(), 1);
    let kept = place.requests();
    assert!(!kept.is_empty() && kept.iter().all(|record| record.agent != Some(lost[0].agent)));

    // As many agents as before, or none are named.
    for (given, words) in [("3", "this run has 2 agents"), ("none", "not a number of agents")] {
        let line = format!("bench --resume run --agents {given}");
        run(place.dyno(&line)).expect_status(&[2]).expect_words(&[words]);
    }
    let resumed = run(place.dyno("bench --resume run --agents 2 --json --quiet")).expect_measured();
    let summary = resumed.json();
    let completed: Vec<_> = summary["levels"].as_array().unwrap().iter().collect();
    assert_eq!(completed.len(), 2, "{}", resumed.said());
    assert!(completed.iter().all(|level| level["requests"]["completed"] == 60));
    run(place.dyno("bench --resume run")).expect_status(&[2]).expect_words(&["is complete"]);
}

#[test]
fn a_target_that_goes_away_is_told_as_for_one_client() {
    let place = Place::new();
    let mut engine = EngineProcess::start(&place, QUICK);
    let load = "--agents 2 --concurrency 4 --requests 100000 --output-tokens 16";
    let line = format!("bench {} --out run --json --quiet {load}", engine.url());
    let mut process = Process::start(place.dyno(&line));
    process.wait_until("requests under way", || engine.begun() >= 40);
    engine.kill();
    let ended = process.end().expect_status(&[3]).expect_words(&["the target is unusable"]);
    assert_eq!(place.level_ends()[0].ending, Ending::TargetLost, "{}", ended.said());
}

#[test]
fn a_target_that_serves_no_agent_is_lost() {
    let server = Web::start(|request: &Seen| {
        let aside = !request.is("POST /v1/") || request.header("x-dyno-preflight").is_some();
        match aside {
            true => web::openai(request),
            false => web::json("500 Internal Server Error", "{\"error\":\"out of memory\"}"),
        }
    });
    let place = Place::new();
    let load = "--agents 2 --rate 4 --arrival constant --duration 10m --output-tokens 4";
    let ended = run(place.bench(&server.url(), load)).expect_status(&[3]);
    let words = ["the target is unusable", "no request completed for 3", "out of memory"];
    let ended = ended.expect_words(&words);
    assert_eq!(place.level_ends()[0].ending, Ending::TargetLost, "{}", ended.said());
}

#[test]
fn the_failures_of_all_agents_count() {
    let engine = Engine::start(QUICK, &["http-500:every=3"]);
    let place = Place::new();
    let load = "--agents 2 --concurrency 4 --requests 100000 --output-tokens 16 --max-failures 30";
    let ended = run(place.bench(&engine.url(), load));
    assert!(ended.stderr.contains("stopped after 30 failures"), "{}", ended.said());
    assert_eq!(place.level_ends()[0].ending, Ending::MaxFailures);
    let failed = ended.json()["levels"][0]["requests"]["failed"].as_u64().unwrap();
    assert!(failed >= 30, "{failed}");
}

#[test]
fn a_key_reaches_the_server_and_nothing_else() {
    let engine = Engine::start(STEADY, &["auth"]);
    let place = Place::new();
    let load = "--agents 2 --concurrency 2 --requests 60 --output-tokens 16";
    let mut command = place.bench(&engine.url(), load);
    command.env("DYNO_API_KEY", "sesame");
    let mut process = Process::start(command);
    let agents = under_way(&mut process, &engine, 2, 12);
    for pid in agents.iter().copied().chain([process.id()]) {
        let seen = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap();
        assert!(!holds(&seen, "sesame"), "in the list of processes");
    }
    let ended = process.end().expect_measured();
    assert_eq!(ended.json()["levels"][0]["requests"]["completed"], 60, "{}", ended.said());
    assert!(!ended.stdout.contains("sesame") && !ended.stderr.contains("sesame"));
    for (name, bytes) in place.files() {
        assert!(!holds(&bytes, "sesame"), "in {name}");
    }
}

#[test]
fn agents_of_this_machine_send_the_headers_and_the_query_of_the_run() {
    let (server, place) = (Web::start(web::openai), Place::new());
    let load = "--agents 2 --concurrency 2 --requests 20 --output-tokens 16 --header X-Tenant:load";
    run(place.bench(&format!("{}?version=7", server.url()), load)).expect_measured();
    let measured = server.generations();
    assert_eq!(measured.len(), 20);
    for request in measured {
        assert_eq!(request.header("x-tenant"), Some("load"));
        assert!(
            request.head.split(' ').nth(1).unwrap().ends_with("?version=7"),
            "{}",
            request.head
        );
    }
}

#[test]
fn what_agents_cannot_do_is_refused() {
    let place = Place::new();
    for (line, words) in [
        ("bench --agents 2 --until-stable", "--until-stable looks at every response"),
        ("bench --agents 0", "not a number of agents"),
        ("capacity --predict --agents 2 --slo ttft.p99<1s", "a prediction sends nothing"),
        ("predict --agents 2", "--agents"),
    ] {
        run(place.dyno(line)).expect_status(&[2]).expect_words(&[words]);
    }
}

#[test]
fn auto_says_how_many_and_why() {
    let place = Place::new();
    let few = run(place.dyno("bench http://gpu --agents auto --concurrency 64 --dry-run"));
    few.expect_status(&[0]).expect_words(&["1 agent is enough: 64 streams"]);
    let line = "bench http://gpu --agents auto --concurrency 100000 --dry-run --lang zh";
    run(place.dyno(line)).expect_status(&[0]).expect_words(&["个压测端", "100000 路流"]);
}

#[test]
fn progress_has_the_agents_and_what_they_have_done() {
    let engine = Engine::start(STEADY, &[]);
    let place = Place::new();
    let load = "--agents 2 --rate 20 --arrival constant --duration 8s --output-tokens 16";
    let ended = run(place.dyno(&format!("bench {} --out run {load}", engine.url())));
    let line = ended.stderr.lines().find(|line| line.contains("2 agents")).unwrap_or_default();
    let words = ["requests", "0 failed", "req/s", "tok/s", "TTFT ~"];
    assert!(words.iter().all(|word| line.contains(word)), "{}", ended.said());
    let done = line.split(" requests").next().and_then(|done| done.rsplit(' ').next());
    let done: u64 = done.and_then(|done| done.parse().ok()).unwrap();
    assert!((40..=110).contains(&done), "after 5 s at 20/s: {line}");
}
