//! locust's statistics.

use crate::files::{errors, import, loads, notes, reported};
use dyno_import::import_bytes;
use dyno_model::metric::Time;

#[test]
fn statistics_of_one_kind_of_request_are_a_level() {
    let imported = import("locust_stats.csv");
    assert_eq!(errors(&imported), Vec::<String>::new());
    let run = &imported.runs[0];
    assert_eq!(run.summary.run.origin.as_ref().unwrap().tool, "locust");
    assert_eq!(loads(run), [("unknown", None)]);
    let level = &run.summary.levels[0];
    // Its count includes the failures.
    assert_eq!((level.requests.completed, level.requests.failed), (Some(796), Some(4)));
    let latency = level.times[Time::Latency].as_ref().unwrap();
    assert_eq!(
        (latency.mean, latency.p50, latency.p99),
        (Some(2700.0), Some(2400.0), Some(8400.0))
    );
    assert_eq!((latency.p99_9, latency.max), (Some(9600.0), Some(10800.0)));
    assert_eq!(level.throughput.requests_per_s, Some(4.0));
    assert_eq!(level.times[Time::Ttft], None);
    assert_eq!(reported(level, "Average Content Size"), 512.25);
    let notes = notes(&imported);
    assert!(notes[0].contains("4 failed requests of 800"), "{notes:?}");
    assert!(notes[1].contains("how requests were offered"), "{notes:?}");
}

#[test]
fn kinds_of_requests_are_levels_and_many_failures_leave_no_latency() {
    let imported = import("locust_kinds_stats.csv");
    let [chat, models] = &imported.runs[0].summary.levels[..] else { panic!("two kinds") };
    assert_eq!(chat.label, "POST /v1/chat/completions");
    assert!(chat.times[Time::Latency].is_some());
    assert_eq!(models.label, "GET /v1/models");
    assert_eq!(models.times[Time::Latency], None);
    assert_eq!(reported(models, "Average Response Time"), 9.0);
    // 0.5 requests per second, of which 0.2 failed.
    assert_eq!(models.throughput.requests_per_s, Some(0.3));
    let notes = notes(&imported);
    assert!(notes.iter().any(|note| note.contains("2 kinds of requests")), "{notes:?}");
}

#[test]
fn the_history_is_refused_with_the_reason() {
    let imported = import("locust_stats_history.csv");
    assert!(imported.runs.is_empty());
    let errors = errors(&imported);
    assert!(errors[0].contains("history") && errors[0].contains("_stats.csv"), "{errors:?}");
}

#[test]
fn names_before_1_0_are_known() {
    let text = std::fs::read_to_string(crate::files::fixture("locust_stats.csv")).unwrap();
    let old = text
        .replace(
            "Type,Name,Request Count,Failure Count,Median Response Time",
            "Method,Name,# requests,# failures,Median response time",
        )
        .replace(
            "Average Response Time,Min Response Time,Max Response Time",
            "Average response time,Min response time,Max response time",
        );
    let imported = import_bytes("a.csv", old.as_bytes()).unwrap();
    let level = &imported.runs[0].summary.levels[0];
    assert_eq!((level.requests.completed, level.requests.failed), (Some(796), Some(4)));
    assert_eq!(level.times[Time::Latency].as_ref().unwrap().mean, Some(2700.0));
}

#[test]
fn a_test_that_sent_nothing_has_no_level() {
    let text = std::fs::read_to_string(crate::files::fixture("locust_stats.csv")).unwrap();
    let heading = text.lines().next().unwrap();
    let empty = format!("{heading}\n,Aggregated,0,0,0,0,0,0,0,0,0{}\n", ",N/A".repeat(11));
    let imported = import_bytes("a.csv", empty.as_bytes()).unwrap();
    assert!(imported.runs.is_empty());
    assert_eq!(errors(&imported).len(), 1);
}

/// M6: 150,000 rows took 3.4 GB.
#[test]
fn a_file_has_a_largest_number_of_levels() {
    let heading = "Type,Name,Request Count,Failure Count,Median Response Time,Average Response Time,\
                   Min Response Time,Max Response Time,Average Content Size,Requests/s,Failures/s\n";
    let row = |n: usize| format!("GET,/{n},10,0,12,13.5,10,20,100,1.5,0\n");
    let text: String = std::iter::once(heading.to_owned()).chain((0..10_050).map(row)).collect();
    let imported = import_bytes("a_stats.csv", text.as_bytes()).unwrap();
    assert_eq!(imported.runs[0].summary.levels.len(), 10_000);
    let errors = errors(&imported);
    assert!(errors.iter().any(|error| error.contains("more than 10000 results")), "{errors:?}");
}
