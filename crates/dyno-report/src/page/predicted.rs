//! Where measurements are expected, of a prediction by a twin whose accuracy is known.

use super::Page;
use super::markup::{Markup, tag};
use super::numbers::grouped;
use super::tables::{self, Cell, Row};
use super::words::Word;
use crate::messages::Say;
use crate::selection::which_name;
use crate::text::ABSENT;
use dyno_model::metric::{Statistic, Time};
use dyno_model::summary::PredictionIntervals;

/// The table; nothing where no level has intervals.
pub(super) fn predicted(page: &Page) -> Option<Markup> {
    let levels = page.summary.levels.iter();
    let rows: Vec<Row> = levels
        .filter_map(|level| {
            let name = std::iter::once(Cell::head(&level.label));
            Some(Row::plain(name.chain(intervals(&level.prediction?).map(cell)).collect()))
        })
        .collect();
    if rows.is_empty() {
        return None;
    }
    let title = page.say(Word::Predicted);
    let about = Say::ExpectedAbout.text(page.language);
    let table = tables::table(title, &heads(page), rows);
    Some(tag("div").add(tag("h3").text(title)).add(tag("p").text(about)).add(table).into())
}

/// In the order of [`heads`].
fn intervals(of: &PredictionIntervals) -> impl Iterator<Item = Option<[f64; 2]>> {
    let times = [of.ttft.p50, of.ttft.p90, of.itl.p50, of.latency.p50, of.latency.p90];
    std::iter::once(of.requests_per_s).chain(times)
}

fn heads(page: &Page) -> Vec<String> {
    let times = [
        (Time::Ttft, Statistic::P50),
        (Time::Ttft, Statistic::P90),
        (Time::Itl, Statistic::P50),
        (Time::Latency, Statistic::P50),
        (Time::Latency, Statistic::P90),
    ];
    let time = |(time, which): (Time, Statistic)| {
        let name = page.language.choose(time.info().short);
        format!("{name} {} (ms)", which_name(which, page.language))
    };
    let names = [Word::Level, Word::RequestRate].map(|word| page.say(word).to_owned());
    names.into_iter().chain(times.map(time)).collect()
}

fn cell(interval: Option<[f64; 2]>) -> Cell {
    let shown = interval.map(|ends| ends.map(grouped).join("–"));
    Cell::number(shown.as_deref().unwrap_or(ABSENT))
}
