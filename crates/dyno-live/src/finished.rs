//! A finished level, as a line of progress that stays.

use super::view::place;
use super::watch::Over;
use super::words::{self, Text};
use dyno_analysis::glimpse::{LevelSoFar, Spread};
use dyno_model::metric::Time;
use dyno_model::{Decision, Language, Verdict};
use dyno_words::columns::{ABSENT, millis, number, width};

/// A value, or the mark of an absent one.
pub(super) fn maybe(value: Option<f64>, shown: fn(f64) -> String) -> String {
    value.map_or_else(|| ABSENT.to_owned(), shown)
}

/// Median and 99th percentile, with `?` where too few samples lie beyond it.
pub(super) fn pair(spread: Spread) -> String {
    let mark = if spread.p99_marked { "?" } else { "" };
    format!("{}/{}{mark}", maybe(spread.p50, millis), maybe(spread.p99, millis))
}

/// The unit of a pair; long times have their own.
fn unit(spread: Spread) -> &'static str {
    let long = |time: Option<f64>| time.is_some_and(|time| millis(time).ends_with('s'));
    if long(spread.p50) && long(spread.p99) { "" } else { " ms" }
}

/// ITL, or TPOT where ITL is not known.
fn token_time(found: &LevelSoFar) -> String {
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
    language: Language,
) -> String {
    let found = &over.found;
    let counts = &found.counts;
    let mut parts = vec![
        format!("{} {label}", place(index as u64, levels as u64, more)),
        Text::Requests.with(language, &[counts.planned.to_string()]),
        Text::Failed.with(language, &[(counts.failed + counts.dropped).to_string()]),
    ];
    if counts.censored > 0 {
        parts.push(Text::Unfinished.with(language, &[counts.censored.to_string()]));
    }
    parts.extend([
        format!("{} req/s", maybe(found.requests_per_s, number)),
        format!("{} tok/s", maybe(found.output_tokens_per_s, number)),
        format!("TTFT {}{}", pair(found.times[Time::Ttft]), unit(found.times[Time::Ttft])),
        token_time(found),
    ]);
    parts.extend(found.slo.as_ref().map(|slo| {
        let text = match slo.verdict.outcome {
            Decision::Met => Text::SloMet,
            Decision::Missed => Text::SloMissed,
            Decision::Inconclusive => Text::SloUndecided,
        };
        text.text(language).to_owned()
    }));
    if matches!(found.verdict, Verdict::Suspect | Verdict::Invalid) {
        parts.push(words::verdict(found.verdict, language).to_owned());
    }
    parts.push(words::ending(over.ending).text(language).to_owned());
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
    use dyno_model::frame::Ending;
    use dyno_model::metric::PerTime;
    use std::time::Duration;

    fn over() -> Over {
        let counts = Counts { planned: 500, completed: 498, failed: 2, ..Default::default() };
        let spread = |p50, p99| Spread { p50: Some(p50), p99: Some(p99), p99_marked: true };
        let found = LevelSoFar {
            counts,
            requests_per_s: Some(12.34),
            output_tokens_per_s: Some(789.6),
            times: PerTime::new(|time| match time {
                Time::Ttft => spread(212.4, 480.0),
                Time::Itl => spread(20.1, 30.0),
                Time::Tpot => spread(21.0, 30.0),
                _ => Spread::default(),
            }),
            ..LevelSoFar::default()
        };
        let took = Took { requests: 500, time: Duration::from_secs(40), draining: Duration::ZERO };
        Over { ending: Ending::Requests, took, found }
    }

    #[test]
    fn a_level_in_a_line() {
        assert_eq!(
            line(0, 3, false, "concurrency 8", &over(), None, Language::English),
            "1/3 concurrency 8  500 requests  2 failed  12.3 req/s  790 tok/s  \
             TTFT 212/480? ms  ITL 20.1 ms  complete"
        );
    }

    #[test]
    fn a_doubtful_level_says_so_in_either_language() {
        let mut doubtful = over();
        doubtful.found.verdict = Verdict::Suspect;
        let text = |language| line(0, 3, false, "concurrency 8", &doubtful, None, language);
        assert!(text(Language::English).ends_with("ITL 20.1 ms  suspect  complete"));
        assert_eq!(
            text(Language::Chinese),
            "1/3 concurrency 8  500 个请求  2 个失败  12.3 req/s  790 tok/s  \
             TTFT 212/480? ms  ITL 20.1 ms  存疑  已完成"
        );
    }

    #[test]
    fn a_narrow_terminal_gets_two_lines() {
        let text = line(0, 3, true, "concurrency 8", &over(), Some(79), Language::English);
        assert_eq!(
            text,
            "1/3+ concurrency 8  500 requests  2 failed  12.3 req/s  790 tok/s\n    \
             TTFT 212/480? ms  ITL 20.1 ms  complete"
        );
        assert!(text.lines().all(|line| line.chars().count() < 80));
    }

    #[test]
    fn long_times_have_their_own_unit() {
        let mut slow = over();
        slow.found.times[Time::Ttft].p50 = Some(46_700.0);
        slow.found.times[Time::Ttft].p99 = Some(59_000.0);
        let text = line(0, 1, false, "throughput", &slow, None, Language::English);
        assert!(text.contains("TTFT 46.7s/59.0s?  ITL"), "{text}");
    }

    #[test]
    fn absent_values_are_absent() {
        let mut nothing = over();
        nothing.ending = Ending::TargetLost;
        nothing.found = LevelSoFar::default();
        let text = line(1, 2, false, "rate 4", &nothing, None, Language::English);
        assert!(text.ends_with("– req/s  – tok/s  TTFT –/– ms  ITL –  target lost"), "{text}");
        nothing.found.times[Time::Tpot].p50 = Some(9.0);
        let text = line(1, 2, false, "rate 4", &nothing, None, Language::English);
        assert!(text.contains("TPOT 9.00 ms"), "{text}");
    }
}
