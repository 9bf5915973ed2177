//! Counters as one line of text.

use super::live::Seen;
use super::outlook::{Left, level_left};
use super::watch::Watch;
use std::time::Duration;

const BAR: usize = 20;

/// What the line tells.
#[derive(Debug, Clone, Copy)]
pub(super) struct Told<'a> {
    pub(super) seen: &'a Seen,
    /// Requests and tokens per second.
    pub(super) per_second: Option<(f64, f64)>,
    /// How long the whole run still takes.
    pub(super) left: Option<Left>,
    /// More levels than are known may follow.
    pub(super) more: bool,
}

impl<'a> Told<'a> {
    pub(super) fn by(watch: &'a Watch) -> Self {
        Self {
            seen: &watch.seen,
            per_second: watch.per_second(),
            left: watch.left(),
            more: watch.outlook.more,
        }
    }

    /// The line, cut to `width`: the bar gives way before any figure does. Without a width there
    /// is no bar.
    pub(super) fn line(&self, width: Option<usize>) -> String {
        let seen = self.seen;
        let name = format!("{} {}", place(seen.level, seen.levels, self.more), seen.label);
        let mut figures = self.figures();
        let Some(width) = width else { return format!("{name}  {}", joined(&figures)) };
        let room = width.saturating_sub(1);
        let columns = |text: &str| text.chars().count();
        // Whole figures give way, the least telling first; half a figure would be a wrong one.
        while figures.len() > 1 && columns(&name) + columns(&joined(&figures)) + 2 > room {
            let least = figures.iter().map(|(rank, _)| *rank).max();
            figures.retain(|(rank, _)| Some(*rank) != least);
        }
        let figures = joined(&figures);
        let taken = columns(&name) + columns(&figures) + 2 * "  ".len() + BAR + 2;
        let line = match share_done(seen).filter(|_| taken <= room) {
            Some(share) => format!("{name}  {}  {figures}", bar(share, BAR)),
            None => format!("{name}  {figures}"),
        };
        line.chars().take(room).collect()
    }

    /// The figures in their order, each with its rank: 0 is the most telling.
    fn figures(&self) -> Vec<(u8, String)> {
        let seen = self.seen;
        let mut parts = vec![(0, requests(seen)), (1, format!("{} failed", seen.failed))];
        if let Some((requests, tokens)) = self.per_second {
            parts.push((3, format!("{} req/s", figure(requests))));
            parts.push((4, format!("{} tok/s", figure(tokens))));
        }
        // Of the last level, the two are the same.
        match self.left.filter(|_| self.more || seen.level + 1 < seen.levels) {
            None => parts.push((2, self.time_left())),
            Some(left) => {
                parts.extend([(5, self.time_left()), (2, format!("run {}", run_left(left)))]);
            }
        }
        if seen.in_flight > 0 {
            parts.push((6, format!("{} in flight", seen.in_flight)));
        }
        parts
    }

    /// How long the level still takes.
    pub(super) fn time_left(&self) -> String {
        let seen = self.seen;
        if seen.duration.is_some_and(|time| seen.elapsed >= time) {
            return "draining".to_owned();
        }
        match level_left(seen, self.per_second.map(|(requests, _)| requests)) {
            Some(left) => format!("{} left", clock(left)),
            None => format!("{} so far", clock(seen.elapsed)),
        }
    }
}

fn joined(figures: &[(u8, String)]) -> String {
    let texts: Vec<&str> = figures.iter().map(|(_, text)| text.as_str()).collect();
    texts.join("  ")
}

/// Which level, of how many.
pub(super) fn place(level: u64, levels: u64, more: bool) -> String {
    format!("{}/{levels}{}", level + 1, if more { "+" } else { "" })
}

/// How long the run still takes.
pub(super) fn run_left(left: Left) -> String {
    let over = if left.at_least { "over " } else { "" };
    format!("{over}{} left", clock(left.time))
}

/// Requests that have ended, of how many.
pub(super) fn requests(seen: &Seen) -> String {
    match seen.planned {
        Some(planned) => format!("{}/{planned} requests", seen.done),
        None => format!("{} requests", seen.done),
    }
}

/// The further of the two bounds.
pub(super) fn share_done(seen: &Seen) -> Option<f64> {
    let by_count = seen.planned.map(|planned| seen.done as f64 / planned as f64);
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
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        _ => format!("{}h{:02}m", seconds / 3600, seconds % 3600 / 60),
    }
}

/// A rate.
pub(super) fn figure(value: f64) -> String {
    if value < 100.0 { format!("{value:.1}") } else { format!("{value:.0}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(at_s: u64) -> Seen {
        Seen {
            at: Duration::from_secs(at_s),
            done: 10 * at_s,
            failed: 1,
            tokens: 640 * at_s,
            in_flight: 8,
            planned: Some(100),
            level: 0,
            levels: 3,
            elapsed: Duration::from_secs(at_s),
            duration: None,
            label: "concurrency 8".to_owned(),
        }
    }

    fn told(seen: &Seen) -> Told<'_> {
        let rate = |n: u64| n as f64 / seen.elapsed.as_secs_f64();
        let per_second = Some((rate(seen.done), rate(seen.tokens)));
        Told { seen, per_second, left: None, more: false }
    }

    fn shown(seen: &Seen, width: Option<usize>) -> String {
        told(seen).line(width)
    }

    #[test]
    fn a_level_bounded_by_requests() {
        assert_eq!(
            shown(&seen(5), Some(120)),
            "1/3 concurrency 8  [==========          ]  50/100 requests  1 failed  10.0 req/s  \
             640 tok/s  5s left  8 in flight"
        );
        assert_eq!(
            shown(&seen(5), None),
            "1/3 concurrency 8  50/100 requests  1 failed  10.0 req/s  640 tok/s  5s left  \
             8 in flight"
        );
    }

    #[test]
    fn the_nearer_bound_says_how_long_it_takes() {
        let bounded = Seen { duration: Some(Duration::from_secs(7)), ..seen(5) };
        assert!(shown(&bounded, None).contains("  2s left"));
        let over = Seen { duration: Some(Duration::from_secs(5)), ..seen(5) };
        assert!(shown(&over, None).contains("  draining"));
        let unknown = Seen { planned: None, ..seen(65) };
        assert!(shown(&unknown, Some(120)).contains("650 requests"));
        assert!(shown(&unknown, None).contains("1m05s so far"));
    }

    #[test]
    fn the_line_never_wraps() {
        let narrow = shown(&seen(5), Some(90));
        assert!(!narrow.contains('[') && narrow.contains("5s left"), "{narrow}");
        assert_eq!(shown(&seen(5), Some(20)).chars().count(), 19);
        assert_eq!(shown(&seen(5), Some(0)), "");
    }

    #[test]
    fn the_whole_run_is_told_of_while_levels_are_to_come() {
        let left = Some(Left { time: Duration::from_secs(75), at_least: false });
        let first = seen(5);
        let line = Told { left, ..told(&first) }.line(None);
        assert!(line.ends_with("5s left  run 1m15s left  8 in flight"), "{line}");
        // On a narrow terminal it outlasts the level's own.
        let line = Told { left, ..told(&first) }.line(Some(80));
        assert!(line.ends_with("1 failed  10.0 req/s  run 1m15s left"), "{line}");
        let last = Seen { level: 2, ..seen(5) };
        let line = Told { left, ..told(&last) }.line(None);
        assert!(line.starts_with("3/3 ") && !line.contains("run "), "{line}");
        let left = left.map(|left| Left { at_least: true, ..left });
        let line = Told { left, more: true, ..told(&last) }.line(None);
        assert!(line.starts_with("3/3+ ") && line.contains("run over 1m15s left"), "{line}");
    }
}
