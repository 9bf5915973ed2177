//! What can be wrong with agentic traffic: the message has file, line and field, the tree is left out whole and counted,
//! and the others are used.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use super::seed;
use dyno_workload::agentic::{AgenticProfile, LeftOutKind};
use serde_json::{Value, json};

/// What is used of a file, and what is said about what is not.
fn read(text: &str) -> (u64, u64, Vec<String>) {
    let profile = AgenticProfile::from_bytes("f", text.as_bytes()).unwrap();
    let said = profile.notes.left_out().flat_map(|(_, left)| &left.first).map(ToString::to_string);
    (profile.trees, profile.notes.left(LeftOutKind::Trees), said.collect())
}

fn refused(text: &str) -> String {
    AgenticProfile::from_bytes("f", text.as_bytes()).unwrap_err().to_string()
}

fn lines(name: &str) -> Vec<Value> {
    let bytes = seed(name);
    let values = serde_json::Deserializer::from_slice(&bytes).into_iter();
    values.collect::<Result<_, _>>().unwrap()
}

fn text(values: &[Value]) -> String {
    values.iter().map(|value| format!("{value}\n")).collect()
}

#[test]
fn half_a_file_is_no_tree() {
    for name in ["weka-ends", "otel-document", "swe-agent-steps"] {
        let whole = String::from_utf8(seed(name)).unwrap();
        let said = refused(&whole[..whole.len() / 2]);
        assert!(
            said.contains("f:1: value 1 begins here and does not end before the file does"),
            "{said}"
        );
    }
}

#[test]
fn a_line_that_is_cut_off_leaves_out_the_sessions_beside_it() {
    let whole = String::from_utf8(seed("mlperf")).unwrap();
    let (trees, left, said) = read(whole.trim_end().strip_suffix('}').unwrap());
    assert_eq!((trees, left), (1, 1));
    assert!(said.iter().any(|said| said.starts_with("f:9: not valid JSON")), "{said:?}");
    assert!(
        said.iter().any(|said| said.contains("session \"c1\" may lack a record (f:9: ")),
        "{said:?}"
    );
    // A line in the middle is between two sessions.
    let broken: Vec<String> = whole
        .lines()
        .enumerate()
        .map(
            |(number, line)| if number == 3 { "{\"turn\": 1,".to_owned() } else { line.to_owned() },
        )
        .collect();
    let said = refused(&broken.join("\n"));
    assert!(said.contains("there is no tree that could be used"), "{said}");
}

#[test]
fn times_that_go_backwards_leave_the_tree_out() {
    let good = lines("weka-ends");
    let mut bad = good.clone();
    bad[0]["requests"][6]["t"] = json!(40.0);
    let (trees, left, said) = read(&text(&[bad, good.clone()].concat()));
    assert_eq!((trees, left), (1, 1));
    let why = "f:1: requests[6], field \"t\": it is earlier than that of the request before it";
    assert!(said[0].starts_with(why), "{said:?}");
    let mut bad = good.clone();
    bad[0]["requests"][1]["duration_ms"] = json!(99_000);
    let (_, _, said) = read(&text(&[good, bad].concat()));
    let why = "f:2: requests[1], field \"duration_ms\": the sub-agent would have started before the trace";
    assert!(said[0].starts_with(why), "{said:?}");
    let mut spans = lines("otel-document");
    spans[0]["spans"][2]["end_time"] = json!("2026-03-01T09:00:00");
    let said = refused(&text(&spans));
    assert!(
        said.contains("f:1: spans[2], field \"end_time\": the span ends before it starts"),
        "{said}"
    );
    let mut rounds = lines("tracelab");
    rounds[3]["timing_events"][0]["timestamp"] = json!("2026-03-01T11:00:00Z");
    let (trees, left, said) = read(&text(&rounds));
    assert_eq!((trees, left), (1, 1));
    assert!(
        said[0]
            .contains("field \"timing_events\": a later round of session \"s1\" was sent earlier"),
        "{said:?}"
    );
}

#[test]
fn a_join_to_something_absent_leaves_the_tree_out() {
    let mut rows = lines("mooncake-wait-for");
    rows[4]["wait_for"] = json!(["q1", "k1", "k9"]);
    let (trees, left, said) = read(&text(&rows));
    assert_eq!((trees, left), (1, 1));
    assert!(
        said[0].starts_with("f:5: field \"wait_for\": the request \"k9\" is not in the file"),
        "{said:?}"
    );
    let mut rows = lines("dynamo");
    rows[2]["event"]["agent_context"]["parent_session_id"] = json!("nobody");
    let (trees, left, said) = read(&text(&rows));
    assert_eq!((trees, left), (1, 1));
    let why = "session \"kid-a\": field \"agent_context.parent_session_id\": the session \"nobody\" is missing";
    assert!(said[0].contains(why), "{said:?}");
    let mut rows = lines("aiperf-dag");
    rows[0]["turns"][0]["spawns"][0] = json!("nobody");
    let (trees, _, said) = read(&text(&rows));
    assert_eq!(trees, 2, "what nobody starts any more is a root of its own");
    assert!(
        said[0].contains("the conversation \"nobody\", which it starts, is not in the file"),
        "{said:?}"
    );
    let mut rows = lines("claude");
    rows.iter_mut().for_each(|row| row["isSidechain"] = json!(true));
    let said = refused(&text(&rows));
    assert!(said.contains("only its sub-agents are there"), "{said}");
}

#[test]
fn a_cycle_leaves_the_tree_out() {
    let mut rows = lines("mooncake-wait-for");
    rows[1]["wait_for"] = json!(["q2"]);
    let (trees, left, said) = read(&text(&rows));
    assert_eq!((trees, left), (1, 1));
    assert!(
        said[0].contains("tree \"main\": 4 of its requests wait for each other in a cycle"),
        "{said:?}"
    );
    let mut rows = lines("dynamo");
    rows[0]["event"]["agent_context"]["parent_session_id"] = json!("kid-a");
    let said = refused(&text(&rows));
    assert!(said.contains("sessions started each other in a cycle"), "{said}");
    let mut rows = lines("aiperf-dag");
    rows[2]["turns"][0]["forks"] = json!(["plan"]);
    let (trees, left, said) = read(&text(&rows));
    assert_eq!((trees, left), (1, 4));
    assert!(said[0].contains("conversations start each other in a cycle"), "{said:?}");
}

#[test]
fn a_value_that_is_none_is_named_with_its_line_and_field() {
    for (name, path, value, why) in [
        (
            "weka-ends",
            "/0/requests/3/in",
            json!("many"),
            "f:1: requests[3], field \"in\": text is no number of tokens",
        ),
        (
            "weka-ends",
            "/0/requests/1/requests/1/hash_ids",
            json!([1.5]),
            "f:1: requests[1], requests[1], field \"hash_ids\": it is not a list",
        ),
        ("weka-ends", "/0/block_size", json!(0), "f:1: field \"block_size\": it is no block size"),
        ("mlperf", "/2/delay_seconds", json!(-1), "f:3: field \"delay_seconds\": "),
        (
            "tracelab",
            "/0/output_tokens",
            json!(null),
            "f:1: field \"output_tokens\": it is missing",
        ),
        (
            "codex",
            "/5/payload/info/last_token_usage/input_tokens",
            json!(null),
            "f:6: field \"input_tokens\": it is missing",
        ),
        ("claude", "/2/timestamp", json!("yesterday"), "f:3: field \"timestamp\": "),
        ("aiperf-dag", "/0/turns/1/delay", json!("soon"), "f:1: turns[1], field \"delay\": "),
    ] {
        let mut all = json!(lines(name));
        *all.pointer_mut(path).unwrap() = value;
        let values = all.as_array().unwrap();
        let said = match AgenticProfile::from_bytes("f", text(values).as_bytes()) {
            Ok(profile) => {
                let left = profile.notes.left_out().find(|(kind, _)| *kind == LeftOutKind::Trees);
                left.map(|(_, left)| left.first[0].to_string()).expect(name)
            }
            Err(error) => error.to_string(),
        };
        assert!(said.contains(why), "{name}{path}: {said}");
    }
}

#[test]
fn what_is_no_agentic_traffic_is_refused() {
    for text in ["a,b\n1,2\n", "{\"prompt\": \"Hello\"}\n", "[]", "plain text"] {
        let said = refused(text);
        assert!(said.contains('f') && !said.is_empty(), "{said}");
    }
    let said = refused("{\"prompt\": \"Hello\"}\n");
    assert!(said.contains("it is no agentic traffic of a known format"), "{said}");
}

#[test]
fn a_session_of_a_million_turns_is_read_in_seconds() {
    let rows = 1_000_000;
    let mut table = String::from(
        "session_id,arrival_time,round_idx,prefix_len,input_len,output_len,tool_wait_after_ms\n",
    );
    for row in 0..rows {
        table.push_str(&format!("s,0,{row},{row},1,1,1\n"));
    }
    let began = std::time::Instant::now();
    let profile = AgenticProfile::from_bytes("f", table.as_bytes()).unwrap();
    assert_eq!((profile.trees, profile.requests), (1, rows));
    assert!(began.elapsed().as_secs() < 120, "{:?}", began.elapsed());
}

#[test]
fn a_folder_is_read_file_by_file_and_what_is_no_traffic_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    };
    let claude = String::from_utf8(seed("claude")).unwrap();
    let (sub, root): (Vec<&str>, Vec<&str>) = claude.lines().partition(|line| {
        line.contains("agentId\": \"ag1\", \"") || line.contains("\"isSidechain\": true")
    });
    write("project/log.jsonl", root.join("\n").as_bytes());
    write("project/log/subagents/agent.jsonl", sub.join("\n").as_bytes());
    write("project/notes.txt", b"nothing");
    write("project/.hidden", b"nothing");
    write("traces/one", &seed("weka-ends"));
    let profile = AgenticProfile::open(folder.path()).unwrap();
    assert_eq!((profile.files, profile.trees, profile.sessions), (3, 2, Some(6)));
    assert_eq!((profile.joins, profile.notes.left(LeftOutKind::Files)), (2, 1));
    let empty = tempfile::tempdir().unwrap();
    assert!(AgenticProfile::open(empty.path()).is_err());
}
