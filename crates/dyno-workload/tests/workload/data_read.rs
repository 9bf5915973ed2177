//! Each kind of file gives the items that are in it, and says what it was recognised as.
#![allow(clippy::expect_used)]

use std::io::Write;
use std::path::Path;

use dyno_model::prompt::{ChatMessage, Content, Item};
use dyno_workload::data::{DataError, DataKind, DataSet, DataSpec};
use serde_json::json;

fn open(name: &str, bytes: &[u8], spec: &str) -> DataSet {
    let spec: DataSpec = spec.parse().expect("a good specification");
    DataSet::from_bytes(name, bytes, &spec).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn items(data: &DataSet) -> Vec<Item> {
    data.open().expect("opens").collect::<Result<_, _>>().unwrap_or_else(|e| panic!("{e}"))
}

fn texts(data: &DataSet) -> Vec<String> {
    let text = |item: Item| match item.content {
        Content::Text(text) => text,
        other => panic!("not text: {other:?}"),
    };
    items(data).into_iter().map(text).collect()
}

fn message(role: &str, content: &str) -> ChatMessage {
    ChatMessage { role: role.into(), content: content.into() }
}

#[test]
fn question_lines() {
    let bytes = "{\"question\":\"你好吗？\",\"human_answers\":[\"好\"]}\n\n{\"question\":\"b\"}";
    let data = open("open_qa.jsonl", bytes.as_bytes(), "open_qa.jsonl");
    assert_eq!(
        data.recognised().to_string(),
        "open_qa.jsonl: openqa, JSON lines, prompt from \"question\""
    );
    assert_eq!(texts(&data), ["你好吗？", "b"]);
    let mut reading = data.open().expect("opens");
    assert_eq!((reading.by_ref().count(), reading.blank()), (2, 1));
}

#[test]
fn the_code_set_whose_prompt_is_called_input() {
    let bytes = br#"{"input":"Write a sort","output":"def sort"}"#;
    for spec in ["data.jsonl", "json:data.jsonl", "openqa:data.jsonl,prompt=input"] {
        let data = open("data.jsonl", bytes, spec);
        assert_eq!(texts(&data), ["Write a sort"], "{spec}");
    }
}

#[test]
fn built_in_sets() {
    let questions = DataSet::new(&"openqa".parse().expect("good")).expect("opens");
    let all = texts(&questions);
    assert!(all.len() >= 300, "{}", all.len());
    let different: std::collections::BTreeSet<&String> = all.iter().collect();
    assert_eq!(different.len(), all.len());
    for lang in ["en", "zh"] {
        let spec = format!("openqa,lang={lang}").parse().expect("good");
        let some = texts(&DataSet::new(&spec).expect("opens"));
        assert!(some.len() >= 150, "{lang}: {}", some.len());
        let chinese = |text: &String| text.chars().any(|c| ('\u{4e00}'..'\u{9fff}').contains(&c));
        assert!(some.iter().all(|text| chinese(text) == (lang == "zh")), "{lang}");
    }
    let long = texts(&DataSet::new(&"long".parse().expect("good")).expect("opens"));
    assert_eq!(long.len(), 1);
    let words = long[0].split_whitespace().count();
    assert!((1_200..1_400).contains(&words), "{words} words");
    let zh = texts(&DataSet::new(&"long,lang=zh".parse().expect("good")).expect("opens"));
    assert!((2_000..2_600).contains(&zh[0].chars().count()));
}

#[test]
fn a_text_file_as_one_long_prompt_or_a_prompt_a_line() {
    let bytes = b"first line\r\nsecond line\n";
    assert_eq!(texts(&open("p.txt", bytes, "long:p.txt")), ["first line\nsecond line"]);
    assert_eq!(texts(&open("p.txt", bytes, "p.txt")), ["first line", "second line"]);
    let json = br#"{"question":"A very long one"}"#;
    assert_eq!(texts(&open("long.jsonl", json, "long:long.jsonl")), ["A very long one"]);
    let brackets = b"[INST] not JSON [/INST]\n{also} not\n";
    let data = open("p.txt", brackets, "p.txt");
    assert_eq!(data.recognised().to_string(), "p.txt: lines, one prompt per line");
    assert_eq!(texts(&data).len(), 2);
}

#[test]
fn lines_of_messages_and_bodies() {
    let bytes = br#"[{"role":"user","content":"alone"}]
[{"role":"system","content":"s"},{"role":"user","content":"u"}]
{"messages":[{"role":"user","content":"short"}],"max_tokens":7}
{"model":"m","prompt":"p","temperature":0.5,"max_completion_tokens":9}
"#;
    let data = open("r.jsonl", bytes, "lines:r.jsonl");
    assert_eq!(
        data.recognised().to_string(),
        "r.jsonl: lines, JSON lines; message arrays and request bodies, sent as they are"
    );
    let items = items(&data);
    assert_eq!(items[0], Item::text("alone"));
    assert_eq!(
        items[1].content,
        Content::Messages(vec![message("system", "s"), message("user", "u")])
    );
    assert_eq!(
        (&items[2].content, items[2].output_tokens),
        (&Content::Text("short".into()), Some(7))
    );
    let body = json!({"model": "m", "prompt": "p", "temperature": 0.5, "max_completion_tokens": 9});
    assert_eq!(items[3].content, Content::Body(body.as_object().expect("object").clone()));
    assert_eq!(items[3].output_tokens, Some(9));
    assert_eq!(open("r.jsonl", bytes, "r.jsonl").recognised().kind, DataKind::Lines);
}

#[test]
fn a_body_with_pictures_stays_a_body() {
    let bytes = br#"{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"x"}}]}]}"#;
    let items = items(&open("r.jsonl", bytes, "lines:r.jsonl"));
    assert!(matches!(items[0].content, Content::Body(_)));
}

#[test]
fn json_as_lines_array_and_spread_out() {
    let array = br#" [ {"prompt":"a]\"}","max_tokens":3},
        {"prompt":"b"} ] "#;
    let spread =
        b"{\n  \"prompt\": \"a]\\\"}\",\n  \"max_tokens\": 3\n}\n{\n  \"prompt\": \"b\"\n}\n";
    let lines = b"{\"prompt\":\"a]\\\"}\",\"max_tokens\":\"3\"}\n{\"prompt\":\"b\"}\n";
    for (bytes, layout) in
        [(&array[..], "a JSON array"), (&spread[..], "JSON values"), (&lines[..], "JSON lines")]
    {
        let data = open("d.json", bytes, "d.json");
        let told = format!(
            "d.json: json, {layout}, prompt from \"prompt\", output tokens from \"max_tokens\""
        );
        assert_eq!(data.recognised().to_string(), told);
        let items = items(&data);
        assert_eq!(items[0].content, Content::Text("a]\"}".into()), "{layout}");
        assert_eq!(
            items.iter().map(|item| item.output_tokens).collect::<Vec<_>>(),
            [Some(3), None]
        );
    }
    assert_eq!(texts(&open("d.json", br#"["a", "b"]"#, "d.json")), ["a", "b"]);
}

#[test]
fn nested_fields_systems_and_instructions() {
    let bytes = br#"{"r":{"q":[{"t":"deep"}]},"s":"be brief"}"#;
    let items_ = items(&open("d.jsonl", bytes, "d.jsonl,prompt=r.q.0.t,system=s"));
    let expected = Content::Messages(vec![message("system", "be brief"), message("user", "deep")]);
    assert_eq!(items_[0].content, expected);
    let bytes = b"{\"instruction\":\"Add\",\"input\":\"1 2\",\"output\":\"3\"}\n{\"instruction\":\"Sing\",\"input\":\"\"}\n";
    let data = open("alpaca.jsonl", bytes, "alpaca.jsonl");
    assert_eq!(
        data.recognised().to_string(),
        "alpaca.jsonl: json, JSON lines, prompt from \"instruction\" + \"input\""
    );
    assert_eq!(texts(&data), ["Add\n\n1 2", "Sing"]);
}

#[test]
fn tables_of_spreadsheets() {
    let bytes =
        "\u{feff}Prompt;Note;output_tokens\r\n\"a;b \"\"q\"\"\r\nnext\";x;7\r\n\r\nplain;;\r\n";
    let data = open("t.csv", bytes.as_bytes(), "t.csv");
    assert_eq!(
        data.recognised().to_string(),
        "t.csv: csv, a table separated by semicolons, prompt from \"Prompt\", output tokens from \
         \"output_tokens\""
    );
    let items = items(&data);
    assert_eq!(items[0].content, Content::Text("a;b \"q\"\r\nnext".into()));
    assert_eq!((items[0].output_tokens, items[1].output_tokens), (Some(7), None));
    assert_eq!(texts(&open("t", b"id\tquestion\n1\tx, y\n", "t")), ["x, y"]);
    assert_eq!(texts(&open("t", b"id,question\n1,\"x, y\"", "csv:t")), ["x, y"]);
    let chat = b"id,messages\n1,\"[{\"\"role\"\":\"\"user\"\",\"\"content\"\":\"\"hi\"\"}]\"\n";
    assert_eq!(texts(&open("t.csv", chat, "t.csv")), ["hi"]);
}

#[test]
fn conversations_first_turn_or_whole() {
    let bytes =
        br#"[{"id":"1","conversations":[{"from":"system","value":"s"},{"from":"human","value":"a"},
        {"from":"gpt","value":"b"},{"from":"human","value":"c"},{"from":"gpt","value":"d"}]},
        {"conversations":[{"from":"gpt","value":"cut"},{"from":"human","value":"e"}]}]"#;
    let data = open("s.json", bytes, "s.json");
    assert_eq!(
        data.recognised().to_string(),
        "s.json: sharegpt, a JSON array, messages from \"conversations\"; the first turn of each \
         conversation (turns=all for all)"
    );
    let first = items(&data);
    assert_eq!(
        first[0].content,
        Content::Messages(vec![message("system", "s"), message("user", "a")])
    );
    assert_eq!(first[1], Item::text("e"));
    let all = items(&open("s.json", bytes, "sharegpt:s.json,turns=all"));
    let Content::Messages(whole) = &all[0].content else { panic!("messages") };
    assert_eq!(whole.iter().map(|m| &*m.content).collect::<Vec<_>>(), ["s", "a", "b", "c"]);
    let data = open("s.json", bytes, "session:s.json");
    let sessions: Vec<_> =
        data.conversations().expect("opens").collect::<Result<_, _>>().expect("good");
    assert_eq!(sessions[0].len(), 5);
    assert_eq!(sessions[0][4], message("assistant", "d"));
    let turns = br#"{"turns":["first?","second?"]}"#;
    assert_eq!(texts(&open("mt.jsonl", turns, "mt.jsonl")), ["first?"]);
    let data = open("mt.jsonl", turns, "session:mt.jsonl");
    let sessions: Vec<_> = data.conversations().expect("opens").map(|s| s.expect("good")).collect();
    assert_eq!(sessions, [vec![message("user", "first?"), message("user", "second?")]]);
}

#[test]
fn traces_are_told_apart() {
    let mooncake = br#"{"timestamp":0,"input_length":3,"output_length":4,"hash_ids":[1]}"#;
    let azure = b"TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46,4808,10\n";
    for (name, bytes) in
        [("mooncake.jsonl", &mooncake[..]), ("azure.csv", &azure[..]), ("azure", &azure[..])]
    {
        let spec = name.parse().expect("good");
        let error = DataSet::from_bytes(name, bytes, &spec).expect_err("a trace");
        assert!(matches!(error, DataError::Elsewhere { kind: DataKind::Trace, .. }));
        let told = "is trace data, which is not read as prompts; replay it with trace:FILE";
        assert_eq!(error.to_string(), format!("{name} {told}"));
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).expect("in memory");
    encoder.finish().expect("in memory")
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
}

#[test]
fn compressed_files_are_read_as_they_are() {
    let (one, two) = (b"{\"question\":\"a\"}\n", b"{\"question\":\"b\"}\n");
    let gz = [gzip(one), gzip(two)].concat();
    let skippable = [&[0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"xyz"].concat();
    let zst = [zstd(one), skippable, zstd(two)].concat();
    for (bytes, name) in [(gz, "gzip"), (zst, "zstd")] {
        let data = open("q.jsonl", &bytes, "q.jsonl");
        let told = format!("q.jsonl: openqa, JSON lines ({name}), prompt from \"question\"");
        assert_eq!(data.recognised().to_string(), told);
        assert_eq!(texts(&data), ["a", "b"]);
    }
}

#[test]
fn parquet_as_other_tools_write_it() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/parquet");
    for codec in ["none", "snappy", "gzip", "zstd", "zstd-v2"] {
        let path = fixtures.join(format!("chat-{codec}.parquet"));
        let spec = path.display().to_string().parse().expect("good");
        let data = DataSet::new(&spec).unwrap_or_else(|error| panic!("{codec}: {error}"));
        let told = data.recognised().to_string();
        assert!(
            told.ends_with(
                "parquet, a Parquet table, messages from \"messages\", output tokens from \
                 \"max_tokens\"; whole conversations, without the final response"
            ),
            "{told}"
        );
        let items = items(&data);
        assert_eq!(items.len(), 60, "{codec}");
        assert_eq!(items[0].content, Content::Text("question 0".into()));
        assert_eq!((items[0].output_tokens, items[1].output_tokens), (None, Some(17)));
        let Content::Messages(messages) = &items[59].content else { panic!("messages") };
        assert_eq!(messages.len(), 4);
        assert_eq!(messages[3], message("user", "question 59, again"));
        let spec = format!("{},prompt=meta.title", path.display()).parse().expect("good");
        assert_eq!(texts(&DataSet::new(&spec).expect("opens"))[7], "标题 7");
    }
    let path = fixtures.join("chat-brotli.parquet");
    let spec = path.display().to_string().parse().expect("good");
    let error = DataSet::new(&spec).expect_err("not read").to_string();
    assert!(
        error.ends_with(
            "its pages are compressed with BROTLI, which is not supported; rewrite it with snappy, gzip \
             or zstd compression"
        ),
        "{error}"
    );
}
