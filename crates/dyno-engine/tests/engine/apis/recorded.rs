//! A conversation of an agent, with calls of tools at once: every API that has messages counts the same tokens, and the
//! next turn finds the blocks of the one before.

use crate::support::{Client, SCHEDULER, running, twin};
use dyno_engine::core::Scheduler;
use dyno_model::prompt::{Content, RecordedPrompt};
use dyno_wire::dialect::{DIALECTS, Dialect, Shape, body};
use serde_json::{Value, json};
use std::sync::Arc;

/// A session with so many rounds of two calls.
fn session(rounds: usize) -> Content {
    let call = |id: &str, name: &str, arguments: &str| json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}});
    let mut messages = vec![
        json!({"role": "system", "content": "Be brief and do what is asked."}),
        json!({"role": "user", "content": "fix the test that fails"}),
    ];
    for round in 0..rounds {
        let (a, b) = (format!("a{round}"), format!("b{round}"));
        let path = format!("{{\"path\": \"src/file {round}.rs\", \"lines\": [1, 20]}}");
        messages.extend([
            json!({"role": "assistant", "content": "I look.", "reasoning_content": "where is it",
                "tool_calls": [call(&a, "read", &path), call(&b, "run", "cargo test")]}),
            json!({"role": "tool", "tool_call_id": a, "content": "fn main () { }"}),
            json!({"role": "tool", "tool_call_id": b, "content": [{"type": "text", "text": "1 failed"}]}),
        ]);
    }
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}});
    let read = json!({"name": "read", "description": "Reads a file.", "parameters": schema});
    let tools = json!([
        {"type": "function", "function": read}, {"type": "function", "function": {"name": "run"}}
    ]);
    let messages = messages.into_iter().map(Arc::new).collect();
    Content::Recorded(RecordedPrompt { messages, tools: Some(Arc::new(tools)) })
}

/// Input tokens of a response, and how many of them were cached, where the API says so.
pub(super) fn usage(value: &Value) -> (u64, Option<u64>) {
    let fields = [
        ("/usage/prompt_tokens", "/usage/prompt_tokens_details/cached_tokens"),
        ("/usage/input_tokens", "/usage/input_tokens_details/cached_tokens"),
        ("/meta_info/prompt_tokens", "/meta_info/cached_tokens"),
        ("/prompt_eval_count", "/none"),
        ("/tokens_evaluated", "/timings/cache_n"),
    ];
    let (input, cached) = fields.into_iter().find(|(at, _)| value.pointer(at).is_some()).unwrap();
    // Anthropic's input leaves out what was cached.
    let apart = value.pointer("/usage/cache_read_input_tokens").and_then(Value::as_u64);
    let of = |at: &str| value.pointer(at).and_then(Value::as_u64);
    (of(input).unwrap() + apart.unwrap_or(0), apart.or(of(cached)))
}

/// What the engine says of turns that are sent one after another.
fn turns(dialect: &dyn Dialect, contents: &[Content]) -> Vec<(u64, Option<u64>)> {
    let scheduler = Scheduler { prefix_cache: true, ..SCHEDULER };
    let running = running(twin(scheduler, 0.1), &[]);
    let mut client = Client::connect(running.addr());
    let mut shape = Shape { model: "dyno-scripted".into(), ..Shape::default() };
    shape.send_all(dialect.about(), |_| true);
    let mut ask = |content: &Content| {
        let body = String::from_utf8(body(dialect, &shape, content, 2)).unwrap();
        let response = client.ask(&dialect.about().whole_path(), &body);
        assert_eq!(response.status, 200, "{}: {}", dialect.about().name, response.text());
        usage(&response.json())
    };
    contents.iter().map(&mut ask).collect()
}

#[test]
fn every_api_of_a_kind_counts_the_same_tokens_and_shares_the_same_blocks() {
    let contents = [session(1), session(2), session(5)];
    for with_messages in [true, false] {
        let apis = DIALECTS.iter().filter(|dialect| {
            let about = dialect.about();
            about.task.generates() && about.talk.is_some() == with_messages
        });
        let mut first: Option<Vec<u64>> = None;
        let mut tellers = 0;
        for dialect in apis {
            let name = dialect.about().name;
            let turns = turns(*dialect, &contents);
            let input: Vec<u64> = turns.iter().map(|(input, _)| *input).collect();
            assert!(
                input[0] > 40 && input[1] > input[0] && input[2] > input[1],
                "{name}: {input:?}"
            );
            assert_eq!(first.get_or_insert(input.clone()), &input, "{name}");
            if turns[1].1.is_none() {
                continue;
            }
            tellers += 1;
            // Whole blocks of the turn before, whose end is where the response began.
            for (before, after) in turns.iter().zip(&turns[1..]) {
                let blocks = before.0 / u64::from(SCHEDULER.block);
                assert_eq!(after.1, Some(blocks * u64::from(SCHEDULER.block)), "{name}: {turns:?}");
            }
        }
        assert!(tellers >= 2, "{tellers}");
    }
}
