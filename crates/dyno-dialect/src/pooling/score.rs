//! vLLM's `/score`: how well each of several texts goes with one.

use super::{options, query_and_documents, reader};
use crate::framing::Framing;
use crate::openai::{RESETS, TOKENIZE};
use crate::{About, Auth, Dialect, End, ModelList, Reader, Shape};
use dyno_model::plan::Task;
use dyno_model::prompt::Content;
use serde_json::{Map, Value};

/// Scores of pairs.
#[derive(Debug)]
pub(crate) struct Score;

static ABOUT: About = About {
    name: "score",
    title: "scores of pairs (vLLM)",
    task: Task::Rank,
    prefix: "/v1",
    path: "/score",
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
    counting: &[TOKENIZE],
    resets: RESETS,
    signs: &[],
};

impl Dialect for Score {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn prompt(&self, fields: &mut Map<String, Value>, content: &Content) {
        if fields.contains_key("text_1") && fields.contains_key("text_2") {
            return;
        }
        let (query, documents) = query_and_documents(content);
        fields.insert("text_1".into(), query.into());
        fields.insert("text_2".into(), documents.into());
    }

    fn options(&self, fields: &mut Map<String, Value>, shape: &Shape, _: u32) {
        options(fields, shape, true);
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::new(reader::Results::scores())
    }
}
