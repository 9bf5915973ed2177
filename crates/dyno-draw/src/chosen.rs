//! Which levels are drawn where there is no room for all.

use super::canvas::clean;
use super::theme::STYLES;
use dyno_analysis::detail::{Detail, LevelDetail};
use dyno_chart::Trust;
use dyno_model::summary::{LevelSummary, Summary};

/// A level with the detail of its requests.
pub(super) struct Shown<'a> {
    pub(super) level: &'a LevelSummary,
    pub(super) detail: &'a LevelDetail,
    /// Its name.
    pub(super) name: String,
    pub(super) trust: Trust,
}

/// All levels for which `has` is true.
pub(super) fn all<'a>(
    summary: &'a Summary,
    detail: &'a Detail,
    has: impl Fn(&LevelSummary, &LevelDetail) -> bool,
) -> Vec<Shown<'a>> {
    let named = |level: &'a LevelSummary| {
        let found = detail.of(level.index).filter(|detail| has(level, detail))?;
        let name = clean(&level.label);
        Some(Shown { level, detail: found, name, trust: level.verdict.into() })
    };
    summary.levels.iter().filter_map(named).collect()
}

/// As many of them as there are distinct lines, evenly chosen, with the first and the last; and how
/// many are left out.
pub(super) fn shown<'a>(
    summary: &'a Summary,
    detail: &'a Detail,
    has: impl Fn(&LevelSummary, &LevelDetail) -> bool,
) -> (Vec<Shown<'a>>, usize) {
    let all = all(summary, detail, has);
    let count = all.len();
    let places = even(count, STYLES);
    let some: Vec<Shown> =
        all.into_iter().enumerate().filter(|(i, _)| places.contains(i)).map(|(_, s)| s).collect();
    let left_out = count - some.len();
    (some, left_out)
}

/// Up to `most` of the numbers below `count`, evenly, the first and the last among them.
pub(super) fn even(count: usize, most: usize) -> Vec<usize> {
    if count <= most || most < 2 {
        return (0..count.min(most)).collect();
    }
    (0..most).map(|i| i * (count - 1) / (most - 1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_and_the_last_are_among_those_chosen() {
        assert_eq!(even(3, 8), [0, 1, 2]);
        assert!(even(0, 8).is_empty());
        let many = even(200, 8);
        assert_eq!((many.len(), many[0], many[7]), (8, 0, 199));
        assert!(many.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!(even(9, 8), [0, 1, 2, 3, 4, 5, 6, 8]);
    }
}
