//! Reading tokenizers and templates from disk, counting with them, and what is said of files
//! that are not what they should be.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::fs;
use std::path::Path;
use std::sync::Arc;

use dyno_model::prompt::{ChatMessage, Content, RecordedPrompt};
use dyno_testing::tokenizers::{KINDS, TEMPLATE, templated, trained, write_folder};
use dyno_workload::tokenizer::{Ask, TokenCounts, Tokenizer};
use serde_json::json;
use tempfile::TempDir;

fn folder() -> TempDir {
    tempfile::tempdir().expect("folder")
}

fn refused(path: &Path) -> String {
    Tokenizer::load(path).expect_err("must be refused").to_string()
}

#[test]
fn counts_are_those_of_the_tokenizer_with_and_without_a_template() {
    let text = "where the water keeps the light, there were 12 horses.";
    for kind in KINDS {
        let encoder = trained(kind);
        let counted = |text: &str| encoder.encode(text, true).expect("encode").len() as u32;
        let (bare, full) = (folder(), folder());
        write_folder(bare.path(), &encoder, None);
        write_folder(full.path(), &encoder, Some(TEMPLATE));

        let bare = Tokenizer::load(&bare.path().join("tokenizer.json")).expect("a file");
        assert!(!bare.has_template() && !bare.is_estimate());
        assert_eq!(bare.count(text), Ok(counted(text)), "{kind}");
        // Without a template only the text is counted.
        assert_eq!(bare.count_messages(&[ChatMessage::user(text)]), Ok(counted(text)));

        let full = Tokenizer::load(full.path()).expect("a folder");
        assert!(full.has_template());
        assert_eq!(full.count(text), Ok(counted(text)));
        let through = counted(&templated(text));
        assert_eq!(full.count_messages(&[ChatMessage::user(text)]), Ok(through), "{kind}");
        assert_eq!(full.count_content(&Content::Text(text.into()), true), Ok(through));
        assert_eq!(full.count_content(&Content::Text(text.into()), false), Ok(counted(text)));
        assert_eq!(full.clone().name(), full.name());
        assert!(full.name().starts_with("tokenizer of "), "{}", full.name());
    }
}

#[test]
fn a_request_body_is_counted_by_what_it_asks() {
    let place = folder();
    let encoder = trained("byte-level BPE");
    write_folder(place.path(), &encoder, Some(TEMPLATE));
    let tokenizer = Tokenizer::load(place.path()).expect("load");
    let body = |value: serde_json::Value| match value {
        serde_json::Value::Object(fields) => Content::Body(fields),
        other => panic!("{other}"),
    };
    let count = |value| tokenizer.count_content(&body(value), true);
    let counted = |text: &str| encoder.encode(text, true).expect("encode").len() as u32;
    let message = json!({"messages": [{"role": "user", "content": "the water"}], "n": 1});
    assert_eq!(count(message), Ok(counted(&templated("the water"))));
    assert_eq!(count(json!({"prompt": "the water"})), Ok(counted("the water")));
    assert_eq!(count(json!({"prompt": [5, 6, 7]})), Ok(3));
    assert_eq!(count(json!({"prompt": ["the", [1, 2]]})), Ok(counted("the") + 2));
    let nothing = count(json!({"input": "x"})).expect_err("nothing to count").to_string();
    assert!(nothing.contains("without `messages` or `prompt`"), "{nothing}");
    // Parts of a message, where no template makes something of them.
    let parts = json!({"messages": [{"role": "user", "content": [
        {"type": "text", "text": "the light"}, {"type": "image_url"}]}]});
    let estimate = Tokenizer::estimate();
    assert_eq!(estimate.count_content(&body(parts), true), Ok(2));
    assert!(estimate.is_estimate() && !estimate.has_template());
    assert_eq!(estimate.name(), "estimate");
}

/// A template with tools, calls and their arguments as objects.
const WITH_TOOLS: &str = "\
{%- for tool in tools or [] %}the {{ tool.function.name }} {% endfor %}
{%- for m in messages %}{{ m.role }} {{ m.content or '' }}
{%- for call in m.tool_calls or [] %} {{ call.function.arguments.water }}{% endfor %}{% endfor %}";

fn recorded() -> RecordedPrompt {
    let function = |arguments: &str| json!({"name": "light", "arguments": arguments});
    let calls =
        json!([{"id": "a", "type": "function", "function": function("{\"water\": \"keeps\"}")}]);
    let parts = json!([{"type": "text", "text": "the water"}, {"type": "text", "text": "there"}]);
    let messages = [
        json!({"role": "user", "content": parts}),
        json!({"role": "assistant", "content": null, "tool_calls": calls}),
        json!({"role": "tool", "tool_call_id": "a", "content": "light"}),
    ];
    let tools = json!([{"type": "function", "function": {"name": "light"}}]);
    RecordedPrompt {
        messages: messages.into_iter().map(Arc::new).collect(),
        tools: Some(Arc::new(tools)),
    }
}

#[test]
fn what_an_agent_sent_is_counted_with_its_tools() {
    let (bare, full) = (folder(), folder());
    let encoder = trained("byte-level BPE");
    write_folder(bare.path(), &encoder, None);
    write_folder(full.path(), &encoder, Some(WITH_TOOLS));
    let counted = |text: &str| encoder.encode(text, true).expect("encode").len() as u32;
    let content = Content::Recorded(recorded());
    let full = Tokenizer::load(full.path()).expect("load");
    let through = "the light user the water\nthereassistant  keepstool light";
    assert_eq!(full.count_content(&content, true), Ok(counted(through)));
    let text = recorded().text();
    assert_eq!(full.count_content(&content, false), Ok(counted(&text)));
    // Without a template, the text with its calls is counted.
    let bare = Tokenizer::load(&bare.path().join("tokenizer.json")).expect("load");
    assert_eq!(bare.count_content(&content, true), Ok(counted(&text)));
    assert!(counted(&text) > counted("the water there keeps light"));
    let estimate = Tokenizer::estimate();
    assert_eq!(estimate.count_content(&content, true), estimate.count(&text));
}

#[test]
fn templates_are_found_where_servers_find_them() {
    let encoder = trained("WordPiece");
    let count = |place: &TempDir| {
        let tokenizer = Tokenizer::load(place.path()).expect("load");
        tokenizer.count_messages(&[ChatMessage::user("the")]).expect("count")
    };
    let place = folder();
    write_folder(place.path(), &encoder, None);
    let write = |name: &str, text: String| fs::write(place.path().join(name), text).expect("write");
    assert_eq!(count(&place), 1);
    write("chat_template.json", json!({"chat_template": "<s>the the"}).to_string());
    assert_eq!(count(&place), 3);
    // A list of named templates: the one for plain conversations is `default`.
    write(
        "tokenizer_config.json",
        json!({"chat_template": [
            {"name": "tool_use", "template": "x"},
            {"name": "default", "template": "{{ bos_token }}the the the"},
        ]})
        .to_string(),
    );
    write("special_tokens_map.json", json!({"bos_token": {"content": "<s>"}}).to_string());
    assert_eq!(count(&place), 4);
    write("chat_template.jinja", "the the the the the".to_owned());
    assert_eq!(count(&place), 5);
}

#[test]
fn opening_tokens_that_the_class_adds_are_counted() {
    let encoder = trained("byte-level BPE");
    let place = folder();
    write_folder(place.path(), &encoder, None);
    let count = |class: &str, add: bool| {
        let config = json!({"tokenizer_class": class, "add_bos_token": add, "bos_token": "<s>"});
        fs::write(place.path().join("tokenizer_config.json"), config.to_string()).expect("write");
        Tokenizer::load(place.path()).expect("load").count("the the").expect("count")
    };
    assert_eq!(count("PreTrainedTokenizerFast", true), 2);
    assert_eq!(count("LlamaTokenizerFast", true), 3);
    assert_eq!(count("LlamaTokenizer", false), 2);
}

#[test]
fn cutting_and_filling_of_a_tokenizer_file_are_left_out() {
    let mut encoder = trained("byte-level BPE");
    let cut = tokenizers::TruncationParams { max_length: 4, ..Default::default() };
    encoder.with_truncation(Some(cut)).expect("truncation");
    encoder.with_padding(Some(tokenizers::PaddingParams {
        strategy: tokenizers::PaddingStrategy::Fixed(64),
        ..Default::default()
    }));
    let place = folder();
    write_folder(place.path(), &encoder, None);
    let tokenizer = Tokenizer::load(place.path()).expect("load");
    assert_eq!(tokenizer.count("the the the the the the the"), Ok(7));
}

#[test]
fn files_that_are_no_tokenizers_are_refused_with_what_would_help() {
    let place = folder();
    let path = place.path();
    let missing = refused(&path.join("nowhere"));
    assert!(missing.contains("nowhere") && missing.contains("No such file"), "{missing}");
    assert!(missing.contains("give a Hugging Face tokenizer.json"), "{missing}");

    let empty = refused(path);
    assert!(empty.contains("no tokenizer.json in this folder"), "{empty}");
    fs::write(path.join("tokenizer.model"), b"\x0a\x0b").expect("write");
    let older = refused(path);
    assert!(older.contains("save_pretrained()"), "{older}");

    let file = path.join("tokenizer.json");
    fs::write(&file, b"\x1f\x8b\x08 not text").expect("write");
    let binary = refused(&file);
    assert!(binary.contains("not a Hugging Face tokenizer.json"), "{binary}");
    fs::write(&file, "{\"a\": 1}").expect("write");
    let other = refused(path);
    assert!(other.contains("not a Hugging Face tokenizer.json"), "{other}");
    assert!(other.contains("tokenizer.json: "), "{other}");
}

#[test]
fn bad_files_beside_the_tokenizer_are_named() {
    let encoder = trained("WordPiece");
    let place = folder();
    write_folder(place.path(), &encoder, None);
    let config = place.path().join("tokenizer_config.json");
    fs::write(&config, "{").expect("write");
    let broken = refused(place.path());
    assert!(broken.contains("tokenizer_config.json: not JSON"), "{broken}");
    fs::write(&config, json!({"chat_template": 7}).to_string()).expect("write");
    let number = refused(place.path());
    assert!(number.contains("neither text nor a list"), "{number}");
    fs::write(&config, json!({"chat_template": "a\n{% for %}"}).to_string()).expect("write");
    let template = refused(place.path());
    assert!(template.contains("chat template of") && template.contains("line 2"), "{template}");
}

#[test]
fn a_template_that_refuses_is_told_when_counting() {
    let place = folder();
    let refusing = "{{ raise_exception('only pairs') }}";
    write_folder(place.path(), &trained("WordPiece"), Some(refusing));
    let tokenizer = Tokenizer::load(place.path()).expect("load");
    let why = tokenizer.count_messages(&[ChatMessage::user("a")]).expect_err("refused").to_string();
    assert!(why.contains("only pairs"), "{why}");
}

#[test]
fn a_server_is_asked_as_the_content_is() {
    let tokenizer = Tokenizer::by_asking(Box::new(|ask| match ask {
        Ask::Text("broken") => Err(dyno_model::Message::quoted("503")),
        Ask::Text(text) => Ok(text.len() as u32),
        Ask::Messages(messages) => Ok(100 * messages.len() as u32),
        Ask::Recorded(prompt) => Ok(1_000 * prompt.messages.len() as u32),
    }));
    assert_eq!(tokenizer.count("four"), Ok(4));
    assert_eq!(tokenizer.count_content(&Content::Text("x".into()), true), Ok(100));
    assert_eq!(tokenizer.count_content(&Content::Recorded(recorded()), true), Ok(3_000));
    assert_eq!(tokenizer.name(), "server's /tokenize");
    assert!(tokenizer.has_template() && !tokenizer.is_estimate() && tokenizer.is_asking());
    let why = tokenizer.count("broken").expect_err("asked").to_string();
    assert_eq!(why, "server's /tokenize: 503");
}

#[test]
fn a_server_that_counts_text_alone_is_asked_for_text() {
    let ask = Box::new(|ask: &Ask<'_>| match ask {
        Ask::Text(text) => Ok(text.len() as u32),
        _ => Err(dyno_model::Message::quoted("messages are refused")),
    });
    let tokenizer = Tokenizer::by_asking_for(TokenCounts::Text, ask);
    let messages = [ChatMessage::user("four"), ChatMessage::user("more")];
    assert_eq!(tokenizer.count_messages(&messages), Ok(9));
    let text = recorded().text().len() as u32;
    assert_eq!(tokenizer.count_content(&Content::Recorded(recorded()), true), Ok(text));
    assert!(!tokenizer.has_template() && tokenizer.is_asking());
}
