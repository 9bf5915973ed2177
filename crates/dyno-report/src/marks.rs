//! The marks beside values in tables, and what the ones in use mean.

use crate::messages::Label;
use dyno_model::instrument::Quality;
use dyno_model::metric::{Metric, Statistic, Time};
use dyno_model::summary::{Basis, Distribution, LevelSummary};
use dyno_words::columns::ABSENT;

/// Which marks were used.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    steady: bool,
    few: bool,
    fair: bool,
    poor: bool,
    range: bool,
    absent: bool,
    shorter: bool,
    /// There is no room for ranges; they are listed below the table.
    narrow: bool,
}

impl Marks {
    /// For a table that has no room for ranges.
    pub(crate) fn narrow() -> Self {
        Self { narrow: true, ..Self::default() }
    }

    /// Adds the marks that another part of the table used.
    pub(crate) fn add(&mut self, other: &Self) {
        self.steady |= other.steady;
        self.few |= other.few;
        self.fair |= other.fair;
        self.poor |= other.poor;
        self.range |= other.range;
        self.absent |= other.absent;
        self.shorter |= other.shorter;
    }

    /// Notes that some value is marked for its few samples, or absent.
    pub(crate) fn note(&mut self, few: bool, absent: bool) {
        self.few |= few;
        self.absent |= absent;
    }

    /// Stands for an absent value.
    pub(crate) fn absent(&mut self) -> String {
        self.absent = true;
        ABSENT.to_owned()
    }

    /// A rate of a level; over the steady window it has a `mark`.
    pub(crate) fn rate(
        &mut self,
        level: &LevelSummary,
        (metric, basis): (Metric, Basis),
        mark: &str,
        show: fn(f64) -> String,
    ) -> String {
        let Some(value) = basis.rate(level, metric) else { return self.absent() };
        self.steady |= basis.is_steady();
        let shown = if basis.is_steady() { show(value) + mark } else { show(value) };
        match basis.has_range(level) {
            true => self.sure(level, metric, None, shown, show),
            false => self.of_length(level, metric, shown),
        }
    }

    /// A statistic of a time.
    pub(crate) fn statistic(
        &mut self,
        of: Option<&Distribution>,
        which: Statistic,
        show: fn(f64) -> String,
    ) -> String {
        let Some(value) = of.and_then(|of| of.get(which)) else { return self.absent() };
        let few = of.is_some_and(|of| of.is_marked(which));
        self.few |= few;
        format!("{}{}", show(value), if few { "?" } else { "" })
    }

    /// A time of a level, as a range where the client could not measure it precisely.
    pub(crate) fn time(
        &mut self,
        level: &LevelSummary,
        time: Time,
        which: Statistic,
        show: fn(f64) -> String,
    ) -> String {
        let value = self.statistic(level.times[time].as_ref(), which, show);
        self.sure(level, Metric::Time(time), Some(which), value, show)
    }

    /// A value that depends on the length of responses, marked where they were shorter than requested.
    pub(crate) fn of_length(
        &mut self,
        level: &LevelSummary,
        metric: Metric,
        value: String,
    ) -> String {
        let shorter = level.output_lengths.is_some_and(|lengths| lengths.fell_short());
        if !shorter || !metric.depends_on_length() || value == ABSENT {
            return value;
        }
        self.shorter = true;
        format!("{value}#")
    }

    /// A value of a level: marked where its accuracy is only fair, replaced by its range where it is
    /// poor.
    pub(crate) fn sure(
        &mut self,
        level: &LevelSummary,
        metric: Metric,
        which: Option<Statistic>,
        value: String,
        show: fn(f64) -> String,
    ) -> String {
        let value = self.of_length(level, metric, value);
        match level.quality(metric, which) {
            None | Some(Quality::Good) => value,
            Some(Quality::Fair) => {
                self.fair = true;
                format!("~{value}")
            }
            Some(Quality::Poor) if self.narrow => {
                self.poor = true;
                format!("!{value}")
            }
            Some(Quality::Poor) => match level.instrument_range(metric, which) {
                Some([low, high]) => {
                    self.range = true;
                    format!("{}–{}", show(low), show(high))
                }
                None => value,
            },
        }
    }

    /// The marks in use, each with its meaning.
    pub(crate) fn used<T>(&self, of: impl Fn(&str, Label) -> T) -> Vec<T> {
        let marks = [
            (self.steady, "*", Label::Steady),
            (self.few, "?", Label::Few),
            (self.fair, "~", Label::FairOnly),
            (self.poor, "!", Label::PoorOnly),
            (self.range, "–", Label::RangeOnly),
            (self.shorter, "#", Label::Shorter),
            (self.absent && !self.range, ABSENT, Label::NoFigure),
            (self.absent && self.range, ABSENT, Label::NoFigureAlone),
        ];
        let used = marks.into_iter().filter(|(used, ..)| *used);
        used.map(|(_, mark, message)| of(mark, message)).collect()
    }
}
