//! The names of `--columns` and `--percentiles`.

use dyno_model::metric::{Metric, Statistic, Time};
use dyno_report::{LevelColumn, parse_column, parse_statistic};

#[test]
fn statistics_are_read_as_people_write_them() {
    for (text, which) in [
        ("50", Statistic::P50),
        ("p95", Statistic::P95),
        ("99.9", Statistic::P99_9),
        ("p99_9", Statistic::P99_9),
        (" Mean ", Statistic::Mean),
        ("max", Statistic::Max),
    ] {
        assert_eq!(parse_statistic(text), Ok(which), "{text}");
    }
    let error = parse_statistic("97").unwrap_err().to_string();
    assert!(error.contains("no percentile `97`") && error.contains("p98"), "{error}");
    assert!(parse_statistic("maen").unwrap_err().to_string().contains("did you mean `mean`?"));
}

#[test]
fn columns_are_read_by_the_names_of_the_registry() {
    let column = |text| parse_column(text).unwrap();
    assert_eq!(column("ttft"), vec![LevelColumn::Time(Time::Ttft)]);
    assert_eq!(
        column("scheduled.ttft.p99.9"),
        vec![LevelColumn::Statistic(Time::TtftScheduled, Statistic::P99_9)]
    );
    assert_eq!(column("output_tokens_per_s"), vec![LevelColumn::Value(Metric::OutputRate)]);
    assert_eq!(column("errors"), vec![LevelColumn::Value(Metric::Errors)]);
    assert_eq!(column("verdict"), []);
    assert!(
        parse_column("latncy.p99").unwrap_err().to_string().contains("did you mean `latency`?")
    );
    assert!(parse_column("throughput.p50").unwrap_err().to_string().contains("one number"));
    assert!(parse_column("ttft.p97").unwrap_err().to_string().contains("no percentile"));
}
