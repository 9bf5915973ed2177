//! The runs that would show what is unknown.

use super::FitSettings;
use super::evidence::Evidence;
use super::unknown::Unknown;
use crate::trial::{Quantity, SentRequest, Trial, TrialKind, most_in_flight};
use dyno_stats::upper_median;

/// More in flight than this is not asked for.
const MOST_IN_FLIGHT: u32 = 1024;
/// The shares of the highest throughput that are asked for as rates.
const RATES: [f64; 3] = [0.3, 0.6, 0.85];
/// How many times as long prompts have to be to show what their length costs.
const LONGER: u32 = 8;
/// Tokens that a chat template may add to a prompt.
const TEMPLATE: u32 = 64;
/// Turns of a conversation that shows a prefix cache.
const TURNS: u32 = 4;

/// A run that would show something.
#[derive(Debug, Clone, PartialEq)]
pub struct NextRun {
    /// What it would show.
    pub shows: Vec<Unknown>,
    /// The flags of `dyno bench`.
    pub flags: String,
}

/// The runs that would show what is open, the most useful first; none if none would help.
pub(super) fn runs(open: &[Unknown], evidence: &Evidence, known: &FitSettings) -> Vec<NextRun> {
    let seen = Seen::of(evidence, known);
    let mut runs = Vec::new();
    let mut offer = |shown: &dyn Fn(&Unknown) -> bool, flags: Option<String>| {
        let shows: Vec<Unknown> = open.iter().copied().filter(|one| shown(one)).collect();
        let run = flags.filter(|_| !shows.is_empty()).map(|flags| NextRun { shows, flags });
        runs.extend(run);
    };
    offer(&|one| seen.rates_show(one), seen.rates());
    offer(&|one| matches!(one, Unknown::Kind(TrialKind::Closed)), Some(seen.ladder()));
    offer(&|one| seen.mixed_rates_show(one), seen.mixed_rates());
    offer(&lengths_show, seen.other_lengths());
    offer(&load_shows, seen.busier());
    offer(&|one| matches!(one, Unknown::PrefixCache), seen.conversations());
    runs
}

/// What prompts of another length show.
fn lengths_show(unknown: &Unknown) -> bool {
    let by_length = ["attention_ns", "kv_ns", "front.input_us"];
    match unknown {
        Unknown::Attention | Unknown::Context => true,
        Unknown::Coefficient(name) => by_length.contains(name),
        _ => false,
    }
}

/// What more requests in flight show.
fn load_shows(unknown: &Unknown) -> bool {
    match unknown {
        Unknown::MaxSeqs | Unknown::TokenBudget | Unknown::Setting("max_seqs") => true,
        Unknown::Coefficient(name) => name.starts_with("front") && !lengths_show(unknown),
        _ => false,
    }
}

/// What arrivals at their own times show: which work goes together, and what it waits for.
fn arrivals_show(unknown: &Unknown) -> bool {
    match unknown {
        Unknown::Setting(name) => *name != "max_seqs",
        Unknown::Coefficient(name) => name.starts_with("launch"),
        _ => false,
    }
}

/// What the runs so far were like.
struct Seen<'a> {
    trials: Vec<&'a Trial>,
    /// The usual lengths.
    input: u32,
    output: u32,
    most_in_flight: u32,
    /// The highest throughput.
    fastest: f64,
    /// The longest prompt that the server takes.
    room: u32,
}

impl<'a> Seen<'a> {
    fn of(evidence: &'a Evidence, known: &FitSettings) -> Self {
        let trials: Vec<&Trial> = evidence.whole.iter().map(|level| &level.trial).collect();
        let usual = |of: fn(&SentRequest) -> u32| {
            let all = trials.iter().flat_map(|trial| &trial.requests).map(of);
            upper_median(&mut all.map(f64::from).collect::<Vec<_>>()).map_or(1, |of| of as u32)
        };
        let (input, output) = (usual(|sent| sent.input), usual(|sent| sent.output));
        let rates = evidence.whole.iter().map(|level| level.measured.get(Quantity::Rate));
        let room = known.context.map_or(u32::MAX, |context| {
            context.saturating_sub(output.saturating_add(TEMPLATE)).max(1)
        });
        Self {
            input,
            output,
            most_in_flight: trials.iter().map(|trial| most_in_flight(trial)).max().unwrap_or(1),
            fastest: rates.fold(0.0, f64::max),
            room,
            trials,
        }
    }

    fn lengths(&self) -> String {
        format!("--input-tokens {} --output-tokens {}", self.input, self.output)
    }

    fn has_rates(&self) -> bool {
        self.trials.iter().any(|trial| trial.kind == TrialKind::Open)
    }

    fn rates_show(&self, unknown: &Unknown) -> bool {
        matches!(unknown, Unknown::Kind(TrialKind::Open))
            || !self.has_rates() && arrivals_show(unknown)
    }

    fn rates(&self) -> Option<String> {
        let rates = self.at(&RATES)?;
        Some(format!("--rate {rates} --duration 30s {}", self.lengths()))
    }

    /// Shares of the highest throughput, as a list of rates.
    fn at(&self, shares: &[f64]) -> Option<String> {
        let rates: Vec<String> =
            shares.iter().map(|share| tidy(share * self.fastest).to_string()).collect();
        (self.fastest > 0.0 && self.fastest.is_finite()).then(|| rates.join(","))
    }

    fn ladder(&self) -> String {
        format!("--concurrency 1,4,16,64 --duration 20s {}", self.lengths())
    }

    /// Where rates of one length did not show it, those of several may.
    fn mixed_rates_show(&self, unknown: &Unknown) -> bool {
        let mixed = |trial: &&&Trial| {
            let lengths = trial.requests.iter().map(|sent| sent.input);
            let [least, most] = lengths
                .fold([u32::MAX, 0], |[least, most], length| [least.min(length), most.max(length)]);
            trial.kind == TrialKind::Open && most > 2 * least
        };
        self.has_rates() && !self.trials.iter().any(|of| mixed(&of)) && arrivals_show(unknown)
    }

    fn mixed_rates(&self) -> Option<String> {
        let spread = |usual: u32, most: u32| {
            let [low, high] = [(usual / 8).max(1), (2 * usual).min(most)];
            if high > low { format!("{low}-{high}") } else { usual.to_string() }
        };
        let (input, output) = (spread(self.input, self.room), spread(self.output, self.output));
        let rates = self.at(&[0.3, 0.6])?;
        Some(format!(
            "--rate {rates} --duration 30s --input-tokens {input} --output-tokens {output}"
        ))
    }

    /// Much longer prompts, or shorter ones where the server takes no longer ones.
    fn other_lengths(&self) -> Option<String> {
        let all = || self.trials.iter().flat_map(|trial| &trial.requests).map(|sent| sent.input);
        let (shortest, longest) = (all().min()?, all().max()?);
        let long = self.input.saturating_mul(LONGER).clamp(1_024, 16_384).min(self.room);
        let short = (self.input / LONGER).max(16);
        let length = match () {
            () if long > 2 * longest => long,
            () if shortest > 2 * short => short,
            () => return None,
        };
        let output = self.output;
        Some(format!(
            "--concurrency 1,4 --duration 20s --input-tokens {length} --output-tokens {output}"
        ))
    }

    fn busier(&self) -> Option<String> {
        let busier = (2 * self.most_in_flight).min(MOST_IN_FLIGHT);
        let flags = || format!("--concurrency {busier} --duration 30s {}", self.lengths());
        (busier > self.most_in_flight).then(flags)
    }

    /// Conversations, whose later turns begin with what was sent before.
    fn conversations(&self) -> Option<String> {
        let output = self.output;
        let turn = (self.room / TURNS).saturating_sub(output).min(self.input);
        let flags = || {
            format!(
                "--data session,turns={TURNS} --concurrency 4 --duration 30s --input-tokens {turn} \
                 --output-tokens {output}"
            )
        };
        // Where they were measured, the server does not say what it found.
        let measured = self.trials.iter().any(|trial| trial.kind == TrialKind::Sessions);
        (turn >= 32 && !measured).then(flags)
    }
}

/// A rate that is easy to read.
fn tidy(rate: f64) -> f64 {
    let digits = 10_f64.powf(1.0 - rate.max(1e-3).log10().floor());
    (rate * digits).round() / digits
}
