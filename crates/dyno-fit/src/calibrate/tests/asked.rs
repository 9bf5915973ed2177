//! The next run, for what is unknown and what was measured.

use super::*;

fn flags(open: &[Unknown], trials: &[Trial], known: &FitSettings) -> Vec<String> {
    let evidence = Evidence::new(trials, &[]);
    next::runs(open, &evidence, known).into_iter().map(|run| run.flags).collect()
}

fn mixed(mut trial: Trial) -> Trial {
    trial.requests.iter_mut().step_by(3).for_each(|sent| sent.input *= 4);
    measured(trial)
}

#[test]
fn after_closed_loops_alone_open_loops_at_three_rates_come_next() {
    let trials = [closed(1), closed(16)];
    let fastest = Figures::of(&trials[1]).unwrap().get(Quantity::Rate);
    let found = flags(&[Unknown::Kind(TrialKind::Open)], &trials, &FitSettings::default());
    let rates = found[0].strip_prefix("--rate ").unwrap().split(' ').next().unwrap();
    let rates: Vec<f64> = rates.split(',').map(|rate| rate.parse().unwrap()).collect();
    assert_eq!(rates.len(), 3);
    for (rate, share) in rates.iter().zip([0.3, 0.6, 0.85]) {
        assert!((rate / (share * fastest) - 1.0).abs() < 0.06, "{rate} {fastest}");
    }
}

#[test]
fn settings_lead_to_rates_then_to_mixed_lengths_then_to_nothing() {
    let none = FitSettings::default();
    for name in ["policy", "steps_ahead", "launch.captured"] {
        let open_setting = [Unknown::Setting(name)];
        let closed_only = flags(&open_setting, &[closed(1), closed(4)], &none);
        assert!(closed_only[0].starts_with("--rate "), "{name}: {closed_only:?}");
        assert!(closed_only[0].contains("--input-tokens 200 "), "{name}: {closed_only:?}");
        let rates = flags(&open_setting, &[closed(1), open(20.0)], &none);
        assert_eq!(rates.len(), 1, "{name}: {rates:?}");
        assert!(rates[0].contains("--input-tokens 25-400 "), "{name}: {rates:?}");
        let all = flags(&open_setting, &[closed(1), mixed(open(20.0))], &none);
        assert!(all.is_empty(), "{name}: {all:?}");
    }
    let more = flags(&[Unknown::Setting("max_seqs")], &[closed(1), closed(16)], &none);
    assert!(more[0].starts_with("--concurrency 32 "), "{more:?}");
}

#[test]
fn prompts_stay_within_the_context_of_the_server() {
    let within = |context: u32| {
        let known = FitSettings { context: Some(context), ..FitSettings::default() };
        flags(&[Unknown::Attention], &[closed(1), closed(4)], &known)
    };
    assert!(within(16_384)[0].contains("--input-tokens 1600 "));
    // 1,000 less 16 of the response and 64 that a template may take.
    assert!(within(1_000)[0].contains("--input-tokens 920 "));
    // No longer ones fit: shorter ones show it as well.
    assert!(within(300)[0].contains("--input-tokens 25 "));
    let conversations = |context: u32| {
        let known = FitSettings { context: Some(context), ..FitSettings::default() };
        flags(&[Unknown::PrefixCache], &[closed(1), closed(4)], &known)
    };
    assert!(conversations(16_384)[0].contains("--input-tokens 200 "));
    assert!(conversations(500)[0].contains("--input-tokens 89 "));
    assert!(conversations(200).is_empty());
}

#[test]
fn what_was_told_is_not_unknown() {
    let trials = [closed(1), closed(8)];
    let told = FitSettings { max_seqs: Some(256), ..FitSettings::default() };
    let found = fitted(&trials, &told);
    assert_eq!(found.model.scheduler.max_seqs, 256);
    let max_seqs = [Unknown::MaxSeqs, Unknown::Setting("max_seqs")];
    assert!(!found.unknown.iter().any(|one| max_seqs.contains(one)), "{:?}", found.unknown);
    let told = FitSettings { kv_tokens: Some(1 << 20), prefix_cache: Some(true), ..told };
    let found = fitted(&trials, &told);
    let caches = [Unknown::KvCache, Unknown::PrefixCache];
    assert!(!found.unknown.iter().any(|one| caches.contains(one)), "{:?}", found.unknown);
}
