//! The metrics of a live engine under vLLM's names, as Prometheus text.

use crate::core::Core;
use dyno_model::Nanos;
use dyno_respond::api::AnswerFinish;
use std::fmt::Write;

#[rustfmt::skip] // vLLM's own bounds, one line each.
mod bounds {
    pub(super) const TTFT: &[f64] = &[0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0, 20.0, 40.0, 80.0, 160.0, 640.0, 2560.0];
    pub(super) const ITL: &[f64] = &[0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0, 20.0, 40.0, 80.0];
    pub(super) const LATENCY: &[f64] = &[0.3, 0.5, 0.8, 1.0, 1.5, 2.0, 2.5, 5.0, 10.0, 15.0, 20.0, 30.0, 40.0, 50.0, 60.0, 120.0, 240.0, 480.0, 960.0, 1920.0, 7680.0];
}

/// Durations in buckets.
#[derive(Debug)]
struct Histogram {
    bounds: &'static [f64],
    /// One more than the bounds: the last one counts everything above them.
    counts: Vec<u64>,
    sum: Nanos,
}

impl Histogram {
    fn new(bounds: &'static [f64]) -> Self {
        Self { bounds, counts: vec![0; bounds.len() + 1], sum: 0 }
    }

    fn observe(&mut self, duration: Nanos) {
        let seconds = duration as f64 / 1e9;
        self.counts[self.bounds.partition_point(|bound| *bound < seconds)] += 1;
        self.sum = self.sum.saturating_add(duration);
    }
}

/// Counters and histograms since the start.
#[derive(Debug)]
pub(super) struct Metrics {
    ttft: Histogram,
    itl: Histogram,
    e2e: Histogram,
    prompt_tokens: u64,
    generation_tokens: u64,
    stopped: u64,
    cut: u64,
    aborted: u64,
}

impl Metrics {
    /// Nothing yet.
    pub(super) fn new() -> Self {
        Self {
            ttft: Histogram::new(bounds::TTFT),
            itl: Histogram::new(bounds::ITL),
            e2e: Histogram::new(bounds::LATENCY),
            prompt_tokens: 0,
            generation_tokens: 0,
            stopped: 0,
            cut: 0,
            aborted: 0,
        }
    }

    /// Records the time to a first token, and the length of its prompt.
    pub(super) fn first_token(&mut self, after: Nanos, prompt_tokens: u32) {
        self.generation_tokens += 1;
        self.prompt_tokens += u64::from(prompt_tokens);
        self.ttft.observe(after);
    }

    /// Records the time between two tokens.
    pub(super) fn next_token(&mut self, after: Nanos) {
        self.generation_tokens += 1;
        self.itl.observe(after);
    }

    /// Records the end-to-end latency of a response.
    pub(super) fn finished(&mut self, after: Nanos, finish: AnswerFinish) {
        self.e2e.observe(after);
        match finish {
            AnswerFinish::Length => self.cut += 1,
            AnswerFinish::Stop => self.stopped += 1,
        }
    }

    /// Records a request that was cancelled.
    pub(super) fn aborted(&mut self) {
        self.aborted += 1;
    }

    /// All metrics, and the state of the engine.
    pub(super) fn prometheus(&self, core: &Core, model: &str) -> String {
        let labels = format!("engine=\"0\",model_name=\"{}\"", escaped(model));
        let mut page = Page { text: String::new(), labels };
        page.number("num_requests_running", "gauge", "Requests in the batch.", core.running());
        page.number(
            "num_requests_waiting",
            "gauge",
            "Requests waiting for a slot in the batch.",
            core.waiting(),
        );
        let usage = core.kv_used() as f64 / core.kv_total() as f64;
        let help = "Share of the KV cache in use; 1 means full.";
        page.number("kv_cache_usage_perc", "gauge", help, usage);
        page.number("gpu_cache_usage_perc", "gauge", "Old name of kv_cache_usage_perc.", usage);
        let caches = core.scheduler();
        page.head("cache_config_info", "gauge", "Settings of the caches, in labels.");
        let (block, blocks) = (caches.block, caches.kv_blocks);
        // As Python writes it.
        let prefix = if caches.prefix_cache { "True" } else { "False" };
        let settings = format!(
            ",block_size=\"{block}\",enable_prefix_caching=\"{prefix}\",num_gpu_blocks=\"{blocks}\""
        );
        page.line("cache_config_info", &settings, 1);
        let help = "Requests preempted from the batch.";
        page.number("num_preemptions_total", "counter", help, core.preemptions());
        let help = "Tokens looked up in the prefix cache.";
        page.number("prefix_cache_queries_total", "counter", help, core.prefix_queries());
        let help = "Tokens found in the prefix cache.";
        page.number("prefix_cache_hits_total", "counter", help, core.prefix_hits());
        let help = "Prompt tokens processed.";
        page.number("prompt_tokens_total", "counter", help, self.prompt_tokens);
        let help = "Tokens generated.";
        page.number("generation_tokens_total", "counter", help, self.generation_tokens);
        page.head("request_success_total", "counter", "Finished requests, by reason.");
        for (reason, count) in
            [("stop", self.stopped), ("length", self.cut), ("abort", self.aborted)]
        {
            page.line("request_success_total", &format!(",finished_reason=\"{reason}\""), count);
        }
        let help = "Time to first token, including queueing.";
        page.histogram("time_to_first_token_seconds", help, &self.ttft);
        page.histogram(
            "inter_token_latency_seconds",
            "Time between consecutive tokens.",
            &self.itl,
        );
        let help = "Old name of inter_token_latency_seconds.";
        page.histogram("time_per_output_token_seconds", help, &self.itl);
        page.histogram("e2e_request_latency_seconds", "End-to-end request latency.", &self.e2e);
        page.text
    }
}

struct Page {
    text: String,
    labels: String,
}

impl Page {
    fn head(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.text, "# HELP vllm:{name} {help}\n# TYPE vllm:{name} {kind}");
    }

    fn line(&mut self, name: &str, more: &str, value: impl std::fmt::Display) {
        let _ = writeln!(self.text, "vllm:{name}{{{}{more}}} {value}", self.labels);
    }

    fn number(&mut self, name: &str, kind: &str, help: &str, value: impl std::fmt::Display) {
        self.head(name, kind, help);
        self.line(name, "", value);
    }

    fn histogram(&mut self, name: &str, help: &str, histogram: &Histogram) {
        self.head(name, "histogram", help);
        let bucket = format!("{name}_bucket");
        let bounds = histogram.bounds.iter().map(|bound| format!("{bound:?}"));
        let mut so_far = 0;
        for (bound, count) in bounds.chain(["+Inf".to_owned()]).zip(&histogram.counts) {
            so_far += count;
            self.line(&bucket, &format!(",le=\"{bound}\""), so_far);
        }
        self.line(&format!("{name}_sum"), "", histogram.sum as f64 / 1e9);
        self.line(&format!("{name}_count"), "", so_far);
    }
}

/// A label value, escaped for Prometheus.
pub(crate) fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::{Cost, Policy, Scheduler};

    fn core() -> Core {
        let scheduler = Scheduler {
            policy: Policy::Chunked,
            max_seqs: 4,
            token_budget: 16,
            block: 4,
            kv_blocks: 10,
            prefix_cache: false,
            context: None,
            steps_ahead: 0,
        };
        Core::new(scheduler, Cost { base: 0.001, ..Cost::default() }, 1).unwrap()
    }

    #[test]
    fn durations_fall_into_their_buckets_and_all_above() {
        let mut metrics = Metrics::new();
        metrics.first_token(1_000_000, 7);
        metrics.first_token(1_000_001, 3);
        metrics.next_token(3_000_000_000_000);
        metrics.finished(2_000_000_000, AnswerFinish::Length);
        let text = metrics.prometheus(&core(), "a \"b\"\\c");
        let has = |line: &str| assert!(text.lines().any(|l| l == line), "{line}\n{text}");
        let labels = r#"engine="0",model_name="a \"b\"\\c""#;
        has(&format!("vllm:time_to_first_token_seconds_bucket{{{labels},le=\"0.001\"}} 1"));
        has(&format!("vllm:time_to_first_token_seconds_bucket{{{labels},le=\"0.005\"}} 2"));
        has(&format!("vllm:time_to_first_token_seconds_sum{{{labels}}} 0.002000001"));
        has(&format!("vllm:inter_token_latency_seconds_bucket{{{labels},le=\"80.0\"}} 0"));
        has(&format!("vllm:inter_token_latency_seconds_bucket{{{labels},le=\"+Inf\"}} 1"));
        has(&format!("vllm:e2e_request_latency_seconds_bucket{{{labels},le=\"2.0\"}} 1"));
        has(&format!("vllm:prompt_tokens_total{{{labels}}} 10"));
        has(&format!("vllm:generation_tokens_total{{{labels}}} 3"));
        has(&format!("vllm:request_success_total{{{labels},finished_reason=\"length\"}} 1"));
        has(&format!("vllm:kv_cache_usage_perc{{{labels}}} 0"));
        let caches = r#",block_size="4",enable_prefix_caching="False",num_gpu_blocks="10""#;
        has(&format!("vllm:cache_config_info{{{labels}{caches}}} 1"));
    }
}
