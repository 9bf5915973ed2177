//! The client's own metrics, as in the summary.

use dyno_model::frame::{ClientHealth, EngineSlip};
use dyno_model::lag::DelayHistogram;
use dyno_model::summary::{ClientSummary, Lag, round6};
use dyno_model::units::{to_ms, to_s};
use dyno_stats::Counted;

/// Exact delays of requests.
pub(crate) fn exact_lag(samples: Vec<u64>) -> Option<Lag> {
    let lags = Counted::from_samples(samples);
    Some(Lag {
        count: lags.count(),
        p50: round6(lags.quantile(0.5)? / 1e6),
        p99: round6(lags.quantile(0.99)? / 1e6),
        max: round6(to_ms(lags.max()?)),
    })
}

fn histogram_lag(lags: &DelayHistogram) -> Option<Lag> {
    Some(Lag {
        count: lags.count(),
        p50: round6(to_ms(lags.quantile(0.5)?)),
        p99: round6(to_ms(lags.quantile(0.99)?)),
        max: round6(to_ms(lags.max()?)),
    })
}

/// Combines the client's metrics.
pub(crate) fn client(
    send_lag: Option<Lag>,
    connect: Option<Lag>,
    health: Option<&ClientHealth>,
) -> ClientSummary {
    // Older versions did not record these.
    let looked = health.filter(|h| h.read_delay.count() + h.unstamped_reads > 0);
    ClientSummary {
        send_lag_ms: send_lag,
        connect_ms: connect,
        read_lag_ms: health.and_then(|h| histogram_lag(&h.read_lag)),
        read_delay_ms: health.and_then(|h| histogram_lag(&h.read_delay)),
        missed_ticks: looked.map(|h| h.missed_ticks),
        blind_s: looked.map(|h| round6(to_s(h.blind_ns))),
        longest_stall_ms: looked.map(|h| round6(to_ms(h.longest_stall_ns))),
        awaited_prompts_s: looked.map(|h| round6(to_s(h.awaited_prompts_ns))),
        awaited_records_s: looked.map(|h| round6(to_s(h.awaited_records_ns))),
        timer_lag_ms: health.and_then(|h| histogram_lag(&h.timer_lag)),
        cpu_share: health
            .filter(|h| h.wall_ns > 0)
            .map(|h| round6(h.cpu_ns as f64 / h.wall_ns as f64)),
    }
}

/// The embedded engine's delay, as in the summary.
pub(crate) fn slip(slip: &EngineSlip) -> Lag {
    Lag {
        count: slip.count,
        p50: round6(to_ms(slip.p50_ns)),
        p99: round6(to_ms(slip.p99_ns)),
        max: round6(to_ms(slip.max_ns)),
    }
}
