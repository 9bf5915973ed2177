//! What trees are made of files: sessions, what turns wait for and how that is known, gaps, histories and texts.

#![allow(clippy::unwrap_used)]

use super::{tree, trees};
use dyno_model::tree::Growth;
use dyno_model::{MS, Nanos, SEC};
use dyno_workload::agentic::{
    PromptParts, Tree, TreeSession, TreeTurn, TurnAt, Why, growth_of, kept_tokens,
};

/// The waits of a turn, as session, turn and reason.
fn waits(tree: &Tree, session: usize, turn: usize) -> Vec<(usize, usize, Why)> {
    let mut waits: Vec<_> = tree.sessions[session].turns[turn]
        .waits
        .iter()
        .map(|wait| (wait.on.session, wait.on.turn, wait.why))
        .collect();
    waits.sort_unstable();
    waits
}

fn gaps(session: &TreeSession) -> Vec<Option<Nanos>> {
    session.turns.iter().map(|turn| turn.gap).collect()
}

/// The text of a message of a tree.
fn text(tree: &Tree, place: u32) -> String {
    let body = tree.messages[place as usize].body.clone().unwrap();
    body["content"].as_str().map_or_else(|| body["content"].to_string(), str::to_owned)
}

/// The whole prompt of a turn, put together as a replay does.
fn prompt(tree: &Tree, at: TurnAt) -> Vec<String> {
    let mut history: Vec<u32> = Vec::new();
    for turn in &tree.sessions[at.session].turns[..=at.turn] {
        history.truncate(turn.kept as usize);
        history.extend(&turn.added);
        if std::ptr::eq(turn, &tree.sessions[at.session].turns[at.turn]) {
            break;
        }
        history.extend(&turn.response);
    }
    history.into_iter().map(|place| text(tree, place)).collect()
}

#[test]
fn weka_entries_with_the_end_of_a_sub_agent_start_when_its_parent_started_it() {
    let tree = tree("weka-ends");
    assert_eq!(tree.prompts, PromptParts::Blocks { size: 10, local: true });
    let parents: Vec<_> = tree.sessions.iter().map(|session| session.parent).collect();
    assert_eq!(parents, [None, Some(0), Some(0), Some(0)]);
    assert_eq!(tree.sessions[0].head, Some((30, 20)));
    assert_eq!(tree.sessions[1].kind.as_deref(), Some("Explore"));
    // Both ran from 6 s on, and the request that waits for both was sent 4 s after the later of their responses.
    for sub in [1, 2] {
        assert_eq!(tree.sessions[sub].turns[0].sent, Some(6 * SEC));
        assert_eq!(waits(&tree, sub, 0), [(0, 0, Why::Spawn)]);
        assert_eq!(tree.sessions[sub].turns[0].gap, Some(SEC));
    }
    let join = [(0, 0, Why::Session), (1, 1, Why::Join), (2, 1, Why::Join)];
    assert_eq!(waits(&tree, 0, 1), join);
    assert_eq!(tree.sessions[0].turns[1].gap, Some(4 * SEC));
    // Nobody waits for the one that was launched in the background, which starts with its entry.
    assert_eq!(waits(&tree, 3, 0), [(0, 1, Why::Spawn)]);
    assert_eq!(tree.sessions[3].turns[0].sent, Some(38 * SEC));
    assert_eq!(waits(&tree, 0, 2), [(0, 1, Why::Session)]);
    assert_eq!(tree.background(), 1);
    let gap = |seconds: u64| Some(seconds * SEC);
    assert_eq!(gaps(&tree.sessions[0]), [None, gap(4), gap(10), gap(10)]);
}

#[test]
fn weka_entries_with_the_start_of_a_sub_agent_are_joined_after_its_end() {
    let tree = tree("weka-starts");
    assert_eq!(tree.sessions[1].turns[0].sent, Some(6 * SEC));
    // Sent while the sub-agent still ran.
    assert_eq!(waits(&tree, 0, 1), [(0, 0, Why::Session)]);
    assert_eq!(waits(&tree, 0, 2), [(0, 1, Why::Session), (1, 1, Why::Join)]);
    assert_eq!(gaps(&tree.sessions[0]), [None, Some(5 * SEC), Some(6 * SEC)]);
    assert_eq!(gaps(&tree.sessions[1]), [Some(SEC), Some(4 * SEC)]);
}

#[test]
fn prompts_follow_each_other_whole_trimmed_or_cut() {
    let tree = tree("weka-ends");
    let root = &tree.sessions[0].turns;
    let growth = |two: &[TreeTurn]| growth_of(&two[0], &two[1], tree.prompts);
    let all: Vec<_> = root.windows(2).filter_map(growth).collect();
    assert_eq!(all, [Growth::Whole, Growth::Trimmed, Growth::Cut]);
    let kept: Vec<_> =
        root.windows(2).filter_map(|two| kept_tokens(&two[0], &two[1], tree.prompts)).collect();
    assert_eq!(kept, [100, 150, 80]);
}

#[test]
fn spans_wait_by_times_and_continue_the_prompt_that_they_begin_with() {
    let tree = tree("otel-document");
    // The plan, its two parts in parallel, and the two requests that go on from the plan.
    let lengths: Vec<_> = tree.sessions.iter().map(|session| session.turns.len()).collect();
    assert_eq!(lengths, [3, 1, 1]);
    assert_eq!(waits(&tree, 1, 0), [(0, 0, Why::Time)]);
    assert_eq!(waits(&tree, 2, 0), [(0, 0, Why::Time)]);
    assert_eq!(waits(&tree, 0, 1), [(1, 0, Why::Time), (2, 0, Why::Time)]);
    assert!(tree.joins(TurnAt { session: 0, turn: 1 }));
    assert_eq!(waits(&tree, 0, 2), [(0, 1, Why::Session)]);
    assert!(!tree.joins(TurnAt { session: 0, turn: 2 }) && tree.sessions[0].turns[2].failed);
    assert_eq!(gaps(&tree.sessions[0]), [None, Some(SEC), Some(500 * MS)]);
    assert_eq!(
        prompt(&tree, TurnAt { session: 0, turn: 2 }),
        ["Plan the work.", "Two parts.", "One is done. Two is done.", "All is done.", "Thanks."]
    );
}

#[test]
fn spans_of_client_and_server_are_one_request_with_the_usage_of_either() {
    let trees = trees("otel-vllm");
    let turn = &trees[0].sessions[0].turns[0];
    assert_eq!((turn.input, turn.output, turn.limit), (Some(12), Some(3), Some(64)));
    // The times are those of the client.
    assert_eq!((turn.sent, turn.ended), (Some(0), Some(3 * SEC)));
    assert_eq!(trees[1].sessions[0].turns[0].input, Some(20));
}

#[test]
fn traces_of_one_conversation_are_one_tree() {
    let tree = tree("otel-lines");
    assert_eq!(tree.sessions.len(), 1);
    assert_eq!(tree.sessions[0].turns[1].kept, 2);
    assert_eq!(waits(&tree, 0, 1), [(0, 0, Why::Session)]);
}

#[test]
fn dynamo_sub_agents_hang_on_times_or_on_the_link_of_a_tool() {
    let tree = tree("dynamo");
    let names: Vec<_> = tree.sessions.iter().map(|session| session.name.as_str()).collect();
    assert_eq!(names, ["root", "kid-a", "kid-b", "kid-c"]);
    for kid in [1, 2] {
        assert_eq!(waits(&tree, kid, 0), [(0, 0, Why::Spawn)]);
    }
    let join = [(0, 0, Why::Session), (1, 1, Why::Join), (2, 0, Why::Join)];
    assert_eq!(waits(&tree, 0, 1), join);
    assert_eq!(tree.sessions[0].turns[1].gap, Some(100 * MS));
    // By times the third request would have waited; the link names the fourth.
    assert_eq!(waits(&tree, 3, 0), [(0, 1, Why::Spawn)]);
    assert_eq!(waits(&tree, 0, 2), [(0, 1, Why::Session)]);
    assert_eq!(waits(&tree, 0, 3), [(0, 2, Why::Session), (3, 0, Why::Join)]);
    assert!(tree.sessions[0].turns[3].compacted);
    let tools = tree.sessions[0].turns.iter().map(|turn| (turn.tools.calls, turn.tools.results));
    assert_eq!(tools.collect::<Vec<_>>(), [(1, 0), (1, 1), (0, 1), (0, 0)]);
}

#[test]
fn what_a_client_says_between_two_responses_is_one_request() {
    let trees = trees("mlperf");
    let tree = &trees[0];
    assert_eq!((tree.name.as_str(), tree.prompts), ("c1", PromptParts::Messages { whole: true }));
    assert_eq!(gaps(&tree.sessions[0]), [None, Some(250 * MS), Some(2 * SEC)]);
    let last = prompt(tree, TurnAt { session: 0, turn: 2 });
    let expected = [
        "null", // the tools
        "You are a coding agent.",
        "Fix the parser.",
        "null", // calls
        "parser.rs",
        "lexer.rs",
        "Done.",
        "ok",
        "And the lexer?",
    ];
    assert_eq!(last, expected);
    assert_eq!(trees[1].sessions[0].turns[0].limit, Some(50));
    let body = tree.messages[tree.sessions[0].turns[0].response[0] as usize].body.clone().unwrap();
    assert_eq!(body["tool_calls"].as_array().map(Vec::len), Some(2));
    assert_eq!(body["reasoning_content"], "Look first.");
}

#[test]
fn rounds_were_sent_with_the_last_of_their_input() {
    let trees = trees("tracelab");
    assert_eq!(gaps(&trees[0].sessions[0]), [None, Some(2 * SEC), Some(11 * SEC)]);
    assert_eq!(trees[0].sessions[0].turns[1].cached, Some(1000));
    // The second session begins a second later on the clock of the file.
    assert_eq!(trees[1].start.unwrap() - trees[0].start.unwrap(), SEC);
    let workload = super::trees("tracelab-workload");
    assert_eq!(gaps(&workload[0].sessions[0]), [None, Some(200 * MS)]);
    assert_eq!(workload[1].start.unwrap() - workload[0].start.unwrap(), 300 * MS);
}

#[test]
fn rows_of_one_response_are_one_request_and_a_summary_begins_anew() {
    let tree = tree("claude");
    let turns = &tree.sessions[0].turns;
    assert_eq!(turns.len(), 3);
    assert_eq!(
        (turns[0].input, turns[0].output, turns[0].cached),
        (Some(1_000), Some(40), Some(900))
    );
    assert_eq!((turns[0].sent, turns[0].ended), (Some(0), Some(4 * SEC)));
    assert_eq!(waits(&tree, 1, 0), [(0, 0, Why::Spawn)]);
    assert_eq!(waits(&tree, 0, 1), [(0, 0, Why::Session), (1, 0, Why::Join)]);
    assert_eq!(gaps(&tree.sessions[0]), [None, Some(SEC), Some(3 * SEC)]);
    assert!(turns[2].compacted && turns[2].kept == 0);
    let rest =
        [prompt(&tree, TurnAt { session: 0, turn: 2 }).concat(), text(&tree, turns[2].response[0])];
    assert!(rest[0].ends_with("Summary of the work.") && rest[1].contains("Done."), "{rest:?}");
}

#[test]
fn reports_of_usage_end_requests() {
    let tree = tree("codex");
    let turns = &tree.sessions[0].turns;
    let times: Vec<_> = turns.iter().map(|turn| (turn.sent, turn.ended)).collect();
    let at = |sent: u64, ended: u64| (Some(sent * SEC), Some(ended * SEC));
    assert_eq!(times, [at(0, 3), at(4, 6), at(10, 11)]);
    assert!(turns[2].compacted && turns[2].kept == 0 && turns[1].kept == 3);
    assert_eq!(turns[0].model.as_deref(), Some("m"));
    let subagent = super::tree("codex-subagent");
    assert_eq!(waits(&subagent, 1, 0), [(0, 0, Why::Spawn)]);
    assert_eq!(waits(&subagent, 0, 1), [(0, 0, Why::Session), (1, 0, Why::Join)]);
}

#[test]
fn trajectories_send_what_their_steps_say_and_else_what_they_remember() {
    let tree = tree("swe-agent-steps");
    assert_eq!(tree.totals, Some((1_500, 60)));
    assert_eq!(prompt(&tree, TurnAt { session: 0, turn: 0 }), ["Be brief.", "Fix it."]);
    assert_eq!(
        prompt(&tree, TurnAt { session: 0, turn: 1 }),
        ["Be brief.", "Fix it.", "Let me look.", "Old environment output: (1 lines omitted)"]
    );
    assert_eq!(gaps(&tree.sessions[0]), [None, Some(500 * MS)]);
    let tree = super::tree("swe-agent-history");
    assert_eq!(
        prompt(&tree, TurnAt { session: 0, turn: 1 }),
        ["Be brief.", "An example.", "Shown.", "Fix it.", "Look.", "1: x"]
    );
}

#[test]
fn conversations_branch_and_meet_where_they_say() {
    let trees = trees("aiperf-dag");
    let tree = &trees[0];
    let names: Vec<_> = tree.sessions.iter().map(|session| session.name.as_str()).collect();
    assert_eq!(names, ["plan", "one", "two", "tail"]);
    assert_eq!(waits(tree, 0, 1), [(0, 0, Why::Session), (1, 1, Why::Join)]);
    assert_eq!(waits(tree, 0, 2), [(0, 1, Why::Session), (2, 0, Why::Join)]);
    assert_eq!(waits(tree, 3, 0), [(0, 2, Why::Spawn)]);
    assert_eq!(tree.sessions[3].kind.as_deref(), Some("fork"));
    assert_eq!(tree.sessions[0].turns[0].limit, Some(64));
    assert_eq!(trees[1].name, "alone");
}

#[test]
fn rows_wait_for_the_rows_that_they_name() {
    let trees = trees("mooncake-wait-for");
    let tree = &trees[0];
    assert_eq!(tree.prompts, PromptParts::Blocks { size: 512, local: false });
    let join = [(0, 0, Why::Session), (1, 0, Why::Join), (2, 0, Why::Join)];
    assert_eq!(waits(tree, 0, 1), join);
    assert_eq!(gaps(&tree.sessions[0]), [None, Some(50 * MS + MS / 2)]);
    assert_eq!(tree.sessions[1].parent, Some(0));
    assert_eq!(trees[1].name, "other");
}

#[test]
fn texts_are_held_only_if_they_are_asked_for() {
    use dyno_workload::agentic::{TreeDetail, Trees};
    for name in ["mlperf", "otel-document", "claude", "codex", "swe-agent-steps", "aiperf-dag"] {
        let read = |keep| Trees::from_bytes(name, &super::seed(name), keep);
        let bodies =
            |keep| read(keep).flat_map(|tree| tree.messages).filter(|said| said.body.is_some());
        assert_eq!(bodies(TreeDetail::Lengths).count(), 0, "{name}");
        assert!(bodies(TreeDetail::Texts).count() > 0, "{name}");
    }
}
