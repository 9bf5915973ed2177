//! `/v1/embeddings`: a vector for each text.

use super::{BASE, options, reader, texts};
use crate::openai::TOKENIZE;
use crate::{About, Dialect, ModelList, Reader, Shape, Sign};
use dyno_model::plan::Task;
use dyno_model::prompt::Content;
use serde_json::{Map, Value};

/// OpenAI embeddings.
#[derive(Debug)]
pub(crate) struct Embeddings;

static ABOUT: About = About {
    name: "openai-embeddings",
    title: "OpenAI embeddings",
    task: Task::Embed,
    path: "/embeddings",
    models: &[ModelList::OPENAI, super::tei::INFO, super::BARE_MODELS],
    counting: &[TOKENIZE, super::TOKENIZE_CONTENT, super::tei::TOKENIZE],
    signs: &[Sign {
        path: "/info",
        shows: |seen| super::tei::serves(seen, "embedding"),
        server: "Text Embeddings Inference",
        weight: 8,
    }],
    ..BASE
};

impl Dialect for Embeddings {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn prompt(&self, fields: &mut Map<String, Value>, content: &Content) {
        if fields.contains_key("input") {
            return;
        }
        let mut texts = texts(content);
        for other in ["prompt", "messages"] {
            fields.remove(other);
        }
        let input = match texts.len() {
            1 => texts.pop().into(),
            _ => texts.into(),
        };
        fields.insert("input".into(), input);
    }

    fn options(&self, fields: &mut Map<String, Value>, shape: &Shape, _: u32) {
        options(fields, shape, true);
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::new(reader::Results::vectors())
    }
}
