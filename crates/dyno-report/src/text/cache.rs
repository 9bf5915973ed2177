//! The server's prefix cache in a level: its hit rate, and TTFT with and without a hit.

use super::server::joined;
use crate::messages::Say;
use dyno_model::Language;
use dyno_model::summary::{CacheGroup, CacheSource, CacheSummary};
use dyno_words::columns::{ABSENT, millis, number};

/// One line; nothing where the server reported nothing.
pub(super) fn cache(cache: &CacheSummary, language: Language) -> Option<String> {
    let percent = |share: f64| format!("{} %", number(share * 100.0));
    let by = match cache.source? {
        CacheSource::Usage => Say::CachedByUsage,
        CacheSource::Counters => Say::CachedByCounters,
    };
    let shared = cache.shared_tokens.filter(|tokens| *tokens > 0).zip(cache.beyond_shared);
    let ttft = |say: Say, of: &CacheGroup| {
        let p50 = of.ttft.as_ref().and_then(|ttft| ttft.p50);
        let p50 = p50.map_or_else(|| ABSENT.to_owned(), millis);
        say.with(language, &[of.requests.to_string(), p50])
    };
    joined(
        [
            cache.share.map(|share| by.with(language, &[percent(share)])),
            shared.map(|(tokens, beyond)| {
                Say::BeyondShared.with(language, &[percent(beyond), tokens.to_string()])
            }),
            cache.hits.as_ref().map(|hits| ttft(Say::TtftOfHits, hits)),
            cache.misses.as_ref().map(|misses| ttft(Say::TtftOfMisses, misses)),
        ],
        language,
    )
}
