//! Trees of sessions replayed from the command line: by one load generator and by several, resumed, cut, and on a
//! server that is too small for them.

use crate::bench::place::Place;
use crate::bench::process::run;
use dyno_model::outcome::Outcome;
use dyno_model::record::RequestRecord;
use dyno_model::{MS, SEC};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// A twin whose cache holds everything.
const TWIN: &str = r#"schema = "dyno.twin/1"
name = "roomy"
model = "a small model"
hardware = "none"
engine = "chunked prefill"
provenance = "synthetic"

[scheduler]
policy = "chunked"
max_seqs = 32
token_budget = 8192
block = 10
kv_blocks = 100000
prefix_cache = true
context = CONTEXT

[cost]
base_ms = 1
prefill_token_us = 1
attention_ns = 0
decode_us = 10
kv_ns = 0
prefill_base_ms = 0
front_end_ms = 0
noise = 0

[lengths]
input = { mean = 100, spread = 0 }
output = { mean = 10, spread = 0 }
"#;

/// A tree as WEKA writes it: the root starts two sub-agents and waits for both. `name` makes its blocks its own.
fn tree(name: u64) -> String {
    let ids = |blocks: std::ops::Range<u64>| {
        let all: Vec<String> = blocks.map(|block| (name * 1000 + block).to_string()).collect();
        all.join(",")
    };
    let subagent = |at: &str, own: u64| {
        format!(
            r#"{{"t": {at}, "type": "subagent", "status": "completed", "duration_ms": 200, "requests": [
                {{"t": 0, "in": 60, "out": 8, "hash_ids": [{},{}], "api_time": 0.1}}]}}"#,
            ids(0..3),
            ids(own..own + 3)
        )
    };
    format!(
        r#"{{"id": "t{name}", "block_size": 10, "hash_id_scope": "local", "requests": [
            {{"t": 0, "in": 100, "out": 10, "hash_ids": [{}], "api_time": 0.1}},
            {},
            {},
            {{"t": 0.5, "in": 150, "out": 10, "hash_ids": [{}], "api_time": 0.1, "think_time": 0.4}}]}}"#,
        ids(0..10),
        subagent("0.35", 100),
        subagent("0.4", 200),
        ids(0..15)
    )
    .replace('\n', "")
}

fn trees(place: &Place, count: u64) -> String {
    let lines = (0..count).fold(String::new(), |mut all, name| {
        writeln!(all, "{}", tree(name)).unwrap();
        all
    });
    place.file("twin.toml", &TWIN.replace("CONTEXT", "10000"));
    place.file("trees.jsonl", &lines)
}

fn by_tree(records: &[RequestRecord]) -> BTreeMap<u64, Vec<&RequestRecord>> {
    let mut trees: BTreeMap<u64, Vec<&RequestRecord>> = BTreeMap::new();
    for record in records {
        trees.entry(record.tree.as_ref().unwrap().tree).or_default().push(record);
    }
    trees
}

/// Each tree has all its requests, and the last one of its root waited for both sub-agents, as exactly as times are known.
fn whole(records: &[RequestRecord], within: u64) {
    for of in by_tree(records).values() {
        assert_eq!(of.len(), 4);
        assert!(
            of.iter()
                .all(|record| record.is_completed() && record.tree.as_ref().unwrap().turns == 4)
        );
        let find = |session, number| {
            let here = |record: &&&RequestRecord| {
                record.turn.is_some_and(|turn| (turn.session, turn.number) == (session, number))
            };
            *of.iter().find(here).unwrap()
        };
        let (join, ends) = (find(0, 2), [find(1, 1).end, find(2, 1).end]);
        let tree = join.tree.as_ref().unwrap();
        assert!(join.intended.abs_diff(ends[0].max(ends[1]) + tree.gap) <= within);
        assert!(tree.join_wait.unwrap().abs_diff(ends[0].abs_diff(ends[1])) <= within);
    }
}

#[test]
fn trees_are_replayed_once_where_nothing_else_ends_the_level() {
    let place = Place::new();
    let file = trees(&place, 3);
    let args = format!("predict --twin twin.toml --out run --data {file} --concurrency 2");
    let ended = run(place.dyno(&args)).expect_status(&[0]);
    assert!(ended.stdout.contains("trees: 3 started, 3 completed"), "{}", ended.stdout);
    let records = place.requests();
    whole(&records, 0);
    assert_eq!(by_tree(&records).len(), 3);
    for record in &records {
        let tree = record.tree.as_ref().unwrap();
        assert_eq!(record.cached, tree.repeated.map(|repeated| repeated.of_prompts.into()));
    }
    let of = |session, number| {
        records.iter().find(|r| r.turn.is_some_and(|t| (t.session, t.number) == (session, number)))
    };
    // A sub-agent begins with three blocks of the root, whose second prompt repeats the first.
    assert_eq!(of(1, 1).unwrap().cached, Some(30));
    assert_eq!(of(0, 2).unwrap().cached, Some(100));
    assert_eq!(place.json("plan.json")["levels"][0]["once"], true);
    // The same again gives the same, to the token.
    let again = run(place.dyno(&args.replace("--out run", "--out again"))).expect_status(&[0]);
    let measured = |text: &str| text.lines().skip(5).take(20).collect::<Vec<_>>().join("\n");
    assert_eq!(measured(&ended.stdout), measured(&again.stdout));
}

#[test]
fn several_load_generators_keep_trees_whole() {
    let place = Place::new();
    let file = trees(&place, 6);
    let args = format!(
        "bench --twin twin.toml --out run --data {file} --concurrency 4 --agents 2 --drain 20s"
    );
    run(place.dyno(&args)).expect_status(&[0, 4]);
    let records = place.requests();
    // Clocks of several load generators are brought together.
    whole(&records, MS);
    let trees = by_tree(&records);
    assert_eq!(trees.keys().copied().collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5]);
    let agents: BTreeSet<_> = records.iter().map(|record| record.agent).collect();
    assert_eq!(agents.len(), 2);
    for of in trees.values() {
        assert!(of.iter().all(|record| record.agent == of[0].agent), "a tree stays on one of them");
    }
}

#[test]
fn a_level_that_ends_by_time_starts_in_the_middle_of_trees_and_cuts_them() {
    let place = Place::new();
    let file = trees(&place, 8);
    let args = format!(
        "predict --twin twin.toml --out run --data {file} --concurrency 8 --duration 300ms --seed 3"
    );
    run(place.dyno(&args)).expect_status(&[0, 4]);
    let records = place.requests();
    let warming: Vec<_> =
        records.iter().filter(|record| record.tree.as_ref().unwrap().warms).collect();
    assert!(!warming.is_empty());
    assert!(warming.iter().all(|record| {
        !record.phase.is_measured() && record.output.is_some_and(|output| output.tokens == 1)
    }));
    let of_trees = &place.json("summary.json")["levels"][0]["trees"];
    assert!(of_trees["cut"].as_u64().unwrap() > 0, "{of_trees}");
    // From the beginning, nothing is warmed.
    let place = Place::new();
    let file = trees(&place, 8);
    let args = format!(
        "predict --twin twin.toml --out run --data agentic:{file},start=0 --concurrency 8 --duration 300ms"
    );
    run(place.dyno(&args)).expect_status(&[0, 4]);
    assert!(place.requests().iter().all(|record| !record.tree.as_ref().unwrap().warms));
}

/// A capacity in agents is not that of trees which all begin at the same moment.
#[test]
fn levels_of_a_capacity_of_agents_start_in_the_middle_of_trees_too() {
    let place = Place::new();
    let file = trees(&place, 8);
    let planned = |more: &str| {
        let args = format!(
            "capacity --predict --twin twin.toml --out run --data {file} --over concurrency \
             --between 1..2 --levels 4 --slo latency.p50<1s {more}"
        );
        run(place.dyno(&args)).expect_status(&[0, 4, 6]);
        let level = place.json("plan.json")["levels"][0].clone();
        let warmed = place.requests().iter().any(|record| record.tree.as_ref().unwrap().warms);
        std::fs::remove_dir_all(place.path().join("run")).unwrap();
        (level["duration_ns"].as_u64(), level["requests"].as_u64(), warmed)
    };
    assert_eq!(planned(""), (Some(600 * SEC), None, true));
    assert_eq!(planned("--quick"), (Some(60 * SEC), None, true));
    assert_eq!(planned("--requests 2000"), (None, Some(2000), false));
}

#[test]
fn a_run_that_is_resumed_has_all_trees_in_every_level() {
    let place = Place::new();
    let file = trees(&place, 2);
    let args = format!("bench --twin twin.toml --out run --data {file} --concurrency 1,2");
    run(place.dyno(&args)).expect_status(&[0, 4]);
    assert_eq!(place.requests().len(), 16);
    let run_dir = place.path().join("run");
    let records = run_dir.join("records.dyno");
    let bytes = std::fs::read(&records).unwrap();
    std::fs::write(&records, &bytes[..bytes.len() * 7 / 10]).unwrap();
    std::fs::remove_file(run_dir.join("summary.json")).unwrap();
    run(place.dyno("bench --resume run")).expect_status(&[0, 4]);
    let summary = place.json("summary.json");
    for level in [0, 1] {
        let trees = &summary["levels"][level]["trees"];
        assert_eq!((&trees["started"], &trees["completed"]), (&2.into(), &2.into()), "{trees}");
    }
}

#[test]
fn trees_that_do_not_fit_the_server_are_counted_and_named() {
    let place = Place::new();
    let file = trees(&place, 4);
    place.file("twin.toml", &TWIN.replace("CONTEXT", "155"));
    let args = format!("predict --twin twin.toml --out run --data {file} --concurrency 2");
    let ended = run(place.dyno(&args)).expect_status(&[0, 4, 5]);
    let records = place.requests();
    let over: Vec<_> = records
        .iter()
        .filter(|record| record.outcome == Outcome::Dropped(Outcome::OVERFLOW.to_owned()))
        .collect();
    assert_eq!(over.len(), 4, "{}", ended.stdout);
    assert!(over.iter().all(|record| record.requested_input == Some(150)));
    assert!(ended.stdout.contains("4 too long for the context"), "{}", ended.stdout);
    let level = &place.json("summary.json")["levels"][0];
    assert_eq!(level["verdict"], "suspect", "{level}");
    // None fits: the run says so instead of passing over all trees again and again.
    place.file("twin.toml", &TWIN.replace("CONTEXT", "50"));
    let args =
        format!("predict --twin twin.toml --out none --data {file} --concurrency 2 --duration 60s");
    run(place.dyno(&args))
        .expect_status(&[2])
        .expect_words(&["context of 50 tokens", "--max-input-tokens"]);
}

#[test]
fn idle_time_is_skipped_and_gaps_are_capped() {
    let place = Place::new();
    let slow = tree(1).replace(r#""t": 0.5"#, r#""t": 7200.5"#);
    place.file("twin.toml", &TWIN.replace("CONTEXT", "10000"));
    let file = place.file("slow.json", &slow);
    let gap_of = |options: &str| {
        let args = format!(
            "predict --twin twin.toml --out run --data agentic:{file}{options} --concurrency 1"
        );
        run(place.dyno(&args)).expect_status(&[0, 4]);
        let records = place.requests();
        let last = records.iter().max_by_key(|record| record.intended).unwrap();
        let tree = last.tree.as_ref().unwrap();
        std::fs::remove_dir_all(place.path().join("run")).unwrap();
        (tree.gap / MS, (tree.gap + tree.skipped) / MS)
    };
    let (idle, all) = gap_of("");
    assert_eq!(idle, 10_000);
    assert!(all > 7_000_000);
    assert_eq!(gap_of(",max_gap=3s").0, 3_000);
    assert_eq!(gap_of(",max_idle=none").0, all);
    let wrong = format!("predict --twin twin.toml --data agentic:{file},max_idle=10");
    run(place.dyno(&wrong)).expect_status(&[2]).expect_words(&["max_idle=none"]);
}
