//! The report: counts, rates and times. What TPOT and ITL mean is up to the tool that measured them.

use super::{NAME, load};
use crate::level::RunHead;
use crate::level::stated::{
    StatedLevel, distribution, present, rounded, started_at, tokens, unit_ms,
};
use crate::reading::{Group, Reading};
use dyno_form::json::{at, count, figures, list, number, text};
use dyno_model::metric::Time;
use dyno_model::summary::{Distribution, Origin, Recognised, Reported, Tokens};
use dyno_model::when::{parse_utc, utc};
use dyno_model::{Diagnostic, LevelSummary};
use dyno_words::{Problem, values};
use serde_json::Value;

/// The tool that produced the load and measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Generator {
    Aiperf,
    Guidellm,
    InferencePerf,
    /// vLLM's benchmark and InferenceMAX, which is made of it.
    Vllm,
    Other,
}

impl Generator {
    fn of(value: &Value) -> Self {
        let name = text(value, &["scenario", "load", "standardized", "tool"])
            .or_else(|| text(value, &["scenario", "load", "name"]))
            // inference-perf's own reports have no scenario.
            .or_else(|| text(value, &["run", "uid"]))
            .unwrap_or_default();
        match name.as_str() {
            "aiperf" => Self::Aiperf,
            "guidellm" => Self::Guidellm,
            "vllm-benchmark" | "inferencemax" => Self::Vllm,
            name if name.starts_with("inference-perf") => Self::InferencePerf,
            _ => Self::Other,
        }
    }
}

/// It is one by its version and the sections of its results; several may be in a list.
pub(super) fn recognise(value: &Value) -> Option<Recognised> {
    if let Some(several) = value.as_array() {
        return recognise(several.first().filter(|one| one.is_object())?);
    }
    version(value)?;
    if at(value, &["results", "request_performance"]).is_some() {
        return Some(Recognised::certain(["version", "results.request_performance"]));
    }
    if at(value, &["results", "session_performance"]).is_some() {
        return Some(Recognised::certain(["version", "results.session_performance"]));
    }
    at(value, &["scenario"])?;
    at(value, &["metrics", "requests"])?;
    at(value, &["metrics", "latency"])?;
    Some(Recognised::certain(["scenario", "metrics.requests", "metrics.latency"]))
}

/// Reads a report, or a list of them.
pub(super) fn read(reading: &mut Reading, line: u64, value: &Value) {
    match value.as_array() {
        Some(several) => several.iter().for_each(|one| read_one(reading, line, one)),
        None => read_one(reading, line, value),
    }
}

/// The version of the report, which people write without quotes as well.
fn version(value: &Value) -> Option<String> {
    text(value, &["version"])
        .or_else(|| number(value, &["version"]).map(|number| number.to_string()))
}

fn read_one(reading: &mut Reading, line: u64, value: &Value) {
    let newer = at(value, &["results", "request_performance", "aggregate"]);
    let Some(results) = newer.or_else(|| at(value, &["metrics"])) else {
        reading.problems.push(Problem::NoRequestMetrics.with([NAME]).at(line));
        return;
    };
    let generator = Generator::of(value);
    let (offered, limited) = load::offered(value, generator);
    let mut found = StatedLevel::new(offered);
    let mut all = figures(results);
    if let Some((rate, slots)) = limited {
        all.extend([("load.rate_qps".to_owned(), rate), ("load.concurrency".to_owned(), slots)]);
    }
    found.stated.reported = Some(Reported { file: None, line: None, figures: all });
    fill(&mut found.stated, results, generator, &mut reading.problems, line);
    found.stated.duration_s = duration(value);
    if let Some((rate, slots)) = limited {
        found.note(&mut reading.problems, Problem::RateAndLimit.with(values![rate, slots]));
    }
    let origin = reading.origin(NAME, line);
    let form = format!("{} {}", origin.form, version(value).unwrap_or_default());
    let model = model(value);
    let head = RunHead {
        label: model.clone(),
        model,
        started: started(value),
        ..RunHead::new(Origin { form, ..origin })
    };
    let experiment = text(value, &["run", "eid"]).or_else(|| text(value, &["metadata", "eid"]));
    let key = format!("{NAME} {:?} {experiment:?}", head.model);
    reading.add(Group { key, head }, found);
}

fn fill(
    stated: &mut LevelSummary,
    results: &Value,
    generator: Generator,
    problems: &mut Vec<Diagnostic>,
    line: u64,
) {
    let requests = |name: &str| count(results, &["requests", name]);
    stated.requests.planned = requests("total");
    stated.requests.failed = requests("failures");
    stated.requests.censored = requests("incomplete");
    stated.requests.completed = completed(stated, generator);
    let rate = |names: &[&str]| {
        let stat = |name: &&str| {
            number(results, &["throughput", name, "mean"])
                .or_else(|| number(results, &["throughput", name]))
        };
        present(names.iter().find_map(stat))
    };
    stated.throughput.requests_per_s = rate(&["requests_per_sec", "request_rate", "requests_rate"]);
    stated.throughput.output_tokens_per_s = rate(&["output_tokens_per_sec", "output_token_rate"]);
    stated.throughput.total_tokens_per_s = rate(&["total_tokens_per_sec", "total_token_rate"]);
    let length = |name: &str| -> Option<Tokens> {
        tokens(None, number(results, &["requests", name, "mean"]), stated.requests.completed)
    };
    (stated.input_tokens, stated.output_tokens) = (length("input_length"), length("output_length"));
    let mut times = |name: &str| times(results, name, problems, line);
    stated.times[Time::Ttft] = times("time_to_first_token");
    stated.times[Time::Latency] = times("request_latency");
    let [tpot, itl] = [times("time_per_output_token"), times("inter_token_latency")];
    match generator {
        // What they call inter-token latency is the mean over a response.
        Generator::Aiperf | Generator::Guidellm => stated.times[Time::Tpot] = itl,
        Generator::Vllm => {
            stated.times[Time::Tpot] = tpot;
            stated.times[Time::ChunkGap] = itl;
        }
        // Of inference-perf it is not known whether it divided by tokens or by pieces of a response.
        Generator::InferencePerf | Generator::Other => {}
    }
}

/// Those that did not fail. Where failures are not stated, reports of vLLM's results have the completed
/// requests as all.
fn completed(stated: &LevelSummary, generator: Generator) -> Option<u64> {
    let counts = &stated.requests;
    match (counts.planned?, counts.failed) {
        (all, Some(failed)) => all.checked_sub(failed + counts.censored.unwrap_or(0)),
        (all, None) => Some(all).filter(|_| generator == Generator::Vllm),
    }
}

fn times(
    results: &Value,
    name: &str,
    problems: &mut Vec<Diagnostic>,
    line: u64,
) -> Option<Distribution> {
    let one = at(results, &["latency", name]).filter(|one| one.is_object())?;
    let unit = text(one, &["units"]).unwrap_or_default();
    let Some(in_ms) = unit_ms(unit.trim_end_matches("/token")) else {
        problems.push(Problem::TimeUnit.with([name, &unit]).at(line));
        return None;
    };
    distribution(None, in_ms, |stat| match stat {
        "std" => number(one, &["stddev"]),
        "p99.9" => number(one, &["p99p9"]),
        other => number(one, &[other]),
    })
}

fn model(value: &Value) -> Option<String> {
    let parts = list(value, &["scenario", "stack"]).map_or(&[][..], Vec::as_slice);
    let of_part = |part: &Value| text(part, &["standardized", "model", "name"]);
    parts
        .iter()
        .find_map(of_part)
        .or_else(|| text(value, &["scenario", "model", "name"]))
        .or_else(|| of_tool(at(value, &["scenario", "load", "native"])?))
        .filter(|name| name != "unknown")
}

/// The model that the tool was asked for, each in its own way.
fn of_tool(native: &Value) -> Option<String> {
    let listed = || list(native, &["config", "endpoint", "model_names"])?.first()?.as_str();
    text(native, &["config", "server", "model_name"])
        .or_else(|| text(native, &["config", "spec", "backend", "model"]))
        .or_else(|| listed().map(str::to_owned))
        .or_else(|| text(native, &["args", "model"]))
}

fn started(value: &Value) -> Option<String> {
    let written =
        || text(value, &["run", "time", "start"]).and_then(|time| parse_utc(&time)).map(utc);
    number(value, &["metrics", "time", "start"]).and_then(started_at).or_else(written)
}

/// In seconds, or `PT49.9S`.
fn duration(value: &Value) -> Option<f64> {
    let written = || seconds(&text(value, &["run", "time", "duration"])?);
    present(number(value, &["metrics", "time", "duration"]).or_else(written))
        .filter(|time| *time > 0.0)
}

/// A duration of ISO 8601, up to days: `PT1H2M3.5S`.
fn seconds(text: &str) -> Option<f64> {
    let (mut total, mut digits, mut any) = (0.0, String::new(), false);
    for letter in text.trim().strip_prefix('P')?.chars() {
        let size = match letter {
            'T' if digits.is_empty() => continue,
            'D' => 86_400.0,
            'H' => 3600.0,
            'M' => 60.0,
            'S' => 1.0,
            _ => {
                digits.push(letter);
                continue;
            }
        };
        total += digits.parse::<f64>().ok().filter(|number| number.is_finite())? * size;
        digits.clear();
        any = true;
    }
    (any && digits.is_empty()).then(|| rounded(total))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_written_in_one_way_or_another() {
        assert_eq!(seconds("PT49.972S"), Some(49.972));
        assert_eq!(seconds("PT1H2M3.5S"), Some(3723.5));
        assert_eq!(seconds("P1DT1S"), Some(86_401.0));
        for text in ["", "P", "PT", "49", "PTxS", "PT5", "PTinfS"] {
            assert_eq!(seconds(text), None, "{text}");
        }
    }
}
