//! The result of a capacity search.

/// The result of a capacity search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum CapacityAnswer {
    /// The capacity is between two loads: the SLO is met at `low` and missed at `high`. Both are whole
    /// numbers where the load is a concurrency.
    Between {
        /// The lower end.
        low: f64,
        /// The upper end.
        high: f64,
        /// The probability that the capacity is between them; absent where the levels do not agree.
        confidence: Option<f64>,
        /// Why they do not agree.
        doubt: Option<Doubt>,
    },
    /// The SLO is met at the highest load that was allowed, or that could be judged.
    AtLeast {
        /// The highest load that met the SLO.
        load: f64,
    },
    /// The SLO was missed even at the lowest load that was tried.
    Never {
        /// That load.
        load: f64,
        /// The logarithm of value over bound there, if it is known.
        margin: Option<f64>,
    },
    /// No load is known to meet the SLO, and some could not be judged.
    Inconclusive {
        /// The load that could not be judged; absent where nothing completed under full load, so that
        /// there was no load to try.
        load: Option<f64>,
        /// The lowest load that missed the SLO, if any was judged.
        failed: Option<f64>,
    },
}

/// Why the levels of a search do not agree.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Doubt {
    /// A load met the SLO far above one that missed it.
    Contradiction {
        /// The highest load that met the SLO.
        held: f64,
        /// The lowest that missed it.
        failed: f64,
    },
    /// The capacity changed during the search.
    Drift {
        /// By what share: -0.2 is a fifth down.
        share: f64,
    },
}
