//! Listing, finding, annotating and deleting runs.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::common;
use dyno_model::plan::{LevelPlan, Plan, Target};
use dyno_model::run_entry::RunState;
use dyno_record::{
    RecordError, Recorder, RunDir, RunFilter, delete_run, find_run, list_runs, remember_run,
};
use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// A run of a process that ended some time ago, without a summary.
fn a_run(root: &Path, name: &str, started_s: u64, label: Option<&str>) -> RunDir {
    a_run_at(root, name, started_s * 1_000_000_000, label)
}

fn a_run_at(root: &Path, name: &str, started_ns: u64, label: Option<&str>) -> RunDir {
    let dir = RunDir::create(root.join(name)).unwrap();
    let mut plan = Plan::new(Target::at("http://127.0.0.1:8000/v1"));
    plan.levels = [8, 2, 4].map(|slots| LevelPlan::closed_loop(slots, 80)).to_vec();
    plan.label = label.map(str::to_owned);
    dir.write_plan(&plan).unwrap();
    let mut header = common::header();
    header.anchor_unix_ns = started_ns;
    assert!(Recorder::start(&dir, header).unwrap().finish().error.is_none());
    let records = File::options().append(true).open(dir.path().join("records.dyno")).unwrap();
    records.set_modified(SystemTime::now() - Duration::from_secs(3600)).unwrap();
    dir
}

fn names(root: &Path, filter: &RunFilter) -> Vec<String> {
    let runs = list_runs(root).unwrap().into_iter().filter(|run| filter.matches(run));
    runs.map(|run| run.name).collect()
}

#[test]
fn runs_of_one_second_are_in_order() {
    let root = tempfile::tempdir().unwrap();
    let second = 1_767_322_000_000_000_000;
    for (name, after_ms) in [("20260102T030405Z-b", 1), ("20260102T030405Z-a", 2)] {
        a_run_at(root.path(), name, second + after_ms * 1_000_000, None);
    }
    let newest_first = ["20260102T030405Z-a", "20260102T030405Z-b"];
    assert_eq!(names(root.path(), &RunFilter::default()), newest_first);
}

#[test]
fn runs_are_listed_by_their_start_and_filtered() {
    let root = tempfile::tempdir().unwrap();
    assert_eq!(list_runs(&root.path().join("missing")).unwrap(), []);
    a_run(root.path(), "20260102T030405Z-aaaa", 1_767_322_000, Some("Old one"));
    a_run(root.path(), "named", 1_767_322_999, None);
    a_run(root.path(), "20260102T030405Z-bbbb", 1_767_322_500, None);
    fs::create_dir(root.path().join("no-run")).unwrap();
    let all = RunFilter::default();
    assert_eq!(
        names(root.path(), &all),
        ["named", "20260102T030405Z-bbbb", "20260102T030405Z-aaaa"]
    );
    assert_eq!(RunDir::latest(root.path()).unwrap().path(), root.path().join("named"));

    let runs = list_runs(root.path()).unwrap();
    let load = runs[0].load.unwrap();
    assert_eq!((load.low, load.high), (2.0, 8.0));
    assert_eq!(runs[0].target.as_deref(), Some("http://127.0.0.1:8000/v1"));
    assert_eq!((runs[0].state, runs[0].verdict), (RunState::Unfinished, None));

    let mut annotations = runs[2].path.clone().to_str().map(RunDir::open).unwrap().unwrap();
    let mut kept = annotations.read_annotations().unwrap();
    kept.add_tag("nightly").unwrap();
    annotations.write_annotations(&kept).unwrap();
    annotations = RunDir::open(annotations.path()).unwrap();
    assert_eq!(annotations.read_annotations().unwrap(), kept);
    let only_old = ["20260102T030405Z-aaaa"];
    let tagged = RunFilter { tags: vec!["nightly".into()], ..all.clone() };
    assert_eq!(names(root.path(), &tagged), only_old);
    assert_eq!(
        names(root.path(), &RunFilter { label: Some("old".into()), ..all.clone() }),
        only_old
    );
    let word = RunFilter { words: vec!["NIGHT".into(), "one".into()], ..all.clone() };
    assert_eq!(names(root.path(), &word), only_old);
    let since = RunFilter { since_unix_ns: Some(1_767_322_500_000_000_000), ..all.clone() };
    assert_eq!(names(root.path(), &since).len(), 2);
    let model = RunFilter { model: Some("qwen".into()), ..all };
    assert!(names(root.path(), &model).is_empty());
}

#[test]
fn damaged_and_half_written_runs_are_listed() {
    let root = tempfile::tempdir().unwrap();
    let state = |name: &str| {
        let runs = list_runs(root.path()).unwrap();
        let run = runs.into_iter().find(|run| run.name == name).unwrap();
        (run.state, run.problem)
    };
    let cut = a_run(root.path(), "cut", 1, None);
    fs::write(cut.path().join("summary.json"), "{\"schema\":").unwrap();
    let (found, problem) = state("cut");
    assert_eq!(found, RunState::Damaged);
    assert!(problem.unwrap().to_string().contains("summary.json"));

    let empty = root.path().join("empty");
    fs::create_dir(&empty).unwrap();
    fs::write(empty.join("records.dyno"), "").unwrap();
    let records = File::options().append(true).open(empty.join("records.dyno")).unwrap();
    records.set_modified(SystemTime::now() - Duration::from_secs(3600)).unwrap();
    assert_eq!(state("empty").0, RunState::Damaged);

    let begun = RunDir::create(root.path().join("begun")).unwrap();
    begun.write_plan(&Plan::new(Target::at("http://127.0.0.1:8000"))).unwrap();
    assert_eq!(state("begun"), (RunState::Running, None), "its records may follow");

    let bad = a_run(root.path(), "bad", 1, None);
    fs::write(bad.path().join("annotations.json"), "[]").unwrap();
    assert_eq!(state("bad").0, RunState::Damaged);
}

#[test]
fn names_prefixes_suffixes_and_labels_mean_a_run() {
    let root = tempfile::tempdir().unwrap();
    let found = |name: &str| {
        let path = find_run(root.path(), name)?;
        Ok::<_, RecordError>(path.file_name().unwrap().to_str().unwrap().to_owned())
    };
    assert!(matches!(found("latest"), Err(RecordError::NoRuns(_))));
    a_run(root.path(), "20260102T030405Z-aaaa", 1, Some("nightly"));
    a_run(root.path(), "20260102T040405Z-bbbb", 2, None);
    a_run(root.path(), "twice", 3, Some("same"));
    a_run(root.path(), "twice-more", 4, Some("same"));
    assert_eq!(found("latest").unwrap(), "twice-more");
    assert_eq!(found("aaaa").unwrap(), "20260102T030405Z-aaaa");
    assert_eq!(found("20260102T04").unwrap(), "20260102T040405Z-bbbb");
    assert_eq!(found("nightly").unwrap(), "20260102T030405Z-aaaa");
    assert_eq!(found("twice").unwrap(), "twice", "an exact name is never ambiguous");
    let said = found("2026").unwrap_err().to_string();
    assert!(said.contains("could mean 20260102T040405Z-bbbb, 20260102T030405Z-aaaa"), "{said}");
    assert!(matches!(found("same"), Err(RecordError::AmbiguousRun { .. })));
    assert!(matches!(found(""), Err(RecordError::NoName)));
    let said = found("nihgtly").unwrap_err().to_string();
    assert!(said.contains("did you mean `nightly`?") && said.contains("dyno runs"), "{said}");
}

#[test]
fn only_runs_are_deleted() {
    let root = tempfile::tempdir().unwrap();
    let refused = |path: &Path, why: &str| {
        let error = delete_run(root.path(), path).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
        assert!(fs::symlink_metadata(path).is_ok(), "{error}");
    };
    let run = a_run(root.path(), "run", 1, None);

    let elsewhere = tempfile::tempdir().unwrap();
    let other = a_run(elsewhere.path(), "other", 1, None);
    refused(other.path(), "not directly below");
    let link = root.path().join("link");
    std::os::unix::fs::symlink(other.path(), &link).unwrap();
    refused(&link, "it is a link");
    refused(&root.path().join("run/../link"), "it is a link");
    refused(&root.path().join("link/"), "not directly below");

    let foreign = root.path().join("foreign");
    fs::create_dir(&foreign).unwrap();
    fs::write(foreign.join("plan.json"), "{\"mine\": true}").unwrap();
    refused(&foreign, "not a run that Dyno wrote");
    fs::create_dir(root.path().join("plain")).unwrap();
    refused(&root.path().join("plain"), "not a run that Dyno wrote");

    let nested = a_run(root.path(), "nested", 1, None);
    fs::create_dir(nested.path().join("mine")).unwrap();
    refused(nested.path(), "holds a directory, `mine`");
    fs::rename(nested.path().join("mine"), nested.path().join("agent-1")).unwrap();
    refused(nested.path(), "holds a directory, `agent-1`");
    let part = a_run(nested.path(), "agent-2", 1, None);
    fs::remove_dir(nested.path().join("agent-1")).unwrap();
    fs::create_dir(part.path().join("deeper")).unwrap();
    refused(nested.path(), "`agent-2` in it holds a directory");
    fs::remove_dir(part.path().join("deeper")).unwrap();
    delete_run(root.path(), nested.path()).unwrap();

    let precious = elsewhere.path().join("precious");
    fs::write(&precious, "keep me").unwrap();
    std::os::unix::fs::symlink(&precious, run.path().join("report.html")).unwrap();
    delete_run(root.path(), run.path()).unwrap();
    assert!(!run.path().exists());
    assert_eq!(fs::read_to_string(&precious).unwrap(), "keep me");
    assert!(other.path().exists());
}

#[test]
fn a_run_that_is_being_written_is_neither_deleted_nor_resumed() {
    let root = tempfile::tempdir().unwrap();
    let dir = RunDir::create(root.path().join("run")).unwrap();
    let recorder = Recorder::start(&dir, common::header()).unwrap();
    fs::write(dir.path().join("summary.json"), "{}").unwrap();
    assert_eq!(list_runs(root.path()).unwrap()[0].state, RunState::Running);
    let error = delete_run(root.path(), dir.path()).unwrap_err().to_string();
    assert!(error.contains("a process is writing it"), "{error}");
    assert!(matches!(Recorder::resume(&dir), Err(RecordError::InUse(_))));
    assert!(recorder.finish().error.is_none());
    assert!(Recorder::resume(&dir).unwrap().finish().error.is_none());
    delete_run(root.path(), dir.path()).unwrap();
    assert_eq!(list_runs(root.path()).unwrap(), []);
}

/// The summary is computed after the last record, which may take a while.
#[test]
fn a_run_is_being_written_until_its_recording_is_let_go() {
    let root = tempfile::tempdir().unwrap();
    let dir = RunDir::create(root.path().join("run")).unwrap();
    dir.write_plan(&Plan::new(Target::at("http://127.0.0.1:8000"))).unwrap();
    let state = || list_runs(root.path()).unwrap()[0].state;
    let long_ago = || {
        let records = File::options().append(true).open(dir.path().join("records.dyno")).unwrap();
        records.set_modified(SystemTime::now() - Duration::from_secs(3600)).unwrap();
    };
    let finished = Recorder::start(&dir, common::header()).unwrap().finish();
    long_ago();
    assert_eq!(state(), RunState::Running);
    drop(finished);
    assert_eq!(state(), RunState::Unfinished);
    let finished = Recorder::resume(&dir).unwrap().finish();
    long_ago();
    assert_eq!(state(), RunState::Running);
    drop(finished);
    assert_eq!(state(), RunState::Unfinished);
}

#[test]
fn a_run_elsewhere_is_listed_and_found_while_it_exists() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("dyno-runs");
    let run = a_run(place.path(), "before", 1_767_322_999, None);
    remember_run(&root, run.path()).unwrap();
    remember_run(&root, run.path()).unwrap();
    let below = a_run(&root, "20260102T030405Z-aaaa", 1_767_322_000, None);
    remember_run(&root, below.path()).unwrap();
    let all = RunFilter::default();
    assert_eq!(names(&root, &all), ["before", "20260102T030405Z-aaaa"]);
    let path = fs::canonicalize(run.path()).unwrap();
    assert_eq!(RunDir::latest(&root).unwrap().path(), path);
    assert_eq!(find_run(&root, "before").unwrap(), path);
    // B13: what is listed can be deleted.
    delete_run(&root, &path).unwrap();
    assert_eq!(names(&root, &all), ["20260102T030405Z-aaaa"]);
}
