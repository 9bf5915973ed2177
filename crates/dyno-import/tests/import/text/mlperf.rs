//! The summary of MLPerf's LoadGen.

use super::*;
use dyno_model::metric::Time;

#[test]
fn server_is_an_open_loop_with_times_from_the_schedule() {
    let imported = read("mlperf-server.txt");
    assert_eq!(problems(&imported, Severity::Error), []);
    let run = &imported.runs[0];
    assert_eq!(run.summary.run.origin.as_ref().unwrap().tool, "mlperf");
    let level = &run.summary.levels[0];
    assert_eq!(load(level), ("rate", Some(4.5)));
    assert_eq!(level.offered_per_s, Some(4.52));
    assert_eq!(level.throughput.requests_per_s, Some(4.4));
    assert_eq!(level.throughput.output_tokens_per_s, Some(1100.25));
    for time in [Time::Ttft, Time::TtftScheduled] {
        let ttft = level.times[time].as_ref().unwrap();
        assert_eq!((ttft.mean, ttft.p99, ttft.p99_9), (Some(400.0), Some(1000.0), Some(1150.0)));
    }
    for time in [Time::Latency, Time::LatencyScheduled] {
        let latency = level.times[time].as_ref().unwrap();
        assert_eq!((latency.mean, latency.min), (Some(16_000.0), Some(4000.0)));
    }
    assert_eq!(level.times[Time::Tpot].as_ref().unwrap().p90, Some(96.0));
    assert_eq!((level.requests.completed, level.duration_s), (None, None));
}

#[test]
fn the_tools_verdict_is_a_note_with_what_was_not_met() {
    let imported = read("mlperf-server.txt");
    let notes = problems(&imported, Severity::Note);
    let verdict = notes.iter().find(|(_, what)| what.contains("own verdict")).unwrap();
    assert!(verdict.1.contains("INVALID"), "{verdict:?}");
    assert!(verdict.1.contains("performance constraints satisfied: NO"), "{verdict:?}");
    assert!(!verdict.1.contains("min duration"), "{verdict:?}");
    let valid = read("mlperf-offline.txt");
    let notes = problems(&valid, Severity::Note);
    assert!(notes.iter().any(|(_, what)| what.ends_with("verdict is VALID")), "{notes:?}");
}

#[test]
fn offline_is_a_burst_that_lasts_as_long_as_its_last_sample() {
    let imported = read("mlperf-offline.txt");
    let level = &imported.runs[0].summary.levels[0];
    assert_eq!(load(level), ("burst", Some(600.0)));
    assert_eq!(level.requests.completed, Some(600));
    assert_eq!(level.duration_s, Some(48.0));
    assert_eq!(level.throughput.requests_per_s, Some(12.5));
    assert_eq!(level.throughput.output_tokens_per_s, Some(3125.0));
    assert_eq!((&level.times[Time::Ttft], &level.times[Time::LatencyScheduled]), (&None, &None));
}

#[test]
fn single_stream_is_a_closed_loop_of_one() {
    let imported = read("mlperf-single.txt");
    let level = &imported.runs[0].summary.levels[0];
    assert_eq!(load(level), ("concurrency", Some(1.0)));
    assert_eq!(level.throughput.requests_per_s, Some(0.99));
    assert_eq!(level.times[Time::Latency].as_ref().unwrap().p50, Some(900.0));
}

#[test]
fn the_first_lines_alone_have_the_percentile_that_is_judged() {
    let text = fixture("mlperf-single.txt");
    let (head, _) = text.split_once("Early Stopping Result").unwrap();
    let imported = read_text(&format!("# Tests\n\n```\n{head}```\n\nAnd: so on.\n"));
    let level = &imported.runs[0].summary.levels[0];
    let latency = level.times[Time::Latency].as_ref().unwrap();
    assert_eq!((latency.p90, latency.mean), (Some(1500.0), None));
}

#[test]
fn queries_of_several_samples_have_no_latency_of_a_request() {
    let text = fixture("mlperf-single.txt").replace("SingleStream", "MultiStream");
    let imported = read_text(&text);
    assert!(imported.runs.is_empty());
    let notes = problems(&imported, Severity::Note);
    assert!(notes.iter().any(|(_, what)| what.contains("in MultiStream")), "{notes:?}");
}

#[test]
fn a_summary_takes_no_more_than_its_own_lines() {
    let text = fixture("mlperf-offline.txt");
    let (head, _) = text.split_once("Test Parameters").unwrap();
    let text = format!("{head}\nSome words on the next test.\n\n{}", fixture("llama-bench.txt"));
    let imported = read_text(&text);
    let tools: Vec<&str> = imported
        .runs
        .iter()
        .map(|run| run.summary.run.origin.as_ref().unwrap().tool.as_str())
        .collect();
    assert_eq!(tools, ["mlperf", "llama-bench"]);
}

#[test]
fn early_versions_and_comments_are_understood() {
    let single = fixture("mlperf-single.txt").replace("SingleStream", "Single Stream");
    let level = &read_text(&single).runs[0].summary.levels[0];
    assert_eq!(load(level), ("concurrency", Some(1.0)));
    assert!(level.throughput.requests_per_s.is_some());
    let several = read_text(&single.replace("Single Stream", "Multi Stream"));
    assert!(several.runs.iter().all(|run| run.summary.levels[0].times[Time::Latency].is_none()));

    let offline = fixture("mlperf-offline.txt");
    let rate = read_text(&offline).runs[0].summary.levels[0].throughput.requests_per_s;
    let remarked: String = offline
        .lines()
        .map(|line| match line.split_once(':') {
            Some(("SUT name ", _)) => "SUT name : \n".to_owned(),
            Some(("Result is ", value)) => format!("<b>Result is :{value}</b>\n"),
            Some((name, _)) if name.starts_with("Samples per second") => {
                format!("{line} # of one device\n")
            }
            _ => format!("{line}\n"),
        })
        .collect();
    let imported = read_text(&remarked);
    assert_eq!(imported.runs[0].summary.levels[0].throughput.requests_per_s, rate);
    let notes = problems(&imported, Severity::Note);
    assert!(notes.iter().any(|(_, what)| what.ends_with("verdict is VALID")), "{notes:?}");
}
