//! Folders: every file in and below one is tried, and the outcome of each is listed. Files of one tool
//! and model in one folder are the levels of one run; where a tool writes the same results in several
//! forms, they are read once.

use crate::level::same::{Seen, is_converted, same_results};
use crate::reading::Reading;
use crate::tools::evalscope::folder as evalscope;
use crate::tools::serving::sweep as combinations;
use crate::{FileOutcome, ImportError, ImportOutcome, Imported, text};
use dyno_form::file::{self, FileError};
use dyno_form::json;
use dyno_form::sqlite::with_log;
use dyno_model::Message;
use dyno_words::named;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// EvalScope keeps a sweep in `outputs/TIME/NAME/parallel_N_number_M`; others are no deeper than this.
const DEEPEST: usize = 6;
const MOST_FOLDERS: usize = 10_000;

/// The extensions of files in which printed results are looked for.
const PRINTED: [&str; 6] = ["md", "markdown", "txt", "log", "out", "text"];

/// What is known of the folders so far.
#[derive(Debug, Default)]
struct Walk {
    folders: usize,
    results: Seen,
}

/// Reads a folder and what is below, without the folders for which `skip` is true.
pub(crate) fn import(path: &Path, skip: &dyn Fn(&Path) -> bool) -> Result<Imported, ImportError> {
    let mut imported = Imported::default();
    let mut walk = Walk::default();
    folder(path, path, 0, &mut walk, skip, &mut imported)?;
    Ok(imported)
}

/// The last part of a path.
pub(crate) fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// Sort key of a path in natural order: 2 comes before 10.
pub fn natural_order(path: &Path) -> Vec<(u64, String)> {
    let text = path.to_string_lossy();
    let mut parts = Vec::new();
    let mut rest = text.as_ref();
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (number, after) = rest.split_at(digits);
        let words = after.find(|c: char| c.is_ascii_digit()).unwrap_or(after.len());
        parts.push((number.parse().unwrap_or_default(), after[..words].to_owned()));
        rest = &after[words..];
    }
    parts
}

/// Reads one folder, and then those in it.
fn folder(
    root: &Path,
    path: &Path,
    depth: usize,
    walk: &mut Walk,
    skip: &dyn Fn(&Path) -> bool,
    imported: &mut Imported,
) -> Result<(), ImportError> {
    walk.folders += 1;
    let unreadable = FileError::unreadable(path);
    let (mut files, mut folders) = (Vec::new(), Vec::new());
    for entry in std::fs::read_dir(path).map_err(&unreadable)? {
        let entry = entry.map_err(&unreadable)?;
        let kind = entry.file_type().map_err(&unreadable)?;
        // Links are not followed: they may form a loop.
        if kind.is_file() {
            files.push(entry.path());
        } else if kind.is_dir() && depth < DEEPEST && walk.folders < MOST_FOLDERS {
            folders.push(entry.path());
        }
    }
    files.sort_by_key(|file| natural_order(file));
    folders.sort_by_key(|folder| natural_order(folder));
    folders.retain(|folder| !skip(folder));
    let (levels, others): (Vec<_>, Vec<_>) =
        folders.into_iter().partition(|folder| evalscope::is_run(folder));
    let (mut servers, mut rest) = (BTreeMap::<String, Vec<PathBuf>>::new(), Vec::new());
    for below in others {
        match combinations::server(&below) {
            Some(server) => servers.entry(server).or_default().push(below),
            None => rest.push(below),
        }
    }
    // Before the files beside them, which have the same in one table.
    for (server, folders) in servers {
        combined(root, &name_of(path), &server, &folders, walk, imported)?;
    }
    if evalscope::is_run(path) {
        sweep(root, path, &[path.to_owned()], imported)?;
        files.retain(|file| !evalscope::is_own(file));
    }
    loose(root, &name_of(path), &files, &mut walk.results, imported);
    if !levels.is_empty() {
        sweep(root, path, &levels, imported)?;
    }
    for below in rest {
        folder(root, &below, depth + 1, walk, skip, imported)?;
    }
    Ok(())
}

/// Reads what vLLM measured of one server, in a folder for each load, as one run.
fn combined(
    root: &Path,
    name: &str,
    server: &str,
    folders: &[PathBuf],
    walk: &mut Walk,
    imported: &mut Imported,
) -> Result<(), ImportError> {
    let mut all = Vec::new();
    for path in folders {
        let unreadable = FileError::unreadable(path);
        let entries = std::fs::read_dir(path).map_err(&unreadable)?.flatten();
        let files = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
        let mut files: Vec<PathBuf> = files.map(|entry| entry.path()).collect();
        files.sort_by_key(|file| natural_order(file));
        all.append(&mut files);
    }
    let before = imported.runs.len();
    loose(root, name, &all, &mut walk.results, imported);
    for run in imported.runs.iter_mut().skip(before).filter(|_| !server.is_empty()) {
        let label = &mut run.summary.run.label;
        let names = label.iter().map(String::as_str).chain([server]);
        *label = Some(names.collect::<Vec<_>>().join(", "));
    }
    Ok(())
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
        ImportOutcome::Read { tool: "evalscope".to_owned(), sure: None, levels }
    } else {
        ImportOutcome::Empty { tool: "evalscope".to_owned() }
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
fn loose(root: &Path, name: &str, files: &[PathBuf], seen: &mut Seen, imported: &mut Imported) {
    let mut reading = Reading::beside(name, std::mem::take(seen));
    let mut documents = Vec::new();
    let mut others = Imported::default();
    for path in files {
        let shown = below(root, path);
        let (bytes, log_problem) = match file::read(path) {
            Ok(bytes) => with_log(path, bytes),
            Err(error) => {
                let outcome = ImportOutcome::Unreadable(Message::of(error));
                documents.push(FileOutcome { file: shown, outcome });
                continue;
            }
        };
        reading.problems.extend(log_problem);
        let before = reading.problems.len();
        reading.name.clone_from(&shown);
        let so_far = reading.so_far();
        if reading.documents(&bytes) {
            let problems = &mut reading.problems[before..];
            problems.iter_mut().for_each(|problem| *problem = named(&shown, problem));
            let outcome = reading.outcome(so_far);
            documents.push(FileOutcome { file: shown, outcome });
            continue;
        }
        let read = reading.other(&shown, &bytes).or_else(|| printed(path, &shown, &bytes));
        let Some(mut read) = read else {
            // A document that no tool writes is not looked into as text.
            documents.push(FileOutcome { file: shown, outcome: ImportOutcome::Unknown });
            continue;
        };
        read.problems.iter_mut().for_each(|problem| *problem = named(&shown, problem));
        for file in &mut read.files {
            file.file.clone_from(&shown);
        }
        others.append(read);
    }
    *seen = reading.take_seen();
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
        (imported.runs[*at].rebuilt.is_none(), is_converted(&imported.runs[*at]))
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
            let outcome = ImportOutcome::Copy { tool: copy.tool, of };
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
fn mark(files: &mut [FileOutcome], name: &str, outcome: &ImportOutcome) {
    let of_name = |file: &&mut FileOutcome| name_of(Path::new(&file.file)) == name;
    files.iter_mut().filter(of_name).for_each(|file| file.outcome = outcome.clone());
}
