//! vLLM's `/score`: how well each of several texts goes with one.

use super::{BASE, options, query_and_documents, reader};
use crate::{About, Dialect, Reader, Shape};
use dyno_model::prompt::Content;
use serde_json::{Map, Value};

/// Scores of pairs.
#[derive(Debug)]
pub(crate) struct Score;

static ABOUT: About =
    About { name: "score", title: "scores of pairs (vLLM)", path: "/score", ..BASE };

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
