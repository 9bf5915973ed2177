//! What a layout must say beside its values, because readers would take them for something else: that
//! they are simulated or incomplete, and which levels are not valid.

use super::cells::{self, plain};
use crate::messages::Label;
use crate::text::level_names;
use dyno_draw::banners::cautions;
use dyno_model::instrument::is_judged_alone;
use dyno_model::metric::{Metric, Statistic, Time};
use dyno_model::summary::{LevelSummary, Ranges, Summary};
use dyno_model::{Language, Verdict};
use dyno_words::columns::millis;
use dyno_words::escape::escape;
use dyno_words::template::fill;

/// A remark that the results must carry.
#[derive(Debug)]
pub(super) struct Remark {
    /// With places for the values.
    text: &'static str,
    values: Vec<String>,
}

impl Remark {
    fn filled(&self, shown: impl Fn(&str) -> String) -> String {
        let values: Vec<String> = self.values.iter().map(|value| shown(value)).collect();
        fill(self.text, &values)
    }

    pub(super) fn plain(&self) -> String {
        self.filled(plain)
    }

    pub(super) fn markdown(&self) -> String {
        self.filled(cells::markdown)
    }
}

/// What must be said beside the results: that they are simulated or incomplete, and which levels are
/// invalid.
pub(super) fn remarks(summary: &Summary, language: Language) -> Vec<Remark> {
    let of_run = of_run(summary, language).into_iter();
    let mut remarks: Vec<Remark> = of_run.map(|text| Remark { text, values: vec![] }).collect();
    let explained = explained(&summary.levels, language);
    let invalid = explained.iter().filter(|note| note.verdict == Verdict::Invalid);
    remarks.extend(invalid.map(|note| note.text(summary.levels.len(), language)));
    remarks.extend(
        summary
            .levels
            .iter()
            .filter(|level| level.verdict != Verdict::Invalid)
            .filter_map(|level| uncertain(level, language)),
    );
    remarks
}

/// The percentiles between tokens that are known only roughly: other tools' layouts have no mark for
/// them. What they call ITL is the time between events.
fn uncertain(level: &LevelSummary, language: Language) -> Option<Remark> {
    let of = |(time, which): (Time, Statistic)| {
        let (metric, which) = (Metric::Time(time), Some(which));
        let uncertain = is_judged_alone(metric, which) && level.is_uncertain(metric, which);
        let [low, high] = level.instrument_range(metric, which).filter(|_| uncertain)?.map(millis);
        let name = metric.label_with(which?.label(language), language);
        Some(format!("{name} {low}–{high} ms"))
    };
    let times = [Time::Tpot, Time::ChunkGap].into_iter();
    let values = times.flat_map(|time| Ranges::OF.map(|which| (time, which))).filter_map(of);
    let values: Vec<String> = values.collect();
    let text = Label::Uncertain.text(language);
    let values = (!values.is_empty()).then(|| values.join(language.comma()))?;
    Some(Remark { text, values: vec![level.label.clone(), values] })
}

/// Why levels are not valid: levels with the same reasons stand together.
pub(super) struct Explained<'a> {
    verdict: Verdict,
    reasons: String,
    pub(super) levels: Vec<&'a LevelSummary>,
}

pub(super) fn explained(levels: &[LevelSummary], language: Language) -> Vec<Explained<'_>> {
    let mut all: Vec<Explained> = Vec::new();
    for level in levels.iter().filter(|level| level.verdict > Verdict::Unjudged) {
        let (verdict, reasons) = (level.verdict, reasons(level, language));
        let same = |note: &&mut Explained| note.verdict == verdict && note.reasons == reasons;
        match all.iter_mut().find(same) {
            Some(note) => note.levels.push(level),
            None => all.push(Explained { verdict, reasons, levels: vec![level] }),
        }
    }
    all
}

impl Explained<'_> {
    pub(super) fn text(&self, levels: usize, language: Language) -> Remark {
        let several = self.levels.len() > 1;
        let message = match (self.verdict, several) {
            (Verdict::Invalid, false) => Label::LevelInvalid,
            (Verdict::Invalid, true) => Label::LevelsInvalid,
            (_, false) => Label::LevelSuspect,
            (_, true) => Label::LevelsSuspect,
        };
        let names = match several {
            true => level_names(&self.levels, levels, language),
            false => self.levels.iter().map(|level| level.label.clone()).collect(),
        };
        Remark { text: message.text(language), values: vec![names, self.reasons.clone()] }
    }
}

/// Of these, what concerns the run as a whole.
pub(super) fn of_run(summary: &Summary, language: Language) -> Vec<&'static str> {
    let cautions = cautions(&summary.run).into_iter().map(|caution| caution.text(language));
    let empty = summary.levels.is_empty().then(|| Label::NoLevel.text(language));
    cautions.chain(empty).collect()
}

/// Why a level's verdict is what it is, in one line.
pub(super) fn reasons(level: &LevelSummary, language: Language) -> String {
    let texts: Vec<String> =
        level.reasons.iter().map(|reason| escape(&reason.what, LONGEST)).collect();
    texts.join(language.semicolon())
}

/// The most characters of a name or reason that are shown.
pub(super) const LONGEST: usize = 300;
