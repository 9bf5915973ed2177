//! The files of vLLM's `bench sweep`: a folder for each combination of options, with a result for each
//! run, all of them in `summary.json`, a warm-up that is not to be counted, and what failed. Results
//! themselves are those of `result`.

use crate::form::json::{number, text};
use crate::reading::Reading;
use dyno_model::summary::Recognised;
use dyno_words::{Problem, values};
use serde_json::Value;

/// The result of a warm-up; runs are numbered from 0.
pub(super) fn is_warmup(value: &Value) -> bool {
    number(value, &["run_number"]).is_some_and(|run| run < 0.0)
}

/// It tells why a run, or a server, failed.
pub(super) fn is_failure(value: &Value) -> Option<Recognised> {
    let by = ["error_type", "error", "serve_overrides"];
    by.iter().all(|name| value.get(name).is_some()).then(|| Recognised::certain(by))
}

/// There is nothing to read, but a reason.
pub(super) fn read_failure(reading: &mut Reading, line: u64, value: &Value) {
    let words = |name: &str| text(value, &[name]).unwrap_or_default();
    let failed = Problem::SweepFailed.with(values![words("error_type"), words("error")]);
    reading.problems.push(failed.at(line));
}
