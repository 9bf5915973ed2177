//! How much of the output was reasoning, where the server reports it.

use dyno_model::Diagnostic;
use dyno_model::record::RequestRecord;
use dyno_model::summary::{ReasoningTokens, round6};
use dyno_words::number::percent;
use dyno_words::{OutputFinding, values};

/// Output tokens of completed requests that report how many of them were reasoning.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Reasoned {
    requests: u64,
    reasoning: u64,
    output: u64,
}

impl Reasoned {
    /// Adds a completed request.
    pub(crate) fn add(&mut self, record: &RequestRecord) {
        let Some(reasoning) = record.reasoning else { return };
        let output = record.output.map_or(0, |output| output.tokens);
        self.requests += 1;
        self.reasoning += reasoning;
        // A server may count reasoning apart from its output.
        self.output += output.max(reasoning);
    }

    pub(crate) fn summary(&self) -> Option<ReasoningTokens> {
        (self.requests > 0).then(|| ReasoningTokens {
            requests: self.requests,
            mean: round6(self.reasoning as f64 / self.requests as f64),
            share: self.share().map(round6),
        })
    }

    /// Says so where there was any.
    pub(crate) fn note(&self) -> Option<Diagnostic> {
        let share = self.share().filter(|share| *share > 0.0)?;
        Some(OutputFinding::Reasoning.with(values![percent(share)]))
    }

    fn share(&self) -> Option<f64> {
        (self.output > 0).then(|| self.reasoning as f64 / self.output as f64)
    }
}
