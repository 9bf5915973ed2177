//! Recorded messages are sent as they were recorded, with tools and their results.

use dyno_model::recorded::RecordedMessage;
use dyno_testing::tokenizers::KINDS;
use dyno_workload::agentic::replay::Responses;
use serde_json::{Value, json};

use super::*;

fn sent(prompt: &SentPrompt) -> Vec<Value> {
    match &prompt.item.content {
        Content::Recorded(prompt) => prompt.messages.iter().map(|one| Value::clone(one)).collect(),
        other => panic!("{other:?}"),
    }
}

fn first(options: ReplayOptions, tree: &Tree, index: u64) -> ReplayedTree {
    let replayer = TreeReplayer::new(
        &Tokenizer::estimate(),
        options,
        Key { run: 0xab, ..Key::new(3, 1) },
        true,
    );
    replayer.unwrap().replay(Arc::new(tree.clone()), index, TreeStart::Beginning)
}

/// A response that fills more than a block.
const SAID: &str = "It says one, two and three: the first of them near the river, the second over the farm, and the last \
    of them where the white horse was, as the people of the city always said when the night was long.";

/// Rows of one conversation with a call of a tool.
fn conversation() -> Tree {
    let row = |mut row: Value, number: u64| {
        row["conversation_id"] = "c".into();
        row["turn"] = number.into();
        row.to_string() + "\n"
    };
    let call =
        json!([{"id": "k", "type": "function", "function": {"name": "read", "arguments": "{}"}}]);
    let tools = json!([{"type": "function", "function": {"name": "read", "parameters": {"type": "object"}}}]);
    let picture = json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}});
    let rows = [
        json!({"role": "user", "system": "Be brief.", "tools": tools, "content": [{"type": "text", "text": "Look."}, picture]}),
        json!({"role": "assistant", "content": "I read it.", "tool_calls": call}),
        json!({"role": "tool", "tool_results": [{"tool_call_id": "k", "content": "one two three"}]}),
        json!({"role": "assistant", "content": SAID}),
        json!({"role": "user", "content": "Thanks."}),
    ];
    let text: String = rows.into_iter().zip(1..).map(|(one, number)| row(one, number)).collect();
    let mut trees: Vec<Tree> =
        Trees::from_bytes("rows", text.as_bytes(), TreeDetail::Texts).collect();
    assert_eq!(trees.len(), 1);
    trees.remove(0)
}

#[test]
fn messages_go_as_recorded_with_tools_and_without_pictures() {
    let mut replayed = first(plain(), &conversation(), 0);
    let all = prompts(&mut replayed);
    let roles = |prompt: &SentPrompt| {
        sent(prompt).iter().map(|one| RecordedMessage(one).role().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(roles(&all[0]), ["system", "user"]);
    assert_eq!(roles(&all[1]), ["system", "user", "assistant", "tool"]);
    assert_eq!(roles(&all[2]), ["system", "user", "assistant", "tool", "assistant", "user"]);
    for pair in all.windows(2) {
        let (before, after) = (sent(&pair[0]), sent(&pair[1]));
        assert_eq!(after[..before.len()], before, "the history is kept");
    }
    let messages = sent(&all[2]);
    assert_eq!(messages[1]["content"], "Look.");
    assert_eq!(messages[2]["tool_calls"][0]["function"]["name"], "read");
    assert_eq!(messages[3]["tool_call_id"], "k");
    for prompt in &all {
        let Content::Recorded(prompt) = &prompt.item.content else { panic!() };
        assert_eq!(prompt.definitions().map(|one| one.name).collect::<Vec<_>>(), ["read"]);
    }
    assert_eq!(replayed.left_out().into_iter().collect::<Vec<_>>(), [("image_url".to_owned(), 1)]);
    let asked: Vec<_> = all.iter().map(|one| one.item.output_tokens.unwrap()).collect();
    let count = |text: &str| Tokenizer::estimate().count(text).unwrap();
    assert_eq!(asked[1], count(SAID));
    assert!(asked[0] > count("I read it."), "the call counts as well");
    assert_eq!(asked[2], 1, "no response is recorded");
}

#[test]
fn what_was_sent_before_is_known_where_tokens_can_be_counted() {
    let model = Model::new(KINDS[0], true);
    let tree = conversation();
    let unknown = prompts(&mut first(plain(), &tree, 0));
    assert!(unknown.iter().all(|one| one.repeated.is_none()), "an estimate counts nothing");
    // The recorded number is that of another model, with a system prompt that may not be there.
    assert!(unknown.iter().all(|one| one.item.input_tokens.is_none()));
    let all = prompts(&mut begin(&replayer(&model, plain(), true), &tree));
    let counted = |prompt: &SentPrompt| {
        let Content::Recorded(recorded) = &prompt.item.content else { panic!() };
        let length = model.tokenizer.count_content(&prompt.item.content, true).unwrap();
        // The small template leaves the tools out.
        let tools = json!({ "tools": recorded.tools.as_deref() }).to_string();
        (length + model.tokenizer.count(&tools).unwrap(), prompt.repeated.unwrap())
    };
    assert_eq!(counted(&all[0]).1.of_prompts, 0);
    for pair in all.windows(2) {
        let (before, (after, repeated)) = (counted(&pair[0]).0, counted(&pair[1]));
        assert!(repeated.of_prompts > 0 && repeated.of_prompts <= before, "{repeated:?}");
        assert!(
            (repeated.of_prompts..after).contains(&repeated.with_responses),
            "{repeated:?} {after}"
        );
    }
    let last = all[2].repeated.unwrap();
    assert!(last.with_responses > last.of_prompts, "{last:?}");
}

#[test]
fn live_responses_stand_for_what_the_model_said_and_keep_its_calls() {
    let options = ReplayOptions { responses: Responses::Live, ..plain() };
    let mut replayed = first(options, &conversation(), 0);
    let mut last = None;
    for (number, answer) in ["first of all", "", "x"].into_iter().enumerate() {
        last = Some(send(&mut replayed, number));
        replayed.answered(number as u32, answer);
    }
    let messages = sent(&last.unwrap());
    assert_eq!(messages[2]["content"], "first of all");
    assert_eq!(messages[2]["tool_calls"][0]["id"], "k", "its results follow");
    assert_eq!(messages[4]["content"], SAID, "an empty one is as recorded");
}

#[test]
fn a_marker_is_before_the_first_text_or_behind_that_of_the_system() {
    for (share_system, place) in [(false, 0), (true, 1)] {
        let options = ReplayOptions { marker: true, share_system, ..plain() };
        let [one, two] = [10, 11].map(|index| prompts(&mut first(options, &conversation(), index)));
        for (prompts, marker) in [(&one, "[ab-a] "), (&two, "[ab-b] ")] {
            for prompt in prompts {
                let marked: Vec<_> = sent(prompt)
                    .iter()
                    .enumerate()
                    .filter(|(_, one)| RecordedMessage(one).text().starts_with(marker))
                    .map(|(place, _)| place)
                    .collect();
                assert_eq!(marked, [place]);
            }
        }
    }
}

#[test]
fn text_is_made_of_the_same_lengths_where_it_is_not_wanted() {
    let model = Model::new(KINDS[0], true);
    let mut tree = conversation();
    for (turn, input) in tree.sessions[0].turns.iter_mut().zip([120, 200, 300]) {
        turn.input = Some(input);
    }
    let replayer = replayer(&model, ReplayOptions { text: false, ..plain() }, true);
    let all = prompts(&mut begin(&replayer, &tree));
    let lengths: Vec<_> = all.iter().map(|one| model.tokens(&one.item).len()).collect();
    assert_eq!(lengths, [120, 200, 300]);
}

#[test]
fn every_kind_of_recording_can_be_replayed_from_anywhere() {
    let names: Vec<String> =
        crate::seeds::of("agentic_reader").into_iter().map(|(name, _)| name).collect();
    let (mut texts, mut made) = (0, 0);
    for (name, text, start) in names.iter().flat_map(|name| {
        [
            (true, TreeStart::Beginning),
            (false, TreeStart::Beginning),
            (true, TreeStart::At(0.4)),
            (false, TreeStart::At(0.7)),
        ]
        .map(|(text, start)| (name, text, start))
    }) {
        let replayer = TreeReplayer::new(
            &Tokenizer::estimate(),
            ReplayOptions { text, ..ReplayOptions::default() },
            Key::new(1, 1),
            true,
        )
        .unwrap();
        for (index, tree) in crate::agentic::trees(name).into_iter().enumerate() {
            let mut replayed = replayer.replay(Arc::new(tree), index as u64, start);
            assert!(!replayed.turns().is_empty(), "{name}");
            for prompt in prompts(&mut replayed) {
                assert!(prompt.item.output_tokens.unwrap() > 0);
                match prompt.item.content {
                    Content::Recorded(prompt) => {
                        assert!(
                            text && prompt.messages.iter().all(|one| one["role"].is_string()),
                            "{name}"
                        );
                        texts += 1;
                    }
                    Content::Messages(messages) => {
                        assert!(messages.iter().all(|one| !one.content.is_empty()), "{name}");
                        made += 1;
                    }
                    other => panic!("{name}: {other:?}"),
                }
            }
        }
    }
    assert!(texts > 40 && made > 100, "{texts} {made}");
}
