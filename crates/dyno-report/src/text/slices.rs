//! A level over time, as a small table: ramps and soaks.

use super::TextOptions;
use super::grid::{Column, small};
use crate::marks::Marks;
use crate::messages::Say;
use dyno_model::summary::{LevelSummary, Slice};
use dyno_words::columns::{ABSENT, millis, number, wrap};
use dyno_words::number::clocks;

fn ms(value: Option<f64>) -> String {
    value.map_or_else(|| ABSENT.to_owned(), millis)
}

/// One line for each slice of time, with its marks noted in `marks`; nothing for a level that is not
/// divided over time.
pub(super) fn slices(level: &LevelSummary, marks: &mut Marks, options: &TextOptions) -> String {
    let Some(slices) = level.slices.as_ref().filter(|slices| !slices.is_empty()) else {
        return String::new();
    };
    let language = options.language;
    let say = |say: Say| say.text(language).to_owned();
    let column = |group: String, head: String, rank: u8, cell: fn(&Slice) -> String| {
        let cells = slices.iter().map(cell).collect();
        Column { group, head, cells, rank, nominal: 0 }
    };
    for slice in slices {
        marks.note(slice.ttft_p99_marked, slice.ttft_p99_ms.is_none());
    }
    let marked = |slice: &Slice| {
        let mark = if slice.ttft_p99_marked { "?" } else { "" };
        format!("{}{mark}", ms(slice.ttft_p99_ms))
    };
    let per_second = || say(Say::PerSecond);
    let starts: Vec<f64> = slices.iter().map(|slice| slice.from_s).collect();
    let (group, head) = (String::new(), say(Say::From));
    let mut columns = vec![
        Column { group, head, cells: clocks(&starts), rank: 0, nominal: 0 },
        column(say(Say::Offered), per_second(), 3, |slice| number(slice.offered_per_s)),
        column(say(Say::Completed), per_second(), 1, |slice| number(slice.completed_per_s)),
        column(say(Say::TtftMs), "p50".to_owned(), 2, |slice| ms(slice.ttft_p50_ms)),
        column(say(Say::TtftMs), "p99".to_owned(), 4, marked),
        column(say(Say::Latency), say(Say::MsP50), 5, |slice| ms(slice.latency_p50_ms)),
        column(String::new(), say(Say::FailedColumn), 6, |slice| slice.failed.to_string()),
        column(say(Say::InFlightColumn), say(Say::AtEnd), 7, |slice| slice.in_flight.to_string()),
    ];
    if slices.iter().any(|slice| slice.shed > 0) {
        let shed = column(String::new(), say(Say::ShedColumn), 6, |slice| slice.shed.to_string());
        columns.insert(columns.len() - 1, shed);
    }
    let names = vec![String::new(); slices.len()];
    wrap("  ", &say(Say::OverTime), options.prose())
        + &small(2, &names, columns, options.prose(), language)
}
