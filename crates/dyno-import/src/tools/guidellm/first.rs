//! Reports of guidellm 0.1: reports within a report, each with benchmarks that only contain their
//! single requests, so that every metric is computed.

use crate::level::stated::{Offered, StatedLevel};
use crate::level::{Ended, RunHead, Sample};
use crate::reading::{MOST_LEVELS, Reading};
use dyno_form::json::{count, list, number, text};
use dyno_model::load::LoadKind;
use dyno_model::plan::Arrival;
use dyno_model::summary::{Origin, Recognised, Reported};
use dyno_words::Problem;
use serde_json::Value;
use std::collections::BTreeMap;

/// It is a report, or contains some.
pub(super) fn recognise(value: &Value) -> Option<Recognised> {
    let inner = list(value, &["benchmarks"])?;
    let own = |one: &Value| one.get("mode").is_some() && one.get("results").is_some();
    let within = |one: &Value| list(one, &["benchmarks"]).is_some_and(|all| all.iter().any(own));
    let known = inner.iter().any(|one| own(one) || within(one));
    known.then(|| Recognised::certain(["benchmarks", "mode", "results"]))
}

/// Reads a report.
pub(crate) fn read(reading: &mut Reading, line: u64, value: &Value) {
    let Some(inner) = list(value, &["benchmarks"]) else { return };
    if inner.iter().any(|one| one.get("mode").is_some()) {
        return one_report(reading, line, value);
    }
    for report in inner {
        one_report(reading, line, report);
    }
}

fn one_report(reading: &mut Reading, line: u64, report: &Value) {
    let Some(benchmarks) = list(report, &["benchmarks"]) else { return };
    let model = text(report, &["args", "model"]);
    let head = RunHead {
        label: model.clone(),
        model,
        target: text(report, &["args", "target"]),
        ..RunHead::new(Origin {
            form: "json 0.1".to_owned(),
            version: Some("0.1".to_owned()),
            ..reading.origin("guidellm", line)
        })
    };
    let mut levels = Vec::new();
    for (i, benchmark) in benchmarks.iter().take(MOST_LEVELS + 1).enumerate() {
        match level(benchmark) {
            Some(level) => levels.push(level),
            None => reading.problems.push(Problem::NoRequests.with([i + 1]).at(line)),
        }
    }
    if !levels.is_empty() {
        reading.add_run(head, levels);
    }
}

fn level(benchmark: &Value) -> Option<StatedLevel> {
    let results = list(benchmark, &["results"])?;
    let errors = list(benchmark, &["errors"]).map_or(&[][..], Vec::as_slice);
    let mut found = StatedLevel::new(offered(benchmark));
    let figures: BTreeMap<String, f64> =
        number(benchmark, &["rate"]).map(|rate| ("rate".to_owned(), rate)).into_iter().collect();
    found.stated.reported = Some(Reported { file: None, line: None, figures });
    let failed = errors.iter().map(|error| Sample {
        ended: Ended::Failed(text(error, &["message"]).unwrap_or_default()),
        ..Sample::default()
    });
    let all: Vec<Sample> = results.iter().map(sample).chain(failed).collect();
    if all.is_empty() {
        return None;
    }
    found.samples = Some(all);
    Some(found)
}

fn offered(benchmark: &Value) -> Offered {
    let rate = number(benchmark, &["rate"]).filter(|rate| *rate > 0.0);
    match (text(benchmark, &["mode"]).as_deref(), rate) {
        (Some("synchronous"), _) => Offered::concurrency(1.0),
        (Some("throughput"), _) => Offered::plain(LoadKind::Unlimited),
        // It may be constant or Poisson; only the arguments of the run would tell.
        (Some("asynchronous"), Some(rate)) => Offered::rate(rate, None::<Arrival>),
        _ => Offered::plain(LoadKind::Unknown),
    }
}

fn sample(result: &Value) -> Sample {
    let sent = number(result, &["start_time"]);
    let end = number(result, &["end_time"]);
    let took = sent.zip(end).map(|(sent, end)| end - sent).filter(|took| *took >= 0.0);
    // Unlike other times it is counted from the start.
    let ttft = number(result, &["first_token_time"]).filter(|ttft| *ttft >= 0.0);
    let gaps = list(result, &["decode_times", "data"]).map_or(&[][..], Vec::as_slice);
    let gaps: Vec<f64> = gaps.iter().filter_map(Value::as_f64).collect();
    let last = ttft.map(|ttft| ttft + gaps.iter().sum::<f64>());
    Sample {
        sent,
        ttft,
        latency: last.or(took),
        end: took,
        gaps,
        input: count(result, &["prompt_token_count"]),
        output: count(result, &["output_token_count"]),
        ..Sample::default()
    }
}
