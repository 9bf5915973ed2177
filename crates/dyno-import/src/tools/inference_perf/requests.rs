//! `per_request_lifecycle_metrics.json`: an array of all requests of a run, of every stage and without its
//! number. Times are by a clock that does not count from 1970.

use super::NAME;
use crate::level::{Ended, Sample};
use crate::reading::Reading;
use dyno_form::json::{at, count, list, number, text};
use dyno_model::summary::Recognised;
use serde_json::Value;

/// It is an array of requests.
pub(super) fn recognise(value: &Value) -> Option<Recognised> {
    let one = value.as_array()?.first()?;
    let by = ["start_time", "end_time", "error"];
    let told = ["info", "computed_metrics", "request"].iter().any(|name| one.get(name).is_some());
    (told && by.iter().all(|name| one.get(name).is_some())).then(|| Recognised::likely(by))
}

/// Reads all of them.
pub(super) fn read(reading: &mut Reading, line: u64, value: &Value) {
    let Some(requests) = value.as_array() else { return };
    let origin = reading.origin(NAME, line);
    reading.lifecycle.requests(origin, requests.iter().map(sample).collect());
}

fn sample(request: &Value) -> Sample {
    let sent = number(request, &["start_time"]);
    let since = |time: f64| Some(time - sent?).filter(|time| *time >= 0.0);
    let first_of = |paths: &[&[&str]]| paths.iter().find_map(|path| count(request, path));
    let times = list(request, &["info", "response_metrics", "output_token_times"])
        .or_else(|| list(request, &["info", "output_token_times"]));
    let times = times.map_or(&[][..], Vec::as_slice);
    // With one time only, the response was not streamed.
    let streamed = times.len() > 1;
    let time = |one: Option<&Value>| since(one.filter(|_| streamed)?.as_f64()?);
    let end = number(request, &["end_time"]).and_then(since);
    let error = at(request, &["error"]).filter(|error| !error.is_null());
    let kind = error.and_then(|error| text(error, &["error_type"]));
    Sample {
        sent,
        ttft: time(times.first())
            .or_else(|| number(request, &["computed_metrics", "time_to_first_token"])),
        latency: time(times.last()).or(end),
        end,
        input: first_of(&[
            &["info", "request_metrics", "text", "input_tokens"],
            &["info", "input_tokens"],
            &["computed_metrics", "input_tokens"],
        ]),
        output: first_of(&[
            &["info", "response_metrics", "output_tokens"],
            &["info", "output_tokens"],
            &["computed_metrics", "output_tokens"],
        ]),
        ended: error.map_or(Ended::Completed, |error| {
            let told = |name: &str| text(error, &[name]).unwrap_or_default();
            Ended::Failed(format!("{} {}", told("error_type"), told("error_msg")).trim().to_owned())
        }),
        status: kind.and_then(|kind| kind.strip_prefix("HTTP Error ")?.parse().ok()),
        ..Sample::default()
    }
}
