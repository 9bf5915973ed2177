//! What `dyno data show` says of the traffic of coding agents, and that nothing reads it as single prompts.

use crate::bench::place::Place;
use crate::bench::process::run;
use serde_json::Value;

const TRAJECTORY: &str = r#"{"history": [
  {"role": "system", "content": "Be brief.", "agent": "main"},
  {"role": "user", "content": "Fix it.", "agent": "main"},
  {"role": "assistant", "content": "Done.", "agent": "main", "action": "submit"}
]}"#;

const TREE: &str = r#"{"id": "a", "block_size": 10, "requests": [
  {"t": 0, "in": 100, "out": 20, "hash_ids": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], "api_time": 5},
  {"t": 15, "type": "subagent", "duration_ms": 9000, "requests": [{"t": 0, "in": 50, "out": 5, "hash_ids": [11, 12, 13, 14, 15], "api_time": 8}]},
  {"t": 18, "in": 150, "out": 20, "hash_ids": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 16, 17, 18, 19, 20], "api_time": 5}
]}"#;

#[test]
fn agentic_traffic_is_described_as_trees_for_people_and_for_programs() {
    let place = Place::new();
    let file = place.file("one.bin", TREE);
    let shown = run(place.dyno(&format!("data show {file}"))).expect_status(&[0]).stdout;
    for part in [
        "one.bin: agentic traffic, WEKA\n",
        "1 tree of 2 sessions, 1 of them sub-agents: 3 requests, 1 join\n",
        "ideal cache share: 33.3 % of input tokens, 40.0 % with responses\n",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let json = run(place.dyno(&format!("data show {file} --json"))).expect_status(&[0]).stdout;
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["format"], &json["joins"]), (&"weka".into(), &1.into()));
    let mut chinese = place.dyno(&format!("data show {file}"));
    chinese.env("LANG", "zh_CN.UTF-8");
    let chinese = run(chinese).expect_status(&[0]).stdout;
    assert!(chinese.contains("1 棵树，2 个会话，其中 1 个子代理：3 个请求，1 处汇合"), "{chinese}");
    place.file("two.bin", TRAJECTORY);
    let folder = run(place.dyno("data show . --json")).expect_status(&[0]).stdout;
    let folder: Value = serde_json::from_str(&folder).unwrap();
    assert_eq!((&folder["format"], &folder["trees"]), (&"weka, swe-agent".into(), &2.into()));
}

#[test]
fn what_does_not_apply_to_agentic_traffic_is_refused() {
    let place = Place::new();
    let file = place.file("one.traj", TRAJECTORY);
    place.file("prompts.txt", "a prompt\n");
    for (args, said) in [
        (
            format!("data show {file} --json --limit 1"),
            "--limit: agentic traffic is described whole",
        ),
        (
            "data show prompts.txt --json".to_owned(),
            "--json: only agentic traffic is described as JSON",
        ),
        (
            format!("data convert {file} --to lines --out x"),
            "this is agentic traffic of SWE-agent, whose requests are no single prompts",
        ),
    ] {
        let refused = run(place.dyno(&args)).expect_status(&[2]).stderr;
        let refused = refused.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(refused.contains(said), "{args}: {refused}");
    }
}

#[test]
fn generated_traffic_is_described_like_a_file() {
    let place = Place::new();
    let of = "agentic,turns=20,subagents=10%";
    let shown = run(place.dyno(&format!("data show {of} --limit 2"))).expect_status(&[0]).stdout;
    assert!(
        shown.starts_with(&format!("{of}: agentic traffic, generated\n2 trees of ")),
        "{shown}"
    );
    let json = |args: &str| -> Value {
        let said = run(place.dyno(&format!("data show {args} --json"))).expect_status(&[0]).stdout;
        serde_json::from_str(&said).unwrap()
    };
    let few = json(&format!("{of} --limit 3"));
    assert_eq!(
        (&few["format"], &few["trees"], &few["turns"]["max"]),
        (&"generated".into(), &3.into(), &20.into())
    );
    assert_eq!(few, json(&format!("{of} --limit 3")));
    assert_ne!(few, json(&format!("{of} --limit 3 --seed 1")));
    assert_eq!(json("agentic,turns=2,subagents=0")["requests"], 200);
    for (args, said) in [
        ("agentic,turns=9k", "turns=: 9000 is more than 2000; write at most 2000"),
        ("agentic --order shuffle", "--order: agentic traffic is generated as its options say"),
    ] {
        let refused = run(place.dyno(&format!("data show {args}"))).expect_status(&[2]).stderr;
        let refused = refused.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(refused.contains(said), "{args}: {refused}");
    }
}
