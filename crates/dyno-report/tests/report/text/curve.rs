//! The small charts above the table.

use super::*;

/// The small charts above the table.
fn curve(text: &str) -> String {
    let lines = text.lines().skip_while(|line| !line.contains("out tok/s by "));
    lines.take_while(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_curve_of_a_ladder() {
    let mut summary = ladder(&[1.0, 2.0, 4.0, 8.0, 12.5, 16.0]);
    summary.levels[1].times[Time::Ttft] = None;
    summary.levels[4].verdict = Verdict::Invalid;
    summary.levels[4].reasons = vec![Finding::OutOfFiles.with([3])];
    let english = text(&summary);
    insta::assert_snapshot!("the_curve_of_a_ladder", curve(&english));
    assert!(english.contains("! concurrency 12.5: 3 requests were dropped"), "{english}");
    let chinese = chinese(&summary);
    assert!(chinese.contains("输出 tok/s（横轴：并发数）"), "{chinese}");
    assert!(
        chinese.contains("! 并发 12.5：文件描述符耗尽（EMFILE），3 个请求未能发出"),
        "{chinese}"
    );
}

#[test]
fn a_curve_needs_three_loads_of_one_kind_and_length() {
    assert_eq!(curve(&text(&ladder(&[1.0, 2.0]))), "");
    assert_eq!(curve(&text(&ladder(&[1.0, 2.0, 2.0]))), "", "two rounds of a load are one");
    let mut summary = ladder(&[1.0, 2.0, 4.0]);
    assert_ne!(curve(&text(&summary)), "");
    summary.levels[0].load.kind = LoadKind::Rate;
    assert_eq!(curve(&text(&summary)), "");
    let mut summary = ladder(&[1.0, 2.0, 4.0]);
    summary.levels[0].input_length = Some(7);
    assert_eq!(curve(&text(&summary)), "", "lengths differ, so it is no one curve");
    let many: Vec<f64> = (1..=200).map(f64::from).collect();
    assert_eq!(curve(&text(&ladder(&many))), "", "there is no room for so many");
}

/// The chart of a search is of its rates; the table has the saturated level, too, which may have no steady window.
#[test]
fn the_curve_has_the_throughput_of_the_table() {
    let mut summary = ladder(&[1.0, 2.0, 4.0, 512.0]);
    for level in &mut summary.levels[..3] {
        level.load.kind = LoadKind::Rate;
    }
    let tallest = |summary: &Summary| {
        let curve = curve(&text(summary));
        let label = curve.lines().nth(1).unwrap().split_whitespace().next().unwrap();
        label.parse::<f64>().unwrap()
    };
    assert_eq!(tallest(&summary), 400.0, "over the steady windows");
    summary.levels[3].steady = None;
    summary.levels[2].throughput.output_tokens_per_s = Some(321.0);
    assert_eq!(tallest(&summary), 321.0, "over whole levels, as in the table");
}

#[test]
fn without_streams_the_curve_is_of_the_latency() {
    let mut summary = ladder(&[1.0, 2.0, 4.0]);
    summary.levels.iter_mut().for_each(|level| level.times[Time::Ttft] = None);
    assert!(text(&summary).contains("latency p50 ms by concurrency"));
}
