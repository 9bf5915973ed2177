//! Times: their order, and how many tokens they have room for.

use super::made::{PER_S, Random, assert_clean, codes, consistent, found, in_form, mean_of, of};
use dyno_analysis::lint::Sure;
use dyno_model::LevelSummary;
use dyno_model::Severity::{Error, Warning};
use dyno_model::load::LoadKind;
use dyno_model::metric::Time;
use dyno_model::summary::{Distribution, Tokens};

/// The time of requests of these lengths, streamed so many tokens at a time.
fn streamed(lengths: &[(f64, f64)], per_event: f64) -> LevelSummary {
    let n = lengths.len() as f64;
    let mean = |of: &dyn Fn(&(f64, f64)) -> f64| lengths.iter().map(of).sum::<f64>() / n;
    let (tokens, tpot) = (mean(&|(tokens, _)| *tokens), mean(&|(_, tpot)| *tpot));
    let decode = mean(&|(tokens, tpot)| (tokens - 1.0) * tpot);
    let std = mean(&|(_, each)| (each - tpot).powi(2)).sqrt();
    let mut made = consistent();
    made.load.kind = LoadKind::Burst;
    made.throughput.output_tokens_per_s = Some(PER_S * tokens);
    made.output_tokens = Some(Tokens { total: None, mean: tokens });
    made.times[Time::Latency] = Some(mean_of(150.5 + decode));
    made.times[Time::Ttft] = Some(mean_of(150.5));
    made.times[Time::Tpot] = Some(Distribution { std: Some(std), ..mean_of(tpot) });
    made.times[Time::ChunkGap] = Some(mean_of(per_event * decode / (tokens - 1.0)));
    made
}

/// Lengths from one to thousands of tokens, the longer the slower: TPOT is a mean over requests, the
/// sum of latencies one over tokens.
fn drawn(random: &mut Random, n: usize) -> Vec<(f64, f64)> {
    let one = |random: &mut Random| {
        let tokens = (120.0 * random.normal().exp()).round().max(2.0);
        let busy = 1.0 + 0.3 * random.unit() + (tokens / 1_000.0).min(1.0);
        (tokens, 15.0 * busy)
    };
    (0..n).map(|_| one(random)).collect()
}

#[test]
fn tpot_of_responses_of_all_lengths_is_clean() {
    let mut random = Random(3);
    for n in [50, 200, 1_000].repeat(100) {
        let made = streamed(&drawn(&mut random, n), 1.0);
        assert_eq!(codes(&of("vllm", vec![made]), Error), [""; 0]);
    }
}

#[test]
fn a_tpot_of_other_requests_is_found() {
    let mut random = Random(4);
    let mut made = streamed(&drawn(&mut random, 500), 1.0);
    let tpot = made.times[Time::Tpot].clone().unwrap();
    made.times[Time::Tpot] = Some(Distribution { mean: tpot.mean.map(|mean| mean / 3.0), ..tpot });
    assert_eq!(codes(&of("vllm", vec![made.clone()]), Error), ["tokens_by_tpot"]);
    // Of a tool whose definition is not known, it is not certain.
    assert_eq!(codes(&of("another", vec![made]), Warning), ["tokens_by_tpot"]);
}

#[test]
fn several_tokens_per_event_are_never_an_error() {
    let mut random = Random(5);
    for per_event in [1.5, 2.5, 10.0] {
        let made = streamed(&drawn(&mut random, 200), per_event);
        let summary = of("vllm", vec![made]);
        assert_eq!(codes(&summary, Error), [""; 0]);
        let warned = found(&[&summary], Warning);
        assert_eq!(warned[0].check, "tokens_by_itl");
        assert!(warned[0].cause.starts_with("several tokens arrived per event"));
    }
}

#[test]
fn itl_and_tpot_in_each_others_place_are_found() {
    let mut random = Random(6);
    let same_speed = drawn(&mut random, 200).into_iter().map(|(tokens, _)| (tokens, 15.3));
    let mut made = streamed(&same_speed.collect::<Vec<_>>(), 2.5);
    let (itl, tpot) = (made.times[Time::ChunkGap].take(), made.times[Time::Tpot].take());
    (made.times[Time::ChunkGap], made.times[Time::Tpot]) = (tpot, itl);
    let all = found(&[&of("vllm", vec![made])], Warning);
    assert_eq!(all[0].check, "tokens_by_tpot");
}

/// A column that slipped by a row: too many steps in some rows, too few in others, and each value fits
/// another row.
#[test]
fn a_shifted_column_is_an_error() {
    let lengths = [(101.0, 10.0), (101.0, 20.0), (101.0, 35.0), (101.0, 60.0)];
    let mut levels: Vec<LevelSummary> = lengths.map(|one| streamed(&[one], 1.0)).into();
    for (i, level) in levels.iter_mut().enumerate() {
        level.load.value = Some(i as f64);
        level.times[Time::Tpot] = None;
    }
    assert_clean(&of("guidellm", levels.clone()));
    let last = levels[3].times[Time::ChunkGap].clone();
    for i in (1..4).rev() {
        levels[i].times[Time::ChunkGap] = levels[i - 1].times[Time::ChunkGap].clone();
    }
    levels[0].times[Time::ChunkGap] = last;
    let found = found(&[&of("guidellm", levels)], Error);
    assert_eq!((found[0].check.as_str(), found[0].sure), ("tokens_by_itl", Sure::Certain));
}

/// Percentiles of any samples, however few, are in order and around their mean.
#[test]
fn percentiles_of_any_samples_are_in_order() {
    let mut random = Random(7);
    for round in 0..3_000 {
        let n = 2 + round % 60;
        let mut all: Vec<f64> = (0..n).map(|_| 100.0 * (2.0 * random.normal()).exp()).collect();
        all.sort_by(f64::total_cmp);
        let quantile = |share: f64| {
            let place = share * (n - 1) as f64;
            let (low, high) = (all[place as usize], all[place.ceil() as usize]);
            Some(((low + (high - low) * place.fract()) * 100.0).round() / 100.0)
        };
        let mut made = consistent();
        made.load.kind = LoadKind::Unknown;
        made.times = Default::default();
        made.times[Time::Ttft] = Some(Distribution {
            mean: Some(all.iter().sum::<f64>() / n as f64),
            p50: quantile(0.5),
            p90: quantile(0.9),
            p99: quantile(0.99),
            max: quantile(1.0),
            count: Some(n as u64).filter(|_| round % 2 == 0 || n < 20),
            ..Distribution::default()
        });
        assert_clean(&of("vllm", vec![made]));
    }
}

/// locust keeps a histogram: its percentiles have three digits, its mean and ends all of them.
#[test]
fn percentiles_of_a_histogram_may_be_coarser_than_the_maximum() {
    let mut made = consistent();
    made.load.kind = LoadKind::Unknown;
    made.times = Default::default();
    let latency = |p99_9| Distribution {
        p50: Some(151_000.0),
        p99_9: Some(p99_9),
        max: Some(319_623.4),
        ..mean_of(151_334.2)
    };
    made.times[Time::Latency] = Some(latency(320_000.0));
    assert_clean(&of("locust", vec![made.clone()]));
    made.times[Time::Latency] = Some(latency(321_000.0));
    assert_eq!(codes(&of("locust", vec![made]), Error), ["percentiles_disordered"]);
}

/// A program that prints two decimals has not rounded 40.00.
#[test]
fn trailing_zeros_of_a_printed_block_are_digits() {
    let mut made = consistent();
    made.load.kind = LoadKind::Unknown;
    made.times = Default::default();
    let ttft = |p50, p99| Some(Distribution { p50, p99, ..mean_of(45.0) });
    made.times[Time::Ttft] = ttft(Some(45.0), Some(40.0));
    let codes_of = |form, made| codes(&in_form("vllm", form, vec![made]), Error);
    assert_eq!(codes_of("block", made.clone()), ["percentiles_disordered"]);
    assert_eq!(codes_of("table", made.clone()), [""; 0], "a table may have rounded to tens");
    made.times[Time::Ttft] = ttft(Some(45.0), Some(45.0));
    assert_eq!(codes_of("block", made), [""; 0]);
}

#[test]
fn percentiles_out_of_order_and_means_in_another_unit_are_found() {
    let mut made = consistent();
    made.load.kind = LoadKind::Unknown;
    let latency = |p50, p99| Distribution { p50, p99, ..mean_of(1_924.3) };
    made.times[Time::Latency] = Some(latency(Some(1_912.7), Some(1_804.6)));
    let summary = of("vllm", vec![made.clone()]);
    assert_eq!(codes(&summary, Error), ["percentiles_disordered"]);
    assert!(found(&[&summary], Error)[0].what.ends_with("latency_ms"));
    // The mean in seconds, its percentiles in milliseconds.
    made.times[Time::Ttft] = Some(Distribution { p50: Some(124.1), ..mean_of(0.1243) });
    made.times[Time::Latency] = Some(latency(Some(1_912.7), Some(2_804.6)));
    assert!(codes(&of("vllm", vec![made]), Error).contains(&"percentiles_disordered".to_owned()));
}

#[test]
fn a_latency_is_not_below_its_ttft() {
    let mut made = consistent();
    made.times[Time::Tpot] = None;
    made.times[Time::ChunkGap] = None;
    // One token each: the two are equal.
    made.output_tokens = Some(Tokens { total: None, mean: 1.0 });
    made.throughput.output_tokens_per_s = Some(PER_S);
    made.times[Time::Ttft] = made.times[Time::Latency].clone();
    assert_clean(&of("vllm", vec![made.clone()]));
    made.times[Time::Ttft] = Some(mean_of(2_024.3));
    // Of fewer requests it says nothing: empty responses have no TTFT.
    let counted =
        |time: Option<Distribution>, n| time.map(|time| Distribution { count: Some(n), ..time });
    let mut some = made.clone();
    some.times[Time::Ttft] = counted(some.times[Time::Ttft].take(), 14);
    some.times[Time::Latency] = counted(some.times[Time::Latency].take(), 20);
    assert_clean(&of("vllm", vec![some]));
    assert_eq!(codes(&of("vllm", vec![made]), Error), ["latency_below_ttft"]);
}

/// Six of twenty responses were empty: their tokens count, their times are not known.
#[test]
fn times_of_fewer_requests_than_tokens_say_nothing() {
    let mut random = Random(8);
    let mut made = streamed(&drawn(&mut random, 100), 1.0);
    made.output_tokens =
        made.output_tokens.map(|tokens| Tokens { mean: 0.7 * tokens.mean, ..tokens });
    let speed = made.throughput.output_tokens_per_s;
    made.throughput.output_tokens_per_s = speed.map(|speed| 0.7 * speed);
    assert_eq!(codes(&of("vllm", vec![made.clone()]), Warning), ["tokens_by_itl"]);
    let latency = made.times[Time::Latency].take().unwrap();
    made.times[Time::Latency] = Some(Distribution { count: Some(70), ..latency });
    assert_clean(&of("vllm", vec![made]));
}

#[test]
fn a_ttft_in_seconds_is_found_by_the_time_of_one_token() {
    let mut made = consistent();
    made.times[Time::Ttft] = Some(mean_of(0.1243));
    let all = codes(&of("vllm", vec![made.clone()]), Warning);
    assert!(all.contains(&"ttft_below_token".to_owned()), "{all:?}");
    // A quick prefill on other machines is not.
    made.times[Time::Ttft] = Some(mean_of(5.0));
    made.times[Time::Latency] = Some(mean_of(1_805.0));
    made.load.kind = LoadKind::Unknown;
    assert_clean(&of("vllm", vec![made]));
}

#[test]
fn a_ttft_that_repeats_the_latency_is_a_warning_unless_there_is_one_token() {
    let mut made = consistent();
    made.times[Time::Tpot] = None;
    made.times[Time::ChunkGap] = None;
    made.times[Time::Ttft] = made.times[Time::Latency].clone();
    assert_eq!(codes(&of("evalscope", vec![made.clone()]), Warning), ["not_streamed"]);
    made.output_tokens = Some(Tokens { total: None, mean: 1.0 });
    made.throughput.output_tokens_per_s = Some(PER_S);
    assert_clean(&of("evalscope", vec![made]));
}

#[test]
fn a_wrong_count_of_tokens_is_not_blamed_on_events() {
    let mut made = streamed(&[(101.0, 18.0); 3], 1.0);
    made.times[Time::Itl] = Some(mean_of(18.0));
    let doubled = made.output_tokens.map(|tokens| Tokens { total: None, mean: 2.0 * tokens.mean });
    made.output_tokens = doubled;
    let summary = of("vllm", vec![made]);
    let errors = found(&[&summary], Error);
    let tokens = errors.iter().find(|found| found.check == "tokens_per_request").unwrap();
    assert_eq!(tokens.sure, Sure::Possible);
    let found = found(&[&summary], Warning);
    let gaps = found.iter().find(|found| found.check == "tokens_by_itl").unwrap();
    assert_eq!(gaps.sure, Sure::Possible);
    assert!(gaps.cause.contains("miscounted or mistyped"), "{gaps:?}");
}
