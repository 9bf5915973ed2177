//! Checks that compare rows: copies, a sweep's grid, a context's end, two forms of the same results.

use super::made::{
    PER_S, Random, assert_clean, codes, consistent, found, in_form, level, mean_of, of, printed,
};
use dyno_model::LevelSummary;
use dyno_model::Severity::{Error, Warning};
use dyno_model::load::LoadKind;
use dyno_model::metric::Time;

fn at(slots: f64, per_s: f64, latency_ms: f64, ttft_ms: f64) -> LevelSummary {
    let mut made = level(LoadKind::Rate, slots);
    made.throughput.requests_per_s = Some(per_s);
    made.times[Time::Latency] = Some(mean_of(latency_ms));
    made.times[Time::Ttft] = Some(mean_of(ttft_ms));
    made
}

#[test]
fn a_copied_row_is_an_error_and_a_coarse_coincidence_is_not() {
    let first = at(60.0, 41.37, 1_987.31, 187.64);
    let copy = LevelSummary { load: level(LoadKind::Rate, 80.0).load, ..first.clone() };
    assert_eq!(codes(&of("another", vec![first.clone(), copy]), Error), ["rows_identical"]);
    // The same load again is not another measurement.
    assert_clean(&of("another", vec![first.clone(), first]));
    // Few digits may agree by chance.
    assert_clean(&of("another", vec![at(4.0, 2.1, 2_000.0, 190.0), at(8.0, 2.1, 2_000.0, 190.0)]));
}

/// A sweep of guidellm's, with its rates as printed.
fn sweep(low: f64, high: f64) -> Vec<LevelSummary> {
    let step = (high - low) / 9.0;
    let mut levels = vec![level(LoadKind::Concurrency, 1.0)];
    levels[0].throughput.requests_per_s = printed(low, 2);
    levels.extend((1..=9).map(|i| {
        let rate = printed(low + step * f64::from(i), 2).unwrap();
        let mut made = level(LoadKind::Rate, rate);
        made.throughput.requests_per_s = printed(rate * 0.9, 2);
        made
    }));
    let mut all = level(LoadKind::Unlimited, 0.0);
    all.throughput.requests_per_s = printed(high, 2);
    levels.push(all);
    levels
}

#[test]
fn printed_rates_lie_on_their_grid_and_a_mistyped_one_does_not() {
    let mut random = Random(21);
    for _ in 0..500 {
        let low = 0.2 + random.unit();
        assert_clean(&of("guidellm", sweep(low, low + 1.0 + 20.0 * random.unit())));
    }
    let mut levels = sweep(0.25, 6.52);
    levels[4].load.value = levels[4].load.value.map(|rate| rate + 0.3);
    assert_eq!(codes(&of("guidellm", levels), Error), ["rates_off_grid"]);
}

/// A matrix of lengths on a server with this context; latencies vary by 3 %.
fn matrix(random: &mut Random, context: u32) -> Vec<LevelSummary> {
    let mut levels = Vec::new();
    for input in [128, 512, 1_024] {
        for output in [128, 512, 1_024, 2_048] {
            let tokens = f64::from(output.min(context - input));
            let mut made = level(LoadKind::Concurrency, 1.0);
            made.label = format!("{input}→{output}");
            (made.input_length, made.output_length) = (Some(input), Some(output));
            let latency = 0.05 * f64::from(input) + 25.0 * tokens;
            made.times[Time::Latency] = Some(mean_of(latency * (1.0 + 0.03 * random.normal())));
            levels.push(made);
        }
    }
    levels
}

#[test]
fn noise_does_not_look_like_the_end_of_a_context() {
    let mut random = Random(22);
    let errors = |context: u32, random: &mut Random| {
        let all = (0..1_000).map(|_| codes(&of("another", matrix(random, context)), Error));
        all.filter(|codes| codes.contains(&"context_clamp".to_owned())).count()
    };
    let alarms = errors(100_000, &mut random);
    assert!(alarms <= 1, "{alarms} of 1,000 matrices without a limit");
    let found = errors(2_048, &mut random);
    assert!(found >= 900, "{found} of 1,000 matrices with a context of 2,048");
}

#[test]
fn two_forms_agree_as_far_as_they_are_printed() {
    let fine = consistent();
    let mut coarse = consistent();
    coarse.times[Time::Latency] = Some(mean_of(1_920.0));
    let forms = |other: &LevelSummary| {
        let pivot = in_form("evalscope", "pivot", vec![other.clone()]);
        let blocks = in_form("evalscope", "block", vec![fine.clone()]);
        found(&[&pivot, &blocks], Error).into_iter().map(|one| one.check).collect::<Vec<_>>()
    };
    assert_eq!(forms(&coarse), [""; 0]);
    coarse.times[Time::Latency] = Some(mean_of(1_820.0));
    assert_eq!(forms(&coarse), ["forms_disagree"]);
    coarse.load.value = Some(5.0);
    let (pivot, blocks) =
        (in_form("evalscope", "pivot", vec![coarse]), in_form("evalscope", "block", vec![fine]));
    let warned = found(&[&pivot, &blocks], Warning);
    assert_eq!(warned.last().unwrap().check, "forms_unmatched");
}

#[test]
fn one_long_response_among_equal_rows_is_found() {
    let levels = |longer: f64| -> Vec<LevelSummary> {
        let lengths = [101.0, 101.2, 100.9, 101.1, longer];
        let made = |(i, tokens): (usize, f64)| {
            let mut made = consistent();
            made.load.value = Some((1 + i) as f64);
            made.label = format!("concurrency {}", 1 + i);
            made.times = Default::default();
            made.output_tokens = Some(dyno_model::summary::Tokens { total: None, mean: tokens });
            made.throughput.output_tokens_per_s = Some(PER_S * tokens);
            if i == 4 {
                // A straggler of 40 s: the slots of this row were idle.
                made.load.value = Some(50.0);
                made.times[Time::Latency] = Some(dyno_model::summary::Distribution {
                    p99: Some(3_000.0),
                    ..mean_of(1_924.3)
                });
            }
            made
        };
        lengths.into_iter().enumerate().map(made).collect()
    };
    let codes_of = |longer| codes(&of("evalscope", levels(longer)), Warning);
    assert_eq!(codes_of(101.3), ["littles_law"]);
    assert!(codes_of(115.0).contains(&"runaway_answer".to_owned()), "{:?}", codes_of(115.0));
}
