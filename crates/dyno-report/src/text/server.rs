//! What there is to say of the server's own figures, and of what a level's work costs.

use super::layout::number;
use crate::escape::escape;
use crate::summary::{CostSummary, Gauge, ServerSummary};
use dyno_core::server::GpuCost;

const GIB: f64 = (1_u64 << 30) as f64;
const LONGEST_CURRENCY: usize = 12;

/// One line on the server; nothing where it said nothing.
pub(super) fn server(server: &ServerSummary) -> Option<String> {
    let gauge = |name: &str, gauge: Option<Gauge>| {
        gauge.map(|gauge| format!("{name} {} mean, {} max", number(gauge.mean), gauge.max))
    };
    let percent = |share: f64| format!("{} %", number(share * 100.0));
    let full = server
        .kv_full_share
        .filter(|share| *share > 0.0)
        .map(|share| format!(", over 95 % for {} of the time", percent(share)))
        .unwrap_or_default();
    let texts: Vec<String> = [
        gauge("running", server.running),
        gauge("waiting", server.waiting),
        server.kv_use_max.map(|share| format!("KV cache {} max{full}", percent(share))),
        server
            .preemptions
            .map(|n| if n == 1 { "1 preemption".into() } else { format!("{n} preemptions") }),
        server.prefix_hit_share.map(|share| format!("prefix cache hits {}", percent(share))),
        server.resident.map(|memory| {
            let [start, end] =
                [memory.start_bytes, memory.end_bytes].map(|bytes| number(bytes as f64 / GIB));
            format!("memory {start} to {end} GiB")
        }),
    ]
    .into_iter()
    .flatten()
    .collect();
    (!texts.is_empty()).then(|| texts.join("; "))
}

/// A price in the user's currency.
fn price(value: f64, cost: Option<&GpuCost>) -> String {
    let number = number(value);
    match cost.and_then(|cost| cost.currency.as_deref()).map(|name| escape(name, LONGEST_CURRENCY))
    {
        Some(sign) if sign.ends_with(char::is_alphanumeric) => format!("{sign} {number}"),
        Some(sign) => format!("{sign}{number}"),
        None => number,
    }
}

/// One line on tokens per GPU and their price.
pub(super) fn cost(cost: &CostSummary, price_of_gpu: Option<&GpuCost>) -> Option<String> {
    let each =
        |name: &str, rate: Option<f64>| rate.map(|rate| format!("{} {name} a GPU", number(rate)));
    let million = |name: &str, value: Option<f64>| {
        value.map(|value| format!("{} per million {name}", price(value, price_of_gpu)))
    };
    let texts: Vec<String> = [
        million("output tokens", cost.per_million_output_tokens),
        million("tokens in all", cost.per_million_total_tokens),
        each("out tok/s", cost.output_tokens_per_s_per_gpu),
        each("total tok/s", cost.total_tokens_per_s_per_gpu),
    ]
    .into_iter()
    .flatten()
    .collect();
    (!texts.is_empty()).then(|| texts.join("; "))
}
