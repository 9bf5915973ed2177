//! The progress line: counters, rates, SLO and verdict in one line of text.

use super::agents::FleetSeen;
use super::finished::maybe;
use super::fit::{Part, elided, fitted, joined};
use super::live::Seen;
use super::outlook::{Left, level_left};
use super::watch::LiveWatch;
use super::words::{self, Text};
use dyno_analysis::running_level::LevelSoFar;
use dyno_model::metric::Unit;
use dyno_model::{Decision, Language, Verdict};
use dyno_words::columns::millis;
use dyno_words::escape::escape;
use std::time::Duration;

const BAR: usize = 20;
const LONGEST_LABEL: usize = 40;
const LONGEST_ESCAPED: usize = 200;

/// What the line shows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Status<'a> {
    pub(super) language: Language,
    pub(super) seen: &'a Seen,
    /// Requests and tokens per second.
    pub(super) per_second: Option<(f64, f64)>,
    /// Requests per second of wall time.
    pub(super) pace: Option<f64>,
    /// How long the whole run will still take.
    pub(super) left: Option<Left>,
    /// More levels than are known may follow.
    pub(super) more: bool,
    /// The running level, as far as it is known.
    pub(super) found: Option<&'a LevelSoFar>,
}

impl<'a> Status<'a> {
    pub(super) fn of(watch: &'a LiveWatch, language: Language) -> Self {
        Self {
            language,
            seen: &watch.seen,
            per_second: watch.per_second(),
            pace: watch.pace(),
            left: watch.left(),
            more: watch.outlook.more,
            found: watch.present(),
        }
    }

    /// The line, in at most `width` columns. Without a width it has everything but the bar.
    pub(super) fn line(&self, width: Option<usize>) -> String {
        let mut parts = self.parts();
        let Some(width) = width else { return joined(&parts) };
        if let Some(share) = share_done(self.seen) {
            parts.insert(1, Part::new(13, bar(share, BAR)));
        }
        // A terminal that wraps at its last column would scroll.
        fitted(parts, width.saturating_sub(1))
    }

    /// The parts in their order, with their ranks: 0 is the most important.
    fn parts(&self) -> Vec<Part> {
        let (language, seen) = (self.language, self.seen);
        let place = place(seen.level, seen.levels, self.more);
        let label = escape(&seen.label, LONGEST_ESCAPED);
        let name = format!("{place} {}", elided(&label, LONGEST_LABEL));
        let mut parts = vec![
            Part::new(6, name).or(place),
            Part::new(1, requests(seen, language)),
            Part::new(2, Text::Failed.with(language, &[seen.failed.to_string()])),
        ];
        if seen.unconfirmed > 0 {
            let text = Text::Unconfirmed.with(language, &[seen.unconfirmed.to_string()]);
            parts.push(Part::new(2, text));
        }
        if seen.shed > 0 {
            parts.push(Part::new(2, Text::Shed.with(language, &[seen.shed.to_string()])));
        }
        if seen.unsent > 0 {
            parts.push(Part::new(2, Text::NotSent.with(language, &[seen.unsent.to_string()])));
        }
        if let Some(trouble) = seen.fleet.as_ref().and_then(|fleet| fleet.trouble(language)) {
            parts.push(Part::new(2, trouble));
        }
        if let Some(found) = self.found {
            parts.extend(slo(found, language).map(|text| Part::new(5, text)));
            parts.extend(doubt(found, language).map(|text| Part::new(4, text)));
        }
        if let Some((requests, tokens)) = self.per_second {
            parts.push(Part::new(8, per_second(rate(requests), Unit::RequestsPerSecond, language)));
            parts.push(Part::new(7, work(self.found, tokens, language)));
        }
        if let Some(fleet) = &seen.fleet {
            parts.push(Part::new(5, words::agents(fleet.count, language)));
            parts.extend(about(fleet, language).map(|text| Part::new(10, text)));
        }
        // In the last level, the two times are the same.
        match self.left.filter(|_| self.more || seen.level + 1 < seen.levels) {
            None => parts.push(Part::new(3, self.time_left())),
            Some(left) => parts.extend([
                Part::new(9, self.time_left()),
                Part::new(3, left.text([Text::RunLeft, Text::RunLeftAtLeast], language)),
            ]),
        }
        if seen.in_flight > 0 {
            let count = seen.in_flight.to_string();
            parts.push(Part::new(12, Text::InFlight.with(language, &[count])));
        }
        parts.extend(server(seen, language, [11, 10]));
        parts
    }

    /// How long the level will still take.
    pub(super) fn time_left(&self) -> String {
        let (language, seen) = (self.language, self.seen);
        if seen.fleet.as_ref().is_some_and(FleetSeen::collects) {
            return Text::Collecting.text(language).to_owned();
        }
        if let Some(left) = seen.rests {
            return Text::Resting.with(language, &[clock(left)]);
        }
        if seen.duration.is_some_and(|time| seen.elapsed >= time) {
            return Text::Draining.text(language).to_owned();
        }
        match level_left(seen, self.pace) {
            Some(left) => Text::Left.with(language, &[clock(left)]),
            None => Text::Elapsed.with(language, &[clock(seen.elapsed)]),
        }
    }
}

impl Left {
    /// As one of two texts: for an estimate, and for a lower bound.
    pub(super) fn text(self, [about, at_least]: [Text; 2], language: Language) -> String {
        if let Some((count, sure)) = self.levels {
            let text = match (sure, self.at_least) {
                (true, _) => Text::MoreLevels,
                (false, false) => Text::MoreLevelsAtMost,
                (false, true) => Text::SomeLevels,
            };
            return text.with(language, &[count.to_string(), clock(self.time)]);
        }
        let text = if self.at_least { at_least } else { about };
        text.with(language, &[clock(self.time)])
    }
}

/// Texts per second where they are embedded or ranked, otherwise tokens.
pub(super) fn work(found: Option<&LevelSoFar>, tokens: f64, language: Language) -> String {
    match found.filter(|found| found.embeds) {
        Some(found) => per_second(maybe(found.inputs_per_s, rate), Unit::InputsPerSecond, language),
        None => per_second(rate(tokens), Unit::TokensPerSecond, language),
    }
}

/// A rate with its unit.
pub(super) fn per_second(value: String, unit: Unit, language: Language) -> String {
    format!("{value} {}", language.choose(unit.names()))
}

/// About the median of TTFT, or of the latency where nothing is streamed, by the medians of agents.
pub(super) fn about(fleet: &FleetSeen, language: Language) -> Option<String> {
    let about = |ms: f64| format!("~{} ms", millis(ms));
    let ttft = fleet.middle(|beat| beat.ttft_ns).map(|ms| format!("TTFT {}", about(ms)));
    let latency = || fleet.middle(|beat| beat.latency_ns);
    ttft.or_else(|| Some(Text::Latency.with(language, &[about(latency()?)])))
}

/// Whether the SLO is met so far; a missed term is named.
fn slo(found: &LevelSoFar, language: Language) -> Option<String> {
    let slo = found.slo.as_ref()?;
    let text = match slo.verdict.outcome {
        Decision::Met => Text::SloMet,
        Decision::Missed => Text::SloMissed,
        Decision::Inconclusive => Text::SloUndecided,
    };
    let missed = slo.verdict.terms.iter().find(|term| term.outcome == Decision::Missed);
    let term = missed.map_or(String::new(), |term| language.brackets(&term.term));
    Some(format!("{}{term}", text.text(language)))
}

/// The verdict so far, unless nothing speaks against the level.
pub(super) fn doubt(found: &LevelSoFar, language: Language) -> Option<&'static str> {
    match found.verdict {
        Verdict::Valid | Verdict::Unjudged => None,
        Verdict::Suspect => Some(Text::SuspectSoFar.text(language)),
        Verdict::Invalid => Some(Text::InvalidSoFar.text(language)),
    }
}

/// Requests waiting in the server, and how full its KV cache is, where it reports them.
pub(super) fn server(seen: &Seen, language: Language, [waiting, kv]: [u8; 2]) -> Vec<Part> {
    let Some(sample) = &seen.server else { return Vec::new() };
    let queue = sample.waiting.map(|n| Text::Waiting.with(language, &[n.to_string()]));
    let cache =
        sample.kv_use.map(|share| Text::Kv.with(language, &[format!("{:.0} %", 100.0 * share)]));
    let parts = [(waiting, queue), (kv, cache)].into_iter();
    parts.filter_map(|(rank, text)| Some(Part::new(rank, text?))).collect()
}

/// Which level, of how many.
pub(super) fn place(level: u64, levels: u64, more: bool) -> String {
    format!("{}/{levels}{}", level + 1, if more { "+" } else { "" })
}

/// Requests that have ended, of how many.
pub(super) fn requests(seen: &Seen, language: Language) -> String {
    let count = match seen.planned {
        Some(planned) => format!("{}/{planned}", seen.done),
        None => seen.done.to_string(),
    };
    Text::Requests.with(language, &[count])
}

/// The further of the two bounds.
pub(super) fn share_done(seen: &Seen) -> Option<f64> {
    let handled = (seen.done + seen.unsent) as f64;
    let by_count = seen.planned.map(|planned| handled / planned as f64);
    let by_time = seen.duration.map(|time| seen.elapsed.as_secs_f64() / time.as_secs_f64());
    match (by_count, by_time) {
        (Some(a), Some(b)) => Some(a.max(b)),
        (a, b) => a.or(b),
    }
    .map(|share| share.clamp(0.0, 1.0))
}

/// A bar of so many columns, without its brackets.
pub(super) fn bar(share: f64, columns: usize) -> String {
    let full = (share * columns as f64) as usize;
    format!("[{}{}]", "=".repeat(full), " ".repeat(columns.saturating_sub(full)))
}

/// A time, rounded up to seconds.
pub(super) fn clock(time: Duration) -> String {
    let seconds = time.as_secs_f64().ceil() as u64;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        _ => format!("{}h{:02}m", seconds / 3600, seconds % 3600 / 60),
    }
}

/// A rate.
pub(super) fn rate(value: f64) -> String {
    if value < 100.0 { format!("{value:.1}") } else { format!("{value:.0}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::tests::agent;
    use crate::samples;
    use dyno_analysis::running_level::{LevelTerms, RunningLevel};
    use dyno_model::SEC;
    use dyno_model::fleet::AgentSeen;
    use dyno_model::server::ServerSample;
    use dyno_words::columns::width;

    fn seen(at_s: u64) -> Seen {
        Seen {
            at: Duration::from_secs(at_s),
            done: 10 * at_s,
            completed: 10 * at_s - 1,
            failed: 1,
            unconfirmed: 0,
            shed: 0,
            unsent: 0,
            tokens: 640 * at_s,
            in_flight: 8,
            planned: Some(100),
            level: 0,
            levels: 3,
            elapsed: Duration::from_secs(at_s),
            rests: None,
            duration: None,
            label: "concurrency 8".to_owned(),
            server: None,
            fleet: None,
        }
    }

    fn status(seen: &Seen) -> Status<'_> {
        let rate = |n: u64| n as f64 / seen.elapsed.as_secs_f64();
        let per_second = Some((rate(seen.done), rate(seen.tokens)));
        let (language, pace) = (Language::English, Some(rate(seen.done)));
        Status { language, seen, per_second, pace, left: None, more: false, found: None }
    }

    fn shown(seen: &Seen, width: Option<usize>) -> String {
        status(seen).line(width)
    }

    fn judged(slo: &str) -> LevelSoFar {
        let slo = Some(slo.parse().unwrap());
        let mut glimpse =
            RunningLevel::new(LevelTerms { slo, allow_failures: 0.01, ..LevelTerms::default() });
        (0..400).for_each(|index| glimpse.add(&samples::record(0, index)));
        glimpse.so_far()
    }

    #[test]
    fn a_level_bounded_by_requests() {
        assert_eq!(
            shown(&seen(5), Some(120)),
            "1/3 concurrency 8  [==========          ]  50/100 requests  1 failed  10.0 req/s  \
             640 tok/s  5 s left  8 in flight"
        );
        assert_eq!(
            shown(&seen(5), None),
            "1/3 concurrency 8  50/100 requests  1 failed  10.0 req/s  640 tok/s  5 s left  \
             8 in flight"
        );
    }

    #[test]
    fn what_was_shed_is_told_from_what_failed() {
        let shed = Seen { shed: 12, ..seen(5) };
        assert!(shown(&shed, None).contains("50/100 requests  1 failed  12 shed  10.0 req/s"));
        assert!(!shown(&seen(5), None).contains("shed"));
        let cut = Seen { unconfirmed: 3, ..seen(5) };
        assert!(shown(&cut, None).contains("1 failed  3 unconfirmed  10.0 req/s"));
    }

    #[test]
    fn the_nearer_bound_says_how_long_it_takes() {
        let bounded = Seen { duration: Some(Duration::from_secs(7)), ..seen(5) };
        assert!(shown(&bounded, None).contains("  2 s left"));
        let over = Seen { duration: Some(Duration::from_secs(5)), ..seen(5) };
        assert!(shown(&over, None).contains("  draining"));
        let unknown = Seen { planned: None, ..seen(65) };
        assert!(shown(&unknown, Some(120)).contains("650 requests"));
        assert!(shown(&unknown, None).contains("1m05s elapsed"));
    }

    /// B6: a pause between levels was called draining.
    #[test]
    fn a_pause_between_levels_is_a_cooldown() {
        let five = Some(Duration::from_secs(5));
        let rests = Seen { duration: five, rests: Some(Duration::from_secs(45)), ..seen(5) };
        let line = shown(&rests, None);
        assert!(line.contains("  cooldown, 45 s left  ") && !line.contains("drain"), "{line}");
        let language = Language::Chinese;
        let line = Status { language, ..status(&rests) }.line(None);
        assert!(line.contains("  档间暂停，剩余 45 s") && !line.contains("排空"), "{line}");
    }

    #[test]
    fn parts_are_dropped_whole_as_the_terminal_gets_narrower() {
        let server = ServerSample { waiting: Some(12), kv_use: Some(0.874), ..Default::default() };
        let seen = Seen { server: Some(server), done: 225, planned: Some(225), ..seen(5) };
        let found = judged("ttft.p99<500ms");
        let status = Status { found: Some(&found), ..status(&seen) };
        let lines: Vec<String> =
            [160, 80, 60, 40, 20, 4, 0].map(|width| status.line(Some(width))).to_vec();
        assert_eq!(
            lines,
            [
                "1/3 concurrency 8  [====================]  225/225 requests  1 failed  SLO met  \
                 45.0 req/s  640 tok/s  0 s left  8 in flight  12 waiting  KV 87 %",
                "1/3 concurrency 8  225/225 requests  1 failed  SLO met  640 tok/s  0 s left",
                "1/3  225/225 requests  1 failed  SLO met  0 s left",
                "1/3  225/225 requests  1 failed",
                "1/3",
                "1/3",
                "",
            ]
        );
        assert!((0..200).all(|columns| width(&status.line(Some(columns))) < columns.max(1)));
    }

    #[test]
    fn the_slo_and_the_verdict_so_far_are_shown() {
        let seen = seen(5);
        let line = |found: &LevelSoFar| Status { found: Some(found), ..status(&seen) }.line(None);
        assert!(line(&judged("ttft.p99<500ms")).contains("1 failed  SLO met  10.0 req/s"));
        let missed = line(&judged("ttft.p99<250ms and itl.p99<25ms"));
        assert!(missed.contains("  SLO missed (ttft.p99<250ms)  "), "{missed}");
        let mut few = RunningLevel::new(LevelTerms {
            slo: Some("ttft.p99<500ms".parse().unwrap()),
            ..LevelTerms::default()
        });
        few.add(&samples::record(0, 0));
        assert!(line(&few.so_far()).contains("  SLO undecided  "));
        let invalid = LevelSoFar { verdict: Verdict::Invalid, ..LevelSoFar::default() };
        assert!(line(&invalid).contains("  invalid so far  "));
        assert!(!line(&LevelSoFar::default()).contains("so far"));
    }

    #[test]
    fn a_chinese_line_is_chinese() {
        let (seen, found) = (seen(5), judged("ttft.p99<250ms"));
        let language = Language::Chinese;
        let left = Some(Left { time: Duration::from_secs(75), at_least: true, levels: None });
        let status = Status { language, found: Some(&found), left, ..status(&seen) };
        assert_eq!(
            status.line(None),
            "1/3 concurrency 8  50/100 个请求  1 个失败  SLO 未达标（ttft.p99<250ms）  10.0 请求/秒  \
             640 tok/s  剩余 5 s  全程至少剩余 1m15s  在途 8"
        );
        assert!((0..200).all(|columns| width(&status.line(Some(columns))) < columns.max(1)));
    }

    #[test]
    fn the_time_left_of_the_run_is_shown_while_levels_are_to_come() {
        let left = Some(Left { time: Duration::from_secs(75), at_least: false, levels: None });
        let first = seen(5);
        let line = Status { left, ..status(&first) }.line(None);
        assert!(line.ends_with("5 s left  run 1m15s left  8 in flight"), "{line}");
        // On a narrow terminal it outlasts the level's own.
        let line = Status { left, ..status(&first) }.line(Some(80));
        assert!(line.ends_with("1 failed  640 tok/s  run 1m15s left"), "{line}");
        let last = Seen { level: 2, ..seen(5) };
        let line = Status { left, ..status(&last) }.line(None);
        assert!(line.starts_with("3/3 ") && !line.contains("run "), "{line}");
        let left = left.map(|left| Left { at_least: true, ..left });
        let line = Status { left, more: true, ..status(&last) }.line(None);
        assert!(line.starts_with("3/3+ ") && line.contains("run at least 1m15s left"), "{line}");
    }

    #[test]
    fn agents_and_the_worst_of_them_are_in_the_line() {
        let mut agents = vec![agent("node-1", 5), agent("node-2", 5)];
        let with = |agents: Vec<AgentSeen>| {
            let fleet = FleetSeen { agents, count: 2, now: 106 * SEC, ..FleetSeen::default() };
            Seen { fleet: Some(fleet), levels: 1, ..seen(5) }
        };
        assert_eq!(
            shown(&with(agents.clone()), Some(120)),
            "1/1 concurrency 8  50/100 requests  1 failed  10.0 req/s  640 tok/s  2 agents  \
             TTFT ~50.0 ms  5 s left  8 in flight"
        );
        agents[1].lost = Some(dyno_model::Message::quoted("killed"));
        let line = shown(&with(agents.clone()), Some(80));
        assert!(line.contains("agent node-2 lost") && line.contains("2 agents"), "{line}");
        let seen = with(agents.clone());
        let line = Status { language: Language::Chinese, ..status(&seen) }.line(Some(80));
        assert!(line.contains("压测端 node-2 丢失"), "{line}");
        agents.iter_mut().for_each(|agent| agent.done = true);
        let line = shown(&with(agents), Some(120));
        assert!(line.contains("collecting records"), "{line}");
    }
}
