//! A level over time, as a small table: ramps and soaks.

use crate::marks::Marks;
use crate::messages::Say;
use dyno_model::Language;
use dyno_model::summary::{LevelSummary, Slice};
use dyno_words::columns::{ABSENT, millis, number, right};
use dyno_words::number::clock;

const COLUMNS: [usize; 7] = [9, 9, 9, 15, 9, 6, 9];

fn line(cells: &[String; 7]) -> String {
    let cells = cells.iter().zip(COLUMNS).map(|(cell, columns)| right(cell, columns));
    format!("    {}\n", cells.collect::<Vec<_>>().join(" ").trim_end())
}

fn cells(slice: &Slice, marks: &mut Marks) -> [String; 7] {
    let ms = |value: Option<f64>| value.map_or_else(|| ABSENT.to_owned(), millis);
    let mark = if slice.ttft_p99_marked { "?" } else { "" };
    marks.note(slice.ttft_p99_marked, slice.ttft_p99_ms.is_none());
    [
        clock(slice.from_s),
        number(slice.offered_per_s),
        number(slice.completed_per_s),
        format!("{}/{}{mark}", ms(slice.ttft_p50_ms), ms(slice.ttft_p99_ms)),
        ms(slice.latency_p50_ms),
        slice.failed.to_string(),
        slice.in_flight.to_string(),
    ]
}

/// One line a slice; nothing for a level that is not looked at over time. Tells which marks it
/// uses.
pub(super) fn slices(level: &LevelSummary, marks: &mut Marks, language: Language) -> String {
    let Some(slices) = level.slices.as_ref().filter(|slices| !slices.is_empty()) else {
        return String::new();
    };
    let say = |say: Say| say.text(language).to_owned();
    let none = String::new;
    let head = [
        [
            Say::From,
            Say::Offered,
            Say::Completed,
            Say::TtftMs,
            Say::Latency,
            Say::FailedColumn,
            Say::InFlightColumn,
        ]
        .map(say),
        [
            none(),
            say(Say::PerSecond),
            say(Say::PerSecond),
            "p50/p99".to_owned(),
            say(Say::MsP50),
            none(),
            say(Say::AtEnd),
        ],
    ];
    format!("  {}\n", say(Say::OverTime))
        + &head.iter().map(line).collect::<String>()
        + &slices.iter().map(|slice| line(&cells(slice, marks))).collect::<String>()
}
