//! How many more rounds a conclusion needs.

use super::effect::{Basis, Effect};
use super::student::critical;

/// More rounds than this are not suggested: longer ones would help more.
pub const MOST_MORE: u32 = 100;

/// What more rounds should show.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted {
    /// The difference of logarithms to detect.
    pub(super) distance: f64,
    /// The probability of seeing it where it is not, in both directions.
    pub(super) chance: f64,
    /// The probability of missing it where it is, in both directions.
    pub(super) missing: f64,
}

/// How many more rounds of each side, at least 1; absent where they are more than [`MOST_MORE`].
///
/// They are assumed to scatter like the existing ones and to be made in the same order.
pub(super) fn more_rounds(effect: &Effect, wanted: Wanted) -> Option<u32> {
    let have = effect.runs[0].min(effect.runs[1]) as u32;
    let enough = |runs: u32| {
        let freedom = match effect.basis {
            Basis::Paired => f64::from(runs - 1),
            _ => 2.0 * f64::from(runs - 1),
        };
        let times = critical(wanted.chance, freedom) + critical(wanted.missing, freedom);
        times * effect.log.spread <= wanted.distance * f64::from(runs).sqrt()
    };
    let (mut low, mut high) = (have.max(1), have.saturating_add(MOST_MORE).max(2));
    if !enough(high) {
        return None;
    }
    // More runs are never less conclusive.
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if enough(middle) { high = middle } else { low = middle }
    }
    Some(high - have)
}
