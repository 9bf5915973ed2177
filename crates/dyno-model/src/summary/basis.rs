//! What throughput is over where levels stand side by side: the same for all of them.

use super::{LevelSummary, Throughput};
use crate::metric::Metric;
use crate::verdict::Verdict;

/// Steady windows or whole levels. A table or a chart that mixes the two shows throughput falling where the load
/// rises: a steady window leaves out filling and draining, a whole level does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// Every level that counts has a steady window.
    Steady,
    /// Some have none.
    Whole,
}

impl Basis {
    /// That of these levels. Invalid ones and those that were measured again do not decide beside others, and those in
    /// which nothing completed never do.
    pub fn of<'a>(levels: impl IntoIterator<Item = &'a LevelSummary>) -> Self {
        let done = |level: &&LevelSummary| {
            level.steady.is_some() || level.throughput.requests_per_s.is_some_and(|rate| rate > 0.0)
        };
        let mut counted: Vec<&LevelSummary> = levels.into_iter().filter(done).collect();
        let decides = |level: &LevelSummary| level.verdict != Verdict::Invalid && !level.superseded;
        if counted.iter().any(|level| decides(level)) {
            counted.retain(|level| decides(level));
        }
        let steady = !counted.is_empty() && counted.iter().all(|level| level.steady.is_some());
        if steady { Self::Steady } else { Self::Whole }
    }

    /// Whether it is over steady windows.
    pub fn is_steady(self) -> bool {
        self == Self::Steady
    }

    /// The other one.
    pub fn other(self) -> Self {
        if self.is_steady() { Self::Whole } else { Self::Steady }
    }

    /// The throughput of a level; absent for a level that does not decide and has no steady window, among
    /// others that have one.
    pub fn throughput(self, level: &LevelSummary) -> Throughput {
        match self {
            Self::Steady => level.steady.map(|window| window.throughput).unwrap_or_default(),
            Self::Whole => level.throughput,
        }
    }

    /// A rate of a level.
    pub fn rate(self, level: &LevelSummary, metric: Metric) -> Option<f64> {
        self.throughput(level).rate(metric)
    }

    /// Whether the instrument range of a level's throughput belongs to this basis: there is one range, that of the
    /// steady window where there is one.
    pub fn has_range(self, level: &LevelSummary) -> bool {
        self.is_steady() == level.steady.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::Steady;

    fn level(steady: bool) -> LevelSummary {
        let throughput = Throughput { requests_per_s: Some(2.0), ..Throughput::default() };
        let steady = steady.then_some(Steady { window_s: 1.0, throughput });
        LevelSummary { steady, throughput, verdict: Verdict::Valid, ..LevelSummary::default() }
    }

    /// Of a sweep: the first saturated level is too short for its responses, so that it is measured again.
    #[test]
    fn a_level_that_was_measured_again_does_not_decide() {
        let again = LevelSummary { superseded: true, ..level(false) };
        let levels = [level(true), again.clone(), level(true)];
        assert_eq!(Basis::of(&levels), Basis::Steady);
        assert_eq!(Basis::of(&[level(true), level(false)]), Basis::Whole);
        assert_eq!(Basis::of(&[again]), Basis::Whole);
        assert_eq!(Basis::Steady.rate(&levels[1], Metric::RequestRate), None);
    }
}
