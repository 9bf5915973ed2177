//! Conversations: which specifications are valid, which records can be replayed, and the description of
//! them.
#![allow(clippy::expect_used)]

use dyno_model::Message;
use dyno_model::prompt::{ChatMessage, Content, Item};
use dyno_workload::data::{
    Count, DataError, DataOrder, DataSet, DataSpec, Format, Outside, PromptSelection, convert,
};
use dyno_workload::random::RandomError;
use dyno_workload::random::key::Key;
use dyno_workload::random::lengths::Lengths;
use dyno_workload::session::{SessionOptions, SessionProfile, SyntheticSessions, led, said};
use dyno_workload::tokenizer::Tokenizer;
use proptest::prelude::*;

fn options(spec: &str) -> Result<SessionOptions, Message> {
    spec.parse::<DataSpec>().and_then(|spec| SessionOptions::new(&spec))
}

fn open(name: &str, text: &str, more: &str) -> DataSet {
    let spec: DataSpec = format!("session:{name}{more}").parse().expect("a good specification");
    DataSet::from_bytes(name, text.as_bytes(), &spec).unwrap_or_else(|error| panic!("{error}"))
}

fn items(data: &DataSet) -> Result<Vec<Item>, DataError> {
    data.open().expect("opens").collect()
}

/// What the user says in each turn of the only conversation.
fn turns(name: &str, text: &str, more: &str) -> Vec<String> {
    let mut items = items(&open(name, text, more)).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(items.len(), 1);
    let words = |turn: Vec<ChatMessage>| {
        turn.into_iter().map(|message| message.content).collect::<Vec<_>>().join("+")
    };
    led(items.remove(0).content, 100).expect("can be led").into_iter().map(words).collect()
}

#[test]
fn keys_that_mean_nothing_are_refused_with_those_that_do() {
    let made = "the keys of session without a file are turns, think, first, prefix, groups";
    for key in ["prompt=a", "messages=a", "system=a", "output_tokens=a", "skip_bad=true"] {
        let (name, _) = key.split_once('=').expect("a key");
        let refused = options(&format!("session,{key}")).expect_err(key).to_string();
        assert_eq!(refused, format!("unknown key {name:?}; {made}"));
    }
    let refused = options("session:talk.json,first=9").expect_err("first").to_string();
    assert_eq!(
        refused,
        "unknown key \"first\"; the keys of session:FILE are turns, think, prompt, context, system, output_tokens, \
         messages, skip_bad"
    );
    let refused = options("session,groups=0").expect_err("groups").to_string();
    assert_eq!(refused, "groups=0 is not possible; write groups=4: a whole number of at least 1");
    for turns in ["normal(8,2)", "lognormal(8,1)", "10001"] {
        let refused = options(&format!("session,turns={}", turns.replace(',', "\\,")));
        let refused = refused.expect_err(turns).to_string();
        assert!(refused.starts_with(&format!("turns={turns} is not possible; ")), "{refused}");
        assert!(refused.ends_with("it must have a largest number, of at most 10000"), "{refused}");
    }
    assert!(options("session,turns=zipf(1.2\\,1-100)").is_ok());
}

#[test]
fn the_field_of_output_tokens_can_be_named() {
    let text = r#"{"messages": ["hi"], "answer": {"length": 7}}"#;
    let item = items(&open("t.jsonl", text, ",output_tokens=answer.length")).expect("good");
    assert_eq!(item[0].output_tokens, Some(7));
    assert_eq!(items(&open("t.jsonl", text, "")).expect("good")[0].output_tokens, None);
}

#[test]
fn answers_need_no_text_but_users_do() {
    let tool_call = r#"[
        {"role": "user", "content": "weather?"},
        {"role": "assistant", "content": null, "tool_calls": [{"id": "1"}]},
        {"role": "user", "content": "and tomorrow?"},
        {"role": "assistant", "content": [{"type": "image_url"}]},
        {"role": "user", "content": "thanks"}
    ]"#
    .replace('\n', " ");
    assert_eq!(turns("t.jsonl", &tool_call, ""), ["weather?", "and tomorrow?", "thanks"]);
    let spec: DataSpec = "lines:t.jsonl".parse().expect("good");
    let sent = DataSet::from_bytes("t.jsonl", tool_call.as_bytes(), &spec).expect("opens");
    let error = items(&sent).expect_err("the answers are sent").to_string();
    assert!(error.contains("a message 4 with a part that is not text"), "{error}");

    let mut tool = tool_call.clone();
    tool.insert_str(tool.len() - 1, r#", {"role": "tool", "content": "42"}"#);
    for (text, what) in [
        (
            tool.as_str(),
            "the record has a tool message at position 6, which belongs to the recorded response",
        ),
        (r#"{"messages": [{"role": "user", "content": null}]}"#, "a message 1 with null content"),
        (r#"[["a"], [{"role": "system", "content": "s"}]]"#, "has no user message"),
        (
            r#"{"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}, {"role": "user", "content": " "}]}"#,
            "the field \"messages\" has an empty user message at position 3 and no other",
        ),
    ] {
        let error = items(&open("t.jsonl", text, "")).expect_err(what).to_string();
        assert!(error.contains(what) && error.starts_with("t.jsonl"), "{error}");
        assert!(error.ends_with("or skip_bad=true to skip such records"), "{error}");
    }
}

const TOOL: &str = r#"{"messages": [{"role": "user", "content": "a"}, {"role": "tool", "content": "b"}]}
"#;

#[test]
fn conversations_that_cannot_be_led_are_skipped_and_counted_as_they_come() {
    let text =
        format!("{TOOL}{{\"messages\": [\"good\"]}}\n{TOOL}{TOOL}{{\"messages\": [\"too\"]}}\n");
    let data = open("t.jsonl", &text, ",skip_bad=true");
    let mut selected = PromptSelection { repeat: false, ..PromptSelection::default() }
        .of(&data, None)
        .expect("ok");
    let mut skipped = Vec::new();
    while let Some(item) = selected.next() {
        item.expect("good");
        skipped.push(selected.tally().skipped);
    }
    assert_eq!(skipped, [1, 3]);
}

#[test]
fn nothing_but_unusable_conversations_is_an_error_with_their_place() {
    let error = items(&open("t.jsonl", &TOOL.repeat(3), ",skip_bad=true")).expect_err("all bad");
    let error = error.to_string();
    assert!(error.starts_with("t.jsonl holds no usable record, and all 3 were skipped"), "{error}");
    assert!(
        error.contains("t.jsonl:1: the field \"messages\" has a tool message at position 2"),
        "{error}"
    );
    assert!(!error.contains("skip_bad"), "{error}");
}

#[test]
fn tables_of_text_hold_conversations_as_json() {
    let rows = "id,messages,max_tokens\n1,\"[{\"\"role\"\":\"\"user\"\",\"\"content\"\":\"\"a\"\"},\
                {\"\"role\"\":\"\"assistant\"\",\"\"content\"\":null},\
                {\"\"role\"\":\"\"user\"\",\"\"content\"\":\"\"b\"\"}]\",9\n";
    for name in ["t.csv", "t.data"] {
        assert_eq!(turns(name, rows, ""), ["a", "b"]);
        let data = open(name, rows, "");
        assert_eq!(items(&data).expect("good")[0].output_tokens, Some(9));
        assert!(data.recognised().to_string().contains("session, a table separated by commas"));
    }
    // One column, and a column of another name.
    assert_eq!(turns("t.txt", "messages\n\"[\"\"a\"\",\"\"b\"\"]\"\n", ""), ["a", "b"]);
    assert_eq!(turns("t.tsv", "n\tchat\n1\t[\"a\"]\n", ",messages=chat"), ["a"]);
    let spec: DataSpec = "session:t.txt".parse().expect("good");
    let error = DataSet::from_bytes("t.txt", b"hello\nworld\n", &spec).expect_err("text");
    assert_eq!(
        error.to_string(),
        "t.txt is not session: it begins with \"hello\", which is not JSON; write conversations as \
         JSON, one a line, or as a table with a column called messages"
    );
}

#[test]
fn lists_first_and_objects_later_are_conversations_all_the_same() {
    let mut text = "[\"a\", \"b\"]\n".repeat(70);
    text.push_str("{\"messages\": [\"c\"], \"model\": \"m\"}\n");
    let items = items(&open("t.jsonl", &text, "")).expect("good");
    assert_eq!(items.len(), 71);
    assert_eq!(items[70].content, Content::Messages(vec![ChatMessage::user("c".to_owned())]));
}

/// A word a token.
fn words(content: &Content) -> Result<u32, dyno_model::Message> {
    let Content::Messages(messages) = content else {
        return Err(dyno_model::Message::quoted("messages expected"));
    };
    Ok(messages.iter().map(|message| message.content.split_whitespace().count() as u32).sum())
}

const TALKS: &str = r#"[
    {"messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "one two"},
        {"role": "assistant", "content": "a b c d e f g h i j"}, {"role": "user", "content": "three"}]},
    {"messages": [{"role": "assistant", "content": "cut"}, {"role": "user", "content": "four"}],
        "output_tokens": 12}
]"#;

#[test]
fn bounds_count_what_the_user_says() {
    let data = open("t.json", TALKS, "");
    let taken = |min_input, max_input| {
        let selection =
            PromptSelection { min_input, max_input, repeat: false, ..PromptSelection::default() };
        let count: Count<'_> = Box::new(|content: &Content| words(&said(content)));
        let selected = selection.of(&data, Some(count)).expect("opens");
        selected.map(|item| item.expect("good").input_tokens.expect("counted")).collect::<Vec<_>>()
    };
    assert_eq!(taken(None, Some(5)), [5, 1]);
    assert_eq!(taken(None, Some(4)), [1]);
    assert_eq!(taken(Some(2), None), [5]);
}

#[test]
fn a_beginning_of_its_own_is_part_of_what_is_sent() {
    let unique =
        PromptSelection { unique_prefix: true, repeat: false, ..PromptSelection::default() };
    assert_eq!((unique.order, unique.outside), (DataOrder::File, Outside::Drop));
    let selected = unique.of(&open("t.json", TALKS, ""), None).expect("opens");
    let firsts: Vec<String> = selected
        .map(|item| led(item.expect("good").content, 1).expect("can be led")[0][0].content.clone())
        .collect();
    assert!(firsts[0].ends_with(" be brief") && firsts[1].ends_with(" four"), "{firsts:?}");
}

#[test]
fn what_is_told_of_conversations() {
    let data = open("t.json", TALKS, "");
    let profile = |spec: &str| {
        let options = options(spec).expect("good");
        SessionProfile::of(data.open().expect("opens"), &options, 0, &words, false).expect("good")
    };
    let told = profile("session:t.json");
    assert_eq!((told.conversations, told.turns.max(), told.turns.mean()), (2, Some(2), Some(1.5)));
    assert_eq!((told.input.min(), told.input.max()), (Some(1), Some(5)));
    assert_eq!((told.output.total(), told.output.max()), (1, Some(12)));
    insta::assert_snapshot!(told);
    assert_eq!(profile("session:t.json,turns=1").turns.max(), Some(1));
}

#[test]
fn converted_conversations_are_led_the_same() {
    let data = open("t.json", TALKS, "");
    let before = items(&data).expect("good");
    let folder = tempfile::tempdir().expect("a folder");
    for format in [Format::Lines, Format::Json, Format::Parquet] {
        let path = folder.path().join(format!("talks.{format}"));
        let mut file = std::fs::File::create(&path).expect("made");
        convert(data.open().expect("opens"), format, &mut file).expect("written");
        let spec: DataSpec = format!("session:{}", path.display()).parse().expect("good");
        let after = items(&DataSet::new(&spec).expect("opens")).expect("good");
        assert_eq!(after, before, "{format}");
    }
}

fn made(spec: &str, input: &str) -> Result<SyntheticSessions, RandomError> {
    let lengths = |text: &str| text.parse::<Lengths>().expect("lengths");
    let tokens = (lengths(input), lengths("8"));
    let options = options(spec).expect("good");
    SyntheticSessions::new(&Tokenizer::estimate(), options, tokens, Key::new(7, 0), false)
}

#[test]
fn no_later_message_says_what_another_conversation_begins_with() {
    let sessions = made("session,turns=3", "40").expect("possible");
    let says = |index: u64, turn: usize| {
        let turn = &sessions.conversation(index).expect("made").turns[turn];
        let words = turn.messages[0].content.split(' ').take(8).collect::<Vec<_>>();
        words.join(" ")
    };
    // The number of the second turn of conversation 1, and of the third of conversation 2.
    assert_ne!(says((1 << 16) + 1, 0), says(1, 1));
    assert_ne!(says((2 << 16) + 2, 0), says(2, 2));
    assert_eq!(says(1, 1), says(1, 1));
}

#[test]
fn lengths_that_cannot_be_met_name_who_asked_for_them() {
    let error = made("session,first=20,prefix=64", "256").expect_err("too short");
    assert!(matches!(error, RandomError::First { .. }), "{error}");
    assert!(error.to_string().starts_with("first=20: input length 20: the shortest"), "{error}");
    let error = made("session,prefix=64", "20").expect_err("too short");
    assert!(error.is_by_prefix(), "{error}");
    assert!(!RandomError::SharedAndUnique(64).is_by_prefix());
    let asked = Lengths::fixed(9);
    let (minimum, around) = (75, 10);
    let whose = dyno_model::message!("the tokenizer's", "分词器");
    let error = RandomError::TooShort { asked, minimum, around, whose, prefix: 64 };
    assert!(!error.is_by_prefix(), "{error}");
}

proptest! {
    /// Whatever the file holds, what is read can be replayed, and no recorded response is sent.
    #[test]
    fn what_is_read_can_be_led(
        messages in prop::collection::vec((0_usize..5, 0_usize..3), 1..12),
    ) {
        let roles = ["user", "assistant", "system", "tool", "user"];
        let one = |(role, content): &(usize, usize)| {
            serde_json::json!({ "role": roles[*role], "content": (["", "x", "y z"])[*content] })
        };
        let list: Vec<_> = messages.iter().map(one).collect();
        let text = serde_json::json!({ "messages": list }).to_string();
        match items(&open("t.jsonl", &text, "")) {
            Ok(items) => {
                let turns = led(items[0].content.clone(), 100);
                let turns = turns.unwrap_or_else(|error| panic!("{error}"));
                prop_assert!(turns.iter().all(|turn| turn.iter().any(|m| m.role == "user")));
                let sent: Vec<_> = turns.concat().iter().map(|m| m.content.clone()).collect();
                prop_assert!(turns.concat().iter().all(|m| m.role != "assistant"));
                let Content::Messages(all) = said(&items[0].content) else { panic!("messages") };
                // All but what stands behind the last question.
                prop_assert!(all.iter().map(|m| m.content.clone()).take(sent.len()).eq(sent));
            }
            Err(error) => prop_assert!(error.is_skippable(), "{}", error),
        }
    }
}
