//! What panels over one load axis have in common.

use super::canvas::clean;
use super::levels::{LevelValue, MetricFn, limited, lines, of, point};
use super::page::PagePart;
use super::panel::{Mark, Panel, Ticks};
use super::words::Word;
use dyno_chart::{Series, numbers};
use dyno_model::Language;
use dyno_model::metric::{Statistic, Time};
use dyno_model::summary::{Basis, LevelSummary, SearchSummary, Summary, Throughput};

/// A level beside the line this many times above it is not drawn; only times lie so far apart.
const FAR: f64 = 3.0;

/// Levels over their load.
pub(super) struct Sketch<'a> {
    pub(super) levels: Vec<&'a LevelSummary>,
    /// The load of a level.
    pub(super) x: fn(&LevelSummary) -> f64,
    pub(super) x_title: Word,
    pub(super) ticks: Ticks,
    pub(super) marks: Vec<Mark>,
    /// Levels without a place on the axis, such as the ends of a sweep: points beside the line, at the
    /// request rate that they reached.
    pub(super) beside: Vec<&'a LevelSummary>,
    /// What throughput is over in the whole picture.
    pub(super) basis: Basis,
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

    /// A panel of these metrics, each with its name.
    pub(super) fn panel(&self, title: Word, unit: &str, metrics: &[(&str, MetricFn)]) -> Panel {
        let own = |(name, metric): &(&str, MetricFn)| {
            lines(&self.levels, &self.x, name, metric, self.language)
        };
        let (series, left_out) = limited(metrics.iter().map(own).collect());
        let panel = Panel {
            unit: unit.to_owned(),
            left_out,
            marks: self.marks.clone(),
            ..Panel::of(title, self.language, self.say(self.x_title).to_owned(), self.ticks, series)
        };
        self.with_beside(panel, metrics)
    }

    /// Adds the levels beside the line, with the first metric only: more marks would be confusing.
    /// One far above the line would flatten it, and is named in the legend instead.
    fn with_beside(&self, mut panel: Panel, metrics: &[(&str, MetricFn)]) -> Panel {
        let most = panel.series.iter().flat_map(Series::values).fold(0.0, f64::max);
        let Some((name, metric)) = metrics.first() else { return panel };
        for series in
            self.beside.iter().filter_map(|level| beside(level, name, metric, self.language))
        {
            match series.points.iter().find_map(|point| point.y) {
                Some(far) if most > 0.0 && far > FAR * most => {
                    let value = format!("{} s", numbers::label(far / 1e3));
                    panel.notes.push(Word::Above.with(self.language, &[series.name, value]));
                }
                _ => panel.series.push(series),
            }
        }
        panel
    }

    /// A panel of times in milliseconds, shown as seconds where they are long.
    pub(super) fn times(&self, title: Word, metrics: &[(&str, MetricFn)]) -> PagePart {
        PagePart::Plot(self.panel(title, "", metrics).of_times(self.language))
    }

    /// The same of these statistics of a time, and of those that the run's SLO bounds.
    pub(super) fn spread(
        &self,
        title: Word,
        summary: &Summary,
        time: Time,
        usual: &[Statistic],
    ) -> PagePart {
        let name = |which: Statistic| match which {
            Statistic::Mean => self.say(Word::Mean),
            Statistic::Max => self.say(Word::Largest),
            percentile => percentile.name(),
        };
        let all = summary.charted(time, usual).into_iter();
        let metrics: Vec<_> = all.map(|which| (name(which), of(time, which))).collect();
        self.times(title, &metrics)
    }

    /// A panel of throughput: over the steady windows where every level of the run has one, else over
    /// the whole levels, so that levels and charts can be compared.
    pub(super) fn work(&self, title: Word, which: fn(&Throughput) -> Option<f64>) -> PagePart {
        PagePart::Plot(self.work_of(title, "", which))
    }

    /// The same with a name.
    pub(super) fn work_of(
        &self,
        title: Word,
        name: &str,
        which: fn(&Throughput) -> Option<f64>,
    ) -> Panel {
        let over = self.say(over(self.basis)).to_owned();
        Panel { over, ..self.panel(title, "", &[(name, work(self.basis, which))]) }
    }
}

/// One point beside the line, under the name of its level.
fn beside(
    level: &LevelSummary,
    name: &str,
    metric: &MetricFn,
    language: Language,
) -> Option<Series> {
    let x = level.throughput.requests_per_s?;
    let name = clean(format!("{} {name}", level.label).trim_end());
    Some(Series { name, points: vec![point(level, x, metric(level), language)] })
}

/// Throughput.
pub(super) fn work(basis: Basis, which: fn(&Throughput) -> Option<f64>) -> MetricFn<'static> {
    Box::new(move |level| which(&basis.throughput(level)).map(LevelValue::plain))
}

/// What throughput is over.
pub(super) fn over(basis: Basis) -> Word {
    if basis.is_steady() { Word::SteadyWindow } else { Word::WholeRun }
}

/// The result of a search, marked on its axis.
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
