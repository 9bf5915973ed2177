//! What charts of single requests are drawn from, made by hand and by chance.

use dyno_analysis::detail::{
    Bar, Bars, Became, Bucket, CourseOverTime, Curve, Detail, LevelDetail, TreeBars,
};
use dyno_model::{Summary, Verdict};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

/// Numbers the levels, and gives each the detail that its place in the run calls for.
pub fn of(mut summary: Summary) -> (Summary, Detail) {
    for (i, level) in summary.levels.iter_mut().enumerate() {
        level.index = i as u32;
    }
    let details = (0..summary.levels.len() as u32).map(|i| (i, one(i)));
    let detail = Detail(details.collect());
    (summary, detail)
}

fn curve(middle: f64) -> Option<Curve> {
    let point = |i: u32| [middle * (0.5 + f64::from(i) / 100.0), f64::from(i) / 100.0];
    Some(Curve { count: 200, points: (0..=100).map(point).collect() })
}

/// A level of 120 requests, one of which fails and one of which has no stream.
fn one(i: u32) -> LevelDetail {
    let middle = f64::from(i + 1);
    let bar = |index: u64| {
        let due_s = index as f64 * 0.5;
        Bar {
            index,
            warmup: index < 4,
            due_s,
            sent_s: Some(due_s + 0.2),
            first_s: (index != 7).then_some(due_s + 1.0),
            end_s: due_s + 5.0,
            output: Some(50),
            retries: 0,
            became: match index {
                11 => Became::Failed("stall".to_owned()),
                _ => Became::Completed,
            },
        }
    };
    let bucket = |n: u64| Bucket {
        completed: 5 + n % 3,
        failed: 0,
        shed: 0,
        output_tokens: Some(250.0 + n as f64),
        in_flight: 10,
    };
    LevelDetail {
        started_s: f64::from(i) * 80.0,
        ttft: curve(middle * 40.0),
        latency: curve(middle * 900.0),
        tpot: curve(middle * 10.0),
        itl: curve(middle * 9.0),
        bars: Bars { of: 120, kept: (0..120).map(bar).collect() },
        trees: TreeBars::default(),
        course: CourseOverTime { every_s: 1.0, buckets: (0..65).map(bucket).collect() },
    }
}

fn time() -> impl Strategy<Value = f64> {
    prop_oneof![5 => 0.0..500.0_f64, 1 => Just(0.0), 1 => 0.0..1e-6_f64, 1 => 1e3..1e8_f64]
}

fn any_curve() -> impl Strategy<Value = Option<Curve>> {
    let samples = vec(time(), 1..40).prop_map(|mut times| {
        times.sort_by(f64::total_cmp);
        let last = times.len() as f64;
        let points = times.iter().zip(1..).map(|(time, i)| [*time, f64::from(i) / last]);
        Curve { count: times.len() as u64, points: points.collect() }
    });
    option::weighted(0.8, samples)
}

fn any_bar() -> impl Strategy<Value = Bar> {
    let parts = (any::<u64>(), time(), option::of(time()), option::of(time()), time(), 0..4_u8);
    parts.prop_map(|(index, due_s, wait, first, rest, became)| Bar {
        index,
        warmup: false,
        due_s,
        sent_s: wait.map(|wait| due_s + wait),
        first_s: wait.and(first).map(|first| due_s + wait.unwrap_or(0.0) + first),
        end_s: due_s + wait.unwrap_or(0.0) + first.unwrap_or(0.0) + rest,
        output: None,
        retries: 0,
        became: match became {
            0 => Became::Completed,
            1 => Became::Failed("<b>&".to_owned()),
            2 => Became::Dropped,
            _ => Became::Censored,
        },
    })
}

/// Any detail of a level.
pub fn any_level() -> impl Strategy<Value = LevelDetail> {
    let bucket = (0..1000_u64, option::of(0.0..1e6_f64)).prop_map(|(completed, tokens)| Bucket {
        completed,
        failed: 0,
        shed: 0,
        output_tokens: tokens,
        in_flight: 0,
    });
    let course = (1e-3..1e3_f64, vec(bucket, 0..80))
        .prop_map(|(every_s, buckets)| CourseOverTime { every_s, buckets });
    let bars = (0..1000_u64, vec(any_bar(), 0..130))
        .prop_map(|(more, kept)| Bars { of: kept.len() as u64 + more, kept });
    (time(), any_curve(), any_curve(), bars, course).prop_map(
        |(started_s, ttft, itl, bars, course)| LevelDetail {
            started_s,
            ttft,
            itl,
            bars,
            course,
            ..LevelDetail::default()
        },
    )
}

/// The same summary with an invalid and a suspect level.
pub fn doubtful(mut summary: Summary) -> Summary {
    summary.levels[0].verdict = Verdict::Invalid;
    summary.levels[1].verdict = Verdict::Suspect;
    summary
}
