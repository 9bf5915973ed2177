//! The APIs that the engine's server speaks. Each endpoint is one row in [`APIS`], and all that is
//! known of it stands in its module: paths, requests, responses, frames, errors, further routes. No
//! sockets here, and nothing outside knows one of them by name.

pub mod ask;
pub mod direct;
#[cfg(test)]
mod golden;
mod llamacpp;
mod messages;
mod ollama;
mod openai;
mod pooling;
pub mod prompt;
mod prompt_end;
mod read;
pub mod response;
mod responses;
mod room;
pub mod route;
mod sglang;
mod words;

pub use words::response_words;

use crate::fault::Quirks;
use crate::framing::{Frames, Out};
use ask::Ask;
use route::Route;

/// Every endpoint that generates. Errors about paths that none of them has are in the form of the
/// first.
#[rustfmt::skip] // One to a line.
pub static APIS: &[&dyn ServedApi] = &[
    &openai::CHAT,
    &openai::COMPLETIONS,
    &responses::Responses,
    &messages::Messages,
    &sglang::Generate,
    &ollama::CHAT,
    &ollama::GENERATE,
    &llamacpp::Completion,
    &pooling::Embeddings,
    &pooling::RERANK,
    &pooling::RERANK_V2,
    &pooling::Score,
];

/// An endpoint that takes prompts.
pub trait ServedApi: Sync {
    /// Where it takes POST.
    fn paths(&self) -> &'static [&'static str];

    /// What a request asks for, and how the response to it is written.
    fn read(&self, body: &RequestBody<'_>) -> Result<Ask, Refusal>;

    /// The body of an error with this status.
    fn error(&self, status: u16, message: &str) -> Vec<u8>;

    /// How the frames of its streams are told apart.
    fn frames(&self) -> Frames {
        Frames::Data
    }

    /// Further routes that belong to it.
    fn routes(&self) -> &'static [Route] {
        &[]
    }

    /// Whether a key may come as `x-api-key` as well as in `Authorization`.
    fn takes_api_key(&self) -> bool {
        false
    }

    /// Writes why a stream is refused inside a response with status 200, if that is how this API
    /// refuses streams.
    fn refuse_in_stream(&self, _out: &mut Out<'_>, _status: u16, _message: &str) -> bool {
        false
    }
}

/// The endpoint at a path.
pub fn at(path: &str) -> Option<&'static dyn ServedApi> {
    APIS.iter().find(|api| api.paths().contains(&path)).copied()
}

/// A request body, and how it is to be read.
#[derive(Debug, Clone, Copy)]
pub struct RequestBody<'a> {
    /// Its bytes.
    pub bytes: &'a [u8],
    /// The quirks that the response to it has.
    pub quirks: Quirks,
    /// Tokens of a block, where blocks of prompts are hashed.
    pub block: Option<u32>,
    /// The size of the model's vectors.
    pub dimensions: u32,
}

impl RequestBody<'_> {
    /// Its fields; the error says what is wrong and where.
    fn fields<'a, T: serde::Deserialize<'a>>(&'a self) -> Result<T, Refusal> {
        serde_json::from_slice(self.bytes)
            .map_err(|error| Refusal::new(400, format!("The request body is invalid: {error}")))
    }
}

/// Why a request is refused.
#[derive(Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The status of the response.
    pub status: u16,
    /// The reason.
    pub why: WhyFinished,
}

/// The reason, in words or as a body.
#[derive(Debug, PartialEq, Eq)]
pub enum WhyFinished {
    /// The message of an error.
    Message(String),
    /// A whole body, for those that do not look like other errors.
    Body(&'static [u8]),
}

impl Refusal {
    fn new(status: u16, message: impl Into<String>) -> Self {
        Self { status, why: WhyFinished::Message(message.into()) }
    }

    /// A field that must be there is not.
    fn missing(field: &str) -> Self {
        Self::new(400, format!("The field `{field}` is required."))
    }
}

/// Why a response ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerFinish {
    /// The model stopped by itself.
    Stop,
    /// The most tokens were reached.
    Length,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused_with_a_client_error(bytes in body()) {
            for api in APIS {
                let text = String::from_utf8_lossy(&bytes);
                if let Err(refusal) = api.read(&golden::body(&text)) {
                    prop_assert!((400..500).contains(&refusal.status), "{refusal:?}");
                }
            }
        }
    }

    /// Junk, and objects with the fields of the APIs and values of every kind.
    fn body() -> impl Strategy<Value = Vec<u8>> {
        let field = prop::sample::select(vec![
            "model",
            "messages",
            "prompt",
            "input",
            "text",
            "input_ids",
            "query",
            "documents",
            "texts",
            "text_1",
            "text_2",
            "items",
            "label_token_ids",
            "max_tokens",
            "stream",
            "options",
            "sampling_params",
            "dimensions",
            "encoding_format",
            "system",
            "top_n",
        ]);
        let value = prop::sample::select(vec![
            "null",
            "true",
            "0",
            "-1",
            "7",
            "1e99",
            "\"a b\"",
            "\"\"",
            "[]",
            "[1,2]",
            "[[1],[]]",
            "[\"a\",\"b\"]",
            "{}",
            "{\"text\":\"a\"}",
            "[{\"role\":\"user\",\"content\":\"a\"}]",
            "{\"num_predict\":-2}",
            "{\"max_new_tokens\":3}",
            "[null]",
            "\"base64\"",
        ]);
        let fields = prop::collection::vec((field, value), 0..6);
        prop_oneof![
            1 => prop::collection::vec(any::<u8>(), 0..64),
            9 => fields.prop_map(|fields| {
                let fields: Vec<_> = fields.iter().map(|(k, v)| format!("\"{k}\":{v}")).collect();
                format!("{{{}}}", fields.join(",")).into_bytes()
            }),
        ]
    }

    #[test]
    fn no_path_belongs_to_two() {
        let mut seen = HashSet::new();
        for api in APIS {
            let further = api.routes().iter().map(|route| route.path);
            for path in api.paths().iter().copied().chain(further) {
                assert!(path.starts_with('/') && seen.insert(path), "{path}");
            }
        }
    }
}
