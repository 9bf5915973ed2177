//! A level over time, as a small table: ramps and soaks.

use super::layout::{ABSENT, millis, number};
use super::table::Marks;
use crate::findings::clock;
use crate::summary::{LevelSummary, Slice};

fn line(cells: &[String; 7]) -> String {
    let [from, offered, completed, ttft, latency, failed, in_flight] = cells;
    let line = format!(
        "    {from:>9} {offered:>9} {completed:>9} {ttft:>15} {latency:>9} {failed:>6} \
         {in_flight:>9}"
    );
    format!("{}\n", line.trim_end())
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
pub(super) fn slices(level: &LevelSummary, marks: &mut Marks) -> String {
    let Some(slices) = level.slices.as_ref().filter(|slices| !slices.is_empty()) else {
        return String::new();
    };
    let titles = ["from", "offered", "completed", "TTFT ms", "latency", "failed", "in flight"];
    let units = ["", "/s", "/s", "p50/p99", "ms p50", "", "at end"];
    let head = [titles, units].map(|row| line(&row.map(str::to_owned)));
    "  over time, with the latencies of what was sent then\n".to_owned()
        + &head.concat()
        + &slices.iter().map(|slice| line(&cells(slice, marks))).collect::<String>()
}
