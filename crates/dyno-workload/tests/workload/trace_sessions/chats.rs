//! MLCommons' conversations, which have their text.

use super::*;

pub(crate) fn chat(rows: &[Value]) -> String {
    lines(rows)
}

#[test]
fn mlcommons_messages_are_conversations_with_their_text() {
    let text = chat(&[
        json!({"_type": "dataset_metadata", "conversation_id": "c1", "turn": 0, "role": "system"}),
        json!({"conversation_id": "c1", "turn": 1, "role": "user", "content": "What is a knee?", "system": "Be brief.", "max_new_tokens": 20}),
        json!({"conversation_id": "c1", "turn": 2, "role": "assistant", "content": "A joint."}),
        json!({"conversation_id": "c1", "turn": 3, "role": "user", "content": "And an elbow?", "delay_seconds": 1.5}),
        json!({"conversation_id": "c2", "turn": 1, "role": "user", "content": "Hello"}),
    ]);
    let read = opened(&text, "session:c.jsonl", Starts::Given).expect("conversations");
    assert_eq!(
        read.recognised().to_string(),
        "c.jsonl: MLCommons sessions, 2 sessions with 3 requests"
    );
    assert!(read.have_text());
    let prompts = prompts(&read, 7, false);
    let first = prompts.conversation(0).unwrap();
    let said: Vec<Vec<(String, String)>> = first
        .turns
        .iter()
        .map(|turn| turn.messages.iter().map(|m| (m.role.clone(), m.content.clone())).collect())
        .collect();
    let message = |role: &str, text: &str| (role.to_owned(), text.to_owned());
    assert_eq!(
        said,
        [
            vec![message("system", "Be brief."), message("user", "What is a knee?")],
            vec![message("user", "And an elbow?")],
        ]
    );
    let asked: Vec<(u64, u32)> =
        first.turns.iter().map(|t| (t.think / MS, t.output_tokens)).collect();
    assert_eq!(
        asked,
        [(0, 20), (1_500, 64)],
        "the length of --output-tokens where none is recorded"
    );

    let tool = chat(&[
        json!({"conversation_id": "t", "turn": 1, "role": "user", "content": "Look"}),
        json!({"conversation_id": "t", "turn": 2, "role": "assistant", "tool_calls": [{}]}),
        json!({"conversation_id": "t", "turn": 3, "role": "tool", "tool_results": [{"tool_call_id": "1", "content": "4"}]}),
        json!({"conversation_id": "t", "turn": 4, "role": "user", "content": "And?"}),
    ]);
    assert_eq!(
        opened(&tool, "session:t.jsonl", Starts::Given).expect_err("a tool").to_string(),
        "t.jsonl:3: the field \"role\" is \"tool\", the result of a tool that the server may not call \
         this time; remove the conversation, or skip_bad=true to skip such records"
    );
    let both = text + &tool;
    let read = opened(&both, "session:t.jsonl,skip_bad=true", Starts::Given).expect("the others");
    assert_eq!((read.len(), read.requests()), (2, 3), "its conversation is left out as a whole");
    assert_eq!(read.tally().skipped, 3);
}
