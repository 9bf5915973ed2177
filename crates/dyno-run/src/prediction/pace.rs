//! How long the rest of a prediction takes on the wall clock. The levels' own times are virtual;
//! what a person waits for is the simulation, which costs time per request and token.

use crate::estimate::LevelProgress;
use dyno_model::plan::{LevelPlan, Load};
use dyno_model::units::to_s;
use dyno_workload::random::lengths::Lengths;
use std::time::Duration;

/// Shorter waits are not worth an announcement.
const LEAST: Duration = Duration::from_secs(2);

/// A level that was simulated.
#[derive(Debug, Clone, Copy)]
struct Simulated {
    load: Load,
    requests: f64,
    output_tokens: f64,
    virtual_s: f64,
    wall_s: f64,
}

/// Learns from simulated levels how long others take to simulate.
#[derive(Debug, Default)]
pub(crate) struct PredictionPace {
    levels: Vec<Simulated>,
}

impl PredictionPace {
    /// Learns that `level` took `wall` to simulate. Returns how long the levels to come will take, if
    /// that is worth saying: this was the first level with its load.
    pub(crate) fn learn(
        &mut self,
        level: &LevelPlan,
        progress: &LevelProgress,
        wall: Duration,
        to_come: &[LevelPlan],
    ) -> Option<Duration> {
        if progress.completed == 0 {
            return None;
        }
        let is_first = !self.levels.iter().any(|known| known.load == level.load);
        self.levels.push(Simulated {
            load: level.load,
            requests: progress.completed as f64,
            output_tokens: output_tokens(level),
            virtual_s: progress.seconds,
            wall_s: wall.as_secs_f64(),
        });
        let seconds = to_come.iter().map(|level| self.wall_s(level)).sum::<Option<f64>>()?;
        let left = Duration::try_from_secs_f64(seconds).ok()?;
        (is_first && left >= LEAST).then_some(left)
    }

    /// Seconds that it takes to simulate a level; nothing if its requests cannot be estimated.
    fn wall_s(&self, level: &LevelPlan) -> Option<f64> {
        let nearest = self.nearest(level)?;
        let tokens = self.requests(level, nearest)? * output_tokens(level);
        Some(nearest.wall_s * tokens / (nearest.requests * nearest.output_tokens))
    }

    /// Requests of a level: as many as bound it, or as many as fit into its virtual time.
    fn requests(&self, level: &LevelPlan, nearest: &Simulated) -> Option<f64> {
        let rate = match level.load {
            Load::Rate { rate, .. } => rate,
            Load::Ramp { .. } => level.load.value(),
            // Between an idle engine, where throughput grows with the load, and a full one.
            _ => {
                let growth = (level.load.value() / nearest.load.value()).sqrt();
                nearest.requests / nearest.virtual_s * growth
            }
        };
        let by_time = level.duration_ns.map(|duration| rate * to_s(duration));
        let by_count = match level.load {
            Load::Burst { requests } => Some(requests),
            _ => level.requests,
        };
        match (by_time, by_count.map(|requests| requests as f64)) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    /// The simulated level with the nearest load of the same kind, or else the last one.
    fn nearest(&self, level: &LevelPlan) -> Option<&Simulated> {
        let distance = |known: &Simulated| (known.load.value() / level.load.value()).ln().abs();
        let alike = self.levels.iter().filter(|known| known.load.kind() == level.load.kind());
        let nearest = alike.min_by(|a, b| distance(a).total_cmp(&distance(b)));
        nearest.or(self.levels.last())
    }
}

/// Mean output tokens of a request.
fn output_tokens(level: &LevelPlan) -> f64 {
    let lengths = level.output_tokens.0.parse::<Lengths>();
    lengths.map_or(1.0, |lengths| lengths.mean()).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::plan::{Arrival, LengthSpec};

    fn closed(concurrency: u32, requests: u64, output: u32) -> LevelPlan {
        let output_tokens = LengthSpec::fixed(output);
        LevelPlan { output_tokens, ..LevelPlan::closed_loop(concurrency, requests) }
    }

    /// 100 requests that took an hour of virtual time.
    fn progress() -> LevelProgress {
        LevelProgress { completed: 100, seconds: 3600.0, ..LevelProgress::default() }
    }

    #[test]
    fn the_rest_takes_wall_time_by_its_requests_and_tokens() {
        let mut pace = PredictionPace::default();
        let first = closed(4, 100, 10);
        let to_come = [closed(8, 300, 10), closed(4, 100, 40)];
        let left = pace.learn(&first, &progress(), Duration::from_secs(2), &to_come);
        assert_eq!(left, Some(Duration::from_secs(6 + 8)));
        let again = pace.learn(&first, &progress(), Duration::from_secs(2), &to_come);
        assert_eq!(again, None, "another round is no news");
    }

    #[test]
    fn levels_bounded_by_virtual_time_are_estimated_by_their_requests() {
        let mut pace = PredictionPace::default();
        let rate = Load::Rate { rate: 50.0, arrival: Arrival::Poisson };
        let output_tokens = LengthSpec::fixed(10);
        let hour = LevelPlan {
            duration_ns: Some(3_600_000_000_000),
            output_tokens,
            ..LevelPlan::new(rate)
        };
        let left = pace.learn(&closed(4, 100, 10), &progress(), Duration::from_millis(20), &[hour]);
        // 180,000 requests at 5,000 a second.
        assert_eq!(left, Some(Duration::from_secs(36)));
    }

    #[test]
    fn short_waits_and_unknown_ones_are_not_announced() {
        let second = Duration::from_secs(1);
        let short = PredictionPace::default().learn(
            &closed(1, 9, 1),
            &progress(),
            second,
            &[closed(2, 100, 1)],
        );
        assert_eq!(short, None);
        let endless = LevelPlan { requests: None, ..closed(2, 1, 1) };
        assert_eq!(
            PredictionPace::default().learn(&closed(1, 9, 1), &progress(), second, &[endless]),
            None
        );
    }
}
