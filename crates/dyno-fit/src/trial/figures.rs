//! The values of a trial by which a model is judged.

use super::{Chunk, Trial, sent_times};
use dyno_model::Nanos;

/// A quantity of a level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Quantity {
    /// Requests completed a second.
    Rate,
    /// Time to the first token: its mean.
    TtftMean,
    /// Its median.
    TtftP50,
    /// Its 90th percentile.
    TtftP90,
    /// Time between tokens: its mean.
    ItlMean,
    /// Its median.
    ItlP50,
    /// Its 90th percentile.
    ItlP90,
    /// Latency: its mean.
    LatencyMean,
    /// Its median.
    LatencyP50,
    /// Its 90th percentile.
    LatencyP90,
}

impl Quantity {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Rate,
        Self::TtftMean,
        Self::TtftP50,
        Self::TtftP90,
        Self::ItlMean,
        Self::ItlP50,
        Self::ItlP90,
        Self::LatencyMean,
        Self::LatencyP50,
        Self::LatencyP90,
    ];
}

/// The values of a trial: requests a second, and times in milliseconds.
#[derive(Debug, Clone, PartialEq)]
pub struct Figures([f64; Quantity::ALL.len()]);

impl Figures {
    /// The values of the measured requests; nothing if no token of theirs came.
    pub fn of(trial: &Trial) -> Option<Self> {
        let mut times = Times::default();
        for (request, sent) in trial.requests.iter().zip(sent_times(trial)) {
            if request.measured && !request.seen.is_empty() {
                times.add(sent, &request.seen);
            }
        }
        times.figures()
    }

    /// One of them.
    pub fn get(&self, quantity: Quantity) -> f64 {
        self.0[quantity as usize]
    }
}

#[derive(Default)]
struct Times {
    began: Option<Nanos>,
    ended: Nanos,
    first: Vec<f64>,
    between: Vec<f64>,
    latency: Vec<f64>,
}

impl Times {
    fn add(&mut self, sent: Nanos, seen: &[Chunk]) {
        let (Some(first), Some(last)) = (seen.first(), seen.last()) else { return };
        self.began = Some(self.began.map_or(sent, |began| began.min(sent)));
        self.ended = self.ended.max(sent + last.after);
        self.first.push(millis(first.after));
        self.latency.push(millis(last.after));
        for pair in seen.windows(2) {
            // As ITL is defined: the gap is shared by the tokens that came with it.
            let gap = millis(pair[1].after.saturating_sub(pair[0].after));
            let tokens = pair[1].tokens.max(1);
            let each = gap / f64::from(tokens);
            self.between.extend(std::iter::repeat_n(each, tokens as usize));
        }
    }

    fn figures(mut self) -> Option<Figures> {
        let lasted = 1e-3 * millis(self.ended.saturating_sub(self.began?));
        let count = self.first.len() as f64;
        let mean = |times: &[f64]| times.iter().sum::<f64>() / times.len() as f64;
        let means = [&self.first, &self.between, &self.latency].map(|times| mean(times));
        let at = |times: &mut [f64], share| quantile(times, share).unwrap_or(f64::NAN);
        Some(Figures([
            count / lasted,
            means[0],
            at(&mut self.first, 0.5),
            at(&mut self.first, 0.9),
            means[1],
            at(&mut self.between, 0.5),
            at(&mut self.between, 0.9),
            means[2],
            at(&mut self.latency, 0.5),
            at(&mut self.latency, 0.9),
        ]))
    }
}

/// A quantile by linear interpolation, without sorting: there are as many gaps as tokens, and fits ask for
/// thousands of them.
fn quantile(times: &mut [f64], share: f64) -> Option<f64> {
    let place = share * times.len().checked_sub(1)? as f64;
    let low = place.floor() as usize;
    let (_, value, above) = times.select_nth_unstable_by(low, f64::total_cmp);
    let next = above.iter().copied().fold(f64::INFINITY, f64::min);
    let part = place - low as f64;
    Some(if part > 0.0 { *value + part * (next - *value) } else { *value })
}

fn millis(time: Nanos) -> f64 {
    1e-6 * time as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_sorted_values() {
        let mut draws = dyno_stats::rng::SplitMix::new(5);
        for count in [1, 2, 3, 10, 57] {
            let mut values: Vec<f64> = (0..count).map(|_| draws.unit()).collect();
            let mut sorted = values.clone();
            sorted.sort_by(f64::total_cmp);
            for share in [0.0, 0.5, 0.9, 1.0] {
                let expected = dyno_stats::quantile(&sorted, share);
                let found = quantile(&mut values, share);
                let close = found.zip(expected).is_some_and(|(a, b)| (a - b).abs() < 1e-12);
                assert!(close, "{count} {share}: {found:?} {expected:?}");
            }
        }
        assert_eq!(quantile(&mut [], 0.5), None);
    }
}
