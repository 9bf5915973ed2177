//! One request as the engine sees it: a prompt, and tokens with the times of their arrival.

use dyno_model::record::RequestRecord;
use dyno_stats::upper_median;

/// A request that got tokens. Times are microseconds from the start of the run.
#[derive(Debug, Clone)]
pub(super) struct Stream {
    /// Index of its record.
    pub(super) record: usize,
    /// When each of its tokens arrived.
    pub(super) tokens: Vec<f64>,
    /// Which of them came alone or last in their chunk. The others were held back, so that their times
    /// say nothing of their steps.
    pub(super) punctual: Vec<bool>,
    /// Tokens of its prompt.
    pub(super) prompt: u64,
    /// Those of them that were in the prefix cache.
    pub(super) cached: u64,
}

impl Stream {
    fn new(record: usize, of: &RequestRecord) -> Option<Self> {
        let prompt = of.input.map(|input| input.tokens).or(of.requested_input.map(u64::from))?;
        let finish = of.finish_tokens.zip(of.last).map(|(count, last)| (last / 1_000, count));
        let chunks = of.chunks.iter().map(|chunk| (chunk.at_us, chunk.tokens)).chain(finish);
        let all = of.chunks.tokens() as usize;
        let (mut tokens, mut punctual) = (Vec::with_capacity(all), Vec::with_capacity(all));
        for (at, count) in chunks {
            tokens.extend(std::iter::repeat_n(at as f64, count as usize));
            punctual.extend((1..=count).map(|token| token == count));
        }
        let cached = of.cached.unwrap_or(0).min(prompt);
        (!tokens.is_empty()).then_some(Self { record, tokens, punctual, prompt, cached })
    }

    /// The tokens whose times are compared with other requests, by their numbers. The first may come
    /// from a separate step, and the front end has more to do for it.
    pub(super) fn compared(&self) -> impl Iterator<Item = (usize, f64)> {
        let from = usize::from(self.tokens.len() > 1);
        let all = self.tokens.iter().zip(&self.punctual).enumerate().skip(from);
        all.filter(|(_, (_, punctual))| **punctual).map(|(number, (at, _))| (number, *at))
    }

    /// When its first token arrived.
    pub(super) fn first(&self) -> f64 {
        self.tokens[0]
    }
}

/// The requests that got tokens, by the time of the first.
pub(super) fn streams(records: &[RequestRecord]) -> Vec<Stream> {
    let numbered = records.iter().enumerate();
    let mut streams: Vec<Stream> = numbered.filter_map(|(i, of)| Stream::new(i, of)).collect();
    streams.sort_by(|a, b| a.first().total_cmp(&b.first()).then(a.record.cmp(&b.record)));
    streams
}

/// The median time between two tokens of a request, in microseconds.
pub(super) fn typical_step(streams: &[Stream]) -> f64 {
    let gaps = streams.iter().flat_map(|stream| stream.tokens.windows(2));
    let mut gaps: Vec<f64> = gaps.map(|pair| pair[1] - pair[0]).filter(|gap| *gap > 0.0).collect();
    upper_median(&mut gaps).unwrap_or(1.0)
}
