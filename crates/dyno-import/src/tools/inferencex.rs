//! InferenceX (formerly InferenceMAX): what its pipeline makes of a benchmark's result, one row for each
//! concurrency and configuration of the server, alone or in a list (`agg_bmk.json`). Times are in
//! seconds. Rows of fixed lengths come from vLLM's benchmark and have times only; rows of agents come
//! from AIPerf. Values per GPU and interactivity are only reported.

use super::{Document, Tool};
use crate::level::RunHead;
use crate::level::stated::{Offered, StatedLevel, distribution_of, present, tokens};
use crate::reading::{Group, Reading};
use dyno_form::json::{amount, at, count, figures, number, text, whole};
use dyno_model::load::LoadKind;
use dyno_model::metric::Time;
use dyno_model::summary::{Distribution, Recognised, Reported};
use serde_json::Value;

const SECOND_MS: f64 = 1e3;

pub(super) const TOOL: Tool = Tool {
    name: "inferencex",
    kinds: &[[
        "results of InferenceX (JSON: `agg_bmk`, single rows, agentic)",
        "InferenceX 的结果（JSON：`agg_bmk`、单行、智能体）",
    ]],
    documents: &[Document { recognise, read }],
    signs: &["\"tput_per_gpu\"", "\"infmax_model_prefix\""],
    ..super::NOTHING
};

/// It is a row.
fn recognise(value: &Value) -> Option<Recognised> {
    let has = |path: &[&str]| at(value, path).is_some();
    let rate = [&["tput_per_gpu"][..], &["metrics", "tput_per_gpu"]];
    if has(&["conc"]) && rate.iter().any(|path| has(path)) {
        return Some(Recognised::certain(["conc", "tput_per_gpu"]));
    }
    let agents = has(&["conc"]) && has(&["scenario_type"]) && has(&["request_metrics", "latency"]);
    agents.then(|| Recognised::certain(["conc", "scenario_type", "request_metrics"]))
}

/// Where the values of a row are, which changed.
struct Row<'a> {
    row: &'a Value,
    values: &'a Value,
    /// Agents: values of `request_metrics`, or AIPerf's by the names of the others.
    agents: bool,
}

impl<'a> Row<'a> {
    fn of(row: &'a Value) -> Self {
        let nested = ["metrics", "request_metrics"].iter().find_map(|name| row.get(name));
        let scenario = text(row, &["scenario_type"]).or_else(|| text(row, &["benchmark_type"]));
        let agents = scenario.is_some_and(|name| name.contains("agentic"))
            || row.get("num_requests_successful").is_some();
        Self { row, values: nested.unwrap_or(row), agents }
    }

    fn number(&self, flat: &str, nested: &[&str]) -> Option<f64> {
        number(self.values, &[flat]).or_else(|| number(self.values, nested))
    }

    fn times(&self, name: &str) -> Option<Distribution> {
        distribution_of(SECOND_MS, |stat| {
            self.number(&format!("{stat}_{name}"), &["latency", name, stat])
        })
    }

    /// A word of the configuration.
    fn word(&self, name: &str) -> Option<String> {
        let said = match at(self.row, &[name])? {
            Value::String(text) => text.trim().to_owned(),
            Value::Number(number) => number.to_string(),
            Value::Bool(flag) => flag.to_string(),
            _ => return None,
        };
        let nothing = ["", "none", "false", "off"].contains(&said.as_str());
        (!nothing).then_some(said)
    }

    /// The configuration of the server: rows with the same are the levels of one run.
    fn label(&self) -> Option<String> {
        let plain = ["hw", "hardware", "device", "framework", "precision"];
        let numbered = [
            ("tp", "tp"),
            ("ep", "ep"),
            ("pp", "pp"),
            ("prefill_tp", "prefill tp"),
            ("decode_tp", "decode tp"),
            ("dp_attention", "dp attention "),
            ("disagg", "disaggregated "),
            ("spec_decoding", "speculation "),
            ("offloading", "offloading "),
            ("kv_offloading", "offloading "),
            ("kv_offload_backend", "to "),
            ("isl", "input "),
            ("osl", "output "),
        ];
        let words = plain.iter().filter_map(|name| self.word(name));
        let is_one = at(self.row, &["disagg"]).and_then(Value::as_bool) == Some(false);
        let others = numbered.iter().filter_map(|(name, before)| {
            let said = self.word(name).filter(|_| !(is_one && *name == "decode_tp"))?;
            let before = if is_one { before.trim_start_matches("prefill ") } else { before };
            Some(if said == "true" { before.trim().to_owned() } else { format!("{before}{said}") })
        });
        let all: Vec<String> = words.chain(others).collect();
        (!all.is_empty()).then(|| all.join(", "))
    }

    /// The GPUs by which the tool divides.
    fn gpus(&self) -> Option<u32> {
        let number = |name: &str| at(self.row, &[name]).and_then(amount).and_then(whole);
        // Without disaggregation both are the same GPUs.
        let is_apart = at(self.row, &["disagg"]).and_then(Value::as_bool) != Some(false);
        let apart = || {
            let [prefill, decode] = ["num_prefill_gpu", "num_decode_gpu"].map(number);
            Some(if is_apart { prefill? + decode? } else { prefill?.max(decode?) })
        };
        let together = || {
            let sizes = ["pp", "pcp_size"].map(|name| number(name).unwrap_or(1));
            sizes.iter().try_fold(number("tp")?, |gpus, size| gpus.checked_mul(*size))
        };
        let gpus = apart().or_else(together)?;
        u32::try_from(gpus).ok().filter(|gpus| *gpus > 0)
    }

    /// Requests that failed. The total includes warm-up, and in early versions leaves failures out.
    fn failed(&self) -> Option<u64> {
        let get = |name: &str| count(self.row, &["request_accounting", name]);
        let failed = get("records_error_dropped")?;
        let others = get("records_profiled")? + get("records_warmup_dropped")?;
        // Otherwise some failed during warm-up.
        (get("records_total")? == others + failed).then_some(failed)
    }
}

/// Reads a row.
fn read(reading: &mut Reading, line: u64, value: &Value) {
    let row = Row::of(value);
    let slots = at(value, &["conc"]).and_then(amount).filter(|slots| *slots >= 1.0);
    let mut found = StatedLevel::new(match slots {
        Some(slots) => Offered::concurrency(slots),
        None => Offered::plain(LoadKind::Unknown),
    });
    let stated = &mut found.stated;
    stated.reported = Some(Reported { file: None, line: Some(line), figures: figures(value) });
    stated.times[Time::Ttft] = row.times("ttft");
    stated.times[Time::Tpot] = row.times("tpot");
    stated.times[Time::Latency] = row.times("e2el");
    if !row.agents {
        // AIPerf's is another name of the time per output token.
        stated.times[Time::ChunkGap] = row.times("itl");
    }
    let done = count(value, &["num_requests_successful"]);
    stated.requests.completed = done;
    stated.requests.failed = row.failed();
    let duration = row.number("duration_seconds", &["throughput", "duration_seconds"]);
    let duration = duration.filter(|duration| *duration > 0.0);
    let per_s = |name: &str, nested: &str| {
        present(row.number(name, &["throughput", nested, "tokens_per_second"]))
    };
    stated.duration_s = present(duration);
    stated.throughput.requests_per_s =
        present(done.zip(duration).map(|(done, duration)| done as f64 / duration));
    stated.throughput.output_tokens_per_s = per_s("output_tput_tps", "output");
    stated.throughput.total_tokens_per_s = per_s("total_tput_tps", "total");
    let mean = |flat: &str, nested: &str| row.number(flat, &["tokens", nested, "mean"]);
    stated.input_tokens = tokens(None, mean("mean_input_tokens", "input"), None);
    stated.output_tokens = tokens(None, mean("mean_output_tokens_actual", "output_actual"), None);
    let model = text(value, &["model"]);
    let head = RunHead {
        label: row.label(),
        model: model.clone(),
        gpus: row.gpus(),
        ..RunHead::new(reading.origin("inferencex", line))
    };
    let key = format!("inferencex {model:?} {:?} {:?}", head.label, text(value, &["image"]));
    reading.add(Group { key, head }, found);
}
