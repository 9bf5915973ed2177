//! What files of every format hold, counted by hand.

#![allow(clippy::unwrap_used)]

use super::seed;
use dyno_model::{Language, Localized};
use dyno_workload::agentic::AgenticProfile;
use serde_json::{Value, json};

fn read(name: &str) -> Value {
    AgenticProfile::from_bytes(name, &seed(name)).unwrap().json()
}

/// Values by name; those that are not named are not compared.
#[test]
fn every_format_holds_what_a_person_counts() {
    let files = [
        (
            "weka-ends",
            json!({
                "format": "weka", "trees": 1, "sessions": 4, "subagents": 3, "background": 1, "requests": 9, "joins": 1,
                "input_tokens": 765, "output_tokens": 90, "responses_trimmed": 1, "histories_cut": 1, "gaps_s": 48.0,
                "peak_parallel": 2, "unit": null, "recorded_cache_share": null,
                // 40 of the second sub-agent, then 40, 30, 100, 150 and 80 of the prompts before.
                "ideal_cache_share": 0.575163, "ideal_with_responses": 0.633987,
            }),
        ),
        (
            "weka-starts",
            json!({
                "format": "weka", "trees": 1, "sessions": 2, "subagents": 1, "background": 0, "requests": 5, "joins": 1,
                "input_tokens": 480, "output_tokens": 50, "responses_trimmed": 0, "histories_cut": 0,
            }),
        ),
        (
            "mlperf",
            json!({
                "format": "mlperf", "trees": 2, "sessions": 2, "subagents": 0, "requests": 4, "joins": 0, "gaps_s": 2.25,
                "tool_calls": 2, "tool_turns": 2, "tool_results": 3, "input_tokens": null, "output_tokens": null,
                "responses_trimmed": null, "unit": "characters",
            }),
        ),
        (
            "otel-document",
            json!({
                "format": "otel", "trees": 1, "sessions": null, "subagents": null, "background": null, "requests": 5,
                "joins": 1, "peak_parallel": 2, "gaps_s": 3.0, "input_tokens": null, "output_tokens": null,
                "unit": "characters, whole messages",
            }),
        ),
        (
            "otel-vllm",
            json!({
                "format": "otel", "trees": 2, "requests": 2, "input_tokens": 32, "output_tokens": 8,
                "ideal_cache_share": null, "unit": null,
            }),
        ),
        (
            "otel-lines",
            json!({ "trees": 1, "requests": 2, "joins": 0, "input_tokens": 30, "output_tokens": 8, "gaps_s": 1.0 }),
        ),
        (
            "dynamo",
            json!({
                "format": "dynamo", "trees": 1, "sessions": 4, "subagents": 3, "background": 0, "requests": 8, "joins": 2,
                "input_tokens": 418, "output_tokens": 42, "tool_events": 3, "responses_trimmed": 0, "histories_cut": 0,
                "recorded_cache_share": 0.62201, "ideal_cache_share": 0.598086,
            }),
        ),
        (
            "tracelab",
            json!({
                "format": "tracelab", "trees": 2, "sessions": 2, "requests": 4, "input_tokens": 3_800,
                "output_tokens": 180, "gaps_s": 13.0, "histories_cut": 1, "responses_trimmed": 0,
                "ideal_cache_share": null,
            }),
        ),
        (
            "tracelab-workload",
            json!({
                "format": "tracelab-workload", "trees": 2, "requests": 3, "input_tokens": 1_550, "output_tokens": 110,
                "gaps_s": 0.2, "histories_cut": 0, "responses_trimmed": 0, "recorded_cache_share": 0.354839,
            }),
        ),
        (
            "claude",
            json!({
                "format": "claude-code", "trees": 1, "sessions": 2, "subagents": 1, "background": 0, "requests": 4,
                "joins": 1, "input_tokens": 1_000 + 1_105 + 300 + 300, "output_tokens": 100, "histories_cut": 1,
                "tool_calls": 2, "tool_results": 2,
            }),
        ),
        (
            "codex",
            json!({
                "format": "codex", "trees": 1, "sessions": 1, "requests": 3, "input_tokens": 2_640, "output_tokens": 70,
                "responses_trimmed": 1, "histories_cut": 1, "gaps_s": 5.0, "recorded_cache_share": 0.378788,
            }),
        ),
        (
            "codex-subagent",
            json!({ "trees": 1, "sessions": 2, "subagents": 1, "background": 0, "requests": 3, "joins": 1 }),
        ),
        (
            "swe-agent-steps",
            json!({
                "format": "swe-agent", "trees": 1, "sessions": 1, "requests": 2, "input_tokens": 1_500,
                "output_tokens": 60, "gaps_s": 0.5, "ideal_cache_share": null,
            }),
        ),
        (
            "swe-agent-history",
            json!({ "trees": 1, "requests": 2, "input_tokens": null, "tool_calls": 1, "tool_results": 1 }),
        ),
        (
            "aiperf-dag",
            json!({
                "format": "aiperf-dag", "trees": 2, "sessions": 5, "subagents": 3, "background": 1, "requests": 8,
                "joins": 2, "input_tokens": null, "gaps_s": 0.25, "ideal_cache_share": null,
            }),
        ),
        (
            "aiperf-multi-turn",
            json!({ "format": "aiperf-multi-turn", "trees": 2, "requests": 3, "output_tokens": 80, "gaps_s": 1.5 }),
        ),
        (
            "mooncake-wait-for",
            json!({
                "format": "mooncake", "trees": 2, "sessions": 4, "subagents": 2, "background": 0, "requests": 5,
                "joins": 1, "input_tokens": 5_312, "output_tokens": 220, "gaps_s": 0.1005,
                // The first block of k2 and the first two of q2, of 512 tokens each.
                "ideal_cache_share": 0.289157,
            }),
        ),
    ];
    for (name, counts) in files {
        let found = read(name);
        for (key, expected) in counts.as_object().unwrap() {
            assert_eq!(&found[key], expected, "{name}: {key}");
        }
    }
}

#[test]
fn what_is_not_a_request_is_counted() {
    let count = |name: &str, code: &str| {
        let found = read(name);
        let notes = found["notes"].as_array().unwrap();
        notes.iter().find(|note| note["code"] == code).map(|note| note["count"].as_u64().unwrap())
    };
    for (name, code, expected) in [
        ("weka-ends", "without_output_tokens", 1),
        ("otel-document", "failed", 1),
        ("otel-document", "other_records", 1),
        ("otel-vllm", "spans_of_same_request", 1),
        ("claude", "synthetic", 1),
        ("claude", "other_records", 2),
        ("codex", "repeated_usage", 1),
        ("codex", "without_usage", 1),
        ("tracelab", "reordered", 1),
        ("swe-agent-steps", "unasked_steps", 1),
    ] {
        assert_eq!(count(name, code), Some(expected), "{name}: {code}");
    }
}

#[test]
fn a_description_says_the_same_in_both_languages() {
    let profile = AgenticProfile::from_bytes("weka", &seed("weka-ends")).unwrap();
    let english = profile.to_string();
    assert!(
        english.starts_with(
            "weka: agentic traffic, WEKA\n\
             1 tree of 4 sessions, 3 of them sub-agents (1 that no request waits for): 9 requests, 1 join, at most 2 at a \
             time\n\
             tokens: 765 in, 90 out\n\
             responses trimmed: 1   histories cut: 1\n\
             tool calls: 1   results: 2, in 2 requests\n\
             ideal cache share: 57.5 % of input tokens, 63.4 % with responses\n\
             \n\
             gaps before requests\n  p50 4 s   p90 17 s   max 17 s   48 s in all\n"
        ),
        "{english}"
    );
    assert!(english.ends_with("notes\n  1 request without output tokens; a replay asks for one\n"));
    let chinese = profile.text(Language::Chinese);
    for said in [
        "4 个会话，其中 3 个子代理",
        "1 处汇合",
        "57.5 %",
        "被截短的响应：1",
        "1 个请求没有输出 token",
    ] {
        assert!(chinese.contains(said), "{said}: {chinese}");
    }
    assert_eq!(english.lines().count(), chinese.lines().count());
}

#[test]
fn copies_are_noted_and_traces_with_ids_of_their_own_share_nothing() {
    let one = seed("weka-ends");
    let value: Value = serde_json::from_slice(&one).unwrap();
    let mut renamed = value.clone();
    renamed["id"] = json!("other");
    let both = AgenticProfile::from_bytes("f", format!("{value}\n{renamed}\n").as_bytes()).unwrap();
    let single = AgenticProfile::from_bytes("f", &one).unwrap();
    assert_eq!((both.trees, both.copies, single.copies), (2, 1, 0));
    assert_eq!(both.ideal_cache_share, single.ideal_cache_share);
    let mut shared = [value, renamed];
    shared.iter_mut().for_each(|trace| trace["hash_id_scope"] = json!("global"));
    let [first, second] = shared;
    // Traces of a clock and a namespace in one record each are still read one by one.
    let both = AgenticProfile::from_bytes("f", format!("{first}\n{second}\n").as_bytes()).unwrap();
    assert_eq!(both.trees, 2);
}
