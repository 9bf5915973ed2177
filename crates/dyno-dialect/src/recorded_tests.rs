//! What an agent sent, as every API is sent it.

use crate::{DIALECTS, Shape, ToCount, body, find};
use dyno_model::plan::Api;
use dyno_model::prompt::{Content, RecordedPrompt};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::Arc;

fn prompt(messages: Value, tools: Option<Value>) -> RecordedPrompt {
    let messages = messages.as_array().unwrap().iter().cloned().map(Arc::new).collect();
    RecordedPrompt { messages, tools: tools.map(Arc::new) }
}

/// Two calls at once, of which one has arguments that are not JSON, and what came back.
fn session() -> RecordedPrompt {
    let call = |id: &str, name: &str, arguments: &str| json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}});
    let messages = json!([
        {"role": "system", "content": "Be brief."},
        {"role": "developer", "content": "In French."},
        {"role": "user", "content": [
            {"type": "text", "text": "fix it"},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
        ]},
        {"role": "assistant", "content": "I look.", "reasoning_content": "Where?", "tool_calls": [
            call("call_a", "read", "{\"path\": \"x.rs\"}"), call("call_b", "run", "cargo test")
        ]},
        {"role": "tool", "tool_call_id": "call_b", "content": "1 failed"},
        {"role": "tool", "tool_call_id": "call_a", "content": [{"type": "text", "text": "fn x() {}"}]},
        {"role": "user", "content": "and then?"}
    ]);
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}});
    let tools = json!([
        {"type": "function", "function": {"name": "read", "description": "Reads.", "parameters": schema}},
        {"type": "function", "function": {"name": "run"}}
    ]);
    prompt(messages, Some(tools))
}

fn sent(api: &'static str, prompt: &RecordedPrompt) -> Value {
    let dialect = find(&Api::named(api)).unwrap();
    let mut shape = Shape { model: "m".into(), stream: true, ..Shape::default() };
    shape.send_all(dialect.about(), |_| true);
    let body = body(dialect, &shape, &Content::Recorded(prompt.clone()), 8);
    serde_json::from_slice(&body).unwrap()
}

fn schema() -> Value {
    json!({"type": "object", "properties": {"path": {"type": "string"}}})
}

#[test]
fn chat_is_sent_what_the_agent_sent() {
    let session = session();
    let sent = sent("openai-chat", &session);
    assert_eq!(sent["messages"], json!(session.messages.iter().map(|m| &**m).collect::<Vec<_>>()));
    assert_eq!(sent["tools"], **session.tools.as_ref().unwrap());
    assert_eq!((&sent["max_tokens"], sent.get("tool_choice")), (&json!(8), None));
}

#[test]
fn messages_have_blocks_and_the_results_of_calls_at_once_stand_together() {
    let sent = sent("anthropic-messages", &session());
    let expected = json!({
        "model": "m", "stream": true, "max_tokens": 8,
        "system": "Be brief.\n\nIn French.",
        "tools": [
            {"name": "read", "description": "Reads.", "input_schema": schema()},
            {"name": "run", "input_schema": {"type": "object"}}
        ],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "fix it"}]},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "Where?", "signature": ""},
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "call_a", "name": "read", "input": {"path": "x.rs"}},
                {"type": "tool_use", "id": "call_b", "name": "run", "input": {"arguments": "cargo test"}}
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "call_b", "content": "1 failed"},
                {"type": "tool_result", "tool_use_id": "call_a", "content": "fn x() {}"},
                {"type": "text", "text": "and then?"}
            ]}
        ]
    });
    assert_eq!(sent, expected);
}

#[test]
fn responses_have_items_and_flat_tools() {
    let sent = sent("openai-responses", &session());
    assert_eq!(sent["instructions"], "Be brief.\n\nIn French.");
    let tools = json!([
        {"type": "function", "name": "read", "description": "Reads.", "parameters": schema(), "strict": false},
        {"type": "function", "name": "run", "parameters": {"type": "object"}, "strict": false}
    ]);
    assert_eq!(sent["tools"], tools);
    let items = json!([
        {"role": "user", "content": "fix it"},
        {"type": "reasoning", "id": "rs_1", "summary": [],
            "content": [{"type": "reasoning_text", "text": "Where?"}]},
        {"type": "message", "id": "msg_2", "status": "completed", "role": "assistant",
            "content": [{"type": "output_text", "text": "I look.", "annotations": []}]},
        {"type": "function_call", "call_id": "call_a", "name": "read", "arguments": "{\"path\": \"x.rs\"}"},
        {"type": "function_call", "call_id": "call_b", "name": "run",
            "arguments": "{\"arguments\":\"cargo test\"}"},
        {"type": "function_call_output", "call_id": "call_b", "output": "1 failed"},
        {"type": "function_call_output", "call_id": "call_a", "output": "fn x() {}"},
        {"role": "user", "content": "and then?"}
    ]);
    assert_eq!(sent["input"], items);
}

#[test]
fn ollama_has_arguments_as_objects_and_results_with_the_name_of_the_tool() {
    let sent = sent("ollama-chat", &session());
    let function =
        |name: &str, arguments: Value| json!({"function": {"name": name, "arguments": arguments}});
    let messages = json!([
        {"role": "system", "content": "Be brief."},
        {"role": "system", "content": "In French."},
        {"role": "user", "content": "fix it"},
        {"role": "assistant", "content": "I look.", "thinking": "Where?", "tool_calls": [
            function("read", json!({"path": "x.rs"})), function("run", json!({"arguments": "cargo test"}))
        ]},
        {"role": "tool", "content": "1 failed", "tool_name": "run"},
        {"role": "tool", "content": "fn x() {}", "tool_name": "read"},
        {"role": "user", "content": "and then?"}
    ]);
    assert_eq!(sent["messages"], messages);
    assert_eq!(sent["tools"][0]["function"]["parameters"], schema());
}

#[test]
fn apis_of_text_are_sent_one_text() {
    let session = session();
    for (api, field) in [
        ("openai-completions", "prompt"),
        ("sglang-generate", "text"),
        ("ollama-generate", "prompt"),
        ("llamacpp-completion", "prompt"),
    ] {
        let sent = sent(api, &session);
        assert_eq!(sent[field], session.text(), "{api}");
        assert!(sent.get("tools").is_none() && sent.get("messages").is_none(), "{api}: {sent}");
    }
}

/// Each way to count is asked for the messages and tools that the API sends.
#[test]
fn servers_count_what_they_are_sent() {
    let session = session();
    let mut asked = 0;
    for dialect in DIALECTS.iter().filter(|dialect| dialect.about().task.generates()) {
        for counting in dialect.about().counting {
            let Some(body) = (counting.ask)("m", ToCount::Recorded(&session)) else { continue };
            assert_eq!((&body["model"], body["tools"].as_array().unwrap().len()), (&json!("m"), 2));
            let of = match counting.path.strip_suffix("/input_tokens").unwrap_or(counting.path) {
                "/v1/messages/count_tokens" => "anthropic-messages",
                "/v1/responses" => "openai-responses",
                _ => "openai-chat",
            };
            let sent = sent(of, &session);
            let parts = ["messages", "system", "instructions", "input", "tools"];
            assert!(parts.iter().all(|part| body.get(part) == sent.get(part)), "{}", counting.path);
            asked += 1;
        }
    }
    assert!(asked >= 6, "{asked}");
}

#[test]
fn what_the_system_says_later_stays_where_it_is() {
    let later = |role: &str| {
        prompt(json!([{"role": "user", "content": "a"}, {"role": role, "content": "b"}]), None)
    };
    let blocks = json!([{"role": "user", "content": [
        {"type": "text", "text": "a"}, {"type": "text", "text": "b"}
    ]}]);
    assert_eq!(sent("anthropic-messages", &later("system"))["messages"], blocks);
    let items = json!([{"role": "user", "content": "a"}, {"role": "developer", "content": "b"}]);
    assert_eq!(sent("openai-responses", &later("developer"))["input"], items);
}

fn message() -> impl Strategy<Value = Value> {
    let id = || prop::option::of(prop::sample::select(vec!["a", "b", "c.d:0", ""]));
    let text = prop_oneof![
        Just(json!(null)),
        "[ab ]{0,4}".prop_map(Value::from),
        Just(json!([
            {"type": "text", "text": "p"}, {"type": "file"}
        ]))
    ];
    let arguments =
        prop::sample::select(vec!["{\"k\": [1, \"v\"]}", "[1]", "no", "", "{\"k\":1e999}"]);
    let call = (id(), arguments).prop_map(
        |(id, arguments)| json!({"id": id, "function": {"name": "f", "arguments": arguments}}),
    );
    let calls = prop::option::of(prop::collection::vec(call, 0..3));
    let role = prop::sample::select(vec!["system", "user", "assistant", "tool", "odd"]);
    (role, text, calls, id(), any::<bool>()).prop_map(|(role, content, calls, of, thinks)| {
        let mut message = json!({"role": role, "content": content});
        match role {
            "assistant" => {
                message["tool_calls"] = json!(calls);
                message["reasoning_content"] = if thinks { "t".into() } else { Value::Null };
            }
            "tool" => message["tool_call_id"] = json!(of),
            _ => {}
        }
        message
    })
}

/// The rules by which Anthropic refuses messages.
fn check_messages(messages: &[Value]) -> Result<(), TestCaseError> {
    let blocks = |at: usize, kind: &str| {
        let content = messages.get(at).and_then(|m| m["content"].as_array());
        let found = content.into_iter().flatten().filter(|block| block["type"] == kind);
        found.cloned().collect::<Vec<_>>()
    };
    let mut ids = std::collections::HashSet::new();
    for (at, message) in messages.iter().enumerate() {
        let content = message["content"].as_array().unwrap();
        prop_assert!(!content.is_empty());
        prop_assert!(at == 0 || messages[at - 1]["role"] != message["role"]);
        for text in blocks(at, "text") {
            prop_assert!(!text["text"].as_str().unwrap().trim().is_empty());
        }
        let mut called: Vec<String> = Vec::new();
        for call in blocks(at, "tool_use") {
            let id = call["id"].as_str().unwrap().to_owned();
            prop_assert!(call["input"].is_object() && message["role"] == "assistant");
            prop_assert!(ids.insert(id.clone()) && !id.is_empty());
            prop_assert!(id.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b)));
            called.push(id);
        }
        let of = |result: &Value| result["tool_use_id"].as_str().unwrap().to_owned();
        let mut answered: Vec<String> = blocks(at + 1, "tool_result").iter().map(of).collect();
        called.sort();
        answered.sort();
        prop_assert_eq!(called, answered, "each call has its result in the next message");
        let results = blocks(at, "tool_result").len();
        prop_assert!(content[..results].iter().all(|block| block["type"] == "tool_result"));
    }
    prop_assert!(blocks(0, "tool_result").is_empty());
    Ok(())
}

proptest! {
    #[test]
    fn whatever_was_recorded_is_valid_for_strict_servers(
        messages in prop::collection::vec(message(), 0..10),
    ) {
        let prompt = prompt(messages.into(), None);
        for dialect in DIALECTS {
            sent(dialect.about().name, &prompt);
        }
        let messages = sent("anthropic-messages", &prompt)["messages"].clone();
        check_messages(messages.as_array().unwrap())?;
        let mut open = Vec::new();
        for item in sent("openai-responses", &prompt)["input"].as_array().unwrap() {
            let id = item["call_id"].as_str().map(str::to_owned);
            match item["type"].as_str() {
                Some("function_call") => {
                    let arguments = item["arguments"].as_str().unwrap();
                    prop_assert!(serde_json::from_str::<Value>(arguments).unwrap().is_object());
                    open.push(id);
                }
                Some("function_call_output") => {
                    let place = open.iter().position(|call| *call == id);
                    prop_assert!(place.is_some(), "the call of {:?}", id);
                    open.remove(place.unwrap());
                }
                _ => prop_assert!(id.is_none()),
            }
        }
        prop_assert!(open.is_empty(), "calls without results: {:?}", open);
    }

    #[test]
    fn a_prompt_begins_with_the_one_before_it(
        messages in prop::collection::vec(message(), 1..10),
        before in 0_usize..10,
    ) {
        let whole = prompt(messages.clone().into(), None).text();
        let part = prompt(messages[..before.min(messages.len())].to_vec().into(), None).text();
        prop_assert!(whole.starts_with(part.strip_suffix("assistant:").unwrap()));
    }
}
