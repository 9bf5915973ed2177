//! Counts of requests, throughput by duration, tokens per request, and rows without data.

use super::made::{PER_S, Random, assert_clean, codes, consistent, found, level, of, printed};
use dyno_analysis::lint::Sure;
use dyno_model::Severity::{Error, Warning};
use dyno_model::load::LoadKind;
use dyno_model::summary::Tokens;

#[test]
fn a_consistent_level_is_clean() {
    for tool in ["vllm", "sglang", "evalscope", "aiperf", "guidellm", "another"] {
        assert_clean(&of(tool, vec![consistent()]));
    }
}

#[test]
fn requests_that_the_tool_lists_are_not_missing() {
    let mut listed = consistent();
    listed.requests.planned = Some(110);
    listed.requests.failed = Some(4);
    listed.requests.censored = Some(6);
    assert_clean(&of("guidellm", vec![listed.clone()]));
    listed.requests.censored = Some(5);
    assert_eq!(codes(&of("guidellm", vec![listed]), Error), ["requests_missing"]);
}

#[test]
fn fewer_completed_than_planned_is_found_without_stated_failures() {
    let mut unstated = consistent();
    unstated.requests.planned = Some(101);
    unstated.requests.failed = None;
    let found = found(&[&of("vllm", vec![unstated.clone()])], Error);
    assert!(found[0].what.contains("no failures are reported: concurrency 4: 100 vs 101"));
    // A run that its file calls cut short is not expected to be complete.
    unstated.partial = true;
    assert_clean(&of("vllm", vec![unstated]));
}

#[test]
fn more_requests_than_were_planned_are_found() {
    let mut failed = consistent();
    failed.requests.failed = Some(50);
    let found = found(&[&of("vllm", vec![failed.clone()])], Error);
    assert!(found[0].what.contains("more requests are accounted for"), "{found:?}");
    assert!(found[0].what.ends_with("concurrency 4: 150 vs 100"), "{found:?}");
    // Elsewhere a planned request may be a conversation.
    assert_eq!(codes(&of("evalscope", vec![failed]), Warning), ["requests_missing"]);
    let mut completed = consistent();
    completed.requests.planned = Some(80);
    assert_eq!(codes(&of("sglang", vec![completed]), Error), ["requests_missing"]);
}

#[test]
fn total_tokens_must_fit_input_output_and_duration() {
    let mut made = consistent();
    made.input_tokens = Some(Tokens { total: Some(25_000), mean: 250.0 });
    made.throughput.total_tokens_per_s = Some(351.0 * PER_S);
    assert_clean(&of("vllm", vec![made.clone()]));
    let mut faster = made.clone();
    faster.throughput.total_tokens_per_s = Some(1.05 * 351.0 * PER_S);
    assert_eq!(codes(&of("vllm", vec![faster.clone()]), Error), ["total_tokens"]);
    // Other tools may divide by something else than the duration.
    assert_clean(&of("guidellm", vec![faster]));
    made.input_tokens = Some(Tokens { total: Some(50_000), mean: 500.0 });
    let found = found(&[&of("sglang", vec![made])], Error);
    assert!(found[0].what.ends_with("concurrency 4: 351 vs 601"), "{found:?}");
}

#[test]
fn a_wrong_rate_is_not_blamed_on_how_tokens_are_counted() {
    let cause = |made| {
        let found = found(&[&of("vllm", vec![made])], Error);
        let tokens = found.into_iter().find(|found| found.check == "tokens_per_request").unwrap();
        (tokens.sure, tokens.cause.contains("do not fit the completed requests either"))
    };
    let mut rate = consistent();
    rate.load.kind = LoadKind::Burst;
    let mut tokens = rate.clone();
    rate.throughput.requests_per_s = Some(1.1 * PER_S);
    assert_eq!(cause(rate), (Sure::Possible, true));
    tokens.throughput.output_tokens_per_s = Some(1.1 * 101.0 * PER_S);
    assert_eq!(cause(tokens), (Sure::Likely, false));
}

/// Rates of 0.01 to 10 requests/s with two decimals: rounding alone is up to 50 % of them.
#[test]
fn printed_digits_explain_what_they_can() {
    let mut random = Random(1);
    for _ in 0..2_000 {
        let per_s = 10_f64.powf(3.0 * random.unit() - 2.0);
        let mut made = consistent();
        let (tokens, duration) = (20.0 + 400.0 * random.unit(), 100.0 / per_s);
        made.load.kind = LoadKind::Burst;
        made.duration_s = printed(duration, 2);
        made.throughput.requests_per_s = printed(per_s, 2).filter(|per_s| *per_s > 0.0);
        made.throughput.output_tokens_per_s = printed(per_s * tokens, 2);
        made.output_tokens = Some(Tokens { total: None, mean: printed(tokens, 3).unwrap() });
        made.times = Default::default();
        assert_clean(&of("vllm", vec![made]));
    }
}

/// A block of vLLM's prints 0.02 requests/s: a converted file may show 0.006667, which is no more exact.
#[test]
fn digits_that_a_form_does_not_print_are_not_believed() {
    let mut made = consistent();
    made.load.kind = LoadKind::Burst;
    (made.duration_s, made.times) = (Some(5_417.236_1), Default::default());
    made.throughput.requests_per_s = Some(0.02 / 3.0);
    made.throughput.output_tokens_per_s = Some(100.0 * 101.0 / 5_417.236_1);
    let mut summary = of("vllm", vec![made]);
    let errors = ["throughput_by_duration", "tokens_per_request"];
    assert_eq!(codes(&summary, Error), errors);
    summary.run.origin.as_mut().unwrap().form = "block".to_owned();
    assert_clean(&summary);
}

#[test]
fn throughput_must_fit_duration_and_tokens() {
    let mut faster = consistent();
    faster.load.kind = LoadKind::Burst;
    faster.throughput.requests_per_s = Some(1.05 * PER_S);
    let both = ["throughput_by_duration", "tokens_per_request"];
    assert_eq!(codes(&of("vllm", vec![faster.clone()]), Error), both);
    // guidellm measures in a window within its duration: 5 % say nothing there, double the rate does.
    assert_clean(&of("guidellm", vec![faster.clone()]));
    faster.throughput.requests_per_s = Some(2.0 * PER_S);
    assert_eq!(codes(&of("guidellm", vec![faster]), Warning), both);
}

#[test]
fn more_tokens_than_requested_are_found_where_none_are_counted() {
    let mut made = consistent();
    (made.output_tokens, made.output_length) = (None, Some(101));
    made.throughput.output_tokens_per_s = Some(75.0 * PER_S);
    assert_clean(&of("guidellm", vec![made.clone()]));
    made.throughput.output_tokens_per_s = Some(111.1 * PER_S);
    assert_eq!(codes(&of("guidellm", vec![made]), Warning), ["tokens_per_request"]);
}

#[test]
fn zeros_are_an_error_unless_the_file_says_that_nothing_completed() {
    let mut nothing = level(LoadKind::Concurrency, 1.0);
    nothing.throughput.requests_per_s = Some(0.0);
    nothing.throughput.output_tokens_per_s = Some(0.0);
    assert_eq!(codes(&of("vllm", vec![nothing.clone()]), Error), ["zeros"]);
    nothing.requests.completed = Some(0);
    assert_eq!(codes(&of("vllm", vec![nothing.clone()]), Error), [""; 0]);
    let imported = of("vllm", vec![nothing]);
    assert_eq!(codes(&imported, Warning), ["zeros"]);
    // Dyno's own throughput is 0 where all requests were refused or failed.
    let mut own = imported;
    own.run.origin = None;
    assert_eq!(codes(&own, Warning), [""; 0]);
}
