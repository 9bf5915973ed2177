//! Converted data read back as the same items, and the profile of a data set.
#![allow(clippy::expect_used)]

use dyno_model::prompt::{ChatMessage, Content, Item};
use dyno_workload::data::{DataSet, DataSpec, Format, convert, profile};
use proptest::prelude::*;

fn read(path: &std::path::Path) -> Vec<Item> {
    let spec: DataSpec = path.display().to_string().parse().expect("good");
    let data = DataSet::new(&spec).unwrap_or_else(|error| panic!("{error}"));
    data.open().expect("opens").map(|item| item.unwrap_or_else(|error| panic!("{error}"))).collect()
}

fn through(items: &[Item], format: Format) -> Vec<Item> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(format!("data.{format}"));
    let mut file = std::fs::File::create(&path).expect("made");
    let count = convert(items.iter().cloned().map(Ok), format, &mut file).expect("written");
    assert_eq!(count, items.len() as u64);
    read(&path)
}

fn item() -> impl Strategy<Value = Item> {
    let text = "[a-z 界\n\"\\\\,\\[{\u{1f600}]{0,30}x";
    let message = |role: &'static str| {
        text.prop_map(move |content| ChatMessage { role: role.into(), content })
    };
    let conversation = (message("system"), message("user"), message("assistant"), message("user"))
        .prop_map(|(a, b, c, d)| Content::Messages(vec![a, b, c, d]));
    let content = prop_oneof![text.prop_map(Content::Text), conversation];
    (content, prop::option::of(1_u32..4_000)).prop_map(|(content, output_tokens)| Item {
        content,
        output_tokens,
        input_tokens: None,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn lines_read_back_the_same(items in prop::collection::vec(item(), 1..12)) {
        prop_assert_eq!(through(&items, Format::Lines), items);
    }

    #[test]
    fn tables_read_back_the_same(items in prop::collection::vec(item(), 1..12)) {
        for format in [Format::Json, Format::Parquet] {
            prop_assert_eq!(through(&items, format), items.clone());
        }
    }
}

#[test]
fn bodies_go_to_lines_only() {
    let bytes = br#"{"top_p":0.5,"prompt":"p","max_tokens":3}"#;
    let data = DataSet::from_bytes("b", bytes, &"lines:b".parse().expect("good")).expect("opens");
    let items: Vec<Item> = data.open().expect("opens").map(|item| item.expect("good")).collect();
    assert_eq!(through(&items, Format::Lines), items);
    for format in [Format::Json, Format::Parquet] {
        let error = convert(items.iter().cloned().map(Ok), format, &mut Vec::new());
        assert_eq!(
            error.expect_err("a body").to_string(),
            "item 1 is a whole request body, which a table cannot hold; convert to lines"
        );
    }
}

#[test]
fn many_row_groups() {
    let items: Vec<Item> = (0..25_000).map(|n| Item::text(format!("prompt {n}"))).collect();
    assert_eq!(through(&items, Format::Parquet), items);
}

#[test]
fn what_is_shown_of_a_data_set() {
    let lines: Vec<String> = (1..=100)
        .map(|n| match n % 4 {
            0 => format!("{{\"prompt\":\"{}\",\"output_tokens\":{n}}}", "word ".repeat(n)),
            1 => format!("{{\"prompt\":\"tab\\t bell\\u0007 {}\"}}", "字".repeat(n * 2)),
            _ => format!("{{\"messages\":[{{\"role\":\"system\",\"content\":\"{n}\"}},{{\"role\":\"user\",\"content\":\"a\\nb\"}}]}}"),
        })
        .collect();
    let spec = "json:d.jsonl".parse().expect("good");
    let data = DataSet::from_bytes("d.jsonl", lines.join("\n").as_bytes(), &spec).expect("opens");
    let count = |content: &Content| {
        Ok(match content {
            Content::Text(text) => text.split_whitespace().count() as u32,
            _ => 5,
        })
    };
    let shown = profile(data.open().expect("opens"), &count, true).expect("read").to_string();
    insta::assert_snapshot!(shown);
}
