//! Folders: every file in and below one is tried, and the outcome of each is listed. Files of one tool
//! and model in one folder are the levels of one run; where a tool writes the same results in several
//! forms, they are read once.

use crate::form::json;
use crate::form::sqlite::with_log;
use crate::level::same::{is_converted, same_results};
use crate::reading::{self, Reading};
use crate::tools::evalscope::folder as evalscope;
use crate::{FileOutcome, ImportError, Imported, Outcome, read_limited, text};
use dyno_words::named;
use std::path::{Path, PathBuf};

/// EvalScope keeps a sweep in `outputs/TIME/NAME/parallel_N_number_M`; others are no deeper than this.
const DEEPEST: usize = 6;
const MOST_FOLDERS: usize = 10_000;

/// The extensions of files in which printed results are looked for.
const PRINTED: [&str; 6] = ["md", "markdown", "txt", "log", "out", "text"];

/// Reads a folder and what is below, without the folders for which `skip` is true.
pub(crate) fn import(path: &Path, skip: &dyn Fn(&Path) -> bool) -> Result<Imported, ImportError> {
    let mut imported = Imported::default();
    let mut seen = 0;
    folder(path, path, 0, &mut seen, skip, &mut imported)?;
    Ok(imported)
}

/// The last part of a path.
pub(crate) fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// The numbers in a name, so that 16 sorts after 2.
fn numbers(name: &str) -> (Vec<u64>, String) {
    let digits = name.split(|c: char| !c.is_ascii_digit());
    (digits.filter_map(|part| part.parse().ok()).collect(), name.to_owned())
}

/// Reads one folder, and then those in it.
fn folder(
    root: &Path,
    path: &Path,
    depth: usize,
    seen: &mut usize,
    skip: &dyn Fn(&Path) -> bool,
    imported: &mut Imported,
) -> Result<(), ImportError> {
    *seen += 1;
    let unreadable = |source| ImportError::Unreadable { path: path.to_owned(), source };
    let (mut files, mut folders) = (Vec::new(), Vec::new());
    for entry in std::fs::read_dir(path).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let kind = entry.file_type().map_err(unreadable)?;
        // Links are not followed: they may form a loop.
        if kind.is_file() {
            files.push(entry.path());
        } else if kind.is_dir() && depth < DEEPEST && *seen < MOST_FOLDERS {
            folders.push(entry.path());
        }
    }
    files.sort_by_key(|file| numbers(&name_of(file)));
    folders.sort_by_key(|folder| numbers(&name_of(folder)));
    if evalscope::is_run(path) {
        sweep(root, path, &[path.to_owned()], imported)?;
    } else {
        loose(root, &name_of(path), &files, imported);
    }
    folders.retain(|folder| !skip(folder));
    let (levels, others): (Vec<_>, Vec<_>) =
        folders.into_iter().partition(|folder| evalscope::is_run(folder));
    if !levels.is_empty() {
        sweep(root, path, &levels, imported)?;
    }
    others.iter().try_for_each(|below| folder(root, below, depth + 1, seen, skip, imported))
}

/// Reads folders of EvalScope as one run.
fn sweep(
    root: &Path,
    path: &Path,
    folders: &[PathBuf],
    imported: &mut Imported,
) -> Result<(), ImportError> {
    let reading = evalscope::sweep(&name_of(path), folders)?;
    let read = reading.finish();
    let levels = read.runs.iter().map(|run| run.summary.levels.len()).sum();
    let outcome = if levels > 0 {
        Outcome::Read { tool: "evalscope".to_owned(), sure: None, levels }
    } else {
        Outcome::Empty { tool: "evalscope".to_owned() }
    };
    imported.files.push(FileOutcome { file: below(root, path), outcome });
    imported.append(read);
    Ok(())
}

fn below(root: &Path, path: &Path) -> String {
    let relative = path.strip_prefix(root).unwrap_or(path);
    let shown = if relative.as_os_str().is_empty() { root } else { relative };
    shown.to_string_lossy().into_owned()
}

/// Reads the files of one folder.
fn loose(root: &Path, name: &str, files: &[PathBuf], imported: &mut Imported) {
    let mut reading = Reading::new(name);
    let mut documents = Vec::new();
    let mut others = Imported::default();
    for path in files {
        let shown = below(root, path);
        let (bytes, log_problem) = match read_limited(path) {
            Ok(bytes) => with_log(path, bytes),
            Err(error) => {
                let outcome = Outcome::Unreadable(error.to_string());
                documents.push(FileOutcome { file: shown, outcome });
                continue;
            }
        };
        let name = name_of(path);
        reading.problems.extend(log_problem);
        let before = reading.problems.len();
        reading.name.clone_from(&name);
        let levels = reading.levels();
        if reading.documents(&bytes) {
            let problems = &mut reading.problems[before..];
            problems.iter_mut().for_each(|problem| *problem = named(&name, problem));
            let outcome = reading.outcome(levels);
            documents.push(FileOutcome { file: shown, outcome });
            continue;
        }
        let read = reading::recognise_other(&name, &bytes).or_else(|| printed(path, &name, &bytes));
        let Some(mut read) = read else {
            // A document that no tool writes is not looked into as text.
            documents.push(FileOutcome { file: shown, outcome: Outcome::Unknown });
            continue;
        };
        read.problems.iter_mut().for_each(|problem| *problem = named(&name, problem));
        for file in &mut read.files {
            file.file.clone_from(&shown);
        }
        others.append(read);
    }
    let mut read = reading.finish();
    let covered = std::mem::replace(&mut read.files, documents);
    read.append(others);
    for copy in covered {
        mark(&mut read.files, &copy.file, &copy.outcome);
    }
    drop_copies(&mut read);
    imported.append(read);
}

fn printed(path: &Path, name: &str, bytes: &[u8]) -> Option<Imported> {
    let extension = path.extension().and_then(|extension| extension.to_str());
    let looked_at = extension.is_none_or(|extension| PRINTED.contains(&extension));
    if !looked_at || json::looks_like_json(bytes) { None } else { text::recognise(name, bytes) }
}

/// Leaves out results of a folder that are also there in a fuller form.
fn drop_copies(imported: &mut Imported) {
    // Those with single requests are the fullest, then those that were not converted from another.
    let mut order: Vec<usize> = (0..imported.runs.len()).collect();
    order.sort_by_key(|at| {
        (imported.runs[*at].records.is_none(), is_converted(&imported.runs[*at]))
    });
    let mut kept: Vec<usize> = Vec::new();
    for at in order {
        let run = &imported.runs[at];
        let is_original = |of: &usize| same_results(&imported.runs[*of], run);
        let Some(original) = kept.iter().copied().find(is_original) else {
            kept.push(at);
            continue;
        };
        let copy = run.summary.run.clone();
        let original = &mut imported.runs[original].summary.run;
        original.model = original.model.take().or(copy.model);
        original.label = original.label.take().or(copy.label);
        let of = original.origin.as_ref().map(|origin| origin.file.clone()).unwrap_or_default();
        if let Some(copy) = copy.origin {
            let outcome = Outcome::Copy { tool: copy.tool, of };
            mark(&mut imported.files, &copy.file, &outcome);
        }
    }
    let mut at = 0;
    imported.runs.retain(|_| {
        at += 1;
        kept.contains(&(at - 1))
    });
}

/// Notes what became of the file of that name.
fn mark(files: &mut [FileOutcome], name: &str, outcome: &Outcome) {
    let of_name = |file: &&mut FileOutcome| name_of(Path::new(&file.file)) == name;
    files.iter_mut().filter(of_name).for_each(|file| file.outcome = outcome.clone());
}
