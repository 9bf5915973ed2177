//! Where metrics are shown, and in which order.

use super::{Metric, Statistic, Time};
use crate::summary::LevelSummary;

/// A place that shows metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// SLO terms and conditions.
    Slo,
    /// The table of levels in a terminal.
    Terminal,
    /// The table of levels in a document.
    Document,
    /// The table of levels on the page.
    PageTable,
    /// What the charts of the page can show.
    PageChart,
    /// The definitions on the page.
    Definitions,
    /// Comparisons and gates.
    Compare,
}

/// A metric in a table, with the statistics that have a column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Column {
    /// The metric.
    pub metric: Metric,
    /// Its statistics; none where it is one number.
    pub statistics: &'static [Statistic],
}

impl Place {
    /// The metrics shown there, in order.
    pub fn metrics(self) -> Vec<Column> {
        let ranked = |metric: Metric| {
            let places = metric.info().places.iter().filter(move |(place, ..)| *place == self);
            places.map(move |(_, rank, statistics)| (*rank, Column { metric, statistics }))
        };
        let mut found: Vec<(u8, Column)> = Metric::all().flat_map(ranked).collect();
        found.sort_by_key(|(rank, _)| *rank);
        found.into_iter().map(|(_, column)| column).collect()
    }

    /// The columns of a table of these levels that has room for one time between tokens: ITL where
    /// every stream of every level has it, else TPOT.
    pub fn times(self, levels: &[LevelSummary]) -> Vec<(Time, &'static [Statistic])> {
        let has = |level: &LevelSummary, time| level.times[time].is_some();
        let by_token = levels.iter().all(|level| has(level, Time::Itl) || !has(level, Time::Tpot));
        let left_out = if by_token { Time::Tpot } else { Time::Itl };
        let times = self.metrics().into_iter();
        let times = times.filter_map(|column| Some((column.metric.time()?, column.statistics)));
        let inputs = levels.iter().any(LevelSummary::has_inputs);
        let fits = |time: Time| match inputs {
            true => !time.info().streamed,
            false => !time.info().inputs,
        };
        // A column that repeats the latency would take its place.
        let repeats =
            |time| time == Time::Headers && !levels.iter().any(LevelSummary::headers_differ);
        let fits = |time| fits(time) && !repeats(time);
        times.filter(|(time, _)| *time != left_out && fits(*time)).collect()
    }
}
