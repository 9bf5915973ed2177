//! What computes prompts and generates nothing: embeddings, rerankers, scores. Each prompt is a
//! request of one token for the engine, and the response comes when the last of them is done. All
//! results are drawn by the seed and the words: the same text gives the same result.

mod embeddings;
mod rerank;
mod results;
mod score;
mod vector;

pub(super) use embeddings::Embeddings;
pub(super) use rerank::{RERANK, RERANK_V2};
pub(super) use score::Score;

use super::ask::{Ask, Output};
use super::prompt::{Hashed, Prompt, Words, text};
use super::response::Response;
use super::words::mix;
use super::{Refusal, RequestBody};
use serde::Deserialize;

/// The most inputs of a request, as many as `dyno bench` sends.
const MOST_INPUTS: usize = 10_000;
/// The most bytes of a response, as many as `dyno bench` reads, and of texts that are repeated for
/// each input.
const MOST_BYTES: usize = 64 << 20;

/// Whether a request with so many inputs fits into memory, if each needs so many bytes.
fn check(inputs: usize, bytes: usize) -> Result<(), Refusal> {
    if inputs > MOST_INPUTS {
        let message = format!("A request can have {MOST_INPUTS} inputs, got {inputs}.");
        return Err(Refusal::new(400, message));
    }
    if inputs.saturating_mul(bytes) > MOST_BYTES {
        let message = "The request needs more than 64 MiB of memory. Send fewer inputs.";
        return Err(Refusal::new(400, message));
    }
    Ok(())
}

/// One input: its tokens, and a number that is the same for the same words.
#[derive(Debug, Clone)]
struct Input {
    words: Hashed,
}

impl Input {
    fn of_text(words: &str) -> Self {
        Self { words: text(words) }
    }

    fn of_ids(ids: &[u64]) -> Self {
        let mut words = Hashed::default();
        ids.iter().for_each(|id| words.id(*id));
        Self { words }
    }

    /// Two texts as a model compares them.
    fn of_pair(first: &str, second: &str) -> Self {
        let mut words: Hashed = text(first);
        // Where the first ends is part of it.
        words.role("and");
        words.append(text(second));
        Self { words }
    }

    fn prompt(&self, block: Option<u32>) -> Prompt {
        match block {
            Some(block) => Prompt::new(&self.words, block),
            None => Prompt { tokens: self.words.tokens(), hashes: [].into(), end: None },
        }
    }

    /// A number for its words, and for a server's seed.
    fn key(&self, seed: u64) -> u64 {
        let all = self.words.hashes(1).last().copied().unwrap_or_default();
        mix(seed ^ all, 0)
    }
}

/// A request with these inputs.
fn ask(
    model: Option<String>,
    inputs: &[Input],
    body: &RequestBody<'_>,
    response: impl Response + 'static,
) -> Result<Ask, Refusal> {
    if inputs.is_empty() {
        return Err(Refusal::new(400, "The input is an empty list; send at least one text."));
    }
    Ok(Ask {
        model,
        prompts: inputs.iter().map(|input| input.prompt(body.block)).collect(),
        output: Output { none: true, ..Output::default() },
        stream: false,
        response: Box::new(response),
    })
}

/// One text or several.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Texts {
    One(Text),
    Many(Vec<Text>),
}

impl Texts {
    fn list(&self) -> Vec<&str> {
        match self {
            Self::One(text) => vec![text.words()],
            Self::Many(texts) => texts.iter().map(Text::words).collect(),
        }
    }
}

/// A text, by itself or as the field of an object.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Text {
    Plain(String),
    Object { text: String },
}

impl Text {
    fn words(&self) -> &str {
        match self {
            Self::Plain(text) | Self::Object { text } => text,
        }
    }
}
