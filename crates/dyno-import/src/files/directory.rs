//! Directories: of an EvalScope run, with its summary, percentiles and requests; of several such runs,
//! which are a sweep; or of any result files.

use super::evalscope::{add_percentiles, head, is_percentiles, is_summary, settle, summary};
use super::rebuild::{Head, Sample};
use super::sqlite::with_log;
use super::stated::{Found, Offered};
use super::{Reading, evalscope_database, json};
use crate::{ImportError, Imported, ImportedRun, read_limited};
use dyno_model::load::LoadKind;
use dyno_words::{Problem, named};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const SUMMARY: &str = "benchmark_summary.json";
const PERCENTILES: &str = "benchmark_percentile.json";
const DATABASE: &str = "benchmark_data.db";
const ARGUMENTS: &str = "benchmark_args.json";
/// EvalScope keeps a sweep in `outputs/TIME/NAME/parallel_N_number_M`.
const DEEPEST: usize = 4;
const MOST_FOLDERS: usize = 10_000;

/// Reads a directory.
pub(crate) fn import(path: &Path) -> Result<Imported, ImportError> {
    let unreadable = |source| ImportError::Unreadable { path: path.to_owned(), source };
    let mut sweeps: BTreeMap<PathBuf, Vec<PathBuf>> = BTreeMap::new();
    for folder in folders(path).map_err(unreadable)? {
        let above = if folder == path { path } else { folder.parent().unwrap_or(path) };
        sweeps.entry(above.to_owned()).or_default().push(folder);
    }
    if sweeps.is_empty() {
        return files(path);
    }
    let mut imported = Imported::default();
    for (above, mut folders) in sweeps {
        folders.sort_by_key(|folder| numbers(&name_of(folder)));
        let name = name_of(&above);
        let mut reading = Reading::new(&name);
        let mut head = Head { label: Some(name.clone()), ..head(&name, "folder", None) };
        let mut levels = Vec::new();
        for folder in &folders {
            levels.extend(level(folder, &mut head, &mut reading)?);
        }
        if !levels.is_empty() {
            reading.add_run(head, levels);
        }
        let mut read = reading.finish();
        imported.runs.append(&mut read.runs);
        imported.problems.append(&mut read.problems);
    }
    Ok(imported)
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// The numbers in a name, so that 16 sorts after 2.
fn numbers(name: &str) -> (Vec<u64>, String) {
    let digits = name.split(|c: char| !c.is_ascii_digit());
    (digits.filter_map(|part| part.parse().ok()).collect(), name.to_owned())
}

/// The directories at and below a path that contain the results of an EvalScope run.
fn folders(path: &Path) -> std::io::Result<Vec<PathBuf>> {
    let (mut found, mut open, mut seen) = (Vec::new(), vec![(path.to_owned(), 0)], 0);
    while let Some((folder, depth)) = open.pop() {
        seen += 1;
        if [SUMMARY, PERCENTILES, DATABASE].iter().any(|file| folder.join(file).is_file()) {
            found.push(folder);
            continue;
        }
        if depth == DEEPEST || seen > MOST_FOLDERS {
            continue;
        }
        for entry in std::fs::read_dir(&folder)? {
            let entry = entry?;
            // Links are not followed: they may form a loop.
            if entry.file_type()?.is_dir() {
                open.push((entry.path(), depth + 1));
            }
        }
    }
    Ok(found)
}

/// The level of one directory.
fn level(
    folder: &Path,
    head: &mut Head,
    reading: &mut Reading,
) -> Result<Option<Found>, ImportError> {
    let name = name_of(folder);
    let stated = document(&folder.join(SUMMARY), &name, is_summary, reading)?;
    let percentiles = document(&folder.join(PERCENTILES), &name, is_percentiles, reading)?;
    let arguments = document(&folder.join(ARGUMENTS), &name, Value::is_object, reading)?;
    let samples = requests(&folder.join(DATABASE), &name, head, reading)?;
    if stated.is_none() && percentiles.is_none() && samples.is_empty() {
        return Ok(None);
    }
    let mut found = match stated {
        Some((line, value)) => summary(line, &value),
        None => Found::new(by_name(&name)),
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

/// How requests were offered, by a directory named `parallel_4_number_20` or `rate_2.5_number_20`.
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

/// One JSON document of a directory, if it is there and of the right kind.
fn document(
    file: &Path,
    folder: &str,
    is_one: fn(&Value) -> bool,
    reading: &mut Reading,
) -> Result<Option<(u64, Value)>, ImportError> {
    if !file.is_file() {
        return Ok(None);
    }
    let mut read = json::documents(&read_limited(file)?);
    let name = format!("{folder}/{}", name_of(file));
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
    head: &mut Head,
    reading: &mut Reading,
) -> Result<Vec<Sample>, ImportError> {
    if !file.is_file() {
        return Ok(Vec::new());
    }
    let (bytes, log_problem) = with_log(file, read_limited(file)?);
    let found = evalscope_database::read(&bytes);
    head.model = head.model.take().or(found.model);
    let unread = log_problem.is_some();
    let name = format!("{folder}/{DATABASE}");
    let problems = found.problems.iter().chain(&log_problem);
    reading.problems.extend(problems.map(|problem| named(&name, problem)));
    // A part of the requests would give other results.
    Ok(if unread { Vec::new() } else { found.samples })
}

/// Every result file of a directory. Files of one tool and model are the levels of one run.
fn files(path: &Path) -> Result<Imported, ImportError> {
    let unreadable = |source| ImportError::Unreadable { path: path.to_owned(), source };
    let mut files: Vec<PathBuf> = Vec::new();
    for entry in std::fs::read_dir(path).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        if entry.file_type().map_err(unreadable)?.is_file() {
            files.push(entry.path());
        }
    }
    files.sort_by_key(|file| numbers(&name_of(file)));
    let mut reading = Reading::new(&name_of(path));
    let mut others = Imported::default();
    for file in files {
        let (bytes, log_problem) = with_log(&file, read_limited(&file)?);
        let name = name_of(&file);
        reading.problems.extend(log_problem);
        if json::looks_like_json(&bytes) {
            let before = reading.problems.len();
            reading.name.clone_from(&name);
            reading.documents(&bytes);
            reading.problems[before..]
                .iter_mut()
                .for_each(|problem| *problem = named(&name, problem));
        } else if let Some(mut read) = super::recognise(&name, &bytes) {
            read.problems.iter_mut().for_each(|problem| *problem = named(&name, problem));
            others.runs.append(&mut read.runs);
            others.problems.append(&mut read.problems);
        }
    }
    let mut imported = reading.finish();
    // AIPerf writes the same results as CSV.
    let tool =
        |run: &ImportedRun| run.summary.run.origin.as_ref().map(|origin| origin.tool.clone());
    let stated: Vec<_> = imported.runs.iter().map(tool).collect();
    others.runs.retain(|run| !stated.contains(&tool(run)));
    imported.runs.append(&mut others.runs);
    imported.problems.append(&mut others.problems);
    if imported.runs.is_empty() && imported.problems.is_empty() {
        return Err(ImportError::Unknown { name: name_of(path) });
    }
    Ok(imported)
}
