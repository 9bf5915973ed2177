//! Whether two runs are the same results: in two forms, such as a tool's JSON and its CSV, or in two files
//! of the same form, such as a result and the summary of a sweep.

use crate::tools::llm_d;
use dyno_analysis::RunResults;
use dyno_model::LevelSummary;
use dyno_model::metric::Time;
use std::collections::HashMap;

/// Tools print at least three digits, or two after the point.
const MERE_ROUNDING: f64 = 0.006;
const LAST_DIGIT: f64 = 0.005_1;
/// So many values must be in both, and equal.
const LEAST: usize = 3;

/// So many values must be no whole numbers: others are often equal by chance.
const LEAST_FRACTIONS: usize = 5;

/// The results of files that were read so far, each with the first file it was in.
#[derive(Debug, Default)]
pub(crate) struct Seen(HashMap<String, String>);

impl Seen {
    /// The other file in which the tool wrote exactly the same values, if there is one.
    pub(crate) fn elsewhere(
        &mut self,
        tool: &str,
        file: &str,
        level: &LevelSummary,
    ) -> Option<String> {
        let values = &level.reported.as_ref()?.figures;
        let fractions = values.values().filter(|value| value.fract() != 0.0).count();
        if fractions < LEAST_FRACTIONS {
            return None;
        }
        let first = self.0.entry(format!("{tool} {values:?}")).or_insert_with(|| file.to_owned());
        (first != file).then(|| first.clone())
    }
}

/// Whether each level of `copy` is one of `full`, by the values that both state.
pub(crate) fn same_results(full: &RunResults, copy: &RunResults) -> bool {
    let [Some(a), Some(b)] = [full, copy].map(|run| run.summary.run.origin.as_ref()) else {
        return false;
    };
    let found = |level: &LevelSummary| full.stated.iter().any(|one| same(one, level));
    let same_tool = a.tool == b.tool && kind(&a.form) != kind(&b.form);
    let may_be = same_tool || (a.tool != b.tool && is_converted(copy));
    may_be && !copy.stated.is_empty() && copy.stated.iter().all(found)
}

/// `json` of `json 0.2`. Two files of one kind are two results, however alike.
fn kind(form: &str) -> &str {
    form.split(' ').next().unwrap_or(form)
}

/// Whether it was made of another tool's results, as llm-d's reports are.
pub(crate) fn is_converted(run: &RunResults) -> bool {
    run.summary.run.origin.as_ref().is_some_and(|origin| origin.tool == llm_d::NAME)
}

fn same(a: &LevelSummary, b: &LevelSummary) -> bool {
    let pairs = values(a).into_iter().zip(values(b));
    let both: Vec<(f64, f64)> = pairs.filter_map(|(a, b)| a.zip(b)).collect();
    let equal = |(a, b): &(f64, f64)| {
        (a - b).abs() <= (MERE_ROUNDING * a.abs().max(b.abs())).max(LAST_DIGIT)
    };
    both.len() >= LEAST && both.iter().all(equal)
}

fn values(level: &LevelSummary) -> Vec<Option<f64>> {
    let mean = |time| {
        level.times[time].as_ref().and_then(|one: &dyno_model::summary::Distribution| one.mean)
    };
    vec![
        level.requests.completed.map(|count| count as f64),
        level.throughput.requests_per_s,
        level.throughput.output_tokens_per_s,
        mean(Time::Ttft),
        mean(Time::Latency),
        mean(Time::Tpot),
    ]
}
