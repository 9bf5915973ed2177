//! A level that is over, as one line that stays.

use super::view::place;
use super::watch::Over;
use dyno_analysis::glimpse::{Glimpsed, Spread};
use dyno_model::frame::Ending;
use dyno_model::metric::Time;
use dyno_words::columns::{ABSENT, millis, number, width};

/// How a level ended, in a word or two.
pub(super) fn ending(ending: Ending) -> &'static str {
    match ending {
        Ending::Requests => "complete",
        Ending::Duration => "time up",
        Ending::Stable => "converged",
        Ending::Interrupted => "stopped",
        Ending::TargetLost => "lost",
        Ending::Aborted => "aborted",
    }
}

/// A figure, or what stands for none.
pub(super) fn maybe(value: Option<f64>, shown: fn(f64) -> String) -> String {
    value.map_or_else(|| ABSENT.to_owned(), shown)
}

/// Median and 99th percentile, with `?` where few samples lie beyond it.
pub(super) fn pair(spread: Spread) -> String {
    let mark = if spread.p99_marked { "?" } else { "" };
    format!("{}/{}{mark}", maybe(spread.p50, millis), maybe(spread.p99, millis))
}

/// The unit of a pair; times that are long bring their own.
fn unit(spread: Spread) -> &'static str {
    let long = |time: Option<f64>| time.is_some_and(|time| millis(time).ends_with('s'));
    if long(spread.p50) && long(spread.p99) { "" } else { " ms" }
}

/// ITL, or TPOT where there is none.
fn token_time(found: &Glimpsed) -> String {
    match (found.times[Time::Itl].p50, found.times[Time::Tpot].p50) {
        (Some(itl), _) => format!("ITL {} ms", millis(itl)),
        (None, Some(tpot)) => format!("TPOT {} ms", millis(tpot)),
        (None, None) => format!("ITL {ABSENT}"),
    }
}

/// The line of level `index` (from 0) of `levels`, broken where it is longer than `columns`.
pub(super) fn line(
    index: usize,
    levels: usize,
    more: bool,
    label: &str,
    over: &Over,
    columns: Option<usize>,
) -> String {
    let found = &over.found;
    let counts = &found.counts;
    let parts = [
        format!("{} {label}", place(index as u64, levels as u64, more)),
        format!("{} requests", counts.planned),
        format!("{} failed", counts.failed + counts.dropped),
        format!("{} req/s", maybe(found.requests_per_s, number)),
        format!("{} tok/s", maybe(found.output_tokens_per_s, number)),
        format!("TTFT {}{}", pair(found.times[Time::Ttft]), unit(found.times[Time::Ttft])),
        token_time(found),
        ending(over.ending).to_owned(),
    ];
    let mut text = String::new();
    let mut room = columns.unwrap_or(usize::MAX);
    for part in parts {
        let wanted = width(&part) + 2;
        if text.is_empty() {
            text = part;
        } else if wanted <= room {
            text = text + "  " + &part;
        } else {
            room = columns.unwrap_or(usize::MAX).saturating_sub(2);
            text = text + "\n    " + &part;
        }
        room = room.saturating_sub(wanted);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outlook::Took;
    use dyno_analysis::counts::Counts;
    use dyno_model::metric::PerTime;
    use std::time::Duration;

    fn over() -> Over {
        let counts = Counts { planned: 500, completed: 498, failed: 2, ..Default::default() };
        let spread = |p50, p99| Spread { p50: Some(p50), p99: Some(p99), p99_marked: true };
        let found = Glimpsed {
            counts,
            requests_per_s: Some(12.34),
            output_tokens_per_s: Some(789.6),
            times: PerTime::new(|time| match time {
                Time::Ttft => spread(212.4, 480.0),
                Time::Itl => spread(20.1, 30.0),
                Time::Tpot => spread(21.0, 30.0),
                _ => Spread::default(),
            }),
            findings: Vec::new(),
        };
        let took = Took { requests: 500, time: Duration::from_secs(40), draining: Duration::ZERO };
        Over { ending: Ending::Requests, took, found }
    }

    #[test]
    fn a_level_in_a_line() {
        assert_eq!(
            line(0, 3, false, "concurrency 8", &over(), None),
            "1/3 concurrency 8  500 requests  2 failed  12.3 req/s  790 tok/s  \
             TTFT 212/480? ms  ITL 20.1 ms  complete"
        );
    }

    #[test]
    fn a_narrow_terminal_gets_two_lines() {
        let text = line(0, 3, true, "concurrency 8", &over(), Some(79));
        assert_eq!(
            text,
            "1/3+ concurrency 8  500 requests  2 failed  12.3 req/s  790 tok/s\n    \
             TTFT 212/480? ms  ITL 20.1 ms  complete"
        );
        assert!(text.lines().all(|line| line.chars().count() < 80));
    }

    #[test]
    fn long_times_bring_their_own_unit() {
        let mut slow = over();
        slow.found.times[Time::Ttft].p50 = Some(46_700.0);
        slow.found.times[Time::Ttft].p99 = Some(59_000.0);
        let text = line(0, 1, false, "throughput", &slow, None);
        assert!(text.contains("TTFT 46.7s/59.0s?  ITL"), "{text}");
    }

    #[test]
    fn absent_figures_are_absent() {
        let mut nothing = over();
        nothing.ending = Ending::TargetLost;
        nothing.found = Glimpsed::default();
        let text = line(1, 2, false, "rate 4", &nothing, None);
        assert!(text.ends_with("– req/s  – tok/s  TTFT –/– ms  ITL –  lost"), "{text}");
        nothing.found.times[Time::Tpot].p50 = Some(9.0);
        let text = line(1, 2, false, "rate 4", &nothing, None);
        assert!(text.contains("TPOT 9.00 ms"), "{text}");
    }
}
