//! The values of a trial by which a model is judged.

use super::{Trial, TrialChunk, sent_times};
use dyno_model::Nanos;
use dyno_stats::quantile_of;

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
    fn add(&mut self, sent: Nanos, seen: &[TrialChunk]) {
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
        let at = |times: &mut [f64], share| quantile_of(times, share).unwrap_or(f64::NAN);
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

fn millis(time: Nanos) -> f64 {
    1e-6 * time as f64
}
