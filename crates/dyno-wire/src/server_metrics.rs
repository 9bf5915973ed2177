//! The metrics of inference servers, whatever each calls them, as one sample.

use crate::prometheus::{PrometheusSeries, series};
use dyno_model::server::ServerSample;
use dyno_model::{Localized, Nanos};

/// How several series of one name, of several engines or models, become one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Join {
    /// Counts are added up.
    Sum,
    /// The fullest counts: room in another engine does not help a request.
    Most,
}

/// A metric and its names, of which the first that is present counts. Names without a prefix are
/// MindIE's.
struct Known {
    join: Join,
    names: &'static [&'static str],
}

const RUNNING: Known = Known {
    join: Join::Sum,
    names: &[
        "vllm:num_requests_running",
        "sglang:num_running_reqs",
        "lmdeploy:num_requests_running",
        "llamacpp:requests_processing",
        "tgi_batch_current_size",
        "num_requests_running",
        "dyno_engine_requests_running",
    ],
};
const WAITING: Known = Known {
    join: Join::Sum,
    names: &[
        "vllm:num_requests_waiting",
        "sglang:num_queue_reqs",
        "lmdeploy:num_requests_waiting",
        "llamacpp:requests_deferred",
        "tgi_queue_size",
        "num_requests_waiting",
    ],
};
const KV_USE: Known = Known {
    join: Join::Most,
    names: &[
        "vllm:kv_cache_usage_perc",
        "vllm:gpu_cache_usage_perc",
        "vllm:npu_cache_usage_perc",
        "sglang:token_usage",
        "lmdeploy:gpu_cache_usage_perc",
        "llamacpp:kv_cache_usage_ratio",
        "npu_cache_usage_perc",
    ],
};
const PREEMPTIONS: Known = Known {
    join: Join::Sum,
    names: &[
        "vllm:num_preemptions_total",
        "sglang:num_retracted_requests_total",
        "num_preemptions_total",
    ],
};
const PREFIX_QUERIES: Known = Known {
    join: Join::Sum,
    names: &[
        "vllm:prefix_cache_queries_total",
        "vllm:gpu_prefix_cache_queries_total",
        "sglang:prompt_tokens_total",
    ],
};
const PREFIX_HITS: Known = Known {
    join: Join::Sum,
    names: &[
        "vllm:prefix_cache_hits_total",
        "vllm:gpu_prefix_cache_hits_total",
        "sglang:cached_tokens_total",
    ],
};
const PREFIX_SHARE: Known = Known {
    join: Join::Most,
    names: &[
        "sglang:cache_hit_rate",
        "vllm:gpu_prefix_cache_hit_rate",
        "npu_prefix_cache_hit_rate",
    ],
};
const KV_TOKENS: Known = Known { join: Join::Most, names: &["sglang:max_total_num_tokens"] };
const KV_BLOCK: Known = Known { join: Join::Most, names: &["sglang:page_size"] };
/// The youngest of several processes.
const STARTED: Known = Known { join: Join::Most, names: &["process_start_time_seconds"] };
const RESIDENT: Known = Known { join: Join::Sum, names: &["process_resident_memory_bytes"] };

/// The value found so far, and the rank of its name.
#[derive(Debug, Default, Clone, Copy)]
struct Found(Option<(usize, f64)>);

impl Found {
    fn see(&mut self, known: &Known, name: &str, value: f64) {
        let Some(rank) = known.names.iter().position(|other| *other == name) else { return };
        if !value.is_finite() || value < 0.0 {
            return;
        }
        self.0 = Some(match self.0 {
            Some((best, so_far)) if best == rank => match known.join {
                Join::Sum => (rank, so_far + value),
                Join::Most => (rank, so_far.max(value)),
            },
            Some(better) if better.0 < rank => better,
            _ => (rank, value),
        });
    }

    fn count(self) -> Option<u64> {
        self.times(1.0)
    }

    /// A number of smaller units.
    fn times(self, factor: f64) -> Option<u64> {
        self.0.map(|(_, value)| (factor * value).round() as u64)
    }

    /// A share. Slightly more than 1 is a rounding error; anything above is not a share.
    fn share(self) -> Option<f64> {
        self.0.map(|(_, value)| value).filter(|value| *value <= 1.001).map(|value| value.min(1.0))
    }
}

/// What vLLM says of its caches: labels of a series that is always 1.
const CACHES: &str = "vllm:cache_config_info";

/// The caches as a server describes them in labels.
#[derive(Debug, Default, Clone, Copy)]
struct Caches {
    block: Option<u64>,
    blocks: Option<u64>,
    prefix: Option<bool>,
}

impl Caches {
    fn see(&mut self, series: &PrometheusSeries<'_>) {
        for (label, value) in &series.labels {
            match *label {
                "block_size" => self.block = value.parse().ok().filter(|of| *of > 0),
                "num_gpu_blocks" => self.blocks = value.parse().ok().filter(|of| *of > 0),
                "enable_prefix_caching" => self.prefix = value.to_ascii_lowercase().parse().ok(),
                _ => {}
            }
        }
    }
}

/// Why a text has no metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Localized)]
pub enum NoMetrics {
    /// Not one line is a series.
    #[message(
        "the response is not Prometheus text; check the URL",
        "响应不是 Prometheus 文本；请检查 URL"
    )]
    NotPrometheus,
    /// None of its metrics is known.
    #[message("the response has none of the metrics that Dyno knows", "响应中没有 Dyno 认识的指标")]
    NothingKnown,
}

/// The sample in a server's metrics, received at `at`.
pub fn sample(text: &str, at: Nanos) -> Result<ServerSample, NoMetrics> {
    let known = [
        RUNNING,
        WAITING,
        KV_USE,
        PREEMPTIONS,
        PREFIX_QUERIES,
        PREFIX_HITS,
        PREFIX_SHARE,
        RESIDENT,
        KV_BLOCK,
        KV_TOKENS,
        STARTED,
    ];
    let mut found = [Found::default(); 11];
    let mut caches = Caches::default();
    let mut any = false;
    for series in series(text).flatten() {
        any = true;
        if series.name == CACHES {
            caches.see(&series);
        }
        for (known, found) in known.iter().zip(&mut found) {
            found.see(known, series.name, series.value);
        }
    }
    let [
        running,
        waiting,
        kv_use,
        preemptions,
        queries,
        hits,
        share,
        resident,
        block,
        tokens,
        started,
    ] = found;
    let stated =
        caches.block.zip(caches.blocks).and_then(|(block, blocks)| block.checked_mul(blocks));
    let sample = ServerSample {
        at,
        running: running.count(),
        waiting: waiting.count(),
        kv_use: kv_use.share(),
        preemptions: preemptions.count(),
        prefix_queries: queries.count(),
        prefix_hits: hits.count(),
        prefix_share: share.share(),
        resident_bytes: resident.count(),
        kv_block: caches.block.or(block.count()).filter(|block| *block > 0),
        kv_tokens: stated.or(tokens.count()).filter(|tokens| *tokens > 0),
        prefix_cache: caches.prefix,
        process_started: started.times(1e3),
    };
    match (any, sample.is_empty()) {
        (false, _) => Err(NoMetrics::NotPrometheus),
        (true, true) => Err(NoMetrics::NothingKnown),
        (true, false) => Ok(sample),
    }
}
