//! What the trees of a level say about its results.

use dyno_model::Diagnostic;
use dyno_model::summary::{CacheSummary, Trees};
use dyno_words::number::percent;
use dyno_words::{TreeFinding, values};

/// More trees than this share ended at the server's context: the results are those of the shorter ones.
const OVERFLOWED: f64 = 0.01;
/// A hit rate above the ideal by no more than this may be rounding: servers count whole blocks and their own template.
const ROUNDING: f64 = 0.01;

/// The findings about the trees of a level.
pub(crate) fn findings(trees: &Trees) -> Vec<Diagnostic> {
    let Trees { started, completed, failed, overflowed, cut, cancelled, .. } = *trees;
    let mut found = Vec::new();
    if overflowed > 0 {
        let share = overflowed as f64 / started as f64;
        let many = share > OVERFLOWED;
        let what = if many { TreeFinding::Overflowed } else { TreeFinding::FewOverflowed };
        found.push(what.with(values![overflowed, started, percent(share)]));
    }
    if failed > 0 {
        found.push(TreeFinding::Failed.with([failed, started, cancelled]));
    }
    if completed == 0 && cut == started {
        found.push(TreeFinding::NoneWhole.with([started]));
    }
    found
}

/// More of the prompts was cached than the trees repeat of themselves.
pub(crate) fn above_ideal(trees: &Trees, cache: &CacheSummary) -> Option<Diagnostic> {
    let (ideal, share) = (trees.ideal_cache?.with_responses, cache.share?);
    // What every prompt shares is new in no tree but the first.
    let input = trees.groups.iter().find_map(|group| group.input_tokens);
    let shared = cache.shared_tokens.unwrap_or(0) as f64 * trees.sessions as f64;
    let shared = input.map_or(0.0, |input| shared / (input.mean.max(1.0) * trees.turns as f64));
    (share > ideal + shared + ROUNDING)
        .then(|| TreeFinding::AboveIdeal.with([percent(share), percent(ideal)]))
}
