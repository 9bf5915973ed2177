//! Server metrics of a level, and what its tokens cost.

use crate::messages::Say;
use dyno_model::Language;
use dyno_model::server::GpuCost;
use dyno_model::summary::{CostSummary, Gauge, ServerSummary};
use dyno_words::columns::number;
use dyno_words::escape::escape;

const GIB: f64 = (1_u64 << 30) as f64;
const LONGEST_CURRENCY: usize = 12;

/// One line on the server; nothing where it reported nothing.
pub(super) fn server(server: &ServerSummary, language: Language) -> Option<String> {
    let gauge = |say: Say, gauge: Option<Gauge>| {
        gauge.map(|gauge| say.with(language, &[number(gauge.mean), gauge.max.to_string()]))
    };
    let percent = |share: f64| format!("{} %", number(share * 100.0));
    let kv =
        server.kv_use_max.map(|most| match server.kv_full_share.filter(|share| *share > 0.0) {
            Some(full) => Say::KvFull.with(language, &[percent(most), percent(full)]),
            None => Say::KvMost.with(language, &[percent(most)]),
        });
    let texts = [
        gauge(Say::Running, server.running),
        gauge(Say::Waiting, server.waiting),
        kv,
        server.preemptions.map(|n| Say::Preemptions.with(language, &[n.to_string()])),
        server.prefix_hit_share.map(|share| Say::PrefixHits.with(language, &[percent(share)])),
        server.resident.map(|memory| {
            let bytes = [memory.start_bytes, memory.end_bytes];
            Say::Memory.with(language, &bytes.map(|bytes| number(bytes as f64 / GIB)))
        }),
    ];
    joined(texts, language)
}

/// The known texts, in one line.
pub(super) fn joined<const N: usize>(
    texts: [Option<String>; N],
    language: Language,
) -> Option<String> {
    let texts: Vec<String> = texts.into_iter().flatten().collect();
    (!texts.is_empty()).then(|| texts.join(language.semicolon()))
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
pub(super) fn cost(
    cost: &CostSummary,
    price_of_gpu: Option<&GpuCost>,
    language: Language,
) -> Option<String> {
    let each = |say: Say, rate: Option<f64>| rate.map(|rate| say.with(language, &[number(rate)]));
    let million = |say: Say, value: Option<f64>| {
        value.map(|value| say.with(language, &[price(value, price_of_gpu)]))
    };
    let texts = [
        million(Say::PerMillionOut, cost.per_million_output_tokens),
        million(Say::PerMillion, cost.per_million_total_tokens),
        each(Say::OutPerGpu, cost.output_tokens_per_s_per_gpu),
        each(Say::TotalPerGpu, cost.total_tokens_per_s_per_gpu),
    ];
    joined(texts, language)
}
