//! `/v1/rerank`, as Cohere, Jina, vLLM, SGLang, llama.cpp and Infinity have it: a score for each
//! document.

use super::{BASE, TOKENIZE, TOKENIZE_CONTENT, TOP_N, options, query_and_documents, reader};
use crate::{About, Dialect, Reader, Shape};
use dyno_model::prompt::Content;
use serde_json::{Map, Value};

/// Rerankers.
#[derive(Debug)]
pub(crate) struct Rerank;

static ABOUT: About = About {
    name: "rerank",
    title: "rerank (Cohere, Jina, vLLM)",
    path: "/rerank",
    counting: &[TOKENIZE, TOKENIZE_CONTENT],
    ..BASE
};

impl Dialect for Rerank {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn prompt(&self, fields: &mut Map<String, Value>, content: &Content) {
        if fields.contains_key("query") && fields.contains_key("documents") {
            return;
        }
        let (query, documents) = query_and_documents(content);
        fields.insert("query".into(), query.into());
        fields.insert("documents".into(), documents.into());
    }

    fn options(&self, fields: &mut Map<String, Value>, shape: &Shape, _: u32) {
        options(fields, shape, true);
    }

    fn answers_every_text(&self, shape: &Shape) -> bool {
        !shape.extra.contains_key(TOP_N)
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::new(reader::Results::scores())
    }
}
