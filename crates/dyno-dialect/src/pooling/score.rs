//! `/score`: how well each of several texts goes with one. vLLM's form, and SGLang's, which compares a
//! query with items by the probabilities of tokens: only the user knows which these are, so its form is
//! sent if, and only if, they are given.

use super::{BASE, options, query_and_documents, reader};
use crate::{About, Dialect, Reader, Shape};
use dyno_model::prompt::Content;
use serde_json::{Map, Value};

/// Scores of pairs.
#[derive(Debug)]
pub(crate) struct Score;

/// The field that only SGLang has, and needs.
const LABELS: &str = "label_token_ids";
/// What vLLM calls the two sides, and what SGLang does.
const SIDES: [(&str, &str); 2] = [("text_1", "query"), ("text_2", "items")];

static ABOUT: About =
    About { name: "score", title: "scores of pairs (vLLM, SGLang)", path: "/score", ..BASE };

impl Dialect for Score {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn prompt(&self, fields: &mut Map<String, Value>, content: &Content) {
        let has_all = SIDES.iter().all(|(a, b)| fields.contains_key(*a) || fields.contains_key(*b));
        if has_all {
            return;
        }
        let (query, documents) = query_and_documents(content);
        fields.insert("text_1".into(), query.into());
        fields.insert("text_2".into(), documents.into());
    }

    fn options(&self, fields: &mut Map<String, Value>, shape: &Shape, _: u32) {
        options(fields, shape, true);
        if fields.contains_key(LABELS) {
            for (theirs, own) in SIDES {
                if let Some(value) = fields.remove(theirs) {
                    fields.entry(own).or_insert(value);
                }
            }
        }
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::new(reader::Results::scores())
    }
}
