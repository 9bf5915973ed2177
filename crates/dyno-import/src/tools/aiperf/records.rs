//! AIPerf's `profile_export.jsonl`: one request per line. All lines together are one level; how requests
//! were offered is not in them. The first versions have other names for some fields.

use super::export::first_name;
use crate::level::stated::{Offered, StatedLevel, unit_ms};
use crate::level::{Ended, RunHead, Sample};
use crate::reading::Reading;
use dyno_form::json::{at, list, number, text, whole};
use dyno_model::Diagnostic;
use dyno_model::load::LoadKind;
use dyno_model::summary::{Origin, Recognised};
use dyno_words::Problem;
use serde_json::Value;

/// The requests of a file, while it is read.
#[derive(Debug, Default)]
pub(crate) struct Records {
    samples: Vec<Sample>,
    /// Of the first one.
    origin: Option<Origin>,
    strange_units: u64,
}

/// It is one request.
pub(super) fn recognise(value: &Value) -> Option<Recognised> {
    at(value, &["metrics"])?.as_object()?;
    if at(value, &["metadata", "request_start_ns"]).is_some() {
        return Some(Recognised::certain(["metadata.request_start_ns", "metrics"]));
    }
    at(value, &["metadata", "timestamp_ns"])?;
    at(value, &["metadata", "credit_phase"])?;
    Some(Recognised::certain(["metadata.timestamp_ns", "metadata.credit_phase", "metrics"]))
}

/// Reads one request.
pub(crate) fn read(reading: &mut Reading, line: u64, value: &Value) {
    let origin = reading.origin("aiperf", line);
    reading.records.add(origin, line, value, &mut reading.problems);
}

impl Records {
    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.samples.is_empty()
    }

    /// One line of the file.
    fn add(&mut self, origin: Origin, line: u64, value: &Value, problems: &mut Vec<Diagnostic>) {
        self.origin.get_or_insert(origin);
        let given = |names: [&str; 2]| names.iter().find_map(|name| at(value, &["metadata", name]));
        let sent = given(["request_start_ns", "timestamp_ns"]).and_then(Value::as_f64);
        let sent = sent.map(|ns| ns / 1e9);
        let Some(sent) = sent.filter(|sent| *sent > 0.0) else {
            problems.push(Diagnostic::from(Problem::RequestUntimed).at(line));
            return;
        };
        let ended = number(value, &["metadata", "request_end_ns"]).map(|ns| ns / 1e9 - sent);
        let phase = given(["benchmark_phase", "credit_phase"]).and_then(Value::as_str);
        let cancelled = at(value, &["metadata", "was_cancelled"]).and_then(Value::as_bool);
        let error = at(value, &["error"]).filter(|error| !error.is_null());
        let tokens = |name: &str| number(value, &["metrics", name, "value"]).and_then(whole);
        let status = error.and_then(|error| number(error, &["code"])).and_then(whole);
        let sample = Sample {
            sent: Some(sent),
            ttft: self.seconds(value, "time_to_first_token"),
            latency: self.seconds(value, "request_latency"),
            end: ended.filter(|end| *end >= 0.0),
            gaps: self.gaps(value),
            input: tokens("input_sequence_length"),
            output: tokens("output_sequence_length"),
            ended: match error {
                _ if cancelled == Some(true) => Ended::Unfinished,
                Some(error) => Ended::Failed(text(error, &["message"]).unwrap_or_default()),
                None => Ended::Completed,
            },
            status: status.and_then(|status| u16::try_from(status).ok()),
            warmup: phase == Some("warmup"),
            // When it was due, before it was passed to the process that sends it.
            scheduled: number(value, &["metadata", "credit_issued_ns"])
                .map(|ns| ns / 1e9)
                .filter(|due| *due > 0.0 && *due <= sent),
        };
        self.samples.push(sample);
    }

    /// A time in seconds, by its own unit.
    fn seconds(&mut self, value: &Value, metric: &str) -> Option<f64> {
        let named = |name: &&str| at(value, &["metrics", name]).is_some();
        let metric = [metric, first_name(metric)].into_iter().find(named)?;
        let given = number(value, &["metrics", metric, "value"])?;
        Some(given * self.unit_s(value, metric)?)
    }

    fn gaps(&mut self, value: &Value) -> Vec<f64> {
        let metric = "inter_chunk_latency";
        let Some(gaps) = list(value, &["metrics", metric, "value"]) else { return Vec::new() };
        let Some(unit_s) = self.unit_s(value, metric) else { return Vec::new() };
        gaps.iter().filter_map(Value::as_f64).map(|gap| gap * unit_s).collect()
    }

    fn unit_s(&mut self, value: &Value, metric: &str) -> Option<f64> {
        let unit = text(value, &["metrics", metric, "unit"]);
        let found = unit.as_deref().and_then(unit_ms);
        self.strange_units += u64::from(found.is_none());
        Some(found? / 1e3)
    }

    /// The level of all requests, if there are any.
    pub(crate) fn finish(self, problems: &mut Vec<Diagnostic>) -> Option<(RunHead, StatedLevel)> {
        let origin = self.origin.filter(|_| !self.samples.is_empty())?;
        if self.strange_units > 0 {
            problems.push(Problem::TimesWithoutUnit.with([self.strange_units]).at(origin.line));
        }
        let mut found = StatedLevel::new(Offered::plain(LoadKind::Unknown));
        found.samples = Some(self.samples);
        Some((RunHead::new(origin), found))
    }
}
