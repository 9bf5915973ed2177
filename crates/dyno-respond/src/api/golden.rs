//! For tests of the APIs: a response with known facts, and the bytes of its stream.

use super::response::{Chunks, Facts, ResponseToken};
use super::{AnswerFinish, RequestBody};
use crate::fault::{Quirk, Quirks};
use crate::framing::{Burst, Frames, ServedFraming, Transfer};
use dyno_model::MS;

/// A response of four tokens to eleven.
pub(super) fn facts(quirks: &[Quirk]) -> Facts<'static> {
    let mut set = Quirks::default();
    quirks.iter().for_each(|quirk| set.insert(*quirk));
    Facts {
        quirks: set,
        salt: 7,
        seed: 3,
        start: 1_700_000_000_250_000_000,
        model_json: "\"m \\\"x\\\"\"",
        prompt_tokens: 11,
        tokens: 4,
        finish: AnswerFinish::Length,
        tells_cached: false,
    }
}

/// A request body for a model with small vectors.
pub(super) fn body(bytes: &str) -> RequestBody<'_> {
    RequestBody { bytes: bytes.as_bytes(), quirks: Quirks::default(), block: None, dimensions: 16 }
}

/// Everything that a stream sends: its first token after 100 ms, the others 20 ms apart.
pub(super) fn streamed(frames: Frames, chunks: &mut dyn Chunks, facts: &Facts<'_>) -> String {
    let mut framing = ServedFraming::new(frames, facts.quirks, Transfer::Close);
    let mut burst = Burst::default();
    let mut out = framing.out(&mut burst);
    let at = |k: u32| (100 + 20 * u64::from(k)) * MS;
    chunks.open(&mut out);
    if facts.tokens == 0 {
        chunks.end_without_tokens(&mut out, facts.finish, at(0));
    }
    for k in 0..facts.tokens {
        let end = (k + 1 == facts.tokens).then_some(facts.finish);
        chunks.token(&mut out, ResponseToken { k, at: at(k) }, end);
    }
    chunks.close(&mut out, at(facts.tokens.saturating_sub(1)));
    text(&burst)
}

/// What a stream sends when it fails.
pub(super) fn failed(frames: Frames, chunks: &mut dyn Chunks) -> String {
    let mut framing = ServedFraming::new(frames, Quirks::default(), Transfer::Close);
    let mut burst = Burst::default();
    chunks.fail(&mut framing.out(&mut burst), "It broke.");
    text(&burst)
}

fn text(burst: &Burst) -> String {
    String::from_utf8(burst.writes().flatten().copied().collect()).unwrap()
}
