//! Token counts of completed requests, and where they came from.

use dyno_model::record::{TokenCount, TokenSource};
use dyno_model::summary::{TokenSources, Tokens, round6};
use std::collections::BTreeSet;

/// Counts of one kind, input or output.
#[derive(Debug, Clone, Default)]
pub(crate) struct TokenSum {
    total: u64,
    known: u64,
    pub(crate) unknown: u64,
    sources: BTreeSet<TokenSource>,
}

impl TokenSum {
    pub(crate) fn add(&mut self, count: Option<TokenCount>) {
        match count {
            Some(count) => {
                self.total = self.total.saturating_add(count.tokens);
                self.known += 1;
                self.sources.insert(count.source);
            }
            None => self.unknown += 1,
        }
    }

    /// The sum, where every request has a count.
    pub(crate) fn total(&self) -> Option<u64> {
        (self.known > 0 && self.unknown == 0).then_some(self.total)
    }

    pub(crate) fn mean(&self) -> Option<f64> {
        (self.known > 0).then(|| self.total as f64 / self.known as f64)
    }

    pub(crate) fn tokens(&self) -> Option<Tokens> {
        Some(Tokens { total: self.total(), mean: round6(self.mean()?) })
    }

    pub(crate) fn mixed(&self) -> bool {
        self.sources.len() > 1
    }
}

fn name(sources: &BTreeSet<TokenSource>) -> Option<String> {
    let one = match sources.first()? {
        _ if sources.len() > 1 => "mixed",
        TokenSource::Usage => "usage",
        TokenSource::Chunks => "chunks",
        TokenSource::Tokenizer => "tokenizer",
        TokenSource::Events => "events",
    };
    Some(one.to_owned())
}

/// The names of the sources of several input and output sums together.
pub(crate) fn sources<'a>(
    sums: impl IntoIterator<Item = (&'a TokenSum, &'a TokenSum)>,
) -> TokenSources {
    let (mut input, mut output) = (BTreeSet::new(), BTreeSet::new());
    for (of_input, of_output) in sums {
        input.extend(&of_input.sources);
        output.extend(&of_output.sources);
    }
    TokenSources { input: name(&input), output: name(&output) }
}
