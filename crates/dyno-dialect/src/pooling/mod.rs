//! APIs that generate nothing: embeddings, rerankers and scores. A request has texts, and its response
//! is one JSON body with a vector or a score for each. What they have in common, and each in its file.

mod embeddings;
mod reader;
mod rerank;
mod score;
mod tei;

pub(super) use embeddings::Embeddings;
pub(super) use rerank::Rerank;
pub(super) use score::Score;
pub(super) use tei::TeiRerank;

use super::openai::{RESETS, TOKENIZE, TOKENIZE_CONTENT};
use super::{About, Auth, End, ModelList, Shape};
use crate::framing::Framing;
use dyno_model::plan::Task;
use dyno_model::prompt::Content;
use serde_json::{Map, Value};

/// Infinity's list of models, which has no prefix.
const BARE_MODELS: ModelList = ModelList { path: "/models", ..ModelList::OPENAI };

/// What these APIs have in common. Each has its own name, title and path.
const BASE: About = About {
    name: "",
    title: "",
    task: Task::Rank,
    prefix: "/v1",
    path: "",
    framing: Framing::Whole,
    auth: &[Auth::Bearer],
    headers: &[],
    end: End::Terminal,
    talk: None,
    names_model: true,
    optional: &[],
    short_by: 0,
    models: &[ModelList::OPENAI, BARE_MODELS],
    health: &["/health", "/v1/models"],
    counting: &[TOKENIZE],
    resets: RESETS,
    signs: &[],
};

/// The field of a request to a reranker that limits its results, so that not every text has one.
const TOP_N: &str = "top_n";

/// Writes the model, unless the API has none, and the user's fields. Nothing is generated, so there
/// are no lengths, no sampling and no stream.
fn options(fields: &mut Map<String, Value>, shape: &Shape, names_model: bool) {
    if names_model {
        fields.insert("model".into(), shape.model.clone().into());
    }
    shape.put_extra(fields);
}

/// The texts of a prompt, whatever its form.
fn texts(content: &Content) -> Vec<String> {
    match content {
        Content::Text(text) => vec![text.clone()],
        Content::Messages(messages) => messages.iter().map(|m| m.content.clone()).collect(),
        Content::Texts(texts) => texts.all().cloned().collect(),
        Content::Recorded(prompt) => vec![prompt.text()],
        Content::Body(fields) => {
            fields.get("prompt").and_then(Value::as_str).map(str::to_owned).into_iter().collect()
        }
    }
}

/// A query and what is ranked by it. Of texts without a query, the first is taken for it; a single
/// text is ranked by itself.
fn query_and_documents(content: &Content) -> (String, Vec<String>) {
    if let Content::Texts(texts) = content
        && let Some(query) = &texts.query
    {
        return (query.clone(), texts.texts.clone());
    }
    let mut texts = texts(content);
    if texts.len() < 2 {
        let only = texts.pop().unwrap_or_default();
        return (only.clone(), vec![only]);
    }
    let documents = texts.split_off(1);
    (texts.pop().unwrap_or_default(), documents)
}

#[cfg(test)]
mod tests {
    use crate::{Dialect, Shape, body};
    use dyno_model::prompt::{Content, Texts};
    use serde_json::{Value, json};

    fn sent(dialect: &dyn Dialect, content: &Content) -> Value {
        let extra = json!({"truncate": true}).as_object().cloned().unwrap_or_default();
        let shape = Shape { model: "m".into(), stream: true, extra, ..Shape::default() };
        serde_json::from_slice(&body(dialect, &shape, content, 64)).unwrap()
    }

    fn ranked(query: &str, documents: &[&str]) -> Content {
        let texts = documents.iter().map(|text| (*text).to_owned()).collect();
        Content::Texts(Texts { query: Some(query.to_owned()), texts })
    }

    #[test]
    fn each_api_writes_texts_in_its_own_fields_and_asks_for_no_stream_or_length() {
        let two = Content::Texts(Texts { query: None, texts: vec!["a".into(), "b".into()] });
        let one = Content::Text("a".into());
        assert_eq!(
            sent(&super::Embeddings, &two),
            json!({"model": "m", "input": ["a", "b"], "truncate": true})
        );
        assert_eq!(
            sent(&super::Embeddings, &one),
            json!({"model": "m", "input": "a", "truncate": true})
        );
        let pair = ranked("q", &["a", "b"]);
        assert_eq!(
            sent(&super::Rerank, &pair),
            json!({"model": "m", "query": "q", "documents": ["a", "b"], "truncate": true})
        );
        assert_eq!(
            sent(&super::TeiRerank, &pair),
            json!({"query": "q", "texts": ["a", "b"], "truncate": true})
        );
        assert_eq!(
            sent(&super::Score, &pair),
            json!({"model": "m", "text_1": "q", "text_2": ["a", "b"], "truncate": true})
        );
    }

    #[test]
    fn labels_make_a_score_one_of_sglang() {
        let labels = json!({"label_token_ids": [9454, 2753], "apply_softmax": true});
        let extra = labels.as_object().cloned().unwrap_or_default();
        let shape = Shape { model: "m".into(), extra, ..Shape::default() };
        let sent = |content: &Content| -> Value {
            serde_json::from_slice(&body(&super::Score, &shape, content, 64)).unwrap()
        };
        let expected = json!({
            "model": "m", "query": "q", "items": ["a", "b"], "label_token_ids": [9454, 2753],
            "apply_softmax": true
        });
        assert_eq!(sent(&ranked("q", &["a", "b"])), expected);
        // A whole body of the data stays as it is.
        let whole = json!({"query": "x", "items": ["y"], "label_token_ids": [1]});
        let fields = whole.as_object().cloned().unwrap_or_default();
        let sent = sent(&Content::Body(fields));
        assert_eq!((&sent["query"], &sent["items"]), (&json!("x"), &json!(["y"])));
        assert!(sent.get("text_1").is_none() && sent.get("text_2").is_none(), "{sent}");
    }

    #[test]
    fn texts_without_a_query_are_ranked_by_the_first() {
        let two = Content::Texts(Texts { query: None, texts: vec!["a".into(), "b".into()] });
        assert_eq!(sent(&super::TeiRerank, &two)["texts"], json!(["b"]));
        let one = sent(&super::Score, &Content::Text("a".into()));
        assert_eq!((&one["text_1"], &one["text_2"]), (&json!("a"), &json!(["a"])));
    }
}
