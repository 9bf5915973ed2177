//! `dyno report` in its layouts, as people run it: over the records of real runs.

use crate::bench::place::Place;
use crate::bench::process::{Ended, run};

const FORMATS: [&str; 13] = [
    "table",
    "markdown",
    "csv",
    "json",
    "guidellm",
    "evalscope",
    "vllm",
    "vllm-0.6",
    "sglang",
    "matrix",
    "vllm-0.2.7",
    "vllm-json",
    "sglang-jsonl",
];

/// Two runs in virtual time: a closed ladder and bursts.
fn two_runs(place: &Place) {
    let twin = "--twin generic-7b-24gb --quiet";
    let ladder = "--concurrency 2,4 --requests 30 --out ladder --label baseline";
    for load in [ladder, "--burst 1,25 --out bursts"] {
        run(place.dyno(&format!("predict {twin} {load}"))).expect_status(&[0]);
    }
}

fn report(place: &Place, args: &str) -> Ended {
    let mut command = place.dyno(&format!("report {args}"));
    command.env_remove("LC_ALL").env_remove("LC_MESSAGES").env("LANG", "C.UTF-8");
    run(command).expect_status(&[0])
}

#[test]
fn every_layout_prints_one_run_and_several_and_says_that_they_are_simulated() {
    let place = Place::new();
    two_runs(&place);
    for format in FORMATS {
        let one = report(&place, &format!("ladder --format {format}"));
        let both = report(&place, &format!("ladder bursts --format {format}"));
        assert!(!one.stdout.is_empty() && both.stdout.len() > one.stdout.len(), "{format}");
        let marked = ["SIMULATED", "simulated"].iter().any(|word| one.stdout.contains(word));
        assert!(marked, "{format}: {}", one.said());
        let said = report(&place, &format!("ladder bursts --format {format} --out out.txt"));
        assert_eq!(said.stdout, "", "{format}");
        let written = std::fs::read_to_string(place.path().join("out.txt")).unwrap();
        assert_eq!(written, both.stdout, "{format}");
    }
    let json = report(&place, "ladder --json").stdout;
    assert_eq!(report(&place, "ladder --format json").stdout, json);
    assert_eq!(report(&place, "ladder").stdout, report(&place, "ladder --format table").stdout);
}

#[test]
fn the_locale_or_the_flag_decides_the_language() {
    let place = Place::new();
    two_runs(&place);
    let english = report(&place, "ladder --format evalscope").stdout;
    assert!(english.starts_with("| Metric | 2 | 4 |\n"), "{english}");
    let chinese = report(&place, "ladder --format evalscope --lang zh").stdout;
    assert!(chinese.starts_with("| 指标 | 2 | 4 |\n"), "{chinese}");
    let mut command = place.dyno("report ladder --format evalscope");
    command.env_remove("LC_ALL").env("LC_MESSAGES", "zh_CN.UTF-8").env("LANG", "C");
    assert_eq!(run(command).expect_status(&[0]).stdout, chinese);
}

#[test]
fn every_arrival_has_a_row() {
    let place = Place::new();
    two_runs(&place);
    let reported = report(&place, "ladder bursts --format csv --per-request");
    let reported = reported.expect_words(&["warning: baseline: SIMULATED"]);
    let rows = reported.stdout;
    assert_eq!(rows.matches("\r\n").count(), 1 + 30 + 30 + 1 + 25);
    assert_eq!(rows.matches(",completed,").count(), 30 + 30 + 1 + 25);
    let levels = report(&place, "ladder bursts --format csv").stdout;
    assert_eq!(levels.matches("\r\n").count(), 1 + 2 + 2);
}

#[test]
fn the_blocks_and_the_summary_say_the_same() {
    let place = Place::new();
    two_runs(&place);
    let summary = report(&place, "bursts --json").json();
    let level = &summary["levels"][1];
    let text = report(&place, "bursts --format vllm-json").stdout;
    let object: serde_json::Value = serde_json::from_str(text.lines().nth(1).unwrap()).unwrap();
    for (theirs, ours) in [
        (&object["completed"], &level["requests"]["completed"]),
        (&object["duration"], &level["duration_s"]),
        (&object["output_throughput"], &level["throughput"]["output_tokens_per_s"]),
        (&object["median_ttft_ms"], &level["ttft_ms"]["p50"]),
        (&object["mean_tpot_ms"], &level["tpot_ms"]["mean"]),
        (&object["p99_itl_ms"], &level["chunk_gap_ms"]["p99"]),
    ] {
        assert!(ours.is_number(), "{level}");
        assert_eq!(theirs, ours);
    }
    assert_eq!(object["max_concurrent_requests"], 25);
    let block = report(&place, "bursts --format vllm").stdout;
    let tokens = object["total_output_tokens"].as_u64().unwrap();
    assert!(
        block.contains(&format!("{:<40} {tokens:<10}\n", "Total generated tokens:")),
        "{block}"
    );
}

#[test]
fn a_file_that_cannot_be_written_is_named() {
    let place = Place::new();
    two_runs(&place);
    run(place.dyno("report ladder --out missing/out.md"))
        .expect_status(&[2])
        .expect_words(&["--out", "missing/out.md"]);
}

#[test]
fn charts_are_drawn_from_a_run_and_of_one_run_only() {
    let place = Place::new();
    let load = "--concurrency 1,4,16 --requests 4x --input-tokens 32 --output-tokens 16";
    run(place.dyno(&format!("predict --out run --json --quiet {load}"))).expect_status(&[0]);
    let english = run(place.dyno("report run --format svg --lang en")).expect_status(&[0]).stdout;
    let chinese = run(place.dyno("report run --format svg --lang zh")).expect_status(&[0]).stdout;
    assert!(english.starts_with("<svg") && english.trim_end().ends_with("</svg>"));
    assert!(chinese.starts_with("<svg") && chinese != english);
    run(place.dyno("report run run --format svg")).expect_status(&[2]).expect_words(&["one run"]);
}

#[test]
fn pictures_and_tables_are_files_of_their_kind() {
    let place = Place::new();
    two_runs(&place);
    let file = |args: &str| {
        let said = report(&place, &format!("{args} --out made"));
        assert_eq!(said.stdout, "", "{args}");
        std::fs::read(place.path().join("made")).unwrap()
    };
    let [english, chinese] =
        ["en", "zh"].map(|language| file(&format!("ladder --format png --lang {language}")));
    assert!(english.starts_with(b"\x89PNG\r\n\x1a\n") && chinese.starts_with(b"\x89PNG"));
    assert_ne!(english, chinese);
    assert_eq!(english, file("ladder --format png --lang en"), "the same bytes each time");
    for args in ["ladder bursts --format parquet", "ladder --format parquet --per-request"] {
        let table = file(args);
        assert!(table.starts_with(b"PAR1") && table.ends_with(b"PAR1"), "{args}");
    }
    assert!(report(&place, "ladder --format parquet").stdout.starts_with("PAR1"), "a pipe is fine");
    for (args, words) in [
        ("ladder bursts --format png", "one run"),
        ("ladder --format png --per-request", "csv or parquet"),
    ] {
        run(place.dyno(&format!("report {args}"))).expect_status(&[2]).expect_words(&[words]);
    }
}

#[test]
fn what_is_no_text_is_kept_from_a_terminal() {
    let place = Place::new();
    two_runs(&place);
    for format in ["png", "parquet"] {
        let mut command = std::process::Command::new("script");
        let inside = format!("{} report ladder --format {format}", env!("CARGO_BIN_EXE_dyno"));
        command.current_dir(place.path()).args(["-qec", &inside, "/dev/null"]);
        let ended = run(command).expect_status(&[2]);
        assert!(ended.stdout.contains("--out FILE"), "{}", ended.said());
        assert!(!ended.stdout.contains("PAR1") && !ended.stdout.contains("PNG\r"));
    }
}

#[test]
fn characters_that_no_picture_can_show_are_told() {
    let place = Place::new();
    let load = "--concurrency 2 --requests 20 --out odd --label 🦀螃蟹";
    run(place.dyno(&format!("predict --twin generic-7b-24gb --quiet {load}"))).expect_status(&[0]);
    report(&place, "odd --format png --out odd.png").expect_words(&["not in the font", "🦀"]);
}

#[test]
fn columns_and_percentiles_are_chosen_by_name() {
    let place = Place::new();
    let asked = "--columns requests,ttft,latency.p95,total_tokens --percentiles mean,p99.9,50";
    let predict = "predict --twin generic-7b-24gb --quiet --concurrency 2,4 --requests 30 \
                   --report markdown --out ladder";
    let shown = run(place.dyno(&format!("{predict} {asked}"))).expect_status(&[0]).stdout;
    let printed = report(&place, &format!("ladder {asked}")).stdout;
    assert_eq!(printed, shown, "the report of a run is what the run printed");
    let head = printed.lines().find(|line| line.starts_with("level ")).unwrap();
    let names: Vec<&str> = head.split_whitespace().collect();
    assert_eq!(names, ["level", "failed", "mean", "p99.9", "p50", "p95", "tok/s", "verdict"]);

    let markdown = report(&place, &format!("ladder --format markdown {asked}")).stdout;
    let written = std::fs::read_to_string(place.path().join("ladder/report.md")).unwrap();
    assert_eq!(written, markdown);
    let head = markdown.lines().find(|line| line.starts_with("| Level ")).unwrap();
    assert_eq!(head.matches('|').count(), 1 + 9, "{head}");
    assert!(head.contains("| TTFT mean (ms) | TTFT p99.9 (ms) | TTFT p50 (ms) |"), "{head}");

    for (args, words) in [
        ("--columns ttf", "did you mean `ttft`?"),
        ("--columns throughput.p50", "has no statistics; write `throughput`"),
        ("--percentiles 97", "available are mean, std, min, p50"),
        ("--columns ttft --format csv", "other formats have fixed columns"),
    ] {
        run(place.dyno(&format!("report ladder {args}")))
            .expect_status(&[2])
            .expect_words(&[words]);
    }
}
