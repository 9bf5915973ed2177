//! The input of a search (measured levels) and its output (the next level).

/// What a level's load means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LevelKind {
    /// A closed loop of one: a request at a time.
    Synchronous,
    /// A closed loop with so many in flight that the server is always full.
    Throughput,
    /// An open loop; the load is in requests per second.
    Rate,
    /// A closed loop; the load is how many are in flight.
    Concurrency,
}

/// A level to be measured next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LevelWish {
    /// What the load means.
    pub kind: LevelKind,
    /// Requests per second of a [`LevelKind::Rate`], else requests in flight, a whole number.
    pub load: f64,
}

/// The next step of a search.
#[derive(Debug, Clone, PartialEq)]
pub enum NextLevel<A> {
    /// Measure this.
    Level(LevelWish),
    /// Nothing more is needed.
    Done(A),
}

/// How far a level is from its service level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Margin {
    /// The logarithm of the value divided by its bound, of the term that is nearest to failing or
    /// has failed by most: below 0 the level holds. For a floor, of the bound divided by the value.
    pub log_ratio: f64,
    /// Its standard error, as far as it is known from this level alone.
    pub error: Option<f64>,
}

/// Margins are clamped to this, so that a value of 0 has one, too.
const FARTHEST: f64 = 7.0;

impl Margin {
    /// Of a value that must stay below a bound; `None` where there is no such ratio.
    pub fn ceiling(value: f64, bound: f64) -> Option<Self> {
        let fine = value.is_finite() && bound.is_finite() && value >= 0.0 && bound > 0.0;
        let log_ratio = (value / bound).ln().clamp(-FARTHEST, FARTHEST);
        fine.then_some(Self { log_ratio, error: None })
    }

    /// Of a value that must stay above a bound.
    pub fn floor(value: f64, bound: f64) -> Option<Self> {
        let margin = Self::ceiling(value, bound)?;
        Some(Self { log_ratio: -margin.log_ratio, ..margin })
    }

    /// The same, with a standard error of the logarithm: for small errors, the standard error of
    /// the value divided by the value.
    pub fn with_error(self, error: f64) -> Self {
        Self { error: Some(error), ..self }
    }

    /// Of several terms that must all be met, the one that is nearest to failing or has failed by
    /// most.
    pub fn binding(terms: impl IntoIterator<Item = Self>) -> Option<Self> {
        terms.into_iter().max_by(|a, b| a.log_ratio.total_cmp(&b.log_ratio))
    }
}

/// Whether a level met its service level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum HeldLoad {
    /// By this margin.
    By(Margin),
    /// It did, by an unknown margin.
    Yes,
    /// It did not, by an unknown margin.
    No,
    /// Inconclusive: too few requests, or the metric is not available.
    Unsure,
}

/// A measured level. Numbers that are not finite count as absent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeasuredLevel {
    /// What its load means.
    pub kind: LevelKind,
    /// Its load, as in [`LevelWish`].
    pub load: f64,
    /// Requests that were due per second of the measured schedule, of a [`LevelKind::Rate`]: it differs
    /// from the load by chance, and explains part of what would otherwise be noise.
    pub arrived_rate: Option<f64>,
    /// Requests completed per second, over the steady window if there is one.
    pub completed_rate: Option<f64>,
    /// Whether it had a steady window.
    pub steady: bool,
    /// Whether its queue grew; absent if that is inconclusive.
    pub saturated: Option<bool>,
    /// Whether it met the service level, if there is one.
    pub held: HeldLoad,
    /// A typical latency, in any unit that is the same for all levels.
    pub latency: Option<f64>,
    /// Requests that were measured.
    pub requests: u64,
    /// The share of them that failed.
    pub failed_share: f64,
    /// Whether its results are valid.
    pub valid: bool,
}

/// A load rounded to this many significant digits, so that people can read and type it.
pub fn rounded(load: f64, digits: i32) -> f64 {
    if load <= 0.0 || !load.is_finite() {
        return load;
    }
    let places = digits - 1 - load.log10().floor() as i32;
    if places.abs() > f64::MAX_10_EXP {
        return load;
    }
    // Multiplying or dividing by a whole power of ten keeps the result the nearest to the decimal.
    match places >= 0 {
        true => (load * 10_f64.powi(places)).round() / 10_f64.powi(places),
        false => (load / 10_f64.powi(-places)).round() * 10_f64.powi(-places),
    }
}

/// A level with nothing but its load.
#[cfg(test)]
pub(crate) fn measured(kind: LevelKind, load: f64) -> MeasuredLevel {
    MeasuredLevel {
        kind,
        load,
        arrived_rate: None,
        completed_rate: None,
        steady: true,
        saturated: None,
        held: HeldLoad::Unsure,
        latency: None,
        requests: 100,
        failed_share: 0.0,
        valid: true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn rounds_to_digits_that_count() {
        for (from, to) in [(1234.5, 1230.0), (0.012345, 0.0123), (9.996, 10.0), (7.0, 7.0)] {
            assert_eq!(rounded(from, 3), to);
        }
    }

    #[test]
    fn the_binding_margin_is_the_one_nearest_to_failing() {
        let ttft = Margin::ceiling(0.4, 0.5);
        let errors = Margin::ceiling(0.0, 0.01);
        let throughput = Margin::floor(9.0, 10.0);
        assert!(errors.is_some_and(|margin| margin.log_ratio < -5.0));
        let binding = Margin::binding([ttft, errors, throughput].into_iter().flatten());
        assert_eq!(binding, throughput);
        assert!(binding.is_some_and(|margin| margin.log_ratio > 0.0));
        assert_eq!(Margin::ceiling(f64::NAN, 1.0), None);
        assert_eq!(Margin::ceiling(1.0, 0.0), None);
    }

    proptest! {
        #[test]
        fn rounding_is_near_and_done_once(load in 1e-6_f64..1e9, digits in 1_i32..8) {
            let once = rounded(load, digits);
            prop_assert!((once / load - 1.0).abs() <= 0.500_001 * 10_f64.powi(1 - digits));
            prop_assert_eq!(rounded(once, digits), once);
        }
    }
}
