//! The marks beside values in tables, and what those that were used mean.

use crate::messages::Message;
use dyno_model::instrument::Quality;
use dyno_model::metric::{Metric, Statistic, Time};
use dyno_model::summary::{Distribution, LevelSummary};
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
    /// There is no room for ranges: they are listed below the table.
    narrow: bool,
}

impl Marks {
    /// For a table that has no room for ranges.
    pub(crate) fn narrow() -> Self {
        Self { narrow: true, ..Self::default() }
    }

    /// Some value has a mark, or is absent.
    pub(crate) fn note(&mut self, few: bool, absent: bool) {
        self.few |= few;
        self.absent |= absent;
    }

    /// A value that is not available.
    pub(crate) fn absent(&mut self) -> String {
        self.absent = true;
        ABSENT.to_owned()
    }

    /// Throughput over the steady window, with its `mark`, else over the whole level.
    pub(crate) fn rate(
        &mut self,
        [steady, whole]: [Option<f64>; 2],
        mark: &str,
        show: fn(f64) -> String,
    ) -> String {
        self.steady |= steady.is_some();
        match (steady, whole) {
            (Some(value), _) => format!("{}{mark}", show(value)),
            (None, Some(value)) => show(value),
            (None, None) => self.absent(),
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

    /// A time of a level: as a range where the client cannot measure it more exactly.
    pub(crate) fn time(
        &mut self,
        level: &LevelSummary,
        time: Time,
        which: Statistic,
        show: fn(f64) -> String,
    ) -> String {
        let figure = self.statistic(level.times[time].as_ref(), which, show);
        self.sure(level, Metric::Time(time), Some(which), figure, show)
    }

    /// A value of a level, marked where its accuracy is fair, and its range instead where it is poor.
    pub(crate) fn sure(
        &mut self,
        level: &LevelSummary,
        metric: Metric,
        which: Option<Statistic>,
        figure: String,
        show: fn(f64) -> String,
    ) -> String {
        match level.quality(metric, which) {
            None | Some(Quality::Good) => figure,
            Some(Quality::Fair) => {
                self.fair = true;
                format!("~{figure}")
            }
            Some(Quality::Poor) if self.narrow => {
                self.poor = true;
                format!("!{figure}")
            }
            Some(Quality::Poor) => match level.instrument_range(metric, which) {
                Some([low, high]) => {
                    self.range = true;
                    format!("{}–{}", show(low), show(high))
                }
                None => figure,
            },
        }
    }

    /// The marks that were used, with what they mean.
    pub(crate) fn used<T>(&self, of: impl Fn(&str, Message) -> T) -> Vec<T> {
        let marks = [
            (self.steady, "*", Message::Steady),
            (self.few, "?", Message::Few),
            (self.fair, "~", Message::FairOnly),
            (self.poor, "!", Message::PoorOnly),
            (self.range, "–", Message::RangeOnly),
            (self.absent && !self.range, ABSENT, Message::NoFigure),
            (self.absent && self.range, ABSENT, Message::NoFigureAlone),
        ];
        let used = marks.into_iter().filter(|(used, ..)| *used);
        used.map(|(_, mark, message)| of(mark, message)).collect()
    }
}
