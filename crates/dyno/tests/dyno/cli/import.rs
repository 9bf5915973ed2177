//! `dyno import`: the outcome of each file, and what happens if nothing can be read.

use crate::cli::common::{dyno, run};
use serde_json::json;
use std::path::Path;
use std::process::Output;

/// A result of vLLM, with this concurrency.
fn vllm(slots: u32) -> String {
    json!({
        "backend": "openai-chat",
        "model_id": "tiny",
        "num_prompts": 40,
        "max_concurrency": slots,
        "request_rate": "inf",
        "duration": 10.0,
        "completed": 40,
        "total_input_tokens": 4000,
        "total_output_tokens": 2000,
        "request_throughput": 4.0,
        "output_throughput": 200.0,
        "total_token_throughput": 600.0,
        "mean_ttft_ms": 20.5 + f64::from(slots),
        "median_ttft_ms": 20.0,
        "p99_ttft_ms": 40.0,
    })
    .to_string()
}

fn write(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn expect(here: &Path, args: &[&str], status: i32) -> Output {
    let output = run(here, args);
    assert_eq!(output.status.code(), Some(status), "{args:?}: {output:?}");
    output
}

#[test]
fn a_folder_lists_each_file_and_its_outcome() {
    let here = tempfile::tempdir().unwrap();
    let here = here.path();
    write(here, "all/c2.json", &vllm(2));
    write(here, "all/c10.json", &vllm(10));
    write(here, "all/below/deep/c4.json", &vllm(4));
    write(here, "all/notes.txt", "nothing to see here\n");
    write(here, "all/empty.json", r#"{"benchmarks": [{"metrics": {}, "args": {}}]}"#);
    let printed = text(&expect(here, &["import", "all"], 0).stdout);
    let row = |file: &str| {
        let row = printed.lines().find(|line| line.split_whitespace().next() == Some(file));
        row.unwrap_or_else(|| panic!("no row of {file}: {printed}")).to_owned()
    };
    assert!(row("c2.json").contains("vllm") && row("c2.json").ends_with("read"), "{printed}");
    assert!(row("below/deep/c4.json").ends_with("read"), "{printed}");
    assert!(row("notes.txt").ends_with("not recognised"), "{printed}");
    assert!(row("empty.json").ends_with("no results in it"), "{printed}");
    assert!(printed.contains("5 files: 3 read"), "{printed}");
    // Files of one folder and model are one run, in the order of their numbers.
    assert!(printed.contains("2 in total, with 3 levels"), "{printed}");
    assert!(printed.find("c2.json") < printed.find("c10.json"), "{printed}");
    // The same in Chinese.
    let output = dyno(here, &["import", "all"]).env("LANG", "zh_CN.UTF-8").output().unwrap();
    let printed = text(&output.stdout);
    assert!(printed.contains("共 5 个文件：已读入 3 个"), "{printed}");
}

#[test]
fn nothing_read_is_not_success() {
    let here = tempfile::tempdir().unwrap();
    let here = here.path();
    write(here, "empty.json", r#"{"benchmarks": [{"metrics": {}, "args": {}}]}"#);
    for command in ["import", "lint", "report"] {
        let said = text(&expect(here, &[command, "empty.json"], 3).stderr);
        assert!(said.contains("nothing could be read from `empty.json`"), "{command}: {said}");
        assert!(said.contains("guidellm"), "{command}: {said}");
    }
    std::fs::create_dir(here.join("folder")).unwrap();
    let said = text(&expect(here, &["import", "folder"], 3).stderr);
    assert!(said.contains("there are no results in `folder`"), "{said}");
    write(here, "folder/notes.txt", "nothing to see here\n");
    let said = text(&expect(here, &["import", "folder"], 3).stderr);
    assert!(said.contains("none of the files in `folder`") && said.contains("notes.txt"), "{said}");
    write(here, "blank.json", " \n");
    let said = text(&expect(here, &["import", "blank.json"], 2).stderr);
    assert!(said.contains("blank.json is empty"), "{said}");
}

#[test]
fn an_unknown_file_names_what_is_read_and_does_not_stop_the_others() {
    let here = tempfile::tempdir().unwrap();
    let here = here.path();
    write(here, "c2.json", &vllm(2));
    write(here, "notes.txt", "nothing to see here\n");
    let said = text(&expect(here, &["import", "notes.txt"], 2).stderr);
    assert!(said.contains("`notes.txt` contains no results of a known tool"), "{said}");
    assert!(said.contains("LMDeploy"), "{said}");
    let printed = text(&expect(here, &["import", "notes.txt", "c2.json"], 2).stdout);
    assert!(
        printed.contains("2 files: 1 read") && printed.contains("1 not recognised"),
        "{printed}"
    );
}

#[test]
fn files_of_one_name_are_told_apart_by_their_paths() {
    let here = tempfile::tempdir().unwrap();
    let here = here.path();
    write(here, "a/r.json", &vllm(2));
    write(here, "b/r.json", &vllm(4));
    let printed = text(&expect(here, &["import", "a/r.json", "b/r.json"], 0).stdout);
    assert_eq!(printed.matches("a/r.json").count(), 2, "{printed}");
    assert_eq!(printed.matches("b/r.json").count(), 2, "{printed}");
    // A path that is named and is not there is an error, and what is there is listed.
    let output = expect(here, &["import", "a/r.json", "nowhere.json"], 2);
    assert!(text(&output.stdout).contains("a/r.json"), "{output:?}");
    assert!(text(&output.stderr).contains("there is no `nowhere.json`"), "{output:?}");
}

#[test]
fn files_without_a_model_are_runs_of_their_own() {
    let here = tempfile::tempdir().unwrap();
    let here = here.path();
    let nameless = |slots| vllm(slots).replace("\"model_id\":\"tiny\",", "");
    write(here, "all/a.json", &nameless(2));
    write(here, "all/b.json", &nameless(4));
    let printed = text(&expect(here, &["import", "all"], 0).stdout);
    assert!(printed.contains("2 in total, with 2 levels"), "{printed}");
}

#[test]
fn a_value_that_cannot_be_is_said() {
    let here = tempfile::tempdir().unwrap();
    let here = here.path();
    let odd = vllm(2).replace("\"median_ttft_ms\":20.0", "\"median_ttft_ms\":-5");
    write(here, "odd.json", &odd.replace("\"p99_ttft_ms\":40.0", "\"p99_ttft_ms\":\"fast\""));
    let said = text(&expect(here, &["import", "odd.json"], 0).stderr);
    assert!(said.contains("`median_ttft_ms`: `-5` is not a valid value"), "{said}");
    assert!(said.contains("`p99_ttft_ms`") && said.contains("fast"), "{said}");
}

#[test]
fn json_says_how_sure_it_is() {
    let here = tempfile::tempdir().unwrap();
    let here = here.path();
    write(here, "c2.json", &vllm(2));
    let printed = expect(here, &["import", "c2.json", "--json"], 0).stdout;
    let runs: serde_json::Value = serde_json::from_slice(&printed).unwrap();
    let recognised = &runs[0]["run"]["origin"]["recognised"];
    assert_eq!(recognised["sure"], "likely");
    assert!(recognised["by"].as_array().unwrap().contains(&json!("request_throughput")), "{runs}");
}

#[test]
fn a_finding_names_the_file_of_its_row() {
    let here = tempfile::tempdir().unwrap();
    let here = here.path();
    write(here, "all/c2.json", &vllm(2));
    write(here, "all/c10.json", &vllm(10).replace("\"num_prompts\":40", "\"num_prompts\":60"));
    let printed = text(&expect(here, &["lint", "all"], 5).stdout);
    assert!(printed.contains("[requests_missing]"), "{printed}");
    assert!(printed.contains("c10.json") && !printed.contains("c2.json"), "{printed}");
}

/// The same result with more requests planned than ended.
fn with_missing(slots: u32) -> String {
    vllm(slots).replace("\"num_prompts\":40", "\"num_prompts\":60")
}

#[test]
fn files_of_the_same_name_are_told_apart() {
    let here = tempfile::tempdir().unwrap();
    let here = here.path();
    write(here, "honest/r.json", &vllm(2));
    write(here, "wrong/r.json", &with_missing(2));
    let files = ["honest/r.json", "wrong/r.json"];
    let lint = |format: &str| {
        text(&expect(here, &["lint", files[0], files[1], "--format", format], 5).stdout)
    };
    for (format, named) in [
        ("text", "wrong/r.json: "),
        ("json", "\"file\": \"wrong/r.json\""),
        ("github", "file=wrong/r.json,"),
    ] {
        let printed = lint(format);
        assert!(printed.contains(named) && !printed.contains("honest"), "{format}: {printed}");
    }
}

#[test]
fn a_finding_in_a_folder_names_the_files_below_it() {
    let here = tempfile::tempdir().unwrap();
    let here = here.path();
    write(here, "all/c2.json", &vllm(2));
    write(here, "all/c10.json", &with_missing(10));
    let annotated = text(&expect(here, &["lint", "all", "--format", "github"], 5).stdout);
    assert!(annotated.contains("file=all/c10.json,"), "{annotated}");
    // Rows of several files: each names its own.
    write(here, "all/c4.json", &with_missing(4));
    let printed = text(&expect(here, &["lint", "all"], 5).stdout);
    assert!(printed.contains("(all/c4.json"), "{printed}");
    assert!(printed.contains("(all/c10.json") && !printed.contains("c2.json"), "{printed}");
    // What was imported before is named by where it is kept.
    expect(here, &["import", "all/c4.json", "--out", "kept"], 0);
    let kept = text(&expect(here, &["lint", "kept", "--format", "github"], 5).stdout);
    assert!(kept.contains("file=kept"), "{kept}");
}

/// L12: 20,000 bad lines printed 3.2 MB of warnings.
#[test]
fn of_many_problems_of_a_kind_the_first_are_printed() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let heading = "Type,Name,Request Count,Failure Count,Median Response Time,Average Response Time,\
                   Min Response Time,Max Response Time,Average Content Size,Requests/s,Failures/s\n";
    let good = "GET,/a,10,0,12,13.5,10,20,100,1.5,0\n";
    let rows = format!("{heading}{good}{}", "GET,/b,10\n".repeat(2_000));
    std::fs::write(here.join("a_stats.csv"), rows).unwrap();
    let said = text(&expect(here, &["import", "a_stats.csv"], 0).stderr);
    assert_eq!(said.matches("has 3 cells").count(), 5, "{said}");
    assert!(said.contains("1995 more of the same kind (import_row)"), "{said}");
}
