//! What a search for a capacity has found.

/// What was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Answer {
    /// The edge is between two loads: it holds `low` and does not hold `high`. Both are whole
    /// numbers where the load is a number of requests in flight.
    Between {
        /// The lower end.
        low: f64,
        /// The upper end.
        high: f64,
        /// The chance that the edge is between them; absent where the levels do not agree.
        confidence: Option<f64>,
        /// Why they do not.
        doubt: Option<Doubt>,
    },
    /// It holds at the highest load that was allowed, or that could be sent and judged.
    AtLeast {
        /// The highest load that held.
        load: f64,
    },
    /// It did not hold, not even at the lowest load that was tried.
    Never {
        /// That load.
        load: f64,
        /// The logarithm of value over bound there, if it is known.
        margin: Option<f64>,
    },
    /// No load is known to hold, and there are some that could not be judged.
    Inconclusive {
        /// A load that would tell more if it could be judged; absent where nothing completed with
        /// many in flight, so that there was no load to try.
        load: Option<f64>,
        /// The lowest load that did not hold, if any was judged.
        failed: Option<f64>,
    },
}

/// Why the levels of a search do not agree.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Doubt {
    /// A load held that is far above one that did not.
    Contradiction {
        /// The highest load that held.
        held: f64,
        /// The lowest that did not.
        failed: f64,
    },
    /// The edge moved while it was searched.
    Drift {
        /// By what share: -0.2 is a fifth down.
        share: f64,
    },
}
