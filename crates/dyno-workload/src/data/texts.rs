//! Records that hold several texts: lists to embed, or a query with what is ranked by it. They are
//! looked for only where requests have several texts.

use dyno_model::message;
use serde_json::{Map, Value};

use super::at::At;
use super::error::{DataError, remove_the_record};
use super::fields::listed;
use super::record::Record;
use dyno_model::prompt::{Content, Item, Texts};

/// Names of lists of texts to embed.
const INPUTS: [&str; 4] = ["input", "inputs", "texts", "sentences"];
/// Names of what texts are ranked by.
const QUERIES: [&str; 3] = ["query", "question", "text_1"];
/// Names of lists of texts to rank.
const DOCUMENTS: [&str; 6] = ["documents", "passages", "texts", "docs", "text_2", "contexts"];

/// Whether a record holds several texts.
pub(super) fn holds(record: &Record) -> bool {
    match &record.value {
        Value::Object(object) => found(object).is_some(),
        Value::Array(_) => list(&record.value).is_some(),
        _ => false,
    }
}

/// The item of a record with several texts.
pub(super) fn item(at: &At, value: Value) -> Result<Item, DataError> {
    let texts = match &value {
        Value::Object(object) => found(object).ok_or_else(|| {
            DataError::bad(
                at,
                message!(
                    "there is no list of texts, and no query with documents; {}",
                    "没有文本列表，也没有带文档的查询；{}",
                    listed(object)
                ),
                message!(
                    "write `input` with a list, or `query` and `documents`",
                    "请写 `input` 及其列表，或写 `query` 和 `documents`"
                ),
            )
        })?,
        Value::String(text) => Texts { query: None, texts: vec![text.clone()] },
        other => list(other).map(|texts| Texts { query: None, texts }).ok_or_else(|| {
            DataError::bad(
                at,
                message!("the record is no list of texts", "该记录不是文本列表"),
                message!("write a list of strings", "请写字符串列表"),
            )
        })?,
    };
    if texts.texts.is_empty() || texts.all().any(|text| text.trim().is_empty()) {
        let what = message!("a text is empty, or there is none", "有文本为空，或没有文本");
        return Err(DataError::bad(at, what, remove_the_record()));
    }
    Ok(Item { content: Content::Texts(texts), output_tokens: None, input_tokens: None })
}

/// The texts of an object: a query with documents, or a list.
fn found(object: &Map<String, Value>) -> Option<Texts> {
    let named = |names: &[&str]| names.iter().find_map(|name| list(object.get(*name)?));
    let query = QUERIES.iter().find_map(|name| text(object.get(*name)?));
    if let (Some(query), Some(texts)) = (query, named(&DOCUMENTS)) {
        return Some(Texts { query: Some(query), texts });
    }
    named(&INPUTS).map(|texts| Texts { query: None, texts })
}

/// A list of nothing but texts.
fn list(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(text).collect()
}

/// A text by itself, or as the field of an object.
fn text(value: &Value) -> Option<String> {
    value.as_str().or_else(|| value.get("text")?.as_str()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::super::dataset::DataSet;
    use super::super::spec::DataSpec;
    use super::*;

    fn texts(lines: &str) -> Vec<Content> {
        let spec = DataSpec { texts: true, ..DataSpec::default() };
        let set = DataSet::from_bytes("file", lines.as_bytes(), &spec).unwrap();
        set.open().unwrap().map(|item| item.unwrap().content).collect()
    }

    fn of(query: Option<&str>, texts: &[&str]) -> Content {
        let texts = texts.iter().map(|text| (*text).to_owned()).collect();
        Content::Texts(Texts { query: query.map(str::to_owned), texts })
    }

    #[test]
    fn lists_and_queries_are_read_by_their_names() {
        let lines = "{\"input\": [\"a\", \"b\"]}\n{\"texts\": [\"c\"]}\n";
        assert_eq!(texts(lines), [of(None, &["a", "b"]), of(None, &["c"])]);
        let lines = "{\"query\": \"q\", \"documents\": [\"a\", {\"text\": \"b\"}]}\n\
                     {\"query\": {\"text\": \"r\"}, \"passages\": [{\"text\": \"c\"}]}\n";
        assert_eq!(texts(lines), [of(Some("q"), &["a", "b"]), of(Some("r"), &["c"])]);
        assert_eq!(texts("[\"a\", \"b\"]\n[\"c\"]\n"), [of(None, &["a", "b"]), of(None, &["c"])]);
    }

    #[test]
    fn single_texts_stay_what_they_are() {
        let text = |text: &str| Content::Text(text.to_owned());
        assert_eq!(texts("{\"input\": \"a\"}\n{\"input\": \"b\"}\n"), [text("a"), text("b")]);
        assert_eq!(texts("one\ntwo\n"), [text("one"), text("two")]);
    }

    #[test]
    fn a_record_without_texts_is_named() {
        let spec = DataSpec { texts: true, ..DataSpec::default() };
        let lines = b"{\"input\": [\"a\"]}\n{\"id\": 7}\n{\"input\": [\" \"]}\n";
        let set = DataSet::from_bytes("file", lines, &spec).unwrap();
        let bad = set.open().unwrap().nth(1).unwrap().unwrap_err().to_string();
        assert!(bad.starts_with("file:2:") && bad.contains("documents"), "{bad}");
    }
}
