//! Progress for programs: a JSON object per line. Keys are stable; the reference has them
//! (`docs/reference/progress.md`).

use super::Viewer;
use super::live::Seen;
use super::outlook::Bounds;
use super::watch::{LiveWatch, Over};
use dyno_analysis::running_level::{LatencySpread, LevelSoFar};
use dyno_model::metric::Time;
use serde_json::{Map, Value, json};
use std::time::{Duration, Instant};

/// How often counters are written.
const EVERY: Duration = Duration::from_secs(1);
/// How often it is looked whether a level has begun or ended.
const LOOK: Duration = Duration::from_millis(100);

impl Viewer {
    /// Writes lines until the run is over, or until nobody reads them any more.
    pub(super) fn write_lines(&mut self) {
        let mut begun = self.watch.levels.len();
        let mut last = Instant::now();
        loop {
            let running = self.wait(LOOK);
            let notes = self.live.take_notes();
            let over = self.watch.update(&self.live);
            let known = self.watch.look(&self.live);
            let mut lines = Vec::new();
            let new = (begun..self.watch.levels.len())
                .filter(|index| self.watch.levels[*index].has_begun());
            lines.extend(new.map(|index| begins(index, &self.watch)));
            begun = self.watch.levels.len();
            lines.extend(over.into_iter().filter_map(|index| ended(index, &self.watch)));
            let sends = self.watch.levels.last().is_some_and(|level| level.over.is_none());
            if known && sends && last.elapsed() >= EVERY {
                last = Instant::now();
                lines.push(counters(&self.watch));
            }
            let side = self.live.side();
            let written = lines.into_iter().all(|mut line| {
                line.extend(side.map(|side| ("side".to_owned(), json!(side))));
                self.terminal.plain_line(&Value::Object(line).to_string())
            });
            notes.iter().for_each(|note| self.terminal.note(note));
            if !running || !written {
                return;
            }
        }
    }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

fn bounds(index: usize, watch: &LiveWatch) -> Option<&Bounds> {
    watch.outlook.levels.get(index)
}

/// Which level, and what it sends.
fn head(event: &str, index: usize, watch: &LiveWatch) -> Map<String, Value> {
    let label = bounds(index, watch).map(|level| level.label.as_str());
    object(json!({"event": event, "level": index + 1, "label": label}))
}

fn begins(index: usize, watch: &LiveWatch) -> Map<String, Value> {
    let level = bounds(index, watch);
    let mut line = head("level_begins", index, watch);
    line.extend(object(json!({
        "levels": watch.outlook.levels.len(),
        "more_levels": watch.outlook.more,
        "load": level.map(|level| json!({"kind": level.load.kind(), "value": level.load.value()})),
        "requests_planned": level.and_then(|level| level.requests),
        "duration_planned_s": level.and_then(|level| level.time).map(|time| time.as_secs_f64()),
    })));
    line
}

fn counters(watch: &LiveWatch) -> Map<String, Value> {
    let Seen { done, completed, failed, unconfirmed, shed, unsent, .. } = &watch.seen;
    let Seen { in_flight, tokens, elapsed, .. } = &watch.seen;
    let (requests_per_s, tokens_per_s) = watch.per_second().unzip();
    let left = watch.left();
    let mut line = head("progress", watch.seen.level as usize, watch);
    line.extend(object(json!({
        "elapsed_s": seconds(*elapsed),
        "requests": done,
        "completed": completed,
        "failed": failed,
        "unconfirmed": unconfirmed,
        "shed": shed,
        "not_sent": unsent,
        "in_flight": in_flight,
        "output_tokens": tokens,
        "requests_per_s": requests_per_s.map(rounded),
        "output_tokens_per_s": tokens_per_s.map(rounded),
        "run_left_s": left.map(|left| seconds(left.time)),
        "run_left_is_least": left.is_some_and(|left| left.at_least),
    })));
    line
}

fn ended(index: usize, watch: &LiveWatch) -> Option<Map<String, Value>> {
    let Over { ending, took, found } = watch.levels.get(index)?.over.as_ref()?;
    let LevelSoFar { counts, .. } = found;
    let time = |time: Time| {
        let LatencySpread { p50, p99, .. } = found.times[time];
        json!({"p50": p50.map(rounded), "p99": p99.map(rounded)})
    };
    let mut line = head("level_ends", index, watch);
    line.extend(object(json!({
        "ending": ending,
        "verdict_so_far": found.verdict,
        "slo_so_far": found.slo.as_ref().map(|slo| slo.verdict.outcome),
        "elapsed_s": seconds(took.time),
        "completed": counts.completed,
        "failed": counts.failed,
        "unconfirmed": counts.unconfirmed,
        "shed": counts.shed,
        "not_sent": counts.unsent,
        "requests_per_s": found.requests_per_s.map(rounded),
        "output_tokens_per_s": found.output_tokens_per_s.map(rounded),
        "ttft_ms": time(Time::Ttft),
        "itl_ms": time(Time::Itl),
        "tpot_ms": time(Time::Tpot),
        "latency_ms": time(Time::Latency),
    })));
    Some(line)
}

fn seconds(time: Duration) -> f64 {
    rounded(time.as_secs_f64())
}

/// Thousandths are enough.
fn rounded(value: f64) -> f64 {
    (value * 1e3).round() / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::Live;
    use crate::samples;
    use dyno_model::frame::LevelEnd;

    fn keys(line: &Map<String, Value>) -> Vec<&str> {
        line.keys().map(String::as_str).collect()
    }

    /// Programs read these keys: they are documented, and stay.
    #[test]
    fn lines_have_the_documented_keys() {
        let live = Live::default();
        let mut watch = LiveWatch::new(&live);
        live.expect(&[samples::level_plan("one")], false);
        live.begin_level(0, 1, &samples::level_plan("one"), Some(100));
        (0..30).for_each(|index| live.ended(&samples::record(0, index)));
        watch.update(&live);
        watch.look(&live);
        let reference = include_str!("../../../docs/reference/progress.md");
        let documented = |line: &Map<String, Value>| {
            for key in keys(line) {
                assert!(reference.contains(&format!("`{key}`")), "`{key}` is not documented");
            }
        };
        let line = begins(0, &watch);
        documented(&line);
        assert_eq!((&line["level"], &line["label"]), (&json!(1), &json!("one")));
        assert_eq!(line["load"], json!({"kind": "concurrency", "value": 8.0}));
        let line = counters(&watch);
        documented(&line);
        assert_eq!((&line["requests"], &line["completed"]), (&json!(30), &json!(30)));
        live.end_level(&LevelEnd { issued: 30, ..samples::level_end() });
        assert_eq!(watch.update(&live), [0]);
        let line = ended(0, &watch).unwrap();
        documented(&line);
        assert_eq!((&line["ending"], &line["completed"]), (&json!("requests"), &json!(30)));
        assert!(line["ttft_ms"]["p50"].as_f64().is_some_and(|ms| ms > 200.0), "{line:?}");
        assert!(line["verdict_so_far"].is_string(), "{line:?}");
    }
}
