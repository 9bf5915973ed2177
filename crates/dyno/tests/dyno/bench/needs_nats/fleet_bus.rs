//! `dyno agent` and `dyno bench --bus`: runs over a real bus, what agents accept, and what is never on it.

use super::bus::Bus;
use crate::bench::engines::{Engine, QUICK};
use crate::bench::fleet::expect_all_indices;
use crate::bench::place::{Place, codes};
use crate::bench::process::{Ended, run};
use crate::bench::web::{self, Seen, Web};
use dyno_model::frame::Ending;
use rustix::process::Signal;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Slow enough to be interrupted at any time.
const STEADY: &str = "ttft=50ms,itl=5ms,tokens=16";
const LOAD: &str = "--concurrency 2 --requests 6 --output-tokens 4";

fn bench(place: &Place, bus: &Bus, url: &str, agents: u32, args: &str) -> Ended {
    let bus = bus.url();
    run(place.bench(url, &format!("--bus {bus} --agents {agents} {args}")))
}

fn completed(summary: &Value) -> Vec<&Value> {
    let levels = summary["levels"].as_array().unwrap().iter();
    levels.map(|level| &level["requests"]["completed"]).collect()
}

#[test]
fn two_agents_send_all_of_it_once_and_there_is_one_report() {
    let (bus, engine, place) = (Bus::start(), Engine::start(STEADY, &[]), Place::new());
    let allowed = format!("--target {} --once", engine.url());
    let agents = ["left", "right"].map(|name| bus.agent(&place, name, &allowed));
    let load = "--concurrency 2,4 --requests 20 --output-tokens 16";
    let ended = bench(&place, &bus, &engine.url(), 2, load).expect_measured();
    let summary = ended.json();
    assert_eq!(completed(&summary), [20, 20], "{}", ended.said());
    let records = place.requests();
    assert_eq!(records.len(), 40);
    for (level, end) in (0..).zip(place.level_ends()) {
        expect_all_indices(&place, level, 20);
        let of = |agent| move |r: &&_| -> bool { is_of(r, level, agent) };
        let parts: Vec<_> = end.agents.iter().map(|agent| (&*agent.name, agent.issued)).collect();
        let sent = |agent| records.iter().filter(of(agent)).count() as u64;
        assert_eq!(parts, [("left", sent(0)), ("right", sent(1))], "{}", ended.said());
        assert!(sent(0) > 0 && sent(1) > 0);
    }
    let text = run(place.dyno("report run --details")).expect_status(&[0]).stdout;
    assert!(text.contains("left") && text.contains("right"), "{text}");
    assert_eq!(place.json("plan.json")["fleet"], json!({ "agents": 2, "bus": true }));
    // With --once they end by themselves, and do not wait for another run.
    for agent in agents {
        let ended =
            agent.end().expect_status(&[0]).expect_words(&["taking part in run", "is over"]);
        assert_eq!(ended.stderr.matches("waiting for a run on").count(), 1, "{}", ended.said());
    }
}

fn is_of(record: &dyno_model::record::RequestRecord, level: u32, agent: u32) -> bool {
    record.level == level && record.agent == Some(agent)
}

#[test]
fn an_agent_measures_what_it_may_and_nothing_else() {
    let (bus, engine, other) = (Bus::start(), Engine::start(QUICK, &[]), Web::start(web::openai));
    let port = engine.url().rsplit_once(':').unwrap().1.to_owned();
    let agents = Place::new();
    let allowed = format!("--target http://localhost:{port}/v1");
    let mut agent = bus.agent(&agents, "careful", &allowed);
    // Another port, and another name for the same address.
    for refused in [other.url(), engine.url()] {
        let place = Place::new();
        let ended = bench(&place, &bus, &refused, 1, LOAD).expect_status(&[2]);
        let why = format!("agent careful: it may not measure {refused}; see its --target");
        let ended = ended.expect_words(&[&why]);
        assert!(!place.run_dir().exists(), "{}", ended.said());
    }
    assert!(other.generations().is_empty(), "only the coordinator asked");
    // The same server, however it is written.
    for spelling in ["http://LocalHost:PORT/", "http://localhost:PORT/v1"] {
        let place = Place::new();
        let url = spelling.replace("PORT", &port);
        let ended = bench(&place, &bus, &url, 1, LOAD).expect_measured();
        assert_eq!(completed(&ended.json()), [6], "{url}: {}", ended.said());
    }
    assert!(agent.is_running(), "it waits for the next run");
    agent.signal(Signal::TERM);
    agent.end().expect_words(&["taking part in run", "is over"]);
}

#[test]
fn an_agent_says_what_it_needs() {
    let place = Place::new();
    for (line, words) in [
        ("agent --target http://gpu", "an agent waits on a bus"),
        ("agent --bus nats://127.0.0.1:1", "say which servers this agent may measure"),
        ("agent --bus nats://127.0.0.1:1 --target http://good@evil/", "user name or password"),
        ("agent --bus nats://127.0.0.1:1 --target http://gpu --any-target", "--any-target"),
        // M3
        (
            "agent --bus nats://127.0.0.1:1 --any-target --header X-Tenant:load",
            "would go to any server that a message on the bus names",
        ),
        ("agent --bus nats://127.0.0.1:1 --any-target --api-key sesame", "name the servers with"),
        ("bench http://gpu --bus nats://127.0.0.1:1", "say how many agents are needed"),
    ] {
        run(place.dyno(line)).expect_status(&[2]).expect_words(&[words]);
    }
}

/// The prompts that were measured, in any order.
fn prompts(server: &Web) -> Vec<String> {
    let text = |seen: &Seen| seen.json()["messages"][0]["content"].as_str().unwrap().to_owned();
    let mut sent: Vec<String> = server.generations().iter().map(text).collect();
    sent.sort();
    sent
}

#[test]
fn agents_fetch_the_data_and_what_is_known_of_them_is_told() {
    let (bus, server) = (Bus::start(), Web::start(web::openai));
    let [place, left, right] = [0, 1, 2].map(|_| Place::new());
    let allowed = format!("--target {}", server.url());
    let _agents = [bus.agent(&left, "left", &allowed), bus.agent(&right, "right", &allowed)];
    // The name means nothing where the agents run.
    let lines = (0..5).map(|n| format!("{{\"question\": \"Why {n}?\"}}\n")).collect::<String>();
    place.file("asked.jsonl", &format!("{lines}{{\"question\": \n"));
    let args = format!("{LOAD} --data asked.jsonl,skip_bad=true");
    let ended = bench(&place, &bus, &server.url(), 2, &args).expect_measured();
    let expected = ["Why 0?", "Why 0?", "Why 1?", "Why 2?", "Why 3?", "Why 4?"];
    assert_eq!(prompts(&server), expected, "{}", ended.said());
    // What one client says of them.
    let alone = Place::new();
    alone.file("asked.jsonl", &format!("{lines}{{\"question\": \n"));
    run(alone.bench(&server.url(), &args)).expect_measured();
    let notes = |place: &Place| {
        let mut notes = codes(&place.json("summary.json")["notes"]);
        notes.sort();
        notes
    };
    assert_eq!(notes(&place), notes(&alone), "{}", ended.said());
    for code in ["data_selected", "prompts_repeat"] {
        assert!(notes(&place).contains(&code.to_owned()), "{:?}", notes(&place));
    }
}

#[test]
fn a_file_that_changes_on_the_way_is_refused() {
    let (bus, server, place) = (Bus::start(), Web::start(web::openai), Place::new());
    let _agent = bus.agent(&Place::new(), "one", &format!("--target {}", server.url()));
    let line = |number: u64| format!("{{\"question\": \"Why {number:012}?\"}}\n");
    let lines: String = (0..100_000).map(line).collect();
    let file = place.file("asked.jsonl", &lines);
    // Somebody goes on writing the last line.
    let stop = Arc::new(AtomicBool::new(false));
    let (writes, until) = (file.clone(), Arc::clone(&stop));
    let writer = std::thread::spawn(move || {
        use std::os::unix::fs::FileExt;
        let file = std::fs::OpenOptions::new().write(true).open(writes).unwrap();
        let at = (lines.len() - line(0).len()) as u64;
        let mut number = 1_000_000;
        while !until.load(Ordering::Relaxed) {
            number += 1;
            file.write_all_at(line(number).as_bytes(), at).unwrap();
        }
    });
    let ended = bench(&place, &bus, &server.url(), 1, &format!("{LOAD} --data {file}"));
    stop.store(true, Ordering::Relaxed);
    writer.join().unwrap();
    let ended = ended.expect_status(&[2]);
    ended.expect_words(&["agent one: data/asked.jsonl: its contents are not those announced"]);
    assert!(server.generations().is_empty());
}

#[test]
fn keys_headers_and_queries_are_never_on_the_bus() {
    let (bus, server, place) = (Bus::start(), Web::start(web::openai), Place::new());
    let heard = bus.listen();
    // The query of another server is not for this one.
    let own =
        format!("--target http://127.0.0.1:9?pass=elsewhere --target {}?pass=rye", server.url());
    let args = format!("{own} --header X-Pass:barley");
    let _agent = bus.agent_with(&place, "one", &args, Some("open-sesame"));
    let mut command = place.bench(
        &format!("{}?pass=oats", server.url()),
        &format!("--bus {} --agents 1 {LOAD} --header X-Pass:wheat --label told", bus.url()),
    );
    command.env("DYNO_API_KEY", "shut-sesame");
    let ended = run(command).expect_measured();
    assert_eq!(completed(&ended.json()), [6], "{}", ended.said());
    let heard = heard.end();
    assert!(heard.contains("\"told\""), "the listener hears the plan");
    let secrets = ["open-sesame", "shut-sesame", "barley", "wheat", "=rye", "=oats", "elsewhere"];
    for secret in secrets {
        assert!(!heard.contains(secret), "`{secret}` is on the bus");
    }
    // The server gets the agent's own.
    for request in server.generations() {
        assert_eq!(request.header("authorization"), Some("Bearer open-sesame"));
        assert_eq!(request.header("x-pass"), Some("barley"));
        let path = request.head.split(' ').nth(1).unwrap();
        assert!(path.ends_with("?pass=rye"), "{path}");
    }
    assert_eq!(server.generations().len(), 6);
}

#[test]
fn an_agent_without_the_headers_and_the_query_of_the_run_refuses() {
    let (bus, server, place) = (Bus::start(), Web::start(web::openai), Place::new());
    let _agent = bus.agent(&place, "bare", &format!("--target {}", server.url()));
    let ended = bench(&place, &bus, &server.url(), 1, &format!("{LOAD} --header X-Tenant:load"));
    let header = "agent bare: the run has headers that this agent does not have and would not send: X-Tenant";
    ended.expect_status(&[2]).expect_words(&[header, "--header 'X-Tenant: VALUE'"]);
    let ended = bench(&place, &bus, &format!("{}?version=7", server.url()), 1, LOAD);
    ended.expect_status(&[2]).expect_words(&["would not send: version", "?version=VALUE'"]);
    assert!(server.generations().is_empty(), "nothing was sent");
}

#[test]
fn a_run_whose_agent_was_killed_is_resumed_over_the_bus() {
    let (bus, engine, place) = (Bus::start(), Engine::start(STEADY, &[]), Place::new());
    let allowed = format!("--target {}", engine.url());
    let _left = bus.agent(&place, "left", &allowed);
    let right = bus.agent(&place, "right", &allowed);
    let load = "--concurrency 4,6 --requests 60 --output-tokens 16";
    let args = format!("--bus {} --agents 2 {load}", bus.url());
    let mut process = crate::bench::process::Process::start(place.bench(&engine.url(), &args));
    process.wait_until("requests under way", || engine.begun() >= 20);
    right.signal(Signal::KILL);
    drop(right);
    let ended = process.end().expect_status(&[4]);
    let ended = ended.expect_words(&["agent right was lost in level 1: "]);
    assert_eq!(place.level_ends()[0].ending, Ending::AgentLost, "{}", ended.said());
    // The address of the bus is not stored.
    let again = "bench --resume run --json --quiet";
    run(place.dyno(again)).expect_status(&[2]).expect_words(&["give it again"]);
    let _right = bus.agent(&place, "right", &allowed);
    let again = run(place.dyno(&format!("{again} --bus {}", bus.url()))).expect_measured();
    assert_eq!(completed(&again.json()), [60, 60], "{}", again.said());
}

/// A server that counts words, unless `refuses` says otherwise of a request's key.
fn counting(refuses: impl Fn(&str) -> bool + Send + Sync + 'static) -> Web {
    Web::start(move |request: &Seen| match request.is("POST /tokenize") {
        true if refuses(request.header("authorization").unwrap_or_default()) => {
            web::json("403 Forbidden", "{\"error\":\"not for you\"}")
        }
        true => {
            let body = request.json();
            let text = body["prompt"].as_str().or(body["messages"][0]["content"].as_str());
            let words = text.unwrap_or_default().split(' ').count();
            web::json("200 OK", &json!({ "count": words }).to_string())
        }
        false => web::openai(request),
    })
}

#[test]
fn an_agent_for_which_the_server_does_not_count_is_refused() {
    let (bus, place) = (Bus::start(), Place::new());
    let server = counting(|key| key.contains("agents"));
    let allowed = format!("--target {}", server.url());
    let _agent = bus.agent_with(&place, "one", &allowed, Some("agents"));
    let ended = bench(&place, &bus, &server.url(), 1, &format!("{LOAD} --input-tokens 20"));
    let ended = ended.expect_status(&[2]);
    ended.expect_words(&[
        "agent one: ",
        "counts tokens for the coordinator (/tokenize), but not for this agent",
        "--tokenizer",
        "not for you",
    ]);
    assert!(server.generations().is_empty());
}

#[test]
fn a_server_that_stops_counting_for_one_agent_is_that_agents_trouble() {
    let (bus, place) = (Bus::start(), Place::new());
    let (asked, least) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(usize::MAX)));
    let (calls, from) = (Arc::clone(&asked), Arc::clone(&least));
    let server = counting(move |key| {
        let is_agent = key.contains("agents");
        is_agent && calls.fetch_add(1, Ordering::SeqCst) >= from.load(Ordering::SeqCst)
    });
    let allowed = format!("--target {}", server.url());
    let _agent = bus.agent_with(&place, "one", &allowed, Some("agents"));
    // A trace is counted again for its level.
    let line = |n| json!({ "timestamp": n * 20, "input_length": 30 + n, "output_length": 2 });
    let lines: String = (0..6).map(|n| format!("{}\n", line(n))).collect();
    let file = place.file("trace.jsonl", &lines);
    let args = format!("--data trace:{file}");
    bench(&place, &bus, &server.url(), 1, &args).expect_measured();
    let once = asked.swap(0, Ordering::SeqCst);
    assert!(once > 4, "it asked {once} times");
    // The last question of the same run is not answered.
    least.store(once - 1, Ordering::SeqCst);
    let other = Place::new();
    let ended = bench(&other, &bus, &server.url(), 1, &args).expect_status(&[4]);
    let ended = ended.expect_words(&["agent one was lost in level 1: the server no longer counts"]);
    let notes = codes(&ended.json()["notes"]);
    assert!(notes.contains(&"tokenizer_failed".to_owned()), "{}", ended.said());
}

#[test]
fn an_agent_with_the_wrong_key_does_not_lose_the_target_for_the_others() {
    let (bus, engine, place) = (Bus::start(), Engine::start(QUICK, &["auth"]), Place::new());
    let allowed = format!("--target {}", engine.url());
    let _agents = [("left", "sesame"), ("right", "wrong")]
        .map(|(name, key)| bus.agent_with(&place, name, &allowed, Some(key)));
    let words = place.file("words.jsonl", "{\"prompt\": \"one two three\"}\n");
    let mut command = place.bench(
        &engine.url(),
        &format!(
            "--bus {} --agents 2 --rate 10 --arrival constant --duration 3s --output-tokens 4 --data {words} \
             --allow-failures 60%",
            bus.url()
        ),
    );
    command.env("DYNO_API_KEY", "sesame");
    let ended = run(command).expect_measured();
    let level = &ended.json()["levels"][0];
    let of = |name: &str| {
        let agents = level["agents"].as_array().unwrap();
        agents.iter().find(|agent| agent["name"] == name).cloned().unwrap()
    };
    assert_eq!(of("left")["failed"], 0, "{}", ended.said());
    assert_eq!((&of("right")["completed"], &of("right")["failed"]), (&json!(0), &json!(15)));
    assert_eq!(place.level_ends()[0].ending, Ending::Duration, "{}", ended.said());
}

#[test]
fn two_servers_in_turns_need_twice_as_many_agents_and_it_is_said() {
    let bus = Bus::start();
    let [a, b] = [0, 1].map(|_| Engine::start(QUICK, &[]));
    let (agents, place) = (Place::new(), Place::new());
    let allowed = format!("--target {} --target {}", a.url(), b.url());
    let _one = bus.agent(&agents, "one", &allowed);
    let line = format!(
        "bench {} --versus {} --bus {} --agents 1 --out run {LOAD}",
        a.url(),
        b.url(),
        bus.url()
    );
    let few = run(place.dyno(&format!("{line} --agents-within 1s"))).expect_status(&[2]);
    few.expect_words(&[
        "--versus: 2 agents are needed on the bus, 1 for each server",
        "B: --bus: 0 of 1 agents came within 1 s",
        "--versus needs agents for each of the two servers, 2 in all",
    ]);
    assert!(!place.path().join("run-a").exists(), "nothing was measured");
    let _other = bus.agent(&agents, "other", &allowed);
    let ended = run(place.dyno(&format!("{line} --json --quiet"))).expect_measured();
    let summary = ended.json();
    assert_eq!(
        (completed(&summary["a"]), completed(&summary["b"])),
        (vec![&json!(6)], vec![&json!(6)])
    );
}
