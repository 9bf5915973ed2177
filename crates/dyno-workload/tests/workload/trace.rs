//! Traces in every form: read, cut and described.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::fs;
use std::io::Write;

use crate::traces_made::{AZURE, BURST_GPT, MOONCAKE, opened, trace};
use dyno_workload::data::{DataError, DataKind, DataSet, DataSpec};
use dyno_workload::trace::{Trace, TraceFormat, TraceLimits, TraceProfile, TraceTally};
use proptest::prelude::*;

const MS: u64 = 1_000_000;

fn requests(trace: &Trace) -> Vec<(u64, u32, u32, Vec<u64>)> {
    trace.requests().map(|r| (r.at, r.input, r.output, r.hashes.to_vec())).collect()
}

fn offsets(trace: &Trace) -> Vec<u64> {
    trace.schedule().map(|at| at / MS).collect()
}

fn said(text: &str, spec: &str, limits: TraceLimits) -> String {
    opened(text, spec, limits).expect_err("refused").to_string()
}

#[test]
fn mooncake() {
    let read = trace(MOONCAKE, "trace:t.jsonl");
    assert_eq!(
        read.recognised().to_string(),
        "t.jsonl: Mooncake trace, 6 requests over 27.482 s, hash ids of 512-token blocks"
    );
    assert_eq!((read.format(), read.block(), read.len()), (TraceFormat::Mooncake, 512, 6));
    assert_eq!(
        requests(&read),
        [
            (0, 655, 52, vec![46, 47]),
            (0, 1300, 26, vec![46, 48, 49]),
            (3_052 * MS, 1100, 1, vec![46, 48, 50]),
            (10_535 * MS, 672, 26, vec![46, 47]),
            (15_000 * MS, 700, 7, vec![]),
            (27_482 * MS, 655, 52, vec![51, 52]),
        ]
    );
    assert_eq!(read.duration(), 27_482 * MS);
    assert_eq!(read.request(6), None);
    assert_eq!(read.tally(), TraceTally { read: 6, without_output: 1, ..TraceTally::default() });
    let bare = r#"[{"timestamp": 3.5, "input_length": 9, "output_length": 2},
        {"timestamp": 5, "input_length": 8, "output_length": 2, "hash_ids": null}]"#;
    let bare = trace(bare, "trace:t.json");
    assert_eq!(
        bare.recognised().to_string(),
        "t.json: Mooncake trace, 2 requests over 1.5 ms, without hash ids"
    );
    assert_eq!(requests(&bare), [(0, 9, 2, vec![]), (1_500_000, 8, 2, vec![])]);
}

#[test]
fn bailian_counts_in_seconds_and_blocks_of_sixteen() {
    let text = r#"{"chat_id": 159, "parent_chat_id": 55, "timestamp": 61.114, "input_length": 20, "output_length": 132, "type": "text", "turn": 2, "hash_ids": [1089, 1090]}
{"chat_id": 160, "parent_chat_id": -1, "timestamp": 61.2, "input_length": 16, "output_length": 1, "type": "text", "turn": 1, "hash_ids": [1089]}"#;
    let read = trace(text, "trace:qwen.jsonl");
    assert_eq!(
        read.recognised().to_string(),
        "qwen.jsonl: Bailian trace, 2 requests over 86 ms, hash ids of 16-token blocks"
    );
    assert_eq!(requests(&read)[1], (86 * MS, 16, 1, vec![1089]));
    assert_eq!(read.tally().mismatched, 0);
    assert_eq!(trace(text, "trace:qwen.jsonl,block=64").block(), 64);
}

#[test]
fn azure_to_the_nanosecond_and_in_order() {
    for name in ["azure.csv", "azure"] {
        let read = trace(AZURE, &format!("trace:{name}"));
        assert_eq!(
            read.recognised().to_string(),
            format!("{name}: Azure trace, 3 requests over 1 s"),
            "a header says enough"
        );
        assert_eq!(
            requests(&read),
            [
                (0, 4808, 10, vec![]),
                (52_000_000, 3180, 8, vec![]),
                (1_000_000_100, 110, 27, vec![])
            ]
        );
        let tally = TraceTally { read: 3, reordered: 1, without_zone: 2, ..TraceTally::default() };
        assert_eq!(read.tally(), tally);
    }
}

#[test]
fn burst_gpt_old_and_new_without_the_failures() {
    let newer = "Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,\
        Total tokens,Log Type\n\
        5.0,1722ac82-0a46-4bf0-aa08-89794e7a2b3f,43,GPT-4,472,18,490,Conversation log\n\
        45.25,,,ChatGPT,0,0,0,API log\n\
        118.0,a5c6,2,ChatGPT,417,276,693,API log\n";
    for text in [BURST_GPT, newer] {
        let read = trace(text, "trace:b.csv");
        assert_eq!(
            read.recognised().to_string(),
            "b.csv: BurstGPT trace, 2 requests over 1 min 53 s",
            "those that failed are left out"
        );
        assert_eq!(requests(&read), [(0, 472, 18, vec![]), (113_000 * MS, 417, 276, vec![])]);
        let tally = TraceTally { read: 2, failed_when_recorded: 1, ..TraceTally::default() };
        assert_eq!(read.tally(), tally);
    }
    let failed = "Timestamp,Request tokens,Response tokens\n1,5,0\n2,5,0\n";
    assert_eq!(
        said(failed, "trace:b.csv", TraceLimits::default()),
        "b.csv has nothing left to send: 2 requests failed when recorded, and there are no \
         others; name another file"
    );
}

#[test]
fn a_file_says_by_its_shape_that_it_is_a_trace() {
    let place = tempfile::tempdir().expect("folder");
    for (name, text) in [("t.jsonl", MOONCAKE), ("a.csv", AZURE), ("b.csv", BURST_GPT)] {
        let path = place.path().join(name);
        fs::write(&path, text).expect("written");
        let spec: DataSpec = path.display().to_string().parse().expect("good");
        let error = DataSet::new(&spec).expect_err("no prompts");
        assert!(matches!(error, DataError::Elsewhere { kind: DataKind::Trace, .. }), "{error}");
        let read = Trace::open(&spec, &TraceLimits::default()).expect("a trace");
        let named = format!("trace:{}", path.display()).parse().expect("good");
        let same = Trace::open(&named, &TraceLimits::default()).expect("a trace");
        assert_eq!(requests(&read), requests(&same));
        assert_eq!(read.recognised(), same.recognised());
    }
    let missing = "trace:no/such.jsonl".parse().expect("good");
    let error = Trace::open(&missing, &TraceLimits::default()).expect_err("missing");
    assert!(error.to_string().starts_with("there is no file no/such.jsonl"), "{error}");
}

#[test]
fn compressed_files_are_read_through() {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(MOONCAKE.as_bytes()).expect("in memory");
    let gzip = encoder.finish().expect("in memory");
    let level = ruzstd::encoding::CompressionLevel::Fastest;
    let zstd = ruzstd::encoding::compress_to_vec(MOONCAKE.as_bytes(), level);
    let spec = "trace:t".parse().expect("good");
    let plain = requests(&trace(MOONCAKE, "trace:t"));
    for (name, bytes) in [("gzip", gzip), ("zstd", zstd)] {
        let read = Trace::from_bytes("t", &bytes, &spec, &TraceLimits::default()).expect(name);
        assert_eq!(requests(&read), plain);
        let told = format!("t: Mooncake trace ({name}), 6 requests over");
        assert!(read.recognised().to_string().starts_with(&told), "{}", read.recognised());
        let cut = &bytes[..bytes.len() - 12];
        let error = Trace::from_bytes("t", cut, &spec, &TraceLimits::default());
        let error = error.expect_err("cut off").to_string();
        assert!(error.contains(&format!("the {name} stream is damaged")), "{error}");
    }
}

#[test]
fn a_part_is_cut_by_the_traces_own_clock() {
    let cut = |options: &str| trace(MOONCAKE, &format!("trace:t{options}"));
    assert_eq!(offsets(&cut("")), [0, 0, 3_052, 10_535, 15_000, 27_482]);
    assert_eq!(offsets(&cut(",from=3052ms,to=15s")), [0, 7_483]);
    assert_eq!(offsets(&cut(",from=3s")), [52, 7_535, 12_000, 24_482]);
    assert_eq!(offsets(&cut(",to=3052ms")), [0, 0]);
    let part = cut(",from=3s,to=20s,speed=2");
    assert_eq!(offsets(&part), [26, 3_767, 6_000]);
    assert_eq!(part.tally().outside, 3);
    assert_eq!(part.request(0).unwrap().hashes, [46, 48, 50]);
    assert_eq!(
        part.recognised().to_string(),
        "t: Mooncake trace, 6 requests over 27.482 s, hash ids of 512-token blocks; 3 of them, \
         from 3 s to 20 s, at 2 times the speed"
    );
    // The clock counts from the first request, whenever that was.
    assert_eq!(offsets(&trace(AZURE, "trace:a.csv,from=50ms")), [2, 950]);
    assert_eq!(offsets(&trace(BURST_GPT, "trace:b.csv,from=1m")), [53_000]);
}

#[test]
fn the_speed_divides_every_offset() {
    for (speed, last) in [("2", 13_741_000_000), ("0.5", 54_964_000_000), ("3", 9_160_666_667)] {
        let read = trace(MOONCAKE, &format!("trace:t,speed={speed}"));
        assert_eq!(read.duration(), last);
        assert_eq!(read.speed().to_string(), speed);
    }
}

#[test]
fn lengths_and_the_limit_choose() {
    let taken = |limits| opened(MOONCAKE, "trace:t", limits).expect("something left");
    let none = TraceLimits::default();
    let short = taken(TraceLimits { max_input: Some(700), ..none });
    assert_eq!(offsets(&short), [0, 10_535, 15_000, 27_482]);
    assert_eq!(short.tally().dropped_long, 2);
    let long = taken(TraceLimits { min_input: Some(700), ..none });
    assert_eq!(offsets(&long), [0, 3_052, 15_000]);
    assert_eq!(long.tally().dropped_short, 3);
    let cut = taken(TraceLimits { max_input: Some(600), truncate: true, ..none });
    assert!(cut.requests().all(|request| request.input == 600));
    assert_eq!((cut.len(), cut.tally().truncated, cut.tally().mismatched), (6, 6, 0));
    let few = taken(TraceLimits { limit: Some(2), min_input: Some(660), ..none });
    assert_eq!(offsets(&few), [0, 3_052]);
    assert_eq!((few.tally().beyond_limit, few.tally().dropped_short), (3, 1));
    assert!(few.recognised().to_string().ends_with("; 2 of them"), "{}", few.recognised());
}

#[test]
fn rows_whose_ids_do_not_fit_their_length_are_counted() {
    let text = r#"{"timestamp":0,"input_length":512,"output_length":1,"hash_ids":[1]}
        {"timestamp":1,"input_length":513,"output_length":1,"hash_ids":[1]}
        {"timestamp":2,"input_length":513,"output_length":1,"hash_ids":[1,2,3]}
        {"timestamp":3,"input_length":513,"output_length":1,"hash_ids":[]}"#;
    assert_eq!(trace(text, "trace:t").tally().mismatched, 2);
    let told = trace(text, "trace:t").tally().told();
    let advice: Vec<_> =
        told.iter().filter_map(|told| told.note.with([told.count]).advice).collect();
    assert!(advice.len() == 1 && advice[0].contains("block="), "{told:?}");
    assert_eq!(trace(text, "trace:t,block=171").tally().mismatched, 2);
    assert_eq!(trace(text, "trace:t,to=1ms").tally().mismatched, 0);
}

#[test]
fn what_is_told_about_a_trace() {
    // Even arrivals but for one moment in a hundred seconds, at which thirty come at once.
    let mut text = String::new();
    for index in 0..1_000_u64 {
        let at = if index % 100 < 30 { index / 100 * 100 } else { index } * 1_000;
        let input = 100 + index % 7 * 50;
        let ids = [index % 4, 10 + index];
        let ids = &ids[..input.div_ceil(256) as usize];
        text.push_str(&format!(
            "{{\"timestamp\":{at},\"input_length\":{input},\"output_length\":{},\"hash_ids\":{ids:?}}}\n",
            index % 90
        ));
    }
    let read = trace(&text, "trace:t.jsonl,block=256");
    let profile = TraceProfile::of(&read);
    insta::assert_snapshot!(format!("{}\n{profile}", read.recognised()));
    let few = TraceProfile::of(&trace(AZURE, "trace:a.csv"));
    assert_eq!((few.dispersion, few.reuse), (None, None));
    let rate = few.rate.unwrap();
    assert!((rate - 2.0 / 1.000_000_1).abs() < 1e-9, "{rate}");
    let once = TraceProfile::of(&trace(MOONCAKE, "trace:t,to=1s"));
    assert_eq!(once.rate, None);
    assert!(once.to_string().contains("arrivals\n  all at once\n"), "{once}");
}

#[test]
fn dispersion_is_variance_over_mean() {
    // Windows of 10 on average: ten in each is even, twenty in every other is not.
    let rows = |at: &dyn Fn(u64) -> u64| -> String {
        (0..200)
            .map(|i| {
                format!("{{\"timestamp\":{},\"input_length\":5,\"output_length\":1}}\n", at(i))
            })
            .collect()
    };
    let dispersion = |text: String| TraceProfile::of(&trace(&text, "trace:t")).dispersion.unwrap();
    assert!(dispersion(rows(&|i| i)).index < 0.01);
    // Twenty windows of 10 s over 200 s less one millisecond; the first of each pair is full.
    let pairs = |i: u64| if i < 199 { i / 20 * 20_000 + i % 20 } else { 199_999 };
    let uneven = dispersion(rows(&pairs));
    // Nine windows of 20, one of 19, one of 1 and nine of 0, about a mean of 10.
    let squares = 9.0 * 100.0 + 81.0 + 81.0 + 9.0 * 100.0;
    assert!((uneven.index - squares / 19.0 / 10.0).abs() < 1e-9, "{uneven:?}");
    assert_eq!(uneven.window, 199_999 * MS / 20);
}

proptest! {
    #[test]
    fn the_schedule_is_in_order_whatever_the_file(
        times in prop::collection::vec(0_u64..5_000, 1..60),
        from in 0_u64..3_000,
        length in 1_u64..3_000,
    ) {
        let text: String = times
            .iter()
            .enumerate()
            .map(|(row, at)| {
                let (at, input) = (at + 1_000_000, row + 1);
                format!("{{\"timestamp\":{at},\"input_length\":{input},\"output_length\":1,\"hash_ids\":[{input}]}}\n")
            })
            .collect();
        let first = *times.iter().min().unwrap();
        let mut expected: Vec<(u64, u32)> = times
            .iter()
            .enumerate()
            .map(|(row, at)| (at - first, row as u32 + 1))
            .filter(|(at, _)| (from..from + length).contains(at))
            .map(|(at, row)| (at - from, row))
            .collect();
        expected.sort_by_key(|(at, _)| *at);
        let spec = format!("trace:t,from={from}ms,to={}ms", from + length);
        match opened(&text, &spec, TraceLimits::default()) {
            Err(error) => prop_assert!(expected.is_empty(), "{error}"),
            Ok(read) => {
                let got: Vec<(u64, u32)> = read.requests().map(|r| (r.at / MS, r.input)).collect();
                prop_assert_eq!(got, expected);
                prop_assert!(read.requests().all(|r| r.hashes == [u64::from(r.input)]));
            }
        }
    }
}
