//! `/rerank` of Text Embeddings Inference, which names its documents `texts` and no model, and counts in
//! headers.

use super::{BASE, options, query_and_documents, reader};
use crate::{About, Counting, Dialect, ModelList, Reader, SeenFields, Shape, Sign, ToCount};
use dyno_model::prompt::Content;
use serde_json::{Map, Value, json};

/// The reranker of Text Embeddings Inference.
#[derive(Debug)]
pub(crate) struct TeiRerank;

/// Where the server names its model; older versions have no list of models.
pub(super) const INFO: ModelList = ModelList { path: "/info", list: "", name: "model_id" };

/// Its `/tokenize`: a list of tokens for each input.
pub(super) const TOKENIZE: Counting = Counting {
    path: "/tokenize",
    ask: |_, prompt| match prompt {
        ToCount::Text(text) => Some(json!({"inputs": text, "add_special_tokens": true})),
        ToCount::Messages(_) | ToCount::Recorded(_) => None,
    },
    count: |response| {
        let lists = response.as_array()?.iter();
        lists.map(|tokens| Some(tokens.as_array()?.len() as u64)).sum()
    },
};

static ABOUT: About = About {
    name: "tei-rerank",
    title: "rerank of Text Embeddings Inference",
    prefix: "",
    path: "/rerank",
    names_model: false,
    models: &[ModelList::OPENAI, INFO],
    health: &["/health", "/info"],
    counting: &[TOKENIZE],
    resets: &[],
    signs: &[Sign {
        path: "/info",
        shows: |seen| serves(seen, "reranker"),
        server: "Text Embeddings Inference",
        weight: 8,
    }],
    ..BASE
};

/// Whether `/info` says that this kind of model is served.
pub(super) fn serves(seen: &SeenFields<'_>, kind: &str) -> bool {
    let kinds = seen.json.and_then(|info| info.get("model_type"));
    seen.status == 200 && kinds.is_some_and(|kinds| kinds.get(kind).is_some())
}

impl Dialect for TeiRerank {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn prompt(&self, fields: &mut Map<String, Value>, content: &Content) {
        if fields.contains_key("query") && fields.contains_key("texts") {
            return;
        }
        let (query, documents) = query_and_documents(content);
        fields.insert("query".into(), query.into());
        fields.insert("texts".into(), documents.into());
    }

    fn options(&self, fields: &mut Map<String, Value>, shape: &Shape, _: u32) {
        options(fields, shape, false);
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::new(reader::Results::scores())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_those_of_all_inputs() {
        let tokens = json!([[{"id": 101}, {"id": 7}, {"id": 102}]]);
        assert_eq!((TOKENIZE.count)(&tokens), Some(3));
        assert_eq!((TOKENIZE.count)(&json!({"count": 3})), None);
    }

    #[test]
    fn a_server_says_what_it_serves() {
        let info = json!({"model_id": "m", "model_type": {"reranker": {"id2label": {}}}});
        let seen = SeenFields { status: 200, json: Some(&info), body: b"" };
        assert!(serves(&seen, "reranker") && !serves(&seen, "embedding"));
        assert!(!serves(&SeenFields { status: 404, ..seen }, "reranker"));
        assert_eq!(INFO.names(&info), ["m"]);
        assert!(INFO.names(&json!({"data": []})).is_empty());
    }
}
