//! The list of models, and the routes of vLLM that clients of the API use.

use super::answer;
use super::request::Fields;
use super::{CHAT, COMPLETIONS};
use crate::api::prompt::{PromptCount, Words};
use crate::api::route::{Route, RoutePlace, ServedPage};
use crate::fault::Quirk;

pub(super) const ROUTES: &[Route] = &[
    Route { methods: &["GET"], path: "/v1/models", needs_key: true, answer: models },
    Route { methods: &["POST"], path: "/tokenize", needs_key: false, answer: tokenize },
    Route { methods: &["POST"], path: "/reset_prefix_cache", needs_key: false, answer: reset },
];

fn models(place: &RoutePlace<'_>, _body: &[u8]) -> Option<ServedPage> {
    Some(match place.quirks.has(Quirk::Models500) {
        true => ServedPage::error(500, answer::error(500, "The list of models is not available.")),
        false => ServedPage::json(answer::models(place)),
    })
}

/// vLLM's `/tokenize`, for a tokenizer whose tokens are words.
fn tokenize(place: &RoutePlace<'_>, body: &[u8]) -> Option<ServedPage> {
    let refused = |words: &str| ServedPage::error(400, answer::error(400, words));
    let mut fields: Fields<PromptCount> = match serde_json::from_slice(body) {
        Ok(fields) => fields,
        Err(error) => return Some(refused(&format!("The request body is invalid: {error}"))),
    };
    let words = fields.take_prompt(CHAT).or_else(|_| fields.take_prompt(COMPLETIONS));
    Some(match words {
        Ok(words) => {
            let (count, context) = (words.tokens(), place.context);
            ServedPage::json(format!("{{\"count\":{count},\"max_model_len\":{context}}}"))
        }
        Err(_) => refused("The request has neither a prompt nor messages."),
    })
}

fn reset(place: &RoutePlace<'_>, _body: &[u8]) -> Option<ServedPage> {
    place.has_engine.then(|| ServedPage { clears_cache: true, ..ServedPage::json("") })
}
