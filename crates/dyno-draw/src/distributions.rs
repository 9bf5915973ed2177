//! Cumulative distributions of TTFT and ITL.

use super::chosen::{Shown, shown};
use super::levels::remark;
use super::page::{Chart, PagePart};
use super::panel::{Marked, Panel, Ticks};
use super::words::Word;
use dyno_analysis::detail::{Curve, Detail, LevelDetail};
use dyno_chart::{Point, Series, numbers};
use dyno_model::Language;
use dyno_model::metric::Time;
use dyno_model::summary::{LevelSummary, Summary};

/// Title, which curve of a level, and whether the summary has this metric: past capacity it has none, and
/// no curve is drawn.
type Known = (Word, fn(&LevelDetail) -> Option<&Curve>, fn(&LevelSummary) -> bool);

const CURVES: [Known; 2] = [
    (Word::Ttft, |level| level.ttft.as_ref(), |level| level.times[Time::Ttft].is_some()),
    (Word::ItlName, |level| level.itl.as_ref(), |level| level.times[Time::Itl].is_some()),
];

/// TTFT and ITL of several levels, each a line over a logarithmic time axis.
pub(super) fn distributions(
    summary: &Summary,
    detail: &Detail,
    language: Language,
) -> Option<Chart> {
    let part = |(title, which, is_known): Known| {
        let has =
            |level: &LevelSummary, detail: &LevelDetail| is_known(level) && which(detail).is_some();
        let (levels, left_out) = shown(summary, detail, has);
        (!levels.is_empty())
            .then(|| PagePart::Plot(panel(&levels, left_out, title, which, language)))
    };
    let parts: Vec<PagePart> = CURVES.into_iter().filter_map(part).collect();
    (!parts.is_empty()).then(|| Chart {
        title: Word::Distributions.in_language(language).to_owned(),
        columns: parts.len().max(1),
        parts,
        height: 340.0,
    })
}

fn panel(
    levels: &[Shown],
    left_out: usize,
    title: Word,
    which: fn(&LevelDetail) -> Option<&Curve>,
    language: Language,
) -> Panel {
    let word = |word: Word| word.in_language(language).to_owned();
    let times = levels.iter().filter_map(|level| which(level.detail));
    let times = times.flat_map(|curve| curve.points.iter().map(|[ms, _]| *ms));
    // Tokens that arrived together have an ITL of 0, which a logarithmic axis cannot show.
    let least = times.filter(|ms| *ms > 0.0).fold(f64::INFINITY, f64::min);
    let least = if least.is_finite() { least } else { 1.0 };
    let line = |level: &Shown| {
        let curve = which(level.detail);
        let points = curve.into_iter().flat_map(|curve| &curve.points);
        let point = |[ms, share]: &[f64; 2]| Point {
            label: format!(
                "{}: {} p{} {} {}",
                level.name,
                title.in_language(language),
                numbers::label(share * 100.0),
                numbers::label(*ms),
                Word::Milliseconds.in_language(language)
            ),
            remark: remark(level.level, language),
            ..Point::of(ms.max(least), Some(share * 100.0), level.trust)
        };
        Series { name: level.name.clone(), points: points.map(point).collect() }
    };
    Panel {
        unit: word(Word::ShareOfSamples),
        left_out,
        marked: Marked::Percentiles,
        ..Panel::of(
            title,
            language,
            format!("{}{}", word(Word::Milliseconds), language.brackets(&word(Word::LogScale))),
            Ticks::Decades,
            levels.iter().map(line).collect(),
        )
    }
}
