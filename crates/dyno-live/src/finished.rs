//! A finished level, as a line of progress that stays.

use super::view::{doubt, place};
use super::watch::Over;
use super::words::{self, Text};
use dyno_analysis::counts::Counts;
use dyno_analysis::running_level::{LatencySpread, LevelSoFar};
use dyno_model::metric::Time;
use dyno_model::{Decision, Language};
use dyno_words::columns::{ABSENT, is_long, number, width};

/// A value, or the mark of an absent one.
pub(super) fn maybe(value: Option<f64>, shown: fn(f64) -> String) -> String {
    value.map_or_else(|| ABSENT.to_owned(), shown)
}

/// Times of a level in one unit: milliseconds, or seconds where one of them is long.
pub(super) struct Times {
    pub(super) text: String,
    pub(super) unit: &'static str,
}

impl Times {
    /// Median and 99th percentile, with `?` where too few samples lie beyond it.
    pub(super) fn pair(spread: LatencySpread) -> Self {
        let mark = if spread.p99_marked { "?" } else { "" };
        let Self { text, unit } = Self::of([spread.p50, spread.p99]);
        Self { text: text + mark, unit }
    }

    fn of<const N: usize>(times: [Option<f64>; N]) -> Self {
        let long = times.iter().flatten().any(|time| is_long(*time));
        let (divisor, unit) = if long { (1e3, "s") } else { (1.0, "ms") };
        let shown = times.map(|time| maybe(time.map(|time| time / divisor), number));
        Self { text: shown.join("/"), unit }
    }

    /// With its unit.
    pub(super) fn with_unit(&self) -> String {
        format!("{} {}", self.text, self.unit)
    }

    /// For a column of milliseconds: only seconds have their unit.
    pub(super) fn in_column(&self) -> String {
        format!("{}{}", self.text, if self.unit == "ms" { "" } else { self.unit })
    }
}

/// ITL, or TPOT where ITL is not known.
fn token_time(found: &LevelSoFar) -> String {
    let [itl, tpot] = [Time::Itl, Time::Tpot].map(|time| found.times[time].p50);
    match (itl, tpot) {
        (Some(_), _) => format!("ITL {}", Times::of([itl]).with_unit()),
        (None, Some(_)) => format!("TPOT {}", Times::of([tpot]).with_unit()),
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
        Text::Requests.with(language, &[ended(counts).to_string()]),
        Text::Failed.with(language, &[counts.failed.to_string()]),
    ];
    if counts.unconfirmed > 0 {
        parts.push(Text::Unconfirmed.with(language, &[counts.unconfirmed.to_string()]));
    }
    if counts.shed > 0 {
        parts.push(Text::Shed.with(language, &[counts.shed.to_string()]));
    }
    if unfinished(counts) > 0 {
        parts.push(Text::Unfinished.with(language, &[unfinished(counts).to_string()]));
    }
    if counts.unsent > 0 {
        parts.push(Text::NotSent.with(language, &[counts.unsent.to_string()]));
    }
    // The table of the report has the rates of the steady window, which is not known yet.
    let work = if found.embeds { found.inputs_per_s } else { found.output_tokens_per_s };
    let rates = [found.requests_per_s, work].map(|rate| maybe(rate, number));
    let pair = |time: Time| Times::pair(found.times[time]).with_unit();
    parts.push(match found.embeds {
        true => Text::WholeLevelInputs.with(language, &rates),
        false => Text::WholeLevel.with(language, &rates),
    });
    parts.extend(match found.embeds || found.is_unstreamed() {
        true => vec![Text::Latency.with(language, &[pair(Time::Latency)])],
        false => vec![format!("TTFT {}", pair(Time::Ttft)), token_time(found)],
    });
    parts.extend(found.slo.as_ref().map(|slo| {
        let text = match slo.verdict.outcome {
            Decision::Met => Text::SloMet,
            Decision::Missed => Text::SloMissed,
            Decision::Inconclusive => Text::SloUndecided,
        };
        text.text(language).to_owned()
    }));
    // Some rules need the whole summary, so this verdict may not be the last one.
    parts.extend(doubt(found, language).map(str::to_owned));
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

/// Requests that were sent and cut off by the end of the level.
fn unfinished(counts: &Counts) -> u64 {
    let waited = counts.unsent.saturating_sub(counts.dropped);
    counts.censored.saturating_sub(waited)
}

/// Requests that have ended, as the report's table counts them.
pub(super) fn ended(counts: &Counts) -> u64 {
    counts.planned.saturating_sub(counts.unsent + unfinished(counts))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outlook::Took;
    use dyno_model::Verdict;
    use dyno_model::frame::Ending;
    use dyno_model::metric::PerTime;
    use std::time::Duration;

    fn over() -> Over {
        let counts = Counts { planned: 500, completed: 498, failed: 2, ..Default::default() };
        let spread = |p50, p99| LatencySpread { p50: Some(p50), p99: Some(p99), p99_marked: true };
        let found = LevelSoFar {
            counts,
            requests_per_s: Some(12.34),
            output_tokens_per_s: Some(789.6),
            times: PerTime::new(|time| match time {
                Time::Ttft => spread(212.4, 480.0),
                Time::Itl => spread(20.1, 30.0),
                Time::Tpot => spread(21.0, 30.0),
                _ => LatencySpread::default(),
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
            "1/3 concurrency 8  500 requests  2 failed  whole level 12.3 req/s 790 tok/s  \
             TTFT 212/480? ms  ITL 20.1 ms  complete"
        );
    }

    #[test]
    fn a_doubtful_level_says_so_in_either_language() {
        let mut doubtful = over();
        doubtful.found.verdict = Verdict::Suspect;
        let text = |language| line(0, 3, false, "concurrency 8", &doubtful, None, language);
        assert!(text(Language::English).ends_with("ITL 20.1 ms  suspect so far  complete"));
        assert_eq!(
            text(Language::Chinese),
            "1/3 concurrency 8  500 个请求  2 个失败  整档 12.3 请求/秒 790 tok/s  \
             TTFT 212/480? ms  ITL 20.1 ms  目前存疑  已完成"
        );
    }

    #[test]
    fn a_narrow_terminal_gets_two_lines() {
        let text = line(0, 3, true, "concurrency 8", &over(), Some(79), Language::English);
        assert_eq!(
            text,
            "1/3+ concurrency 8  500 requests  2 failed  whole level 12.3 req/s 790 tok/s\n    \
             TTFT 212/480? ms  ITL 20.1 ms  complete"
        );
        assert!(text.lines().all(|line| line.chars().count() < 80));
    }

    #[test]
    fn times_of_a_pair_have_one_unit() {
        let mut slow = over();
        slow.found.times[Time::Ttft].p50 = Some(46_700.0);
        slow.found.times[Time::Ttft].p99 = Some(59_000.0);
        let text = line(0, 1, false, "throughput", &slow, None, Language::English);
        assert!(text.contains("TTFT 46.7/59.0? s  ITL"), "{text}");
        slow.found.times[Time::Ttft].p50 = Some(5_678.0);
        slow.found.times[Time::Ttft].p99 = Some(48_200.0);
        slow.found.times[Time::Itl].p50 = Some(12_340.0);
        let text = line(0, 1, false, "throughput", &slow, None, Language::English);
        assert!(text.contains("TTFT 5.68/48.2? s  ITL 12.3 s  "), "{text}");
        assert_eq!(Times::pair(slow.found.times[Time::Ttft]).in_column(), "5.68/48.2?s");
        assert_eq!(Times::pair(over().found.times[Time::Ttft]).in_column(), "212/480?");
    }

    #[test]
    fn absent_values_are_absent() {
        let mut nothing = over();
        nothing.ending = Ending::TargetLost;
        nothing.found = LevelSoFar::default();
        let text = line(1, 2, false, "rate 4", &nothing, None, Language::English);
        assert!(text.ends_with("– req/s – tok/s  TTFT –/– ms  ITL –  target lost"), "{text}");
        nothing.found.times[Time::Tpot].p50 = Some(9.0);
        let text = line(1, 2, false, "rate 4", &nothing, None, Language::English);
        assert!(text.contains("TPOT 9.00 ms"), "{text}");
    }
}
