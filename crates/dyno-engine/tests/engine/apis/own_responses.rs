//! A conversation in which the engine's own responses are sent back: the next turn finds every whole block of the prompt
//! and the response before it. Of other responses it finds nothing.

use super::recorded::usage;
use crate::support::{Client, SCHEDULER, metric, running};
use dyno_engine::TwinBrain;
use dyno_engine::core::{Core, Cost, Scheduler};
use dyno_model::prompt::{ChatMessage, Content, RecordedPrompt};
use dyno_wire::dialect::{DIALECTS, Dialect, Shape, body};
use serde_json::{Value, json};
use std::sync::Arc;

const TURNS: usize = 10;
const OUTPUT: u64 = 100;

/// A message of a conversation: who says it, and what.
type Said = (&'static str, String);

fn messages(history: &[Said]) -> Content {
    let message =
        |(role, content): &Said| ChatMessage { role: (*role).to_owned(), content: content.clone() };
    Content::Messages(history.iter().map(message).collect())
}

fn recorded(history: &[Said]) -> Content {
    let message = |(role, content): &Said| Arc::new(json!({"role": role, "content": content}));
    let tools =
        json!([{"type": "function", "function": {"name": "read", "description": "Reads."}}]);
    let messages = history.iter().map(message).collect();
    Content::Recorded(RecordedPrompt { messages, tools: Some(Arc::new(tools)) })
}

/// What the response says.
fn answer(value: &Value) -> String {
    let texts = [
        "/choices/0/message/content",
        "/choices/0/text",
        "/output/0/content/0/text",
        "/content/0/text",
        "/message/content",
        "/response",
        "/text",
        "/content",
    ];
    let found = texts.into_iter().find_map(|at| value.pointer(at)?.as_str());
    found.unwrap_or_else(|| panic!("a text in {value}")).to_owned()
}

/// Input tokens of ten turns, and how many of them were cached: by usage where the API has it, and all of them by the
/// engine's counters.
fn converse(
    dialect: &dyn Dialect,
    content: fn(&[Said]) -> Content,
    own: bool,
    block: u32,
) -> (Vec<(u64, Option<u64>)>, [u64; 2]) {
    let scheduler = Scheduler { prefix_cache: true, block, ..SCHEDULER };
    let core = Core::new(scheduler, Cost { base: 1e-5, ..Cost::default() }, 1).unwrap();
    let twin = TwinBrain::new("x", core, 100_000, OUTPUT as u32);
    let running = running(twin.into(), &[]);
    let mut client = Client::connect(running.addr());
    let mut shape = Shape { model: "dyno-scripted".into(), ..Shape::default() };
    shape.send_all(dialect.about(), |_| true);
    let mut history: Vec<Said> = vec![("system", "Be brief.".to_owned())];
    let mut turns = Vec::new();
    for turn in 0..TURNS {
        let words = (0..17 + 3 * turn).map(|word| format!("u{turn}.{word}"));
        history.push(("user", words.collect::<Vec<_>>().join(" ")));
        let body =
            String::from_utf8(body(dialect, &shape, &content(&history), OUTPUT as u32)).unwrap();
        let response = client.ask(&dialect.about().whole_path(), &body).json();
        let answer = answer(&response);
        assert_eq!(answer.split_whitespace().count() as u64, OUTPUT, "{}", dialect.about().name);
        history.push((
            "assistant",
            match own {
                true => answer,
                false => (0..OUTPUT).map(|word| format!("r{turn}.{word} ")).collect(),
            },
        ));
        turns.push(usage(&response));
    }
    let counter = |name: &str| {
        let name =
            format!("vllm:prefix_cache_{name}_total{{engine=\"0\",model_name=\"dyno-scripted\"}}");
        metric(running.addr(), &name) as u64
    };
    (turns, [counter("queries"), counter("hits")])
}

#[test]
fn the_next_turn_finds_all_whole_blocks_of_the_prompt_and_its_response() {
    for (dialect, own) in
        DIALECTS.iter().filter(|d| d.about().task.generates()).flat_map(|d| [(d, true), (d, false)])
    {
        for (content, block) in [(messages as fn(&[Said]) -> Content, 16), (recorded, 7)] {
            let (turns, [queries, hits]) = converse(*dialect, content, own, block);
            let name = format!("{} {own} {block}: {turns:?}", dialect.about().name);
            // The last token of a response is never computed.
            let computed = |(input, _): &(u64, _)| input + if own { OUTPUT - 1 } else { 0 };
            let whole = |tokens: u64| tokens / u64::from(block) * u64::from(block);
            let ideal: Vec<u64> =
                std::iter::once(0).chain(turns.iter().map(|turn| whole(computed(turn)))).collect();
            let ideal = &ideal[..TURNS];
            assert!(turns[1].0 >= turns[0].0 + OUTPUT + 20, "{name}");
            if turns[0].1.is_some() {
                assert_eq!(
                    turns.iter().filter_map(|turn| turn.1).collect::<Vec<_>>(),
                    ideal,
                    "{name}"
                );
            }
            let input: u64 = turns.iter().map(|turn| turn.0).sum();
            assert_eq!([queries, hits], [input, ideal.iter().sum()], "{name}");
        }
    }
}
