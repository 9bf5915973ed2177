//! Conversations on engines with and without a prefix cache, and KV caches that are known or not.

use super::*;

/// Conversations of four turns, by so many users.
fn sessions(users: usize, prefix_cache: bool) -> Trial {
    let mut requests: Vec<SentRequest> = Vec::new();
    for number in 0..12 {
        for user in 0..users {
            let when = match number {
                0 => TrialTime::At(user as Nanos * 30 * MS),
                _ => TrialTime::After { request: requests.len() - users, pause: 40 * MS },
            };
            let shared = Shared::Conversation((user * 3 + number / 4) as u64 + 1);
            let input = INPUT + (number % 4) as u32 * (INPUT + OUTPUT);
            requests.push(SentRequest { input, shared, ..sent(when, true) });
        }
    }
    let label = format!("users {users}");
    let load = Trial { label, kind: TrialKind::Sessions, requests, until: None };
    let scheduler = Scheduler { prefix_cache, ..scheduler() };
    rerun(&load, Core::new(scheduler, cost(), 7).unwrap()).unwrap()
}

fn found(prefix_cache: bool, known: Option<bool>) -> Calibrated {
    let trials = [closed(1), closed(8), sessions(2, prefix_cache), sessions(6, prefix_cache)];
    let budget = Some(2048);
    fitted(
        &trials,
        &FitSettings { token_budget: budget, prefix_cache: known, ..FitSettings::default() },
    )
}

#[test]
fn a_server_without_a_prefix_cache_gets_a_twin_without_one() {
    for cache in [true, false] {
        let found = found(cache, Some(cache));
        assert_eq!(found.model.scheduler.prefix_cache, cache);
        assert!(!found.unknown.contains(&Unknown::PrefixCache));
        let value = found.coefficients().into_iter().find(|of| of.0 == "prefill_token_us").unwrap();
        assert!((value.1 / 60.0 - 1.0).abs() < 0.15, "{cache}: {value:?}");
    }
}

#[test]
fn an_unknown_prefix_cache_is_named_with_the_run_that_would_show_it() {
    let found = fitted(&[closed(1), closed(4)], &FitSettings::default());
    assert!(found.model.scheduler.prefix_cache);
    assert!(found.unknown.contains(&Unknown::PrefixCache));
    let shows = |run: &&NextRun| run.shows.contains(&Unknown::PrefixCache);
    let run = found.next_runs.iter().find(shows).unwrap();
    assert!(run.flags.starts_with("--data session,turns=4 "), "{run:?}");
}

#[test]
fn a_known_kv_cache_is_used_and_an_unknown_one_never_fills() {
    let start = Start::of(&[closed(1)], &[]);
    let usual = choice::Choice::usual(&FitSettings::default(), &start);
    let trials = [closed(1)];
    let tokens = |known: Option<u64>| {
        let known = FitSettings { kv_tokens: known, ..FitSettings::default() };
        usual.model(&[&trials[0]], &known, &start).scheduler.kv_tokens()
    };
    assert_eq!(tokens(Some(2_000_000)), 2_000_000);
    // 512 sequences, each as long as contexts are.
    assert!(tokens(None) >= 512 * 131_072);
    // A request that was served fits.
    assert_eq!(tokens(Some(100)), u64::from(INPUT + OUTPUT).next_multiple_of(16));
}
