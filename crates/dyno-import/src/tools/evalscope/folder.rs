//! The folders of EvalScope runs: each holds the summary, the percentiles and the requests of one
//! level; folders beside each other are a sweep.

use super::database;
use super::summary::{add_percentiles, recognise, recognise_percentiles, settle, summary};
use crate::ImportError;
use crate::level::{Offered, RunHead, Sample, StatedLevel};
use crate::reading::Reading;
use dyno_form::file;
use dyno_form::json;
use dyno_form::sqlite::with_log;
use dyno_model::load::LoadKind;
use dyno_model::summary::Recognised;
use dyno_words::{Problem, named};
use serde_json::Value;
use std::path::{Path, PathBuf};

const SUMMARY: &str = "benchmark_summary.json";
const PERCENTILES: &str = "benchmark_percentile.json";
const DATABASE: &str = "benchmark_data.db";
const ARGUMENTS: &str = "benchmark_args.json";

/// Whether a folder holds the results of a run.
pub(crate) fn is_run(folder: &Path) -> bool {
    [SUMMARY, PERCENTILES, DATABASE].iter().any(|file| folder.join(file).is_file())
}

/// Whether a file in the folder of a run is a part of it.
pub(crate) fn is_own(file: &Path) -> bool {
    let name = crate::directory::name_of(file);
    let own = [SUMMARY, PERCENTILES, DATABASE, ARGUMENTS];
    // The log has the same results, printed; a database may have a log of its own.
    own.contains(&name.as_str()) || name.ends_with(".log") || name.starts_with(DATABASE)
}

/// Reads the folders of a sweep, in this order, as the levels of one run.
pub(crate) fn sweep(name: &str, folders: &[PathBuf]) -> Result<Reading, ImportError> {
    let mut reading = Reading::of_form(name, "folder", Recognised::certain([SUMMARY]));
    let origin = reading.origin("evalscope", None);
    let mut head = RunHead { label: Some(name.to_owned()), ..RunHead::new(origin) };
    let mut levels = Vec::new();
    for folder in folders {
        levels.extend(level(folder, &mut head, &mut reading)?);
    }
    if !levels.is_empty() {
        reading.add_run(head, levels);
    }
    Ok(reading)
}

/// The level of one folder.
fn level(
    folder: &Path,
    head: &mut RunHead,
    reading: &mut Reading,
) -> Result<Option<StatedLevel>, ImportError> {
    let name = crate::directory::name_of(folder);
    let stated =
        document(&folder.join(SUMMARY), &name, |value| recognise(value).is_some(), reading)?;
    let percentiles = document(
        &folder.join(PERCENTILES),
        &name,
        |value| recognise_percentiles(value).is_some(),
        reading,
    )?;
    let arguments = document(&folder.join(ARGUMENTS), &name, Value::is_object, reading)?;
    let samples = requests(&folder.join(DATABASE), &name, head, reading)?;
    if stated.is_none() && percentiles.is_none() && samples.is_empty() {
        return Ok(None);
    }
    let mut found = match stated {
        Some((line, value)) => summary(line, &value),
        None => StatedLevel::new(by_name(&name)),
    };
    if let Some((_, rows)) = percentiles {
        add_percentiles(&mut found.stated, &rows);
    }
    settle(&mut found, &mut reading.problems);
    if let Some((_, arguments)) = arguments {
        let given = |name: &str| json::text(&arguments, &[name]);
        head.model = given("model_id").or_else(|| given("model")).or_else(|| head.model.take());
        head.target = given("url").or_else(|| head.target.take());
        let length = |least: &str, most: &str| {
            let [least, most] = [least, most].map(|name| json::count(&arguments, &[name]));
            most.filter(|most| least == Some(*most)).and_then(|most| u32::try_from(most).ok())
        };
        found.stated.input_length = length("min_prompt_length", "max_prompt_length");
        found.stated.output_length = length("min_tokens", "max_tokens");
    }
    found.samples = (!samples.is_empty()).then_some(samples);
    Ok(Some(found))
}

/// How requests were offered, by a folder named `parallel_4_number_20` or `rate_2.5_number_20`.
fn by_name(name: &str) -> Offered {
    let mut parts = name.split('_');
    let kind = parts.next();
    let value = parts.next().and_then(|value| value.parse::<f64>().ok());
    match (kind, value.filter(|value| value.is_finite() && *value > 0.0)) {
        (Some("parallel"), Some(slots)) => Offered::concurrency(slots),
        (Some("rate"), Some(rate)) => Offered::rate(rate, None),
        _ => Offered::plain(LoadKind::Unknown),
    }
}

/// One JSON document of a folder, if it is there and of the right kind.
fn document(
    file: &Path,
    folder: &str,
    is_one: fn(&Value) -> bool,
    reading: &mut Reading,
) -> Result<Option<(u64, Value)>, ImportError> {
    if !file.is_file() {
        return Ok(None);
    }
    let mut read = json::documents(&file::read(file)?);
    let name = format!("{folder}/{}", crate::directory::name_of(file));
    read.problems.iter_mut().for_each(|problem| *problem = named(&name, problem));
    let broken = !read.problems.is_empty();
    reading.problems.append(&mut read.problems);
    let found = read.values.into_iter().find(|(_, value)| is_one(value));
    if found.is_none() && !broken {
        reading.problems.push(Problem::NotEvalscope.with([name]));
    }
    Ok(found)
}

fn requests(
    file: &Path,
    folder: &str,
    head: &mut RunHead,
    reading: &mut Reading,
) -> Result<Vec<Sample>, ImportError> {
    if !file.is_file() {
        return Ok(Vec::new());
    }
    let (bytes, log_problem) = with_log(file, file::read(file)?);
    let found = database::read(&bytes);
    head.model = head.model.take().or(found.model);
    let unread = log_problem.is_some();
    let name = format!("{folder}/{DATABASE}");
    let problems = found.problems.iter().chain(&log_problem);
    reading.problems.extend(problems.map(|problem| named(&name, problem)));
    // A part of the requests would give other results.
    Ok(if unread { Vec::new() } else { found.samples })
}
