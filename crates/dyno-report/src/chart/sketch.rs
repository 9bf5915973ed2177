//! Panels over one load axis: what they have in common.

use super::levels::{Figure, Value, all_steady, limited, lines};
use super::page::Part;
use super::panel::{Mark, Panel, Ticks};
use super::words::{Language, Word};
use dyno_model::summary::{LevelSummary, SearchSummary, Summary, Throughput};

/// Levels over their load.
pub(super) struct Sketch<'a> {
    pub(super) levels: Vec<&'a LevelSummary>,
    /// The load of a level.
    pub(super) x: fn(&LevelSummary) -> f64,
    pub(super) x_title: Word,
    pub(super) ticks: Ticks,
    pub(super) marks: Vec<Mark>,
    pub(super) language: Language,
}

impl Sketch<'_> {
    pub(super) fn say(&self, word: Word) -> &'static str {
        word.in_language(self.language)
    }

    /// How many different loads there are.
    pub(super) fn loads(&self) -> usize {
        dyno_chart::ordered(self.levels.iter().map(|level| (self.x)(level))).len()
    }

    /// A panel of these figures, each with its name.
    pub(super) fn panel(&self, title: Word, unit: &str, figures: &[(&str, Figure)]) -> Panel {
        let own = |(name, figure): &(&str, Figure)| lines(&self.levels, &self.x, name, figure);
        let (series, left_out) = limited(figures.iter().map(own).collect());
        Panel {
            unit: unit.to_owned(),
            left_out,
            marks: self.marks.clone(),
            ..Panel::of(
                self.say(title).to_owned(),
                self.say(self.x_title).to_owned(),
                self.ticks,
                series,
            )
        }
    }

    /// A panel of times in milliseconds, shown as seconds where they are long.
    pub(super) fn times(&self, title: Word, figures: &[(&str, Figure)]) -> Part {
        Part::Plot(self.panel(title, "", figures).of_times(self.language))
    }

    /// A panel of work per second: over the steady windows where every level has one, else over
    /// the whole levels, so that levels can be compared.
    pub(super) fn work(&self, title: Word, which: fn(&Throughput) -> Option<f64>) -> Part {
        let steady = all_steady(&self.levels);
        let over = self.say(if steady { Word::SteadyWindow } else { Word::WholeRun }).to_owned();
        Part::Plot(Panel { over, ..self.panel(title, "", &[("", work(steady, which))]) })
    }
}

/// Work per second.
pub(super) fn work(steady: bool, which: fn(&Throughput) -> Option<f64>) -> Figure<'static> {
    Box::new(move |level| {
        let whole = &level.throughput;
        let window = level.steady.as_ref().map(|window| &window.throughput);
        which(if steady { window? } else { whole }).map(Value::plain)
    })
}

/// What a search has found on this axis.
pub(super) fn found(summary: &Summary, unit: &str, language: Language) -> Vec<Mark> {
    let (word, from, to) = match &summary.search {
        Some(SearchSummary::Capacity { unit: found, holds, does_not_hold, .. })
            if found == unit =>
        {
            let Some(known) = holds.or(*does_not_hold) else { return vec![] };
            (Word::Capacity, holds.unwrap_or(known), does_not_hold.unwrap_or(known))
        }
        Some(SearchSummary::Knee { concurrency, .. }) if unit == "in flight" => {
            (Word::Knee, *concurrency, *concurrency)
        }
        _ => return vec![],
    };
    vec![Mark { from, to, name: word.in_language(language).to_owned() }]
}
