//! `/v1/rerank`, as Cohere, Jina, vLLM, SGLang, llama.cpp and Infinity have it: a score for each
//! document.

use super::{TOP_N, options, query_and_documents, reader};
use crate::framing::Framing;
use crate::openai::{RESETS, TOKENIZE};
use crate::{About, Auth, Dialect, End, ModelList, Reader, Shape};
use dyno_model::plan::Task;
use dyno_model::prompt::Content;
use serde_json::{Map, Value};

/// Rerankers.
#[derive(Debug)]
pub(crate) struct Rerank;

static ABOUT: About = About {
    name: "rerank",
    title: "rerank (Cohere, Jina, vLLM)",
    task: Task::Rank,
    prefix: "/v1",
    path: "/rerank",
    framing: Framing::Whole,
    auth: &[Auth::Bearer],
    headers: &[],
    end: End::Terminal,
    talk: None,
    names_model: true,
    optional: &[],
    short_by: 0,
    models: &[ModelList::OPENAI],
    health: &["/health", "/v1/models"],
    counting: &[TOKENIZE, super::TOKENIZE_CONTENT],
    resets: RESETS,
    signs: &[],
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
