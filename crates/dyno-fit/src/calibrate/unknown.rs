//! What the runs do not show, and which run would show it.

use super::choice::Setting;
use super::descent::{DAMPED, Descent};
use super::evidence::Evidence;
use super::profile::Intervals;
use super::search::{Found, NEAR, Search};
use crate::parameters::Parameter;
use crate::search::parallel;
use crate::trial::{Kind, Quantity, Sent, Trial, most_in_flight};

/// A coefficient whose largest value is this many times its smallest is not known.
const FACTOR: f64 = 3.0;
/// A setting is not known if another one is worse by less than this, in squares of the typical error.
const WORSE: f64 = 6.0;
/// For settings that change everything.
const AGAIN: Descent = Descent { rounds: 2, steps: 3, damped: DAMPED, threads: 1 };
/// More in flight than this is not asked for.
const MOST_IN_FLIGHT: u32 = 1024;

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
    /// How large the KV cache is: never full.
    KvCache,
    /// A coefficient: other values fit as well.
    Coefficient(&'static str),
    /// A setting: another one fits as well.
    Setting(&'static str),
    /// How it behaves under a kind of load that was not measured.
    Kind(Kind),
}

impl Unknown {
    /// As it stands in a twin file.
    pub(super) fn words(&self) -> String {
        match self {
            Self::Attention => "attention_ns (prompts of one length)".to_owned(),
            Self::Context => "kv_ns (requests of one length)".to_owned(),
            Self::MaxSeqs => "max_seqs (never reached)".to_owned(),
            Self::TokenBudget => "token_budget (other values fit as well)".to_owned(),
            Self::KvCache => "kv_blocks (assumed never to be full)".to_owned(),
            Self::Coefficient(name) | Self::Setting(name) => {
                format!("{name} (other values fit as well)")
            }
            Self::Kind(Kind::Open) => "open loops (not measured)".to_owned(),
            Self::Kind(_) => "closed loops (not measured)".to_owned(),
        }
    }
}

/// A run that would show something.
#[derive(Debug, Clone, PartialEq)]
pub struct NextRun {
    /// What it would show.
    pub shows: Vec<Unknown>,
    /// The flags of `dyno bench`.
    pub flags: String,
}

/// What the trials of a fit leave open.
pub(super) fn unknown(
    search: &Search<'_>,
    found: &Found,
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
    // What may be nothing at all is small.
    let wide = |[low, high]: [f64; 2]| low > 0.0 && high > FACTOR * low;
    let names = found.parameters.iter().map(|parameter| parameter.name());
    let coefficients = names.filter(|name| intervals.get(name).is_some_and(|of| wide(*of)));
    open.extend(coefficients.map(Unknown::Coefficient));
    let trials = || evidence.whole.iter().map(|level| &level.trial);
    let most = trials().map(most_in_flight).max().unwrap_or(0);
    if most < model.scheduler.max_seqs {
        open.push(Unknown::MaxSeqs);
    }
    open.extend(settings(search, found, square));
    if !found.choice.launches {
        open.push(Unknown::Setting("launch.captured"));
    }
    open.push(Unknown::KvCache);
    for kind in [Kind::Open, Kind::Closed] {
        let like = |trial: &Trial| match kind {
            Kind::Open => trial.kind == Kind::Open,
            _ => trial.kind != Kind::Open,
        };
        if !trials().any(like) {
            open.push(Unknown::Kind(kind));
        }
    }
    open
}

/// The settings with other values that fit as well.
fn settings(search: &Search<'_>, found: &Found, square: f64) -> Vec<Unknown> {
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

/// The runs that would show what is open, the most useful first; none if none would help.
pub(super) fn next_runs(open: &[Unknown], evidence: &Evidence) -> Vec<NextRun> {
    let trials: Vec<&Trial> = evidence.whole.iter().map(|level| &level.trial).collect();
    let usual = |of: fn(&Sent) -> u32| {
        let mut all: Vec<u32> = trials.iter().flat_map(|trial| &trial.requests).map(of).collect();
        all.sort_unstable();
        all.get(all.len() / 2).copied().unwrap_or(1)
    };
    let (input, output) = (usual(|sent| sent.input), usual(|sent| sent.output));
    let most = trials.iter().map(|trial| most_in_flight(trial)).max().unwrap_or(1);
    let rates = evidence.whole.iter().map(|level| level.measured.get(Quantity::Rate));
    let fastest = rates.fold(0.0, f64::max);
    let of = |wanted: &dyn Fn(&Unknown) -> bool| -> Vec<Unknown> {
        open.iter().copied().filter(|unknown| wanted(unknown)).collect()
    };
    let lengths = format!("--input-tokens {input} --output-tokens {output}");
    let mut runs = Vec::new();
    let mut add = |shows: Vec<Unknown>, flags: String| {
        if !shows.is_empty() {
            runs.push(NextRun { shows, flags });
        }
    };
    let launches = |unknown: &Unknown| {
        matches!(unknown, Unknown::Kind(Kind::Open))
            || matches!(unknown, Unknown::Coefficient(name) if name.starts_with("launch"))
                && !trials.iter().any(|trial| trial.kind == Kind::Open)
    };
    let [slow, fast] = [0.3, 0.75].map(|share| tidy(share * fastest));
    add(of(&launches), format!("--rate {slow},{fast} --duration 30s {lengths}"));
    add(
        of(&|unknown| matches!(unknown, Unknown::Kind(Kind::Closed))),
        format!("--concurrency 1,4,16,64 --duration 20s {lengths}"),
    );
    let long = (8 * input).clamp(1_024, 16_384);
    if long > 2 * input {
        add(
            of(&|unknown| matches!(unknown, Unknown::Attention | Unknown::Context)),
            format!(
                "--concurrency 1,4 --duration 20s --input-tokens {long} --output-tokens {output}"
            ),
        );
    }
    let busier = (2 * most).min(MOST_IN_FLIGHT);
    let busy = |unknown: &Unknown| {
        matches!(unknown, Unknown::MaxSeqs | Unknown::TokenBudget)
            || matches!(unknown, Unknown::Coefficient(name) if name.starts_with("front"))
    };
    if busier > most {
        add(of(&busy), format!("--concurrency {busier} --duration 30s {lengths}"));
    }
    runs
}

/// A rate that is easy to read.
fn tidy(rate: f64) -> f64 {
    let digits = 10_f64.powf(1.0 - rate.max(1e-3).log10().floor());
    (rate * digits).round() / digits
}
