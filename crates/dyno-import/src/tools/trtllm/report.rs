//! The report that `trtllm-bench` saves with `--report_json`.

use super::fill;
use crate::level::{Offered, RunHead, StatedLevel};
use crate::reading::{Group, Reading};
use dyno_form::json::{at, figures, number, text, whole};
use dyno_model::load::LoadKind;
use dyno_model::summary::{Origin, Recognised, Reported};
use dyno_words::Problem;
use serde_json::Value;

/// It is a report.
pub(super) fn recognise(value: &Value) -> Option<Recognised> {
    let performance = at(value, &["performance"])?;
    let by = ["total_latency_ms", "request_throughput_req_s"];
    let known = by.iter().all(|name| performance.get(name).is_some());
    known.then(|| Recognised::certain(["performance.total_latency_ms", "request_throughput_req_s"]))
}

/// The values that a level has, by the sections that have them.
const SECTIONS: [&str; 3] = ["request_info", "performance", "streaming_metrics"];

/// Reads a report.
pub(super) fn read(reading: &mut Reading, line: u64, value: &Value) {
    let mut found = StatedLevel::new(Offered::plain(LoadKind::Unknown));
    let stated = &mut found.stated;
    let group = |group: &str| match group {
        "latency" => at(value, &["performance", "request_latency_percentiles_ms"]),
        "ttft" => at(value, &["streaming_metrics", "ttft_percentiles"]),
        _ => at(value, &["streaming_metrics", "tpot_percentiles"]),
    };
    fill(
        stated,
        &|name| SECTIONS.iter().find_map(|section| number(value, &[section, name])),
        &|of, stat| number(group(of)?, &[stat]),
    );
    stated.input_length = length(value, "isl_stats");
    stated.output_length = length(value, "osl_stats");
    let mut figures = figures(value);
    figures.retain(|name, _| SECTIONS.iter().any(|section| name.starts_with(section)));
    stated.reported = Some(Reported { file: None, line: Some(line), figures });
    if stated.load.kind == LoadKind::Unknown {
        found.note(&mut reading.problems, Problem::LoadNotStated.with(["trtllm-bench"]));
    }
    let model = text(value, &["engine", "model"]);
    let version = text(value, &["engine", "version"]);
    let key = format!("trtllm-bench {model:?} {version:?}");
    let origin = Origin { version, ..reading.origin("trtllm-bench", line) };
    let head = RunHead { label: model.clone(), model, ..RunHead::new(origin) };
    reading.add(Group { key, head }, found);
}

/// The length of all requests of the data, if it is the same.
fn length(value: &Value, stats: &str) -> Option<u32> {
    let stat = |name: &str| number(value, &["dataset", stats, name]);
    let longest = stat("maximum").filter(|longest| stat("minimum") == Some(*longest))?;
    u32::try_from(whole(longest)?).ok().filter(|length| *length > 0)
}
