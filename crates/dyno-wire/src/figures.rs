//! What servers say of themselves in their `/metrics`, under whatever names, as one sample.

use crate::prometheus::series;
use dyno_model::Nanos;
use dyno_model::server::ServerSample;

/// How several series of one name, of several engines or models, become one figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Join {
    /// What is counted adds up.
    Sum,
    /// The fullest decides: a request that its engine has no room for is not helped by another.
    Most,
}

/// A figure under its names, of which the first that is there counts. Names without a prefix are
/// MindIE's.
struct Figure {
    join: Join,
    names: &'static [&'static str],
}

const RUNNING: Figure = Figure {
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
const WAITING: Figure = Figure {
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
const KV_USE: Figure = Figure {
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
const PREEMPTIONS: Figure = Figure {
    join: Join::Sum,
    names: &[
        "vllm:num_preemptions_total",
        "sglang:num_retracted_requests_total",
        "num_preemptions_total",
    ],
};
const PREFIX_QUERIES: Figure = Figure {
    join: Join::Sum,
    names: &[
        "vllm:prefix_cache_queries_total",
        "vllm:gpu_prefix_cache_queries_total",
        "sglang:prompt_tokens_total",
    ],
};
const PREFIX_HITS: Figure = Figure {
    join: Join::Sum,
    names: &[
        "vllm:prefix_cache_hits_total",
        "vllm:gpu_prefix_cache_hits_total",
        "sglang:cached_tokens_total",
    ],
};
const PREFIX_SHARE: Figure = Figure {
    join: Join::Most,
    names: &[
        "sglang:cache_hit_rate",
        "vllm:gpu_prefix_cache_hit_rate",
        "npu_prefix_cache_hit_rate",
    ],
};
const RESIDENT: Figure = Figure { join: Join::Sum, names: &["process_resident_memory_bytes"] };

/// The best value found so far, and the place of its name among the names.
#[derive(Debug, Default, Clone, Copy)]
struct Found(Option<(usize, f64)>);

impl Found {
    fn see(&mut self, figure: &Figure, name: &str, value: f64) {
        let Some(rank) = figure.names.iter().position(|known| *known == name) else { return };
        if !value.is_finite() || value < 0.0 {
            return;
        }
        self.0 = Some(match self.0 {
            Some((best, so_far)) if best == rank => match figure.join {
                Join::Sum => (rank, so_far + value),
                Join::Most => (rank, so_far.max(value)),
            },
            Some(better) if better.0 < rank => better,
            _ => (rank, value),
        });
    }

    fn count(self) -> Option<u64> {
        self.0.map(|(_, value)| value.round() as u64)
    }

    /// A share; a rounding error above 1 is one, anything more is no share.
    fn share(self) -> Option<f64> {
        self.0.map(|(_, value)| value).filter(|value| *value <= 1.001).map(|value| value.min(1.0))
    }
}

/// Why a text is no sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoSample {
    /// Not one line is a series.
    #[error("the answer is not Prometheus text")]
    NotPrometheus,
    /// None of the figures is known.
    #[error("the answer has none of the figures that are known")]
    NothingKnown,
}

/// What a server's metrics say, read at `at`.
pub fn sample(text: &str, at: Nanos) -> Result<ServerSample, NoSample> {
    let figures = [
        RUNNING,
        WAITING,
        KV_USE,
        PREEMPTIONS,
        PREFIX_QUERIES,
        PREFIX_HITS,
        PREFIX_SHARE,
        RESIDENT,
    ];
    let mut found = [Found::default(); 8];
    let mut any = false;
    for series in series(text).flatten() {
        any = true;
        for (figure, found) in figures.iter().zip(&mut found) {
            found.see(figure, series.name, series.value);
        }
    }
    let [running, waiting, kv_use, preemptions, queries, hits, share, resident] = found;
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
    };
    match (any, sample.is_empty()) {
        (false, _) => Err(NoSample::NotPrometheus),
        (true, true) => Err(NoSample::NothingKnown),
        (true, false) => Ok(sample),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        };
        assert_eq!(got, want);
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
";
        let got = sample(text, 0).unwrap();
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
    fn what_is_no_figure_is_absent() {
        let text = "vllm:kv_cache_usage_perc NaN\nvllm:num_requests_running 1\n\
                    vllm:num_requests_waiting -1\nprocess_resident_memory_bytes +Inf\n";
        let got = sample(text, 0).unwrap();
        assert_eq!(got, ServerSample { running: Some(1), ..ServerSample::default() });
        let full = sample("vllm:kv_cache_usage_perc 1.0000000002\n", 0).unwrap();
        assert_eq!(full.kv_use, Some(1.0));
        assert_eq!(sample("vllm:kv_cache_usage_perc 95\n", 0), Err(NoSample::NothingKnown));
        assert_eq!(sample("go_goroutines 8\n", 0), Err(NoSample::NothingKnown));
        assert_eq!(sample("<html><body>hello</body></html>", 0), Err(NoSample::NotPrometheus));
        assert_eq!(sample("", 0), Err(NoSample::NotPrometheus));
    }
}
