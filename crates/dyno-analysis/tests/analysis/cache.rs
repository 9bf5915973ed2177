//! What the server's prefix cache makes of a level, on both sides of each limit. Prompts have 100
//! tokens.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use dyno_analysis::summarise;
use dyno_model::environment::{Environment, Host, Preflight, Server};
use dyno_model::frame::{Frame, LevelEnd};
use dyno_model::plan::Plan;
use dyno_model::record::RequestRecord;
use dyno_model::server::ServerSample;
use dyno_model::summary::{CacheSource, LevelSummary};
use dyno_model::{Diagnostic, SEC, Severity};
use dyno_testing::runs::*;

fn environment(shared_tokens: Option<u64>, notes: &[&str]) -> Environment {
    let note = |code: &&str| Diagnostic::new(*code, "words", None::<String>);
    Environment {
        schema: "dyno.environment/1".to_owned(),
        dyno: "0.1.0".to_owned(),
        host: Host::default(),
        server: Server::default(),
        preflight: Some(Preflight { shared_tokens, ..Preflight::default() }),
        notes: notes.iter().map(note).collect(),
        attempts: None,
        made: Default::default(),
    }
}

/// A level of 100 requests.
struct Case {
    plan: Plan,
    records: Vec<RequestRecord>,
    env: Environment,
    /// Share of hits by the server's counters.
    counters: Option<f64>,
}

impl Case {
    /// Each request reports what `cached` gives for its index.
    fn new(cached: impl Fn(u64) -> Option<u64>) -> Self {
        let (plan, mut records) = closed(4, 25);
        records.iter_mut().for_each(|record| record.cached = cached(record.index));
        Self { plan, records, env: environment(Some(0), &[]), counters: None }
    }

    fn data(mut self, spec: &str) -> Self {
        self.plan.data.spec = Some(spec.to_owned());
        self
    }

    fn level(self) -> LevelSummary {
        let Self { plan, records, env, counters } = self;
        let end = LevelEnd { starved: Some(starved(25)), ..level_end(0, &records) };
        let mut all = frames(records, Some(end));
        if let Some(share) = counters {
            let of = |at: u64, queries: u64| {
                let hits = Some((share * queries as f64).round() as u64);
                Frame::Server(ServerSample {
                    at,
                    prefix_queries: Some(queries),
                    prefix_hits: hits,
                    ..ServerSample::default()
                })
            };
            all.splice(0..0, [of(0, 0), of(100 * SEC, 10_000)]);
        }
        summarise(&plan, Some(&env), &source(&plan, all)).levels.remove(0)
    }

    /// The finding on the cache, and how grave it is.
    fn found(self) -> Option<(String, Option<Severity>)> {
        let level = self.level();
        let mut all = level.reasons.into_iter().chain(level.notes);
        let of_cache = |found: &Diagnostic| found.code.starts_with("cache");
        all.find(of_cache).map(|found| (found.code, found.severity))
    }
}

fn says(code: &str, severity: Severity) -> Option<(String, Option<Severity>)> {
    Some((code.to_owned(), Some(severity)))
}

#[test]
fn a_random_load_is_suspect_above_5_percent_hits_and_invalid_above_30() {
    let of = |tokens| Case::new(move |_| Some(tokens)).found();
    assert_eq!(of(0), None);
    assert_eq!(of(5), None);
    assert_eq!(of(6), says("cached_random", Severity::Warning));
    assert_eq!(of(30), says("cached_random", Severity::Warning));
    assert_eq!(of(31), says("cached_random", Severity::Error));
    assert_eq!(Case::new(|_| Some(31)).data("random").found(), of(31));
}

#[test]
fn the_prefix_shared_by_all_prompts_does_not_count() {
    let of = |tokens, shared| {
        let mut case = Case::new(move |_| Some(tokens));
        case.env = environment(shared, &[]);
        case
    };
    assert_eq!(of(48, Some(48)).found(), None);
    assert_eq!(of(54, Some(48)).found(), says("cached_random", Severity::Warning));
    let cache = of(54, Some(48)).level().cache.unwrap();
    assert_eq!((cache.share, cache.beyond_shared), (Some(0.54), Some(0.06)));
    assert_eq!((cache.cached_tokens, cache.reported), (Some(5_400), 100));
    // A server that reports others, and nothing of the second prompt, had nothing of it.
    assert_eq!(of(54, None).found(), says("cached_random", Severity::Error));
}

#[test]
fn a_load_that_is_meant_to_hit_has_a_note() {
    for spec in ["random,prefix=64", "session,turns=4", "openqa", "trace:t.jsonl"] {
        let found = Case::new(|_| Some(60)).data(spec).found();
        assert_eq!(found, says("cached_share", Severity::Note), "{spec}");
    }
    let mut same = Case::new(|_| Some(60));
    same.plan.data.same_prompts = true;
    assert_eq!(same.found(), says("cached_share", Severity::Note));
    // Rows that came again were not meant to.
    let again = |tokens| {
        let mut case = Case::new(move |_| Some(tokens)).data("openqa");
        case.env = environment(Some(0), &["prompts_repeat"]);
        case.found()
    };
    assert_eq!(again(5), says("cached_share", Severity::Note));
    assert_eq!(again(6), says("cached_rows", Severity::Warning));
}

#[test]
fn the_requested_hit_rate_is_verified() {
    let of = |tokens| {
        let mut case = Case::new(move |_| tokens);
        case.plan.data.cache_hit = Some(0.6);
        case.found()
    };
    let missed = says("cache_hit_missed", Severity::Warning);
    assert_eq!(of(Some(50)), says("cached_share", Severity::Note));
    assert_eq!(of(Some(70)), says("cached_share", Severity::Note));
    assert_eq!((of(Some(49)), of(Some(71)), of(Some(0))), (missed.clone(), missed.clone(), missed));
    assert_eq!(of(None), says("cache_hit_unknown", Severity::Note));
}

#[test]
fn counters_replace_missing_usage_and_are_compared_with_it() {
    let of = |tokens, share, shared| {
        let mut case = Case::new(move |_| tokens);
        case.counters = Some(share);
        case.env = environment(shared, &[]);
        case
    };
    assert_eq!(of(None, 0.05, Some(0)).found(), None);
    assert_eq!(of(None, 0.06, Some(0)).found(), says("cached_random", Severity::Warning));
    assert_eq!(of(None, 0.31, Some(0)).found(), says("cached_random", Severity::Error));
    assert_eq!(of(None, 0.31, Some(27)).found(), None);
    // Without the shared part, a template may be all of it.
    assert_eq!(of(None, 0.30, None).found(), says("cached_share", Severity::Note));
    assert_eq!(of(None, 0.31, None).found(), says("cached_random", Severity::Error));
    let cache = of(None, 0.31, Some(16)).level().cache.unwrap();
    assert_eq!((cache.source, cache.reported), (Some(CacheSource::Counters), 0));
    assert_eq!((cache.share, cache.beyond_shared), (Some(0.31), Some(0.15)));
    // Both: usage counts, and a contradiction is told.
    assert_eq!(of(Some(0), 0.1, Some(0)).found(), None);
    assert_eq!(of(Some(0), 0.11, Some(0)).found(), says("cache_sources_differ", Severity::Note));
    let cache = of(Some(5), 0.5, Some(0)).level().cache.unwrap();
    assert_eq!((cache.source, cache.share), (Some(CacheSource::Usage), Some(0.05)));
    // Nobody tells anything: nothing is known, and it is not 0.
    assert_eq!(Case::new(|_| None).level().cache, None);
}

#[test]
fn hits_and_misses_are_separate_where_there_are_enough() {
    let of = |hits: u64, missed: Option<u64>| {
        let mut case = Case::new(move |index| if index < hits { Some(64) } else { missed });
        for record in case.records.iter_mut().filter(|record| record.index < hits) {
            record.first = record.sent.map(|sent| sent + 10_000_000);
        }
        case.level().cache.unwrap()
    };
    let p50 = |of: &Option<dyno_model::summary::CacheGroup>| {
        let of = of.as_ref()?;
        Some((of.requests, of.ttft.as_ref()?.p50?))
    };
    for missed in [Some(0), None] {
        let cache = of(20, missed);
        assert_eq!((p50(&cache.hits), p50(&cache.misses)), (Some((20, 10.0)), Some((80, 100.0))));
        assert_eq!(cache.share, Some(0.128), "at least so much");
    }
    assert_eq!(of(19, Some(0)).hits, None);
    assert_eq!(of(81, Some(0)).misses, None);
}
