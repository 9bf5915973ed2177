//! Counters as one line of text.

use super::live::Seen;
use std::collections::VecDeque;
use std::time::Duration;

const BAR: usize = 20;

/// Requests and tokens per second over the last few looks.
#[derive(Debug)]
pub(super) struct Rates {
    samples: VecDeque<(Duration, u64, u64)>,
    keep: usize,
    level: u64,
}

impl Rates {
    /// Over the last `keep` looks.
    pub(super) fn over(keep: usize) -> Self {
        Self { samples: VecDeque::new(), keep: keep.max(2), level: 0 }
    }

    /// Adds a look; a new level starts afresh.
    pub(super) fn add(&mut self, seen: &Seen) {
        if seen.level != self.level || self.samples.is_empty() {
            self.level = seen.level;
            self.samples.clear();
            self.samples.push_back((seen.at.saturating_sub(seen.elapsed), 0, 0));
        }
        self.samples.push_back((seen.at, seen.done, seen.tokens));
        while self.samples.len() > self.keep {
            self.samples.pop_front();
        }
    }

    /// Requests and tokens per second.
    fn per_second(&self) -> Option<(f64, f64)> {
        let (first, last) = (self.samples.front()?, self.samples.back()?);
        let time = last.0.saturating_sub(first.0).as_secs_f64();
        (time > 0.0).then(|| {
            let rate = |from: u64, to: u64| to.saturating_sub(from) as f64 / time;
            (rate(first.1, last.1), rate(first.2, last.2))
        })
    }
}

/// The line, cut to `width`: the bar gives way before any figure does. Without a width there is
/// no bar.
pub(super) fn line(seen: &Seen, rates: &Rates, width: Option<usize>) -> String {
    let name = format!("{}/{} {}", seen.level + 1, seen.levels, seen.label);
    let mut figures = figures(seen, rates);
    let Some(width) = width else { return format!("{name}  {}", figures.join("  ")) };
    let room = width.saturating_sub(1);
    let columns = |text: &str| text.chars().count();
    // Whole figures give way, the least telling first; half a figure would be a wrong one.
    while figures.len() > 1 && columns(&name) + columns(&figures.join("  ")) + 2 > room {
        figures.pop();
    }
    let figures = figures.join("  ");
    let taken = columns(&name) + columns(&figures) + 2 * "  ".len() + BAR + 2;
    let line = match share_done(seen).filter(|_| taken <= room) {
        Some(share) => format!("{name}  {}  {figures}", bar(share)),
        None => format!("{name}  {figures}"),
    };
    line.chars().take(room).collect()
}

/// The figures, the most telling first.
fn figures(seen: &Seen, rates: &Rates) -> Vec<String> {
    let mut parts = vec![match seen.planned {
        Some(planned) => format!("{}/{planned} requests", seen.done),
        None => format!("{} requests", seen.done),
    }];
    parts.push(format!("{} failed", seen.failed));
    if let Some((requests, tokens)) = rates.per_second() {
        parts.push(format!("{} req/s", figure(requests)));
        parts.push(format!("{} tok/s", figure(tokens)));
    }
    parts.push(time_left(seen, rates));
    if seen.in_flight > 0 {
        parts.push(format!("{} in flight", seen.in_flight));
    }
    parts
}

/// The further of the two bounds.
fn share_done(seen: &Seen) -> Option<f64> {
    let by_count = seen.planned.map(|planned| seen.done as f64 / planned as f64);
    let by_time = seen.duration.map(|time| seen.elapsed.as_secs_f64() / time.as_secs_f64());
    match (by_count, by_time) {
        (Some(a), Some(b)) => Some(a.max(b)),
        (a, b) => a.or(b),
    }
    .map(|share| share.clamp(0.0, 1.0))
}

fn bar(share: f64) -> String {
    let full = (share * BAR as f64) as usize;
    format!("[{}{}]", "=".repeat(full), " ".repeat(BAR.saturating_sub(full)))
}

fn time_left(seen: &Seen, rates: &Rates) -> String {
    let by_time = seen.duration.map(|time| time.saturating_sub(seen.elapsed));
    if by_time == Some(Duration::ZERO) {
        return "draining".to_owned();
    }
    let by_count = seen.planned.and_then(|planned| {
        let (per_second, _) = rates.per_second().filter(|(requests, _)| *requests > 0.0)?;
        Duration::try_from_secs_f64(planned.saturating_sub(seen.done) as f64 / per_second).ok()
    });
    match (by_time, by_count) {
        (Some(a), Some(b)) => clock(a.min(b)),
        (Some(left), None) | (None, Some(left)) => clock(left),
        (None, None) => format!("{} so far", clock_text(seen.elapsed)),
    }
}

fn clock(left: Duration) -> String {
    format!("{} left", clock_text(left))
}

fn clock_text(time: Duration) -> String {
    let seconds = time.as_secs_f64().ceil() as u64;
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        _ => format!("{}h{:02}m", seconds / 3600, seconds % 3600 / 60),
    }
}

fn figure(value: f64) -> String {
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

    fn shown(seen: &Seen, width: Option<usize>) -> String {
        let mut rates = Rates::over(10);
        rates.add(seen);
        line(seen, &rates, width)
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
    fn rates_are_recent_and_start_afresh_with_a_level() {
        let mut rates = Rates::over(2);
        rates.add(&seen(4));
        rates.add(&Seen { at: Duration::from_secs(5), done: 140, ..seen(5) });
        assert_eq!(rates.per_second().unwrap().0, 100.0);
        rates.add(&Seen {
            level: 1,
            at: Duration::from_secs(6),
            elapsed: Duration::from_secs(1),
            done: 7,
            ..seen(0)
        });
        assert_eq!(rates.per_second().unwrap().0, 7.0);
    }
}
