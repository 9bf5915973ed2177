//! What each metric on the page means, in one sentence; the manual has the details.

use super::Page;
use super::markup::{Markup, class, tag};
use super::words::Word;
use dyno_model::metric::{Column, Metric, Place, Time};
use dyno_model::summary::{Basis, LevelSummary};

/// Terms that are not metrics, after the definitions: name and meaning.
const OTHERS: [(Word, Word); 3] = [
    (Word::Percentiles, Word::PercentilesMeans),
    (Word::Interval, Word::IntervalMeans),
    (Word::Verdict, Word::VerdictMeans),
];

/// Throughput and failures are defined even where there are none.
fn is_used(metric: Metric, level: &LevelSummary) -> bool {
    match metric {
        Metric::RequestRate | Metric::Failures => true,
        Metric::OutputRate => !level.has_inputs(),
        Metric::Goodput => level.slo.is_some(),
        Metric::PerUser => level.times[Time::Tpot].is_some(),
        metric => metric.distribution(level).is_some() || metric.value(level).is_some(),
    }
}

/// The definitions of what this run has.
pub(super) fn definitions(page: &Page) -> Markup {
    let levels = &page.summary.levels;
    let item = |name: &str, formula: &str, means: &str| -> Markup {
        let formula = (!formula.is_empty()).then(|| tag("code").text(formula).into());
        let name = tag("dt").text(name).text(" ").adds(formula);
        tag("div").add(name).add(tag("dd").text(means)).into()
    };
    let mut items: Vec<Markup> = Vec::new();
    for Column { metric, .. } in Place::Definitions.metrics() {
        if levels.iter().any(|level| is_used(metric, level)) {
            let (label, info) = (metric.label(page.language), metric.info());
            items.push(item(label, info.formula, page.language.choose(info.means)));
        }
        let last = if levels.iter().any(LevelSummary::has_inputs) {
            Metric::InputTokenRate
        } else {
            Metric::OutputRate
        };
        if metric == last && Basis::of(levels).is_steady() {
            items.push(item(page.say(Word::SteadyWindow), "", page.say(Word::SteadyMeans)));
        }
    }
    if !levels.is_empty() {
        let others = OTHERS.into_iter();
        items.extend(others.map(|(name, means)| item(page.say(name), "", page.say(means))));
    }
    let absent = tag("p").text(page.say(Word::AbsentMeans));
    [class("dl", "definitions").adds(items).into(), absent.into()].into_iter().collect()
}
