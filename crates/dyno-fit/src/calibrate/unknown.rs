//! What the runs do not show.

use super::choice::Setting;
use super::descent::{DAMPED, Descent};
use super::profile::Intervals;
use super::search::{CostSearch, FoundCosts, NEAR};
use crate::parameters::Parameter;
use crate::search::parallel;
use crate::trial::{Trial, TrialKind, most_in_flight};

/// A coefficient whose largest value is this many times its smallest is not known.
const FACTOR: f64 = 3.0;
/// One that may be nothing is not known if it may also be this share of the time that it is part of.
const MUCH: f64 = 0.3;
/// A setting is not known if another one is worse by less than this, in squares of the typical error.
const WORSE: f64 = 6.0;
/// For settings that change everything.
const AGAIN: Descent = Descent { rounds: 2, steps: 3, damped: DAMPED, threads: 1 };

/// Something that the runs do not show.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Unknown {
    /// The cost of attending to long prompts: all have about the same length.
    Attention,
    /// The cost of long contexts: all have about the same length.
    Context,
    /// The most sequences in a batch: never reached.
    MaxSeqs,
    /// The tokens of a step: never reached.
    TokenBudget,
    /// How large the KV cache is: the server does not report its use, or prompts share it.
    KvCache,
    /// Whether there is a prefix cache: nothing was sent that it would have held, or the server does not say.
    PrefixCache,
    /// A coefficient: other values fit as well.
    Coefficient(&'static str),
    /// A setting: another one fits as well.
    Setting(&'static str),
    /// How it behaves under a kind of load that was not measured.
    Kind(TrialKind),
}

impl Unknown {
    /// As it stands in a twin file.
    pub(super) fn words(&self) -> String {
        match self {
            Self::Attention => "attention_ns (prompts of one length)".to_owned(),
            Self::Context => "kv_ns (requests of one length)".to_owned(),
            Self::MaxSeqs => "max_seqs (never reached)".to_owned(),
            Self::TokenBudget => "token_budget (other values fit as well)".to_owned(),
            Self::KvCache => "kv_blocks (not measured; so many that they never fill)".to_owned(),
            Self::PrefixCache => "prefix_cache (assumed; nothing shows it)".to_owned(),
            Self::Coefficient(name) | Self::Setting(name) => {
                format!("{name} (other values fit as well)")
            }
            Self::Kind(TrialKind::Open) => "open loops (not measured)".to_owned(),
            Self::Kind(_) => "closed loops (not measured)".to_owned(),
        }
    }
}

/// What the trials of a fit leave open.
pub(super) fn unknown(
    search: &CostSearch<'_>,
    found: &FoundCosts,
    intervals: &Intervals,
    square: f64,
) -> Vec<Unknown> {
    let evidence = search.evidence;
    let model = found.model();
    let mut open = Vec::new();
    for (parameter, unknown) in
        [(Parameter::Attention, Unknown::Attention), (Parameter::Kv, Unknown::Context)]
    {
        if !found.parameters.contains(&parameter) {
            open.push(unknown);
        }
    }
    let parameters = found.parameters.iter().zip(&found.scales);
    let coefficients = parameters.filter_map(|(parameter, scale)| {
        let name = parameter.name();
        intervals.get(name).filter(|of| is_wide(**of, *scale)).map(|_| name)
    });
    open.extend(coefficients.map(Unknown::Coefficient));
    let trials = || evidence.whole.iter().map(|level| &level.trial);
    let most = trials().map(most_in_flight).max().unwrap_or(0);
    let never_reached = search.known.max_seqs.is_none() && most < model.scheduler.max_seqs;
    open.extend(never_reached.then_some(Unknown::MaxSeqs));
    let max_seqs = |one: &Unknown| never_reached && *one == Unknown::Setting("max_seqs");
    open.extend(settings(search, found, square).into_iter().filter(|one| !max_seqs(one)));
    let captured = Unknown::Setting("launch.captured");
    if !found.choice.launches && !open.contains(&captured) {
        open.push(captured);
    }
    open.extend(search.known.kv_tokens.is_none().then_some(Unknown::KvCache));
    open.extend(search.known.prefix_cache.is_none().then_some(Unknown::PrefixCache));
    for kind in [TrialKind::Open, TrialKind::Closed] {
        let like = |trial: &Trial| match kind {
            TrialKind::Open => trial.kind == TrialKind::Open,
            _ => trial.kind != TrialKind::Open,
        };
        if !trials().any(like) {
            open.push(Unknown::Kind(kind));
        }
    }
    open
}

/// Whether so wide a range says too little. The scale is the value that would make up all of the time.
fn is_wide([low, high]: [f64; 2], scale: f64) -> bool {
    if low > 0.0 { high > FACTOR * low } else { high > MUCH * scale }
}

/// The settings with other values that fit as well.
fn settings(search: &CostSearch<'_>, found: &FoundCosts, square: f64) -> Vec<Unknown> {
    let settings = [
        (Setting::Policy, Unknown::Setting("policy")),
        (Setting::StepsAhead, Unknown::Setting("steps_ahead")),
        (Setting::Captured, Unknown::Setting("launch.captured")),
        (Setting::MaxSeqs, Unknown::Setting("max_seqs")),
        (Setting::TokenBudget, Unknown::TokenBudget),
    ];
    let here = search.fit(found.choice, Some(found), NEAR);
    let as_good = parallel(search.options.threads, &settings, |(setting, _)| {
        let descent = match setting {
            Setting::Policy | Setting::StepsAhead => AGAIN,
            _ => NEAR,
        };
        let others = search.alternatives(found, *setting).into_iter();
        let mut others = others.map(|choice| search.fit(choice, Some(&here), descent));
        others.any(|other| other.point.value() - here.point.value() < WORSE * square)
    });
    settings
        .iter()
        .zip(as_good)
        .filter(|(_, open)| *open)
        .map(|((_, unknown), _)| *unknown)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_wide_by_its_factor_or_by_what_it_would_explain() {
        assert!(is_wide([1.0, 3.1], 100.0) && !is_wide([1.0, 2.9], 1.0));
        // What may be nothing: little of all the time, or much of it.
        assert!(!is_wide([0.0, 0.2], 1.0) && is_wide([0.0, 0.4], 1.0));
    }
}
