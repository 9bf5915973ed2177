//! What pictures of single requests are drawn from.

#![allow(clippy::unwrap_used)]

use dyno_analysis::detail::{Became, Detail, LevelDetail};
use dyno_model::MS;
use dyno_model::outcome::FailureClass;
use dyno_model::plan::Load;
use dyno_model::record::RequestRecord;
use dyno_testing::runs::{closed, failure, level_plan, plan, source_of, stream};
use proptest::prelude::*;

fn of(requests: Vec<RequestRecord>) -> LevelDetail {
    let plan = plan(vec![level_plan("x", Load::Burst { requests: 1 }, None)]);
    Detail::gather(&source_of(&plan, requests)).0.remove(&0).unwrap()
}

#[test]
fn curves_are_exact_quantiles() {
    let requests = (0..101).map(|i| stream(i, 0, 0, 100 + i, 20, 5)).collect();
    let detail = of(requests);
    let ttft = detail.ttft.unwrap();
    assert_eq!((ttft.count, ttft.points.len()), (101, 101));
    assert_eq!(
        [ttft.points[0], ttft.points[37], ttft.points[100]],
        [[100.0, 0.0], [137.0, 0.37], [200.0, 1.0]]
    );
    assert_eq!(detail.itl.unwrap().points[50], [20.0, 0.5]);
    assert_eq!(detail.tpot.unwrap().points[99], [20.0, 0.99]);
}

#[test]
fn without_completed_requests_there_is_no_curve() {
    let detail = of(vec![failure(0, 0, 0, 50, FailureClass::Connect, "refused")]);
    assert_eq!((detail.ttft, detail.itl, detail.latency), (None, None, None));
    assert_eq!(detail.bars.kept[0].became, Became::Failed("connect".to_owned()));
    assert_eq!(detail.course.buckets.iter().map(|bucket| bucket.failed).sum::<u64>(), 1);
}

#[test]
fn a_short_level_is_kept_whole() {
    let (plan, records) = closed(4, 10);
    let source = source_of(&plan, records);
    let detail = Detail::gather(&source).0.remove(&0).unwrap();
    assert_eq!((detail.bars.of, detail.bars.kept.len()), (40, 40));
    let tokens: f64 = detail.course.buckets.iter().map(|b| b.output_tokens.unwrap()).sum();
    assert_eq!(tokens, 200.0);
    assert!(detail.course.buckets.iter().all(|bucket| bucket.in_flight <= 4));
    assert_eq!(detail.course.buckets.last().unwrap().in_flight, 0);
}

#[test]
fn failures_are_kept_in_a_long_level() {
    let mut requests: Vec<RequestRecord> = (0..50_000).map(|i| stream(i, 0, i, 10, 2, 2)).collect();
    for i in (5..50_000).step_by(5_000) {
        requests[i] =
            failure(i as u64, 0, i as u64, i as u64 + 5, FailureClass::TimeoutIdle, "silent");
    }
    let detail = of(requests);
    let failed = detail.bars.kept.iter().filter(|bar| bar.became != Became::Completed).count();
    assert_eq!((detail.bars.of, failed), (50_000, 10));
    assert!((400..=1_000).contains(&detail.bars.kept.len()), "{}", detail.bars.kept.len());
    assert!(detail.course.buckets.len() <= 240);
    let done: u64 = detail.course.buckets.iter().map(|bucket| bucket.completed).sum();
    assert_eq!(done, 49_990);
}

#[test]
fn many_levels_share_the_room() {
    let levels: Vec<_> = (0..200)
        .map(|i| level_plan(&format!("c={i}"), Load::Burst { requests: 1 }, None))
        .collect();
    let plan = plan(levels);
    let mut records = Vec::new();
    for level in 0..200 {
        for i in 0..200 {
            let mut record = stream(i, 0, i, 10, 2, 2);
            record.level = level;
            records.push(record);
        }
    }
    let detail = Detail::gather(&source_of(&plan, records));
    let kept: usize = detail.0.values().map(|level| level.bars.kept.len()).sum();
    assert_eq!(detail.0.len(), 200);
    assert!((2_000..=10_000).contains(&kept), "{kept}");
}

proptest! {
    /// Records come in the order in which requests ended, and it changes nothing.
    #[test]
    fn order_does_not_matter(
        times in prop::collection::vec((0_u64..5_000, 1_u64..3_000, 1_u64..60, 1_u64..20), 1..60),
        seed in any::<u64>(),
    ) {
        let requests: Vec<RequestRecord> = (0..).zip(&times)
            .map(|(i, (sent, ttft, itl, tokens))| stream(i, 0, *sent, *ttft, *itl, *tokens))
            .collect();
        let mut shuffled = requests.clone();
        shuffled.sort_by_key(|record| record.index.wrapping_mul(seed | 1) >> 7);
        let (detail, other) = (of(requests), of(shuffled));
        prop_assert_eq!(&detail, &other);
        let tokens: f64 = detail.course.buckets.iter().map(|b| b.output_tokens.unwrap()).sum();
        let all: u64 = times.iter().map(|(.., tokens)| tokens).sum();
        prop_assert!((tokens - all as f64).abs() < 0.01);
        let end = times.iter().map(|(s, t, i, n)| s + t + i * (n - 1)).max().unwrap();
        let reach = detail.course.every_s * detail.course.buckets.len() as f64;
        prop_assert!(reach * 1e9 >= (end * MS) as f64);
    }
}
