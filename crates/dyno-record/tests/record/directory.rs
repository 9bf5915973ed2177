//! Making, finding and reading run directories.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::common;
use dyno_model::environment::{Environment, Host, Server};
use dyno_model::plan::{LevelPlan, Plan, Target, Timeouts};
use dyno_record::{RecordError, Recorder, RunDir};
use std::fs;
use std::path::Path;

fn plan() -> Plan {
    let mut plan = Plan::new(Target::at("http://127.0.0.1:8000/v1"));
    plan.levels.push(LevelPlan::closed_loop(8, 80));
    plan.timeouts = Timeouts { connect_ns: 5, total_ns: 6, first_token_ns: 7, idle_ns: 8 };
    plan.request.temperature = Some(0.1);
    (plan.seed, plan.note) = (42, Some("näive".into()));
    plan
}

fn record_a_run(path: &Path) -> RunDir {
    let dir = RunDir::create(path).unwrap();
    assert!(Recorder::start(&dir, common::header()).unwrap().finish().error.is_none());
    dir
}

#[test]
fn a_new_run_makes_its_parents_and_takes_an_empty_directory() {
    let root = tempfile::tempdir().unwrap();
    let deep = root.path().join("a/b/c");
    assert_eq!(RunDir::create(&deep).unwrap().path(), deep);
    assert!(RunDir::create(&deep).is_ok(), "it is still empty");
}

#[test]
fn a_taken_place_is_refused_and_left_alone() {
    let root = tempfile::tempdir().unwrap();
    let file = root.path().join("file");
    fs::write(&file, "mine").unwrap();
    let error = RunDir::create(root.path()).unwrap_err();
    assert!(matches!(error, RecordError::NotEmpty(_)));
    assert!(error.to_string().contains("name a new directory"), "{error}");
    let error = RunDir::create(&file).unwrap_err();
    assert!(error.to_string().contains("is a file; name a directory"), "{error}");
    assert!(RunDir::create(file.join("below")).is_err());
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
}

#[test]
fn a_directory_without_records_is_no_run() {
    let root = tempfile::tempdir().unwrap();
    for path in [root.path().to_owned(), root.path().join("missing")] {
        let error = RunDir::open(&path).unwrap_err().to_string();
        assert!(error.contains("no run in") && error.contains("expected records.dyno"), "{error}");
    }
    assert!(RunDir::open(record_a_run(&root.path().join("run")).path()).is_ok());
}

#[test]
fn the_latest_run_is_the_newest_that_has_records() {
    let root = tempfile::tempdir().unwrap();
    let at = |name: &str| root.path().join(name);
    let error = RunDir::latest(&at("missing")).unwrap_err().to_string();
    assert!(error.contains("no run below") && error.contains("dyno bench"), "{error}");
    assert!(matches!(RunDir::latest(root.path()), Err(RecordError::NoRuns(_))));
    record_a_run(&at("baseline"));
    assert_eq!(RunDir::latest(root.path()).unwrap().path(), at("baseline"));
    record_a_run(&at("20260102T030405Z-ffff"));
    record_a_run(&at("20260102T030406Z-0000"));
    fs::create_dir(at("20260909T000000Z-aaaa")).unwrap();
    fs::write(at("20270101T000000Z-file"), "").unwrap();
    assert_eq!(RunDir::latest(root.path()).unwrap().path(), at("20260102T030406Z-0000"));
}

#[test]
fn plan_and_environment_come_back_and_nothing_else_is_left() {
    let root = tempfile::tempdir().unwrap();
    let dir = RunDir::create(root.path()).unwrap();
    assert!(dir.read_plan().unwrap_err().to_string().contains("plan.json"));
    assert_eq!(dir.read_environment().unwrap(), None);
    let environment = Environment {
        schema: "dyno.environment/1".into(),
        dyno: "0.1.0".into(),
        host: Host::default(),
        server: Server::default(),
        preflight: None,
        notes: vec![],
        attempts: None,
        made: Default::default(),
    };
    dir.write_plan(&plan()).unwrap();
    dir.write_environment(&environment).unwrap();
    dir.write_environment(&environment).unwrap();
    dir.write_summary(b"{}").unwrap();
    assert_eq!(dir.read_plan().unwrap(), plan());
    assert_eq!(dir.read_plan().unwrap().hash(), plan().hash());
    assert_eq!(dir.read_environment().unwrap(), Some(environment));
    assert_eq!(fs::read(root.path().join("summary.json")).unwrap(), b"{}\n");
    let saved = fs::read_to_string(root.path().join("plan.json")).unwrap();
    assert!(saved.starts_with("{\n  \"schema\"") && saved.ends_with("}\n"));
    let mut names: Vec<_> =
        fs::read_dir(root.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["environment.json", "plan.json", "summary.json"]);
}

#[test]
fn a_damaged_plan_is_named() {
    let root = tempfile::tempdir().unwrap();
    let dir = RunDir::create(root.path()).unwrap();
    fs::write(root.path().join("plan.json"), "{\"schema\":").unwrap();
    let error = dir.read_plan().unwrap_err().to_string();
    assert!(error.contains("plan.json") && error.contains("line 1"), "{error}");
}

#[test]
fn records_can_be_read_several_times_and_an_unfinished_run_is_partial() {
    let root = tempfile::tempdir().unwrap();
    let dir = record_a_run(&root.path().join("run"));
    for _ in 0..2 {
        let mut records = dir.records().unwrap();
        assert_eq!(records.header(), &common::header());
        assert_eq!(records.next(), None);
        assert_eq!((records.damage(), records.complete()), (None, false));
    }
    fs::write(dir.path().join("records.dyno"), "").unwrap();
    let error = dir.records().unwrap_err().to_string();
    assert!(error.contains("no readable header"), "{error}");
}
