//! One module per API: paths, fields, how requests are written and responses read. [`DIALECTS`] is
//! the table of them; nothing outside of this crate knows an API by its name. All of them read into a
//! [`Delta`], which has everything that is measured of a response. No sockets and no clocks here.
//!
//! To add an API, write its module and its row in [`DIALECTS`], and put bodies of a real server into
//! `dyno-wire/tests/golden/`: see `docs/contributing/dialects.md`.

mod about;
mod anthropic;
mod calls;
mod delta;
pub mod framing;
mod llamacpp;
mod ollama;
mod openai;
mod pieces;
mod pooling;
#[cfg(test)]
mod recorded_tests;
mod responses;
mod scan;
mod sglang;
mod shape;
mod times;

pub use about::BETWEEN;
pub use about::{
    About, Auth, Counting, Does, End, ModelList, Optional, SeenFields, Sign, Talk, ToCount,
};
pub use delta::is_overload_status;
pub use delta::{Delta, Finish, FinishKind, Keep, LastToken, Malformed, ServerError};
pub use scan::MOST_TOKENS;
pub use shape::Shape;

use crate::framing::WireFrame;
use dyno_model::Nanos;
use dyno_model::plan::Api;
use dyno_model::prompt::{ChatMessage, Content};
use serde_json::{Map, Value};
use std::fmt;

/// What people paste behind a base URL, whichever API they use.
pub const USUAL_PREFIX: &str = "/v1";

/// One API.
pub trait Dialect: fmt::Debug + Sync {
    /// What does not depend on a request.
    fn about(&self) -> &'static About;

    /// Writes the prompt into the body of a request. A complete body from the data is there already.
    fn prompt(&self, fields: &mut Map<String, Value>, content: &Content);

    /// Writes all other fields, for a response of this many tokens.
    fn options(&self, fields: &mut Map<String, Value>, shape: &Shape, output_tokens: u32);

    /// Writes a message of a conversation as JSON.
    fn message(&self, out: &mut Vec<u8>, message: &ChatMessage) {
        // Writing to memory cannot fail.
        let _ = serde_json::to_writer(out, message);
    }

    /// Whether every text of a request has a result, where nothing is generated: fewer are a failure.
    fn answers_every_text(&self, _shape: &Shape) -> bool {
        true
    }

    /// Reads one response, frame by frame or as a whole.
    fn reader(&self) -> Box<dyn Reader>;
}

/// Reads one response. It may keep state from frame to frame, and has no clock.
pub trait Reader: fmt::Debug + Send {
    /// Sees the headers of the response, by name in lower case, before its body.
    fn headers(&mut self, _header: &dyn Fn(&str) -> Option<String>) {}

    /// Reads one frame of a stream.
    fn frame(&mut self, frame: WireFrame<'_>, keep: Keep) -> Result<Delta, Malformed>;

    /// Reads the body of a response that was not streamed.
    fn whole(&mut self, body: &[u8], keep: Keep) -> Result<Delta, Malformed>;
}

/// The APIs. The first is the default.
pub static DIALECTS: &[&dyn Dialect] = &[
    &openai::Chat,
    &openai::Completions,
    &responses::Responses,
    &anthropic::Messages,
    &sglang::Generate,
    &ollama::CHAT,
    &ollama::GENERATE,
    &pooling::Embeddings,
    &pooling::Rerank,
    &pooling::Score,
    &pooling::TeiRerank,
    &llamacpp::Completion,
];

/// The dialect with this name.
pub fn find(api: &Api) -> Option<&'static dyn Dialect> {
    DIALECTS.iter().copied().find(|dialect| dialect.about().name == api.name())
}

/// The dialect of a target whose path is a full endpoint. Gateways may serve an API below a path of
/// their own, so the usual prefix may be missing.
pub fn of_path(path: &str) -> Option<&'static dyn Dialect> {
    let path = path.trim_end_matches('/');
    // An API without a prefix is not one of a version, such as `/v2/rerank`.
    let fits = |about: &About| {
        let before = path.strip_suffix(about.path);
        before.is_some_and(|before| !about.prefix.is_empty() || !is_version(before))
    };
    let whole = |dialect: &&&dyn Dialect| {
        path.ends_with(&dialect.about().whole_path()) && fits(dialect.about())
    };
    let found = DIALECTS.iter().filter(whole).max_by_key(|found| found.about().whole_path().len());
    let ending =
        |dialect: &&&dyn Dialect| dialect.about().prefix == USUAL_PREFIX && fits(dialect.about());
    let longest = || DIALECTS.iter().filter(ending).max_by_key(|found| found.about().path.len());
    found.or_else(longest).copied()
}

/// Whether a path ends with a version, such as `/v1`.
fn is_version(path: &str) -> bool {
    let last = path.rsplit('/').next().and_then(|last| last.strip_prefix('v'));
    last.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
}

/// Writes the body of a request.
pub fn body(
    dialect: &dyn Dialect,
    shape: &Shape,
    content: &Content,
    output_tokens: u32,
) -> Vec<u8> {
    let mut fields = match content {
        Content::Body(fields) => fields.clone(),
        _ => Map::new(),
    };
    dialect.prompt(&mut fields, content);
    dialect.options(&mut fields, shape, output_tokens);
    serde_json::to_vec(&Value::Object(fields)).unwrap_or_default()
}

/// The fields of a request besides its prompt, as the inside of a JSON object; never empty.
pub fn options(dialect: &dyn Dialect, shape: &Shape, output_tokens: u32) -> Vec<u8> {
    let mut fields = Map::new();
    dialect.options(&mut fields, shape, output_tokens);
    if let Some(talk) = &dialect.about().talk {
        // Fields that the user sets for every request cannot replace a conversation's messages.
        fields.remove(talk.field);
        talk.system.map(|system| fields.remove(system));
    }
    let object = serde_json::to_vec(&Value::Object(fields)).unwrap_or_default();
    object.get(1..object.len().saturating_sub(1)).unwrap_or_default().to_vec()
}

/// A server's duration in units of `unit` nanoseconds; absent if it is negative or no number.
fn nanos(duration: f64, unit: f64) -> Option<Nanos> {
    (duration.is_finite() && duration >= 0.0).then(|| (duration * unit).round() as Nanos)
}

/// How much is kept of what cannot be read.
const MAX_EXCERPT: usize = 2048;

/// The beginning of what cannot be read.
pub fn excerpt(bytes: &[u8]) -> String {
    beginning(bytes, MAX_EXCERPT)
}

/// The first bytes of a text.
pub fn beginning(bytes: &[u8], most: usize) -> String {
    let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(most)]).into_owned();
    if bytes.len() > most { format!("{shown}…") } else { shown }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_api_without_a_prefix_is_none_of_a_version() {
        let name = |path: &str| of_path(path).map(|dialect| dialect.about().name);
        assert_eq!(name("/rerank"), Some("tei-rerank"));
        assert_eq!(name("/gateway/rerank"), Some("tei-rerank"));
        assert_eq!(name("/v1/rerank"), Some("rerank"));
        assert_eq!(name("/v2/rerank"), Some("rerank"));
        assert_eq!(name("/score"), Some("score"));
    }

    #[test]
    fn every_name_and_path_is_there_once() {
        for (i, one) in DIALECTS.iter().enumerate() {
            let about = one.about();
            assert_eq!(find(&Api::named(about.name)).map(|d| d.about().name), Some(about.name));
            let by_path = of_path(&about.whole_path()).map(|d| d.about().name);
            assert_eq!(by_path, Some(about.name), "{}", about.whole_path());
            assert!(about.path.starts_with('/') && !about.path.ends_with('/'));
            let of_another = of_path(&format!("/x{}", about.whole_path())).map(|d| d.about().name);
            assert_eq!(of_another, Some(about.name));
            for other in &DIALECTS[i + 1..] {
                assert_ne!(about.whole_path(), other.about().whole_path());
            }
        }
        assert!(of_path("/chat").is_none(), "a base, and not Ollama without its prefix");
    }
}
