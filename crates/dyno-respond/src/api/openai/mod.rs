//! OpenAI's chat completions and completions, with the further routes of vLLM.

mod answer;
mod chunk;
pub(super) mod request;
mod routes;

pub(super) use answer::error;

use super::ask::{Ask, Output};
use super::prompt::{Hashed, Prompt, PromptCount, Words};
use super::response::{Chunks, Facts, KnownPrompt, Response, Whole};
use super::route::Route;
use super::{AnswerFinish, Refusal, RequestBody, ServedApi};
use chunk::{ChunkWriter, UsageAsked};
use request::Fields;

/// Chat completions.
pub(super) const CHAT: Endpoint = Endpoint::Chat;
/// Completions.
pub(super) const COMPLETIONS: Endpoint = Endpoint::Completions;

/// Which of the two endpoints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Endpoint {
    /// `/v1/chat/completions`
    Chat,
    /// `/v1/completions`
    Completions,
}

impl ServedApi for Endpoint {
    fn paths(&self) -> &'static [&'static str] {
        match self {
            Self::Chat => &["/v1/chat/completions"],
            Self::Completions => &["/v1/completions"],
        }
    }

    fn read(&self, body: &RequestBody<'_>) -> Result<Ask, Refusal> {
        match body.block {
            Some(_) => self.ask::<Hashed>(body),
            None => self.ask::<PromptCount>(body),
        }
    }

    fn error(&self, status: u16, message: &str) -> Vec<u8> {
        answer::error(status, message)
    }

    fn routes(&self) -> &'static [Route] {
        match self {
            Self::Chat => routes::ROUTES,
            Self::Completions => &[],
        }
    }
}

impl Endpoint {
    fn ask<W: Words>(self, body: &RequestBody<'_>) -> Result<Ask, Refusal> {
        let mut fields: Fields<W> = body.fields()?;
        fields.refusal(body.quirks)?;
        let prompt = Prompt::new(&fields.take_prompt(self)?, body.block.unwrap_or(1));
        let output = Output {
            max: fields.max_tokens(),
            min: fields.min_tokens,
            endless: fields.ignore_eos == Some(true),
            none: false,
        };
        let usage =
            UsageAsked { at_end: fields.include_usage(), in_each: fields.continuous_usage() };
        Ok(Ask {
            stream: fields.stream(),
            model: fields.model,
            prompts: vec![prompt],
            output,
            response: Box::new(Completion { endpoint: self, usage }),
        })
    }
}

/// The response of either endpoint.
#[derive(Debug)]
struct Completion {
    endpoint: Endpoint,
    usage: UsageAsked,
}

impl Response for Completion {
    fn whole(&self, facts: &Facts<'_>) -> Whole {
        answer::completion(self.endpoint, facts).into()
    }

    fn settle(&self, bytes: &mut [u8], known: &KnownPrompt) {
        let cached = known.start.and_then(|start| start.cached);
        cached.into_iter().for_each(|cached| answer::put_cached(bytes, cached));
    }

    fn stream(&self, facts: &Facts<'_>) -> Option<Box<dyn Chunks>> {
        Some(Box::new(ChunkWriter::new(self.endpoint, self.usage, facts)))
    }
}

/// The name of a reason in `finish_reason`.
fn finish_name(finish: AnswerFinish) -> &'static str {
    match finish {
        AnswerFinish::Stop => "stop",
        AnswerFinish::Length => "length",
    }
}
