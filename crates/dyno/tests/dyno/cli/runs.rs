//! `dyno runs` and `dyno open`: from a run to its place in a list, its label, its page and its end.

use crate::cli::common::{dyno, run};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Output;
use std::time::{Duration, Instant};

fn predict(here: &Path, more: &[&str]) {
    let args = [&["predict", "--concurrency", "1,2", "--requests", "20", "--quiet"], more].concat();
    let output = run(here, &args);
    assert!(output.status.success(), "{output:?}");
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// What it printed, after it ended with this status.
fn expect(here: &Path, args: &[&str], status: i32) -> Output {
    let output = run(here, args);
    assert_eq!(output.status.code(), Some(status), "{args:?}: {output:?}");
    output
}

#[test]
fn a_run_is_listed_labelled_found_and_deleted() {
    let here = tempfile::tempdir().unwrap();
    let here = here.path();
    assert!(stderr(&expect(here, &["runs"], 0)).contains("no runs in `dyno-runs`"));
    let said = stderr(&expect(here, &["runs", "--dir", "nowhere"], 2));
    assert!(said.contains("--dir: there is no directory `nowhere`"), "{said}");
    predict(here, &["--out", "dyno-runs/first", "--label", "planned"]);
    predict(here, &["--out", "dyno-runs/second"]);

    let list = stdout(&expect(here, &["runs"], 0));
    let lines: Vec<&str> = list.lines().collect();
    assert!(lines[0].starts_with("RUN ") && lines.len() == 3, "{list}");
    assert!(lines[2].contains("first") && lines[2].contains("planned"), "{list}");
    // Nothing is left out in a pipe, where it is searched.
    assert!(
        ["STARTED", "LABEL", "MODEL", "LOAD"].iter().all(|head| lines[0].contains(head)),
        "{list}"
    );
    assert!(lines[1].contains("concurrency 1–2") && lines[1].contains("valid"), "{list}");

    expect(here, &["runs", "--dir", "dyno-runs", "label", "first", "after the upgrade"], 0);
    expect(here, &["runs", "tag", "first", "+nightly", "release"], 0);
    expect(here, &["runs", "tag", "first", "-release"], 0);
    let said = stderr(&expect(here, &["runs", "tag", "first", "+new", "--dir", "elsewhere"], 2));
    assert!(said.contains("`--dir` is not a tag"), "{said}");
    let filtered: serde_json::Value = serde_json::from_str(&stdout(&expect(
        here,
        &["runs", "--tag", "nightly", "--since", "1h", "--verdict", "valid", "UPGRADE", "--json"],
        0,
    )))
    .unwrap();
    let rows = filtered.as_array().unwrap();
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0]["label"], "after the upgrade");
    assert_eq!(rows[0]["tags"], serde_json::json!(["nightly"]));
    assert_eq!((&rows[0]["state"], &rows[0]["verdict"]), (&"complete".into(), &"valid".into()));

    let report = expect(here, &["report", "after the upgrade", "--json"], 0);
    let report: serde_json::Value = serde_json::from_slice(&report.stdout).unwrap();
    assert_eq!(report["run"]["label"], "after the upgrade");
    for rate in ["requests_per_s", "output_tokens_per_s"] {
        let levels = report["levels"].as_array().unwrap().iter();
        let steady = levels.map(|level| level["steady"][rate].as_f64().unwrap());
        let highest = steady.reduce(f64::max).unwrap();
        assert_eq!(rows[0][rate], highest, "the {rate} of the report's table");
    }
    let plan = std::fs::read_to_string(here.join("dyno-runs/first/plan.json")).unwrap();
    assert!(plan.contains("\"planned\""), "the plan is frozen");
    let compared = stdout(&expect(here, &["compare", "fir", "latest"], 0));
    assert!(compared.contains("after the upgrade"), "{compared}");
    assert!(stderr(&expect(here, &["report", "secnod"], 2)).contains("did you mean `second`?"));

    assert!(stderr(&expect(here, &["runs", "delete", "first"], 2)).contains("--yes"));
    assert!(here.join("dyno-runs/first").exists());
    expect(here, &["runs", "delete", "first", "--yes"], 0);
    assert!(!here.join("dyno-runs/first").exists());
    assert!(here.join("dyno-runs/second").exists());
}

#[test]
fn what_cannot_be_read_is_listed_as_damaged() {
    let here = tempfile::tempdir().unwrap();
    let here = here.path();
    predict(here, &["--out", "dyno-runs/bad"]);
    std::fs::write(here.join("dyno-runs/bad/summary.json"), b"\xff\x1b[31m").unwrap();
    let list = stdout(&expect(here, &["runs"], 0));
    assert!(list.contains("damaged") && list.contains("summary.json"), "{list}");
    assert!(!list.contains('\x1b'), "{list}");
}

#[test]
fn the_list_fits_the_terminal_and_speaks_chinese() {
    let here = tempfile::tempdir().unwrap();
    predict(here.path(), &["--out", "dyno-runs/one"]);
    let mut command = dyno(here.path(), &["runs"]);
    let list = stdout(&command.env("LANG", "zh_CN.UTF-8").output().unwrap());
    assert!(list.contains("并发 1–2") && list.contains("有效"), "{list}");
}

#[test]
fn the_page_is_shown_by_a_browser_or_its_path_is_printed() {
    let here = tempfile::tempdir().unwrap();
    let here = here.path();
    predict(here, &["--out", "dyno-runs/one", "--report", "none"]);
    let opened = |variables: &[(&str, &str)]| {
        let mut command = dyno(here, &["open"]);
        for name in ["BROWSER", "DISPLAY", "WAYLAND_DISPLAY", "SSH_CONNECTION"] {
            command.env_remove(name);
        }
        let started = Instant::now();
        let output = command.envs(variables.iter().copied()).output().unwrap();
        assert!(started.elapsed() < Duration::from_secs(20), "it must not hang");
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert!(stdout(&output).trim_end().ends_with("dyno-runs/one/report.html"), "{output:?}");
        stderr(&output)
    };
    let said = opened(&[]);
    assert!(said.contains("wrote ") && said.contains("no display"), "{said}");
    let page = std::fs::read(here.join("dyno-runs/one/report.html")).unwrap();
    expect(here, &["report", "--format", "html", "--out", "same.html"], 0);
    assert!(std::fs::read(here.join("same.html")).unwrap() == page);

    let said = opened(&[("SSH_CONNECTION", "10.0.0.1 5000 10.0.0.2 22")]);
    assert!(said.contains("scp 10.0.0.2:") && !said.contains("wrote"), "{said}");
    assert!(opened(&[("BROWSER", "false")]).contains("false did not open the page"));
    let browser = here.join("browser");
    std::fs::write(&browser, "#!/bin/sh\nexec sleep 3\n").unwrap();
    std::fs::set_permissions(&browser, std::fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(opened(&[("BROWSER", "./browser")]), "", "a browser keeps running");
    opened(&[("BROWSER", "cp %s shown.html")]);
    assert!(std::fs::read(here.join("shown.html")).unwrap() == page);
}

#[test]
fn a_baseline_is_replaced_only_by_force() {
    let here = tempfile::tempdir().unwrap();
    let here = here.path();
    predict(here, &["--out", "dyno-runs/one"]);
    predict(here, &["--out", "dyno-runs/two", "--seed", "7"]);
    expect(here, &["baseline", "save", "main", "one"], 0);
    let kept = std::fs::read(here.join("dyno-baselines/main.json")).unwrap();
    let said = stderr(&expect(here, &["baseline", "save", "main", "two"], 2));
    assert!(
        said.contains("there is a baseline `main` already") && said.contains("--force"),
        "{said}"
    );
    assert!(std::fs::read(here.join("dyno-baselines/main.json")).unwrap() == kept);
    expect(here, &["baseline", "save", "main", "two", "--force"], 0);
    assert!(std::fs::read(here.join("dyno-baselines/main.json")).unwrap() != kept);
}

#[test]
fn a_misspelt_command_is_not_a_search() {
    let here = tempfile::tempdir().unwrap();
    let here = here.path();
    predict(here, &["--out", "dyno-runs/one", "--label", "tagged"]);
    for (typed, meant) in [("list", "runs"), ("show", "report RUN"), ("rm", "runs delete RUN")] {
        let said = stderr(&expect(here, &["runs", typed], 2));
        assert!(said.contains(&format!("did you mean `dyno {meant}`?")), "{said}");
    }
    let said = stderr(&expect(here, &["resume", "latest"], 2));
    assert!(said.contains("did you mean `dyno bench --resume RUN`?"), "{said}");
    let said = stderr(&expect(here, &["runs", "lable", "latest", "x"], 2));
    assert!(said.contains("did you mean `dyno runs label`?"), "{said}");
    assert!(stdout(&expect(here, &["runs", "tagged"], 0)).contains("one"), "a word that matches");
    assert!(stderr(&expect(here, &["runs", "nightly"], 0)).contains("none of the 1 runs"));
}

#[test]
fn runs_without_a_common_load_are_inconclusive() {
    let here = tempfile::tempdir().unwrap();
    let here = here.path();
    predict(here, &["--out", "dyno-runs/one"]);
    let burst = ["predict", "--burst", "4", "--quiet", "--out", "dyno-runs/two"];
    assert!(run(here, &burst).status.success());
    for format in ["table", "json", "svg"] {
        let output = expect(here, &["compare", "one", "two", "--format", format], 6);
        assert!(stderr(&output).contains("no load in common"), "{output:?}");
        // A table would have nothing but dashes.
        assert_eq!(output.stdout.is_empty(), format == "table", "{format}");
    }
}

#[test]
fn an_empty_name_is_no_run_and_a_listed_run_can_be_deleted() {
    let here = tempfile::tempdir().unwrap();
    let here = here.path();
    predict(here, &["--out", "dyno-runs/only"]);
    let said = stderr(&expect(here, &["runs", "delete", "--yes", ""], 2));
    assert!(said.contains("the name of the run is empty"), "{said}");
    assert!(here.join("dyno-runs/only/records.dyno").exists());
    predict(here, &["--out", "same"]);
    assert!(stdout(&expect(here, &["runs"], 0)).contains("same"));
    expect(here, &["runs", "delete", "--yes", "same"], 0);
    assert!(!here.join("same").exists());
    assert!(!stdout(&expect(here, &["runs"], 0)).contains("same"));
}

/// C11: the command line that made a run is kept without secrets, printed, and part of the reports.
#[test]
fn the_command_line_of_a_run_is_known() {
    let here = tempfile::tempdir().unwrap();
    let here = here.path();
    predict(here, &["--out", "dyno-runs/one", "--label", "it's one"]);
    let typed = r"dyno predict --concurrency 1,2 --requests 20 --quiet --out dyno-runs/one --label 'it'\''s one'";
    let printed = stdout(&expect(here, &["runs", "command", "one"], 0));
    assert_eq!(printed, format!("{typed}\n"));
    let report = |format| stdout(&expect(here, &["report", "one", "--format", format], 0));
    assert!(report("markdown").contains(&format!("- Command: `{typed}`\n")));
    assert!(report("html").contains("--out dyno-runs/one --label"));
    // An older version kept none.
    let path = here.join("dyno-runs/one/environment.json");
    let mut older: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    older.as_object_mut().unwrap().remove("made").unwrap();
    std::fs::write(&path, older.to_string()).unwrap();
    let said = stderr(&expect(here, &["runs", "command", "one"], 2));
    assert!(said.contains("is not known: an older version made it"), "{said}");
    assert!(!report("markdown").contains("Command"));
}

#[test]
fn a_run_tells_the_preset_and_the_variables_that_made_it() {
    let here = tempfile::tempdir().unwrap();
    let here = here.path();
    std::fs::write(here.join("own.yaml"), "preset: quick\nrequests: 5\nmodel: m\n").unwrap();
    let mut command = dyno(here, &["predict", "--config", "own.yaml", "--out", "one"]);
    let output = command.env("DYNO_CONCURRENCY", "2").output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let said = stderr(&output);
    for note in [
        "settings from the environment: DYNO_CONCURRENCY\n",
        "settings that this command does not have are ignored: model\n",
    ] {
        assert!(said.contains(note), "{said}");
    }
    let plan = std::fs::read_to_string(here.join("one/plan.json")).unwrap();
    assert!(plan.contains("18000000000") && !plan.contains("quick"), "{plan}");
    for format in ["table", "markdown", "html", "json"] {
        let report = stdout(&expect(here, &["report", "one", "--format", format], 0));
        assert!(report.contains("preset quick, version 1"), "{format}: {report}");
    }
}
