//! Results of other tools and of Dyno's own: read, checked, compared and gated, as people do it.

use crate::bench::place::Place;
use crate::bench::process::{Ended, run};
use serde_json::Value;

/// A file of the published tables.
fn published(name: &str) -> String {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/");
    format!("{root}{name}")
}

fn dyno(place: &Place, args: &str, status: i32) -> Ended {
    run(place.dyno(args)).expect_status(&[status])
}

/// A run of a twin in virtual time, whose rounds differ by the noise of its steps and by lengths.
fn predicted(place: &Place, out: &str, seed: u64, more: &str) {
    let load = "--concurrency 8,16 --requests 400 --input-tokens 128-384 --output-tokens 64-191";
    let args =
        format!("predict --twin generic-7b-24gb --quiet {load} --seed {seed} --out {out} {more}");
    dyno(place, &args, 0);
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn what_is_imported_is_kept_and_printed_as_it_was() {
    let place = Place::new();
    let file = published("rate-sweeps.md");
    let listed = dyno(&place, &format!("import {file} --out kept"), 0).stdout;
    assert!(listed.ends_with("12 in total, with 132 levels\n"), "{listed}");
    let printed = dyno(&place, "report kept --format guidellm", 0).stdout;
    let source = std::fs::read_to_string(&file).unwrap();
    let rows = |text: &str| {
        let row = |line: &str| line.contains("synchronous") || line.contains("throughput |");
        let tidy = |line: &str| line.split_whitespace().collect::<Vec<_>>().join("");
        text.lines().filter(|line| row(line)).map(tidy).collect::<Vec<_>>()
    };
    // A row of zeros had no data, and a latency of 0 is none.
    let source = source.replace("0.00 sec | 0.00 ms | 0.00 ms", "– | – | –");
    assert_eq!(rows(&printed), rows(&source));
    let one = dyno(&place, "report kept#lmdeploy --format evalscope", 0).stdout;
    assert!(one.contains("Benchmarking summary"), "{one}");
    let page = dyno(&place, "report kept#1 --format html --out page.html", 0);
    assert!(page.stderr.contains("page.html"), "{}", page.said());
}

#[test]
fn what_cannot_be_read_is_named() {
    let place = Place::new();
    let file = place.file("notes.txt", "nothing of the kind\n");
    let said = dyno(&place, &format!("import {file}"), 2).stderr;
    for known in ["guidellm", "EvalScope", "vLLM", "SGLang"] {
        assert!(said.contains(known), "{said}");
    }
    let said = dyno(&place, "import nowhere.json", 2).stderr;
    assert!(said.contains("nowhere.json"), "{said}");
    let said = dyno(&place, &format!("report {}#nothing", published("bursts.txt")), 2).stderr;
    assert!(said.contains("contains `nothing`") && said.contains("seq_length"), "{said}");
    dyno(&place, "lint", 2);
}

#[test]
fn what_another_tool_prints_is_read_from_a_pipe() {
    let place = Place::new();
    let piped = |args: &str, from: &str, status: i32| {
        let mut command = place.dyno(args);
        let output = command.stdin(std::fs::File::open(from).unwrap()).output().unwrap();
        let said = [output.stdout, output.stderr].map(|said| String::from_utf8(said).unwrap());
        assert_eq!(output.status.code(), Some(status), "{said:?}");
        said
    };
    let [listed, _] = piped("import -", &published("bursts.txt"), 0);
    assert!(listed.contains("stdin:") && listed.ends_with("levels\n"), "{listed}");
    let of_file = dyno(&place, &format!("import {}", published("bursts.txt")), 0).stdout;
    assert_eq!(listed.lines().last(), of_file.lines().last());
    let [_, said] = piped("lint -", &place.file("notes.txt", "nothing of the kind\n"), 2);
    assert!(said.contains("`stdin`") && said.contains("guidellm"), "{said}");
}

#[test]
fn a_directory_of_loose_files_is_read_and_the_rest_passed_over() {
    let place = Place::new();
    for name in ["bursts.txt", "length-matrix.md"] {
        std::fs::copy(published(name), place.path().join(name)).unwrap();
    }
    place.file("notes.md", "nothing of the kind");
    place.file("picture.png", "not a picture");
    let listed = dyno(&place, "import .", 0).stdout;
    assert!(listed.ends_with("4 in total, with 39 levels\n"), "{listed}");
    // Two files of the same name do not take each other's place.
    std::fs::create_dir(place.path().join("other")).unwrap();
    std::fs::copy(published("bursts.txt"), place.path().join("other/bursts.txt")).unwrap();
    dyno(&place, "import bursts.txt other/bursts.txt --out kept", 0);
    assert_eq!(std::fs::read_dir(place.path().join("kept")).unwrap().count(), 6);
    let said = dyno(&place, "import bursts.txt --out kept", 2).stderr;
    assert!(said.contains("already exists"), "{said}");
}

#[test]
fn findings_are_text_json_and_annotations_and_errors_are_status_5() {
    let place = Place::new();
    let file = published("length-matrix.md");
    let text = dyno(&place, &format!("lint {file}"), 5).stdout;
    assert!(text.contains("error [context_clamp]") && text.contains("cause (certain)"), "{text}");
    let found = json(&dyno(&place, &format!("lint {file} --format json"), 5).stdout);
    assert_eq!(
        (&found[0]["check"], &found[0]["weight"]),
        (&"context_clamp".into(), &"error".into())
    );
    assert_eq!(found[0]["rows"][0]["line"], 12);
    let marks = dyno(&place, &format!("lint {file} --format github"), 5).stdout;
    assert!(
        marks.starts_with("::error file=")
            && marks.contains("length-matrix.md,line=12,title=context_clamp::"),
        "{marks}"
    );
    let chinese = dyno(&place, &format!("lint {file} --lang zh"), 5).stdout;
    assert!(chinese.contains("原因（确定）"), "{chinese}");
    assert_eq!(
        dyno(&place, &format!("lint {}", published("bursts.txt")), 0).stdout,
        "3 runs and tables: 0 errors, 0 warnings\n"
    );
    predicted(&place, "own", 1, "");
    assert!(dyno(&place, "lint own", 0).stdout.starts_with("1 run or table: 0 errors"));
}

#[test]
fn equal_servers_do_not_differ_and_a_slower_one_is_called_slower() {
    let place = Place::new();
    predicted(&place, "a", 1, "--repeat 4 --label one");
    predicted(&place, "b", 1, "--repeat 4 --label other");
    let same = json(&dyno(&place, "compare a b --format json", 0).stdout);
    let called = |found: &Value| {
        let tests = found["differences"].as_array().unwrap();
        let kinds = tests.iter().map(|test| test["called"]["kind"].as_str().unwrap().to_owned());
        kinds.collect::<Vec<_>>()
    };
    assert_eq!(called(&same).len(), 2 * 7);
    assert!(!called(&same).iter().any(|kind| kind == "worse" || kind == "better"), "{same}");
    assert_eq!(same["differences"][0]["rests"]["kind"], "rounds");

    let twin = "predict --twin generic-7b-24gb --quiet --concurrency 8,16 --requests 400";
    let load = "--input-tokens 256-768 --output-tokens 64-191 --repeat 4 --label longer";
    dyno(&place, &format!("{twin} {load} --out c"), 0);
    let other = json(&dyno(&place, "compare a c --format json", 0).stdout);
    let worse = called(&other).into_iter().filter(|kind| kind == "worse").count();
    assert!(worse > 4, "{other}");
    assert!(other["notes"].as_array().unwrap().contains(&"other_lengths".into()), "{other}");
    let table = dyno(&place, "compare a c", 0).stdout;
    assert!(table.contains("longer") && table.contains("  slower\n"), "{table}");
    let three = dyno(&place, "compare a b c --format markdown --lang zh", 0).stdout;
    assert!(three.contains("| 负载 | 指标 | one | other | longer |"), "{three}");
    let csv = dyno(&place, "compare a b --format csv", 0).stdout;
    assert!(csv.starts_with("load,load_value,input_length,"), "{csv}");
    dyno(&place, "compare a b c --pair 1,2 --pair 1,3 --format svg --out charts", 0);
    for name in ["compare-1-2.svg", "compare-1-3.svg", "run-1.svg", "run-2.svg", "run-3.svg"] {
        assert!(place.path().join("charts").join(name).exists(), "{name}");
    }
    let said = dyno(&place, "compare a", 2).stderr;
    assert!(said.contains("at least two runs"), "{said}");
}

#[test]
fn loads_that_one_side_lacks_are_read_off_its_curve() {
    let place = Place::new();
    predicted(&place, "a", 1, "");
    let twin = "predict --twin generic-7b-24gb --quiet --concurrency 6,12,24 --requests 400";
    dyno(&place, &format!("{twin} --input-tokens 128-384 --output-tokens 64-191 --out b"), 0);
    let found = json(&dyno(&place, "compare a b --slo ttft.p99<60s --format json", 0).stdout);
    let points = found["points"].as_array().unwrap();
    let labels: Vec<&str> = points.iter().map(|point| point["label"].as_str().unwrap()).collect();
    assert_eq!(labels, [6, 8, 12, 16, 24].map(|n| format!("concurrency {n}")));
    let read = |point: usize, side: usize| points[point]["cells"][side]["interpolated"].clone();
    // The first side has 8 and 16, the second 6, 12 and 24.
    assert_eq!(read(0, 0), Value::Null);
    assert_eq!([read(1, 1), read(2, 0), read(3, 1)], [true, true, true].map(Value::from));
    assert_eq!(found["differences"].as_array().unwrap().len(), 0, "what is read off is not tested");
    assert_eq!(found["capacity"]["sides"][1]["holds"], 24.0);
    let table = dyno(&place, "compare a b", 0).stdout;
    assert!(table.contains('≈') && !table.contains('~'), "{table}");
}

#[test]
fn a_gate_passes_fails_or_cannot_tell() {
    let place = Place::new();
    predicted(&place, "a", 1, "--repeat 4");
    dyno(&place, "baseline save main a", 0);
    let kept = std::fs::metadata(place.path().join("dyno-baselines/main.json")).unwrap().len();
    assert!(kept < 200_000, "{kept} bytes");
    assert!(dyno(&place, "baseline list", 0).stdout.starts_with("main "));
    predicted(&place, "b", 1, "--repeat 4");
    let passed = dyno(&place, "gate b --baseline main --max-regression 5% --junit gate.xml", 0);
    // The answer stands at the end.
    let answer = passed.stdout.lines().last().unwrap();
    assert!(answer.starts_with("pass: b against main, "), "{}", passed.said());
    let xml = std::fs::read_to_string(place.path().join("gate.xml")).unwrap();
    assert!(xml.contains("tests=\"14\" failures=\"0\" skipped=\"0\""), "{xml}");

    let twin = "predict --twin generic-7b-24gb --quiet --concurrency 8,16 --requests 400";
    let load = "--input-tokens 256-768 --output-tokens 64-191 --repeat 4";
    dyno(&place, &format!("{twin} {load} --out slow"), 0);
    let failed = dyno(&place, "gate slow --baseline main --max-regression 5% --github", 5);
    assert!(
        failed.stdout.contains("### fail") && failed.stdout.contains("❌"),
        "{}",
        failed.said()
    );
    let one =
        dyno(&place, "gate slow --baseline a --max-regression 5% --metric ttft_mean --json", 5);
    assert_eq!(json(&one.stdout)["answer"], "fail");

    // Of many inconclusive checks only the worst are listed.
    let few = "predict --twin generic-7b-24gb --quiet --concurrency 1,4,16 --requests 40";
    dyno(&place, &format!("{few} --seed 1 --out few"), 0);
    dyno(&place, &format!("{few} --seed 2 --out again"), 0);
    let many = dyno(&place, "gate again --baseline few --max-regression 0.1%", 6).stdout;
    assert!(
        many.contains("  and 16 more, inconclusive as well") && many.lines().count() == 7,
        "{many}"
    );

    dyno(&place, "predict --twin generic-7b-24gb --quiet --burst 20 --out burst", 0);
    let unsure = dyno(&place, "gate burst --baseline burst --max-regression 5%", 6);
    let answer = unsure.stdout.lines().last().unwrap();
    assert!(answer.starts_with("inconclusive: "), "{}", unsure.said());
    let said = dyno(&place, "gate b --baseline nothing --max-regression 5%", 2).stderr;
    assert!(said.contains("nothing") && said.contains("dyno baseline list"), "{said}");
}

#[test]
fn the_charts_of_a_published_document_come_with_one_command() {
    let place = Place::new();
    let file = published("concurrency-sweeps.md");
    let pairs = "--pair 19,17 --pair 1,19 --format svg --lang zh --out charts";
    dyno(&place, &format!("compare {file} {pairs}"), 0);
    let read =
        |name: &str| std::fs::read_to_string(place.path().join("charts").join(name)).unwrap();
    let compared = read("compare-19-17.svg");
    for title in ["请求/秒", "端到端时延平均值", "输出 token/秒", "失败请求"] {
        assert!(compared.contains(title), "{title}");
    }
    assert!(!compared.contains("无数据"), "every panel has values");
    let six = read("run-1.svg");
    for title in ["总用时", "端到端时延平均值", "输出 token/秒", "端到端时延 p50", "端到端时延 p90"]
    {
        assert!(six.contains(title), "{title}");
    }
}
