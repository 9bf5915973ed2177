//! The server's prefix cache: its hit rate in a level, by usage and by counters, and whether that makes
//! the level look better than it is.

use super::distributions::describe;
use super::request_times::request_times;
use super::trees::above_ideal;
use dyno_model::Diagnostic;
use dyno_model::environment::Environment;
use dyno_model::metric::Time;
use dyno_model::plan::Plan;
use dyno_model::record::RequestRecord;
use dyno_model::summary::{CacheGroup, CacheSource, CacheSummary, Trees, round6};
use dyno_stats::Counted;
use dyno_words::CacheFinding;
use dyno_words::number::percent;

/// Hit rates of a random load above which a level is suspect, and invalid.
const SUSPECT: f64 = 0.05;
const INVALID: f64 = 0.3;
/// The requested hit rate is missed by more than this.
const MISSED: f64 = 0.1;
/// A hit rate below this counts as none.
const NOTHING: f64 = 0.02;
/// Usage and counters contradict each other when they differ by more. Counters include failed requests.
const APART: f64 = 0.1;
/// Hits and misses are reported separately from this many requests of each.
const FAIR: u64 = 20;

/// The completed requests of a level, as far as the cache is concerned.
#[derive(Debug, Default)]
pub(crate) struct Cached {
    /// Cached tokens, where they are reported, and TTFT.
    requests: Vec<(Option<u64>, Option<u64>)>,
    /// Prompt tokens, over the requests whose number is known.
    input: u64,
    known: u64,
    /// Cached and prompt tokens of completed requests of the warm-up, which counters include.
    warmup: (u64, u64),
}

impl Cached {
    /// First reading.
    pub(crate) fn add(&mut self, record: &RequestRecord) {
        if let Some(input) = record.input {
            self.input += input.tokens;
            self.known += 1;
        }
        self.requests.push((record.cached, request_times(record)[Time::Ttft]));
    }

    /// A request that is not in the metrics.
    pub(crate) fn add_warmup(&mut self, record: &RequestRecord) {
        if let Some((cached, input)) = record.cached.zip(record.input) {
            self.warmup.0 += cached;
            self.warmup.1 += input.tokens;
        }
    }

    /// The hit rate by usage over everything that the server's counters include.
    pub(crate) fn share_of_all(&self) -> Option<f64> {
        let told = self.requests.iter().filter_map(|(cached, _)| *cached);
        let input = self.input + self.warmup.1;
        (input > 0).then(|| (told.sum::<u64>() + self.warmup.0) as f64 / input as f64)
    }

    /// The cache's summary; nothing where nothing was reported. `counters` is the hit rate by the server's
    /// counters.
    pub(crate) fn summary(
        &self,
        env: Option<&Environment>,
        counters: Option<f64>,
    ) -> Option<CacheSummary> {
        let shared_tokens = env.and_then(|env| env.preflight.as_ref()?.shared_tokens);
        let shared = shared_tokens.unwrap_or(0);
        let told = || self.requests.iter().filter_map(|(cached, _)| *cached);
        let reported = told().count() as u64;
        let of_input = |tokens: u64| {
            (self.input > 0).then(|| round6((tokens as f64 / self.input as f64).min(1.0)))
        };
        let by_usage = (reported > 0).then(|| told().sum::<u64>());
        if let Some(share) = by_usage.and_then(of_input) {
            let beyond = told().map(|cached| cached.saturating_sub(shared)).sum();
            let [hits, misses] = self.apart(shared).map_or([None, None], |both| both.map(Some));
            return Some(CacheSummary {
                share: Some(share),
                beyond_shared: of_input(beyond),
                source: Some(CacheSource::Usage),
                cached_tokens: by_usage,
                reported,
                shared_tokens,
                hits,
                misses,
            });
        }
        let share = counters?;
        let mean = (self.known > 0).then(|| self.input as f64 / self.known as f64);
        let of_template = mean.map_or(0.0, |mean| shared as f64 / mean.max(1.0));
        Some(CacheSummary {
            share: Some(round6(share)),
            beyond_shared: Some(round6((share - of_template).max(0.0))),
            source: Some(CacheSource::Counters),
            shared_tokens,
            ..CacheSummary::default()
        })
    }

    /// Hits and misses, where there are enough of both. Many servers omit the field for a miss, so
    /// requests without it are misses where others have it.
    fn apart(&self, shared: u64) -> Option<[CacheGroup; 2]> {
        let is_hit = |cached: Option<u64>| cached.is_some_and(|cached| cached > shared);
        let of = |hit: bool| {
            let some = || self.requests.iter().filter(move |(cached, _)| is_hit(*cached) == hit);
            let ttft = Counted::from_samples(some().filter_map(|(_, ttft)| *ttft).collect());
            CacheGroup { requests: some().count() as u64, ttft: describe(&ttft) }
        };
        let both = [of(true), of(false)];
        both.iter().all(|figures| figures.requests >= FAIR).then_some(both)
    }
}

/// The findings about the cache in a level.
pub(crate) fn findings(
    plan: &Plan,
    env: Option<&Environment>,
    (cache, of_all): (Option<&CacheSummary>, Option<f64>),
    counters: Option<f64>,
    trees: Option<&Trees>,
) -> Vec<Diagnostic> {
    let asked = plan.data.cache_hit;
    let Some(cache) = cache else {
        let unknown = asked.map(|asked| CacheFinding::HitUnknown.with([percent(asked)]));
        return unknown.into_iter().collect();
    };
    let verified = asked.zip(cache.share).and_then(|(asked, share)| verified(asked, share));
    let flattered = match trees.filter(|trees| trees.ideal_cache.is_some()) {
        Some(trees) => above_ideal(trees, cache),
        None => cache.beyond_shared.and_then(|share| flattered(plan, env, cache, share)),
    };
    let by_usage = of_all.filter(|_| cache.source == Some(CacheSource::Usage));
    let both = by_usage.zip(counters).filter(|(usage, counters)| (usage - counters).abs() > APART);
    let differ = both.map(|(usage, counters)| {
        CacheFinding::SourcesDiffer.with([percent(usage), percent(counters)])
    });
    verified.into_iter().chain(flattered).chain(differ).collect()
}

/// Whether the hit rate is about the requested one.
fn verified(asked: f64, share: f64) -> Option<Diagnostic> {
    let what = match share - asked {
        off if off.abs() <= MISSED => return None,
        _ if share < NOTHING => CacheFinding::HitNone,
        off if off < 0.0 => CacheFinding::HitLess,
        _ => CacheFinding::HitMore,
    };
    Some(what.with([percent(asked), percent(share)]))
}

/// The finding about the hit rate, which depends on the kind of load.
fn flattered(
    plan: &Plan,
    env: Option<&Environment>,
    cache: &CacheSummary,
    share: f64,
) -> Option<Diagnostic> {
    // Without a baseline from the preflight, counters may only reflect a long chat template.
    let unsure = cache.source == Some(CacheSource::Counters) && cache.shared_tokens.is_none();
    let meant = plan.data.same_prompts || plan.data.cache_hit.is_some();
    let what = match () {
        () if share <= 0.0 => return None,
        () if meant => CacheFinding::Meant,
        () if is_random(plan) && share > INVALID => CacheFinding::Mostly,
        () if is_random(plan) && share > SUSPECT && !unsure => CacheFinding::Partly,
        () if is_random(plan) && share > SUSPECT => CacheFinding::Meant,
        () if is_random(plan) => return None,
        () if share > SUSPECT && rows_came_again(env) => CacheFinding::RowsAgain,
        () => CacheFinding::Meant,
    };
    Some(what.with([percent(share)]))
}

/// Whether prompts are random and not meant to share anything.
fn is_random(plan: &Plan) -> bool {
    let Some(spec) = plan.data.spec.as_deref() else { return true };
    let mut parts = spec.split(',').map(str::trim);
    parts.next() == Some("random") && !parts.any(|part| part.starts_with("prefix"))
}

/// Whether the data had fewer rows than requests were sent.
fn rows_came_again(env: Option<&Environment>) -> bool {
    env.is_some_and(|env| env.notes.iter().any(|note| note.code == "prompts_repeat"))
}
