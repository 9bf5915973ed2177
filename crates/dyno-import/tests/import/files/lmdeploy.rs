//! LMDeploy's CSV files.

use crate::files::{errors, import, loads, reported, run};
use dyno_import::import_bytes;
use dyno_model::metric::Time;

#[test]
fn one_row_per_level() {
    let run = run("lmdeploy-restful.csv");
    assert_eq!(loads(&run), [("concurrency", Some(64.0)), ("concurrency", Some(128.0))]);
    let level = &run.summary.levels[1];
    assert_eq!(level.requests.planned, Some(1000));
    assert_eq!(level.requests.completed, None);
    let ttft = level.times[Time::Ttft].as_ref().unwrap();
    assert_eq!((ttft.mean, ttft.min, ttft.max), (Some(900.0), Some(60.0), Some(5200.0)));
    // A comma between thousands.
    assert_eq!(level.throughput.output_tokens_per_s, Some(1685.2));
    assert_eq!(reported(level, "RPM"), 486.0);
    assert_eq!(level.reported.as_ref().unwrap().line, Some(3));
}

#[test]
fn percentiles_are_those_of_tokens() {
    let run = run("lmdeploy-throughput.csv");
    let level = &run.summary.levels[0];
    assert_eq!(level.requests.planned, Some(10_000));
    let gap = level.times[Time::ChunkGap].as_ref().unwrap();
    assert_eq!(
        (gap.p50, gap.p75, gap.p95, gap.p99),
        (Some(44.0), Some(55.0), Some(89.0), Some(112.0))
    );
}

#[test]
fn a_row_with_too_few_cells_is_left_out() {
    let imported = import("lmdeploy-generation.csv");
    assert!(
        errors(&imported)[0].starts_with("line 4: `16,128,2048,1201.00`"),
        "{:?}",
        errors(&imported)
    );
    let levels = &imported.runs[0].summary.levels;
    assert_eq!(levels.len(), 2);
    assert_eq!((levels[0].input_length, levels[0].output_length), (Some(128), Some(2048)));
}

#[test]
fn without_its_heading_it_is_not_guessed_at() {
    let rows = b"64,1000,6.250,375.000,0.480,0.050,3.100,1300.500,2700.250\n";
    assert!(import_bytes("a.csv", rows).is_err());
    let later = [rows.as_slice(), b"batch,RPS,FTL(ave)(s)\n8,1.5,-\n"].concat();
    let imported = import_bytes("a.csv", &later).unwrap();
    assert!(errors(&imported)[0].contains("above the heading"), "{:?}", imported.problems);
    let level = &imported.runs[0].summary.levels[0];
    assert_eq!((level.throughput.requests_per_s, &level.times[Time::Ttft]), (Some(1.5), &None));
}
