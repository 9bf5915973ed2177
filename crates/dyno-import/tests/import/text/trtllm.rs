//! The printed report of trtllm-bench.

use super::*;
use dyno_model::metric::Time;

#[test]
fn a_report_in_a_log() {
    let imported = read("trtllm.log");
    assert_eq!(problems(&imported, Severity::Error), []);
    assert_eq!(imported.runs.len(), 1);
    let run = &imported.runs[0];
    let origin = run.summary.run.origin.as_ref().unwrap();
    assert_eq!((origin.tool.as_str(), origin.version.as_deref()), ("trtllm-bench", Some("0.20.0")));
    assert_eq!(run.summary.run.label.as_deref(), Some("acme/pocket-1b"));
    let level = &run.summary.levels[0];
    assert_eq!(load(level), ("unknown", None));
    assert_eq!((level.requests.completed, level.duration_s), (Some(60), Some(8.0)));
    let rates = &level.throughput;
    assert_eq!(
        (rates.requests_per_s, rates.output_tokens_per_s, rates.total_tokens_per_s),
        (Some(7.5), Some(360.0), Some(1800.0))
    );
    let latency = level.times[Time::Latency].as_ref().unwrap();
    assert_eq!(
        (latency.mean, latency.p99, latency.max),
        (Some(5000.25), Some(7950.125), Some(7990.25))
    );
    assert_eq!(level.times[Time::Ttft], None);
    assert_eq!((level.input_length, level.output_length), (Some(192), Some(48)));
    let reported = &level.reported.as_ref().unwrap().figures;
    assert_eq!(reported["Number of concurrent requests"], 37.5);
}

#[test]
fn an_excerpt_with_streaming_on_a_page() {
    let text = "# Fast\n\n```\n===\n= PERFORMANCE OVERVIEW\n===\n\
                Request Throughput (req/sec):                     2.5000\n\
                Total Output Throughput (tokens/sec):             250.0000\n\
                Total Latency (ms):                               4000.0000\n\
                Average request latency (ms):                     390.5000\n\
                Average time-to-first-token [TTFT] (ms):          40.2500\n\
                Average time-per-output-token [TPOT] (ms):        3.5000\n\n\
                -- Per-Request Time-to-First-Token [TTFT] Breakdown (ms)\n\n\
                [TTFT] MINIMUM: 35.0000\n[TTFT] P99    : 48.7500\n```\n";
    let imported = read_text(text);
    let run = &imported.runs[0];
    assert_eq!(run.summary.run.label.as_deref(), Some("Fast"));
    let level = &run.summary.levels[0];
    let ttft = level.times[Time::Ttft].as_ref().unwrap();
    assert_eq!((ttft.mean, ttft.min, ttft.p99), (Some(40.25), Some(35.0), Some(48.75)));
    assert_eq!(mean(&level.times[Time::Tpot]), Some(3.5));
    assert_eq!((level.requests.completed, level.duration_s), (None, Some(4.0)));
}

#[test]
fn two_reports_in_a_log_are_two_levels() {
    let text = fixture("trtllm.log");
    let again = text.replace("7.5000", "9.5000");
    let imported = read_text(&format!("{text}{again}"));
    let rates: Vec<_> = imported
        .runs
        .iter()
        .flat_map(|run| &run.summary.levels)
        .map(|level| level.throughput.requests_per_s)
        .collect();
    assert_eq!(rates, [Some(7.5), Some(9.5)]);
}

#[test]
fn a_report_that_is_cut_before_its_results_is_an_error() {
    let text = fixture("trtllm.log");
    let (head, _) = text.split_once("= PERFORMANCE").unwrap();
    let imported = read_text(head);
    assert!(imported.runs.is_empty());
    let errors = problems(&imported, Severity::Error);
    assert!(errors[0].1.contains("trtllm-bench without values"), "{errors:?}");
}

#[test]
fn requests_that_never_overlapped_were_a_closed_loop_of_one() {
    // A report of the first versions: `Total Token Throughput` is of output tokens.
    let rule = "===========================================================";
    let section = |title: &str, rows: &str| format!("{rule}\n= {title}\n{rule}\n{rows}\n");
    let text = [
        section("ENGINE DETAILS", "Model:\t\t\tacme/pocket-1b\nTensorRT-LLM Version:\t0.15.0\n"),
        section(
            "GENERAL OVERVIEW",
            "Number of requests:\t\t20\nAverage Output Length (tokens):\t50.0000\n\
             Average request latency (ms):\t400.0000\n",
        ),
        section(
            "THROUGHPUT OVERVIEW",
            "Request Throughput (req/sec):\t\t  2.4950\n\
             Total Token Throughput (tokens/sec):\t  124.7500\n\
             Generation Token Throughput (tokens/sec): 140.0000\n",
        ),
        section(
            "LATENCY OVERVIEW",
            "Total Latency (ms):\t\t  8016.0000\nAverage time-to-first-token (ms): 20.5000\n\
             Average inter-token latency (ms): 7.7500\n",
        ),
        section("GENERATION LATENCY BREAKDOWN", "MIN (ms): 370.0000\nP99 (ms): 390.0000\n"),
    ];
    let imported = read_text(&text.concat());
    let level = &imported.runs[0].summary.levels[0];
    assert_eq!(load(level), ("concurrency", Some(1.0)));
    assert_eq!(level.label, "concurrency 1");
    assert_eq!(level.throughput.output_tokens_per_s, Some(124.75));
    assert_eq!(level.throughput.total_tokens_per_s, None);
    let [latency, ttft, tpot] =
        [Time::Latency, Time::Ttft, Time::Tpot].map(|time| level.times[time].clone().unwrap());
    assert_eq!((latency.mean, latency.p99), (Some(400.0), None));
    assert_eq!((ttft.mean, tpot.mean), (Some(20.5), Some(7.75)));
    assert_eq!(problems(&imported, Severity::Note), []);
}

#[test]
fn the_first_reports_count_in_seconds() {
    let rule = "===========================================================";
    let text = format!(
        "{rule}\n= WORLD + RUNTIME INFORMATION\n{rule}\nTP Size:                1\n\
         {rule}\n= STATISTICS\n{rule}\nNumber of requests:             300\n\
         Average Output Length (tokens):  64.0\nToken Throughput (tokens/sec):  4800.0\n\
         Request Throughput (req/sec):   75.0\nTotal Latency (seconds):        4.0\n{rule}\n"
    );
    let imported = read_text(&text);
    let level = &imported.runs[0].summary.levels[0];
    assert_eq!((level.duration_s, level.requests.completed), (Some(4.0), Some(300)));
    assert_eq!(level.throughput.output_tokens_per_s, Some(4800.0));
    assert_eq!(level.throughput.total_tokens_per_s, None);
}
