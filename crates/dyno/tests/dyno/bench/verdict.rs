//! What a run's verdicts should be, recomputed from the ranges in its summary. Most servers of these
//! tests answer at once, and the machine may be busy, so a metric may well be off by more than a tenth;
//! then, and only then, is its level invalid, and the exit status 4.

use crate::bench::place::codes;
use serde_json::Value;
use std::path::Path;

/// The share of a metric by which it may be off before its level is invalid.
const MOST: f64 = 0.1;
/// Below this share of its requests in flight a closed loop is invalid.
const ENOUGH_IN_FLIGHT: f64 = 0.9;
/// Whatever else makes a level invalid, and no busy machine does.
const NEVER: [&str; 3] = ["off_schedule", "records_missing", "short_of_plan"];

/// All levels of a printed summary, or of the two that `--versus` prints.
pub(crate) fn levels_of(printed: &Value) -> Vec<Value> {
    let sides = [printed, &printed["a"], &printed["b"]];
    sides.iter().filter_map(|summary| summary["levels"].as_array()).flatten().cloned().collect()
}

/// All levels of the runs in a directory and those within it.
pub(crate) fn levels_under(directory: &Path) -> Vec<Value> {
    let mut levels = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_dir() {
            levels.extend(levels_under(&entry.path()));
        } else if entry.file_name() == "summary.json" {
            let text = std::fs::read_to_string(entry.path()).unwrap();
            levels.extend(levels_of(&serde_json::from_str(&text).unwrap()));
        }
    }
    levels
}

/// What is wrong with the verdicts of a run or with its exit status, which would be `usual` if no level were
/// invalid.
pub(crate) fn amiss(levels: &[Value], status: Option<i32>, usual: i32) -> Option<String> {
    if levels.is_empty() {
        return Some("nothing was measured".to_owned());
    }
    let wrong = levels.iter().find_map(|level| Some((level, unfounded(level)?)));
    if let Some((level, wrong)) = wrong {
        return Some(format!("{}: {wrong}", level["label"]));
    }
    let of_client = |level: &Value| is_invalid(level) && !all_failed(level);
    let right = if levels.iter().any(of_client) { 4 } else { usual };
    (status != Some(right)).then(|| format!("the exit status is not {right}"))
}

fn is_invalid(level: &Value) -> bool {
    level["verdict"] == "invalid"
}

/// Everything failed: the level says nothing, but that is the server's doing.
fn all_failed(level: &Value) -> bool {
    level["requests"]["completed"] == 0
        && codes(&level["reasons"]).iter().any(|code| code == "nothing_completed")
}

/// A reason of one of several agents: all of them together may still know the metrics.
fn of_an_agent(level: &Value) -> bool {
    let mut reasons = level["reasons"].as_array().into_iter().flatten();
    reasons.any(|reason| reason["what"].as_str().is_some_and(|what| what.starts_with("agent ")))
}

/// On a busy machine one of several agents may start late, which is a reason whatever the metrics are.
fn started_apart(level: &Value, reasons: &[String]) -> bool {
    let agents = level["agents"].as_array().into_iter().flatten();
    let errors = agents.filter_map(|agent| agent["start_error_ms"].as_f64());
    reasons.iter().any(|reason| reason == "start_skew")
        && errors.fold(0.0, |most, error| error.abs().max(most)) > 1.0
}

/// What is wrong with a level's verdict: it is invalid and its metrics are good, or the other way round.
fn unfounded(level: &Value) -> Option<String> {
    let off = off(level);
    let reasons = codes(&level["reasons"]);
    if let Some(code) = NEVER.iter().find(|code| reasons.iter().any(|reason| reason == *code)) {
        return Some(format!("no busy machine makes a level {code}"));
    }
    // That the server's cache answered is a reason of another kind; and so is a burst that a busy machine sent one by one.
    let apart = ["cached_random", "burst_spread"];
    let apart = reasons.iter().any(|reason| apart.contains(&reason.as_str()))
        || all_failed(level)
        || of_an_agent(level);
    match (is_invalid(level), off.is_empty()) {
        (true, true) if apart || started_apart(level, &reasons) => None,
        (true, true) => Some(format!("it is invalid, and its metrics are good: {reasons:?}")),
        (false, false) => Some(format!("it is not invalid, and {off:?} are off")),
        _ => None,
    }
}

/// The metrics of a level that the client cannot tell.
fn off(level: &Value) -> Vec<String> {
    let mut off = Vec::new();
    let between = if level["itl_ms"].is_null() { "chunk_gap_ms" } else { "itl_ms" };
    let mut times = vec!["ttft_ms", between, "tpot_ms", "latency_ms"];
    if matches!(level["load"]["kind"].as_str(), Some("rate" | "trace" | "ramp")) {
        times.extend(["ttft_scheduled_ms", "latency_scheduled_ms"]);
    }
    for time in times {
        let (floor, per_token): (f64, bool) = match time {
            "ttft_ms" | "latency_ms" | "ttft_scheduled_ms" | "latency_scheduled_ms" => (0.5, false),
            _ => (0.05, true),
        };
        let times = &level[time];
        for statistic in ["mean", "p50"] {
            let Some(value) = times[statistic].as_f64() else { continue };
            let scale = if per_token { value.max(times["mean"].as_f64().unwrap()) } else { value };
            if error(value, &times["instrument"][statistic]) > floor.max(MOST * scale) {
                off.push(format!("{time} {statistic}"));
            }
        }
    }
    let instrument = &level["instrument"];
    let whole = &level["throughput"];
    let work = if level["steady"].is_null() { whole } else { &level["steady"] };
    for rate in ["requests_per_s", "output_tokens_per_s"] {
        let Some(value) = work[rate].as_f64() else { continue };
        if error(value, &instrument["throughput"][rate]) > MOST * value {
            off.push(rate.to_owned());
        }
    }
    let in_flight = instrument["effective_concurrency"].as_f64();
    if in_flight.is_some_and(|share| share < ENOUGH_IN_FLIGHT) {
        off.push("requests in flight".to_owned());
    }
    let spread = level["client"]["send_lag_ms"]["p99"].as_f64();
    let latency = level["latency_ms"]["p50"].as_f64();
    if level["load"]["kind"] == "burst"
        && spread.zip(latency).is_some_and(|(spread, latency)| spread > MOST * latency)
    {
        off.push("the burst".to_owned());
    }
    off
}

fn error(value: f64, range: &Value) -> f64 {
    let [Some(low), Some(high)] = [0, 1].map(|end| range[end].as_f64()) else { return 0.0 };
    (high - value).max(value - low)
}
