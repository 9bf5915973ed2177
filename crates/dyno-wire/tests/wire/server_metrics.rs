//! Server metrics, under all the names that servers use.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use dyno_model::server::ServerSample;
use dyno_wire::server_metrics::*;

#[test]
fn counts_add_up_and_the_fullest_engine_decides() {
    let text = "\
vllm:num_requests_running{engine=\"0\"} 3.0
vllm:num_requests_running{engine=\"1\"} 4.0
vllm:num_requests_waiting{engine=\"0\"} 0.0
vllm:num_requests_waiting{engine=\"1\"} 2.0
vllm:kv_cache_usage_perc{engine=\"0\"} 0.25
vllm:kv_cache_usage_perc{engine=\"1\"} 0.75
vllm:num_preemptions_total{engine=\"0\"} 1
vllm:num_preemptions_total{engine=\"1\"} 2
vllm:prefix_cache_queries_total 1e3
vllm:prefix_cache_hits_total 250
process_resident_memory_bytes 7.458255234e9
vllm:cache_config_info{block_size=\"128\",cache_dtype=\"auto\",enable_prefix_caching=\"True\",engine=\"0\",num_cpu_blocks=\"None\",num_gpu_blocks=\"8192\"} 1.0
";
    let got = sample(text, 5).unwrap();
    let want = ServerSample {
        at: 5,
        running: Some(7),
        waiting: Some(2),
        kv_use: Some(0.75),
        preemptions: Some(3),
        prefix_queries: Some(1000),
        prefix_hits: Some(250),
        prefix_share: None,
        resident_bytes: Some(7_458_255_234),
        kv_block: Some(128),
        kv_tokens: Some(1_048_576),
        prefix_cache: Some(true),
        process_started: None,
    };
    assert_eq!(got, want);
}

#[test]
fn settings_of_caches_that_are_not_known_are_absent() {
    let of = |labels: &str| {
        sample(&format!("vllm:cache_config_info{{{labels}}} 1\nnum_requests_running 1\n"), 0)
            .unwrap()
    };
    let got = of("block_size=\"16\",enable_prefix_caching=\"False\",num_gpu_blocks=\"None\"");
    assert_eq!((got.kv_block, got.kv_tokens, got.prefix_cache), (Some(16), None, Some(false)));
    let got = of("block_size=\"0\",enable_prefix_caching=\"perhaps\",num_gpu_blocks=\"-4\"");
    assert_eq!((got.kv_block, got.kv_tokens, got.prefix_cache), (None, None, None));
    let got = of("block_size=\"16\",num_gpu_blocks=\"18446744073709551615\"");
    assert_eq!(got.kv_tokens, None);
}

#[test]
fn of_an_old_and_a_new_name_only_the_new_counts_whatever_their_order() {
    let new = "vllm:prefix_cache_queries_total 10\nvllm:kv_cache_usage_perc 0.5\n";
    let old = "vllm:gpu_prefix_cache_queries_total 99\nvllm:gpu_cache_usage_perc 0.9\n";
    for text in [format!("{new}{old}"), format!("{old}{new}")] {
        let got = sample(&text, 0).unwrap();
        assert_eq!((got.prefix_queries, got.kv_use), (Some(10), Some(0.5)));
    }
    let got = sample(old, 0).unwrap();
    assert_eq!((got.prefix_queries, got.kv_use), (Some(99), Some(0.9)));
}

#[test]
fn sglang_tells_under_names_of_its_own() {
    let text = "\
sglang:num_running_reqs{model_name=\"m\",tp_rank=\"0\"} 8.0
sglang:num_queue_reqs{model_name=\"m\",tp_rank=\"0\"} 4.0
sglang:token_usage{model_name=\"m\"} 0.52
sglang:cache_hit_rate{model_name=\"m\"} 0.28
sglang:prompt_tokens_total{model_name=\"m\"} 4096
sglang:cached_tokens_total{model_name=\"m\",cache_source=\"device\"} 3000
sglang:cached_tokens_total{model_name=\"m\",cache_source=\"host\"} 168
sglang:max_total_num_tokens{model_name=\"m\"} 471258.0
sglang:page_size{model_name=\"m\"} 1.0
";
    let got = sample(text, 0).unwrap();
    assert_eq!((got.kv_block, got.kv_tokens), (Some(1), Some(471_258)));
    assert_eq!((got.running, got.waiting, got.kv_use), (Some(8), Some(4), Some(0.52)));
    assert_eq!((got.prefix_queries, got.prefix_hits), (Some(4096), Some(3168)));
    assert_eq!((got.prefix_share, got.preemptions), (Some(0.28), None));
}

#[test]
fn mindie_and_others_tell_too() {
    let mindie = "num_requests_running{model_name=\"q\"} 3\nnum_requests_waiting 8\n\
                      npu_cache_usage_perc 0.42\nnpu_prefix_cache_hit_rate 0.5\n\
                      num_preemptions_total 2\n";
    let got = sample(mindie, 0).unwrap();
    assert_eq!((got.running, got.waiting, got.kv_use), (Some(3), Some(8), Some(0.42)));
    assert_eq!((got.prefix_share, got.preemptions), (Some(0.5), Some(2)));
    for (text, running, waiting) in [
        ("lmdeploy:num_requests_running 1\nlmdeploy:num_requests_waiting 2\n", 1, 2),
        ("llamacpp:requests_processing 3\nllamacpp:requests_deferred 4\n", 3, 4),
        ("tgi_batch_current_size 5\ntgi_queue_size 6\n", 5, 6),
    ] {
        let got = sample(text, 0).unwrap();
        assert_eq!((got.running, got.waiting), (Some(running), Some(waiting)), "{text}");
    }
}

#[test]
fn the_start_of_the_process_is_no_metric_by_itself() {
    let started = "process_start_time_seconds 1.76340123456e+09\n";
    assert_eq!(sample(started, 0), Err(NoMetrics::NothingKnown));
    let got = sample(&format!("vllm:num_requests_running 1\n{started}"), 0).unwrap();
    assert_eq!(got.process_started, Some(1_763_401_234_560));
}

#[test]
fn what_is_no_figure_is_absent() {
    let text = "vllm:kv_cache_usage_perc NaN\nvllm:num_requests_running 1\n\
                    vllm:num_requests_waiting -1\nprocess_resident_memory_bytes +Inf\n";
    let got = sample(text, 0).unwrap();
    assert_eq!(got, ServerSample { running: Some(1), ..ServerSample::default() });
    let full = sample("vllm:kv_cache_usage_perc 1.0000000002\n", 0).unwrap();
    assert_eq!(full.kv_use, Some(1.0));
    assert_eq!(sample("vllm:kv_cache_usage_perc 95\n", 0), Err(NoMetrics::NothingKnown));
    assert_eq!(sample("go_goroutines 8\n", 0), Err(NoMetrics::NothingKnown));
    assert_eq!(sample("<html><body>hello</body></html>", 0), Err(NoMetrics::NotPrometheus));
    assert_eq!(sample("", 0), Err(NoMetrics::NotPrometheus));
}
