//! A system measured, fitted and predicted, beside the truth.

use super::loads::{Lengths, burst, closed, open, ramp, sessions};
use super::measured::{Measured, measure};
use super::random::Draws;
use super::system::System;
use dyno_engine::core::{Core, Cost, Policy};
use dyno_engine::twin::Twin;
use dyno_engine::twin::profile::Accuracy;
use dyno_fit::{
    CalibrateOptions, Calibrated, Figures, Quantity, Settings, Start, Trial, Unknown,
    calibrate, rerun,
};
use std::sync::Arc;

/// The slots and the requests of the measured ladder.
const LADDER: [(usize, usize); 5] = [(1, 12), (4, 40), (16, 96), (64, 256), (128, 384)];
/// The shares of the highest throughput that are measured as rates.
const RATES: [f64; 3] = [0.3, 0.6, 0.85];
/// Requests of an open level.
const REQUESTS: usize = 200;
/// More in flight than any level has.
const FULL: usize = 256;
/// Between the numbers of two noises of the true engine.
const AGAIN: u64 = 100;
/// Loads above this share of the capacity are not judged.
const BUSIEST: f64 = 0.9;
/// The fit's own interval of a prediction may be so many times as wide as the goal.
const HONEST: f64 = 3.0;

/// What is predicted, and the largest error, as a share.
pub(super) const GOALS: [(Quantity, f64); 7] = [
    (Quantity::Rate, 0.05),
    (Quantity::LatencyP50, 0.05),
    (Quantity::LatencyP90, 0.05),
    (Quantity::TtftP50, 0.10),
    (Quantity::TtftP90, 0.10),
    (Quantity::ItlP50, 0.10),
    (Quantity::ItlP90, 0.10),
];

/// What was found about one coefficient.
#[derive(Debug, Clone)]
pub(super) struct Coefficient {
    pub(super) name: &'static str,
    pub(super) truth: f64,
    pub(super) found: f64,
    pub(super) interval: [f64; 2],
    /// Whether the fit says that it cannot be identified.
    pub(super) named: bool,
}

impl Coefficient {
    pub(super) fn is_within(&self) -> bool {
        let [low, high] = self.interval;
        // Rounding, and times too short to be seen.
        (0.999 * low..=1.001 * high + 1e-9).contains(&self.truth)
    }
}

/// What was found about one setting.
#[derive(Debug, Clone)]
pub(super) struct Setting {
    pub(super) name: &'static str,
    pub(super) truth: String,
    pub(super) found: String,
    pub(super) named: bool,
}

/// A predicted value.
#[derive(Debug, Clone)]
pub(super) struct Prediction {
    pub(super) load: &'static str,
    pub(super) quantity: Quantity,
    /// Predicted over true, less 1.
    pub(super) error: f64,
    /// The same for the true engine with other noise: no prediction can be better.
    pub(super) again: f64,
    pub(super) goal: f64,
    /// Whether the fit's own interval is far wider than the goal.
    pub(super) named: bool,
    /// Whether the truth is within it.
    pub(super) covered: bool,
}

/// All that was found about a system.
#[derive(Debug, Clone)]
pub(super) struct Judged {
    pub(super) system: System,
    pub(super) residual: f64,
    pub(super) coefficients: Vec<Coefficient>,
    pub(super) settings: Vec<Setting>,
    pub(super) predictions: Vec<Prediction>,
    pub(super) seconds: f64,
    /// Levels whose steps are known.
    pub(super) with_steps: usize,
}

/// Measures, fits and predicts a system.
pub(super) fn judge(system: System) -> Option<Judged> {
    let measured = user_measures(&system)?;
    let with_steps = measured.iter().filter(|level| level.steps.is_some()).count();
    let (trials, steps): (Vec<Trial>, Vec<_>) =
        measured.into_iter().map(|level| (level.trial, level.steps)).unzip();
    let steps: Vec<_> = steps.into_iter().flatten().collect();
    let began = std::time::Instant::now();
    let start = Start::of(&trials, &steps);
    let options = CalibrateOptions { threads: 1, progress: Arc::default() };
    let found = calibrate(&trials, &start, &Settings::default(), &options)?;
    let seconds = began.elapsed().as_secs_f64();
    let twin = found.twin("fitted");
    Some(Judged {
        system,
        residual: found.residual(),
        coefficients: coefficients(&system, &found),
        settings: settings(&system, &twin, &found),
        predictions: predictions(&system, &twin),
        seconds,
        with_steps,
    })
}

/// The measurements of a sensible user.
fn user_measures(system: &System) -> Option<Vec<Measured>> {
    let mut draws = Draws::new(system.seed, 2);
    let lengths = Lengths::fixed(system.input, system.output);
    let mut all: Vec<Measured> = Vec::new();
    let mut add = |load: &Trial| {
        all.extend(measure(system, load, all.len() as u64));
        all.last().and_then(|level| Figures::of(&level.trial)).map(|of| of.get(Quantity::Rate))
    };
    let mut most: f64 = 0.0;
    for (slots, requests) in LADDER {
        most = most.max(add(&closed(&mut draws, slots, requests, lengths))?);
    }
    for share in RATES {
        add(&open(&mut draws, share * most, REQUESTS, lengths))?;
    }
    let mixed = Lengths {
        input: [system.input / 8, 3 * system.input],
        output: [system.output / 8, 2 * system.output],
    };
    add(&closed(&mut draws, 16, 128, mixed))?;
    Some(all)
}

/// The loads to predict, each with the highest throughput of its lengths.
fn unseen(system: &System) -> Vec<(&'static str, Trial, f64)> {
    let mut draws = Draws::new(system.seed, 3);
    let draws = &mut draws;
    let System { input, output, .. } = *system;
    let lengths = Lengths::fixed(input, output);
    let long = Lengths::fixed(4 * input, output / 2);
    let short = Lengths::fixed(input / 4, 2 * output);
    let [most, most_long, most_short] = [lengths, long, short].map(|of| capacity(system, of));
    let mut all = Vec::new();
    for share in [0.2, 0.45, 0.75] {
        all.push(("other rates", open(draws, share * most, REQUESTS, lengths), most));
    }
    all.push(("ramp", ramp(draws, [0.1 * most, 0.85 * most], REQUESTS, lengths), most));
    all.push(("burst", burst(draws, 40, lengths), f64::INFINITY));
    for users in [6, 20] {
        all.push(("sessions", sessions(draws, users, Lengths::fixed(input / 4, output)), f64::INFINITY));
    }
    all.push(("long prompts", open(draws, 0.5 * most_long, REQUESTS, long), most_long));
    all.push(("short prompts", open(draws, 0.5 * most_short, REQUESTS, short), most_short));
    for slots in [8, 32, 90] {
        all.push(("other concurrency", closed(draws, slots, 5 * slots, lengths), most));
    }
    all
}

/// The highest throughput with such lengths, in requests a second.
fn capacity(system: &System, lengths: Lengths) -> f64 {
    let full = closed(&mut Draws::new(system.seed, 4), FULL, 3 * FULL, lengths);
    let figures = system.core(99).and_then(|core| Figures::of(&rerun(&full, core)?));
    figures.map_or(f64::NAN, |figures| figures.get(Quantity::Rate))
}

fn predictions(system: &System, twin: &Twin) -> Vec<Prediction> {
    let mut all = Vec::new();
    for (number, (load, trial, capacity)) in (50..).zip(unseen(system)) {
        let run = |core: Core| Figures::of(&rerun(&trial, core)?);
        let Some(truth) = system.core(number).and_then(run) else { continue };
        if truth.get(Quantity::Rate) > BUSIEST * capacity {
            continue;
        }
        let predicted = twin.core(number).ok().and_then(run);
        let again = system.core(number + AGAIN).and_then(run);
        for (quantity, goal) in GOALS {
            let error = |of: &Option<Figures>| {
                let share = |of: &Figures| of.get(quantity) / truth.get(quantity) - 1.0;
                of.as_ref().map_or(f64::INFINITY, share)
            };
            let (error, again) = (error(&predicted), error(&again));
            let own = twin.accuracy.map_or(f64::INFINITY, |accuracy| half(&accuracy, quantity));
            let (named, covered) = (own > HONEST * goal, error.abs() <= own);
            all.push(Prediction { load, quantity, error, again, goal, named, covered });
        }
    }
    all
}

/// Half the width of the fit's own interval, as a share.
fn half(accuracy: &Accuracy, quantity: Quantity) -> f64 {
    0.01 * match quantity {
        Quantity::Rate => accuracy.rate,
        Quantity::TtftMean | Quantity::TtftP50 | Quantity::TtftP90 => accuracy.ttft,
        Quantity::ItlMean | Quantity::ItlP50 | Quantity::ItlP90 => accuracy.itl,
        Quantity::LatencyMean | Quantity::LatencyP50 | Quantity::LatencyP90 => accuracy.latency,
    }
}

/// The coefficients of the family, in the units of a twin file.
pub(super) fn values(cost: &Cost) -> [(&'static str, f64); 12] {
    // Without a captured size there is one kind of launch.
    let large = if cost.launch.captured > 0 { cost.launch.large } else { cost.launch.prefill };
    [
        ("base_ms", 1e3 * cost.base),
        ("decode_us", 1e6 * cost.decode),
        ("kv_ns", 1e9 * cost.kv),
        ("prefill_token_us", 1e6 * cost.prefill_token),
        ("attention_ns", 1e9 * cost.attention),
        ("launch.prefill_ms", 1e3 * cost.launch.prefill),
        ("launch.large_ms", 1e3 * large),
        ("launch.sequence_us", 1e6 * cost.launch.sequence),
        ("front_end_ms", 1e3 * cost.front_end),
        ("front.request_ms", 1e3 * cost.front.request),
        ("front.input_us", 1e6 * cost.front.input),
        ("front.chunk_us", 1e6 * cost.front.chunk),
    ]
}

fn coefficients(system: &System, found: &Calibrated) -> Vec<Coefficient> {
    let truth = values(&system.cost);
    let fitted = values(&found.twin("fitted").cost);
    let all = truth.into_iter().zip(fitted).map(|((name, truth), (_, value))| {
        let of = |unknown: &Unknown| match unknown {
            Unknown::Attention => name == "attention_ns",
            Unknown::Context => name == "kv_ns",
            Unknown::Coefficient(unknown) => *unknown == name,
            _ => false,
        };
        let named = found.unknown.iter().any(of);
        let interval = found.intervals.get(name).copied();
        // Launches of one kind are fitted as those that prefill.
        let interval = interval.or_else(|| {
            let other = (name == "launch.large_ms").then_some("launch.prefill_ms")?;
            found.intervals.get(other).copied()
        });
        let interval = interval.unwrap_or([value; 2]);
        Coefficient { name, truth, found: value, interval, named }
    });
    all.collect()
}

fn settings(system: &System, twin: &Twin, found: &Calibrated) -> Vec<Setting> {
    let named = |is: &dyn Fn(&Unknown) -> bool| found.unknown.iter().any(is);
    let setting = |name: &str| named(&|unknown| matches!(unknown, Unknown::Setting(of) if *of == name));
    let policy = |policy: Policy| match policy {
        Policy::Chunked => "chunked".to_owned(),
        Policy::PrefillFirst => "prefill_first".to_owned(),
    };
    let (truth, other) = (&system.scheduler, &twin.scheduler);
    let mut all = vec![
        Setting {
            name: "policy",
            truth: policy(truth.policy),
            found: policy(other.policy),
            named: setting("policy"),
        },
        Setting {
            name: "steps_ahead",
            truth: truth.steps_ahead.to_string(),
            found: other.steps_ahead.to_string(),
            named: setting("steps_ahead"),
        },
        Setting {
            name: "max_seqs",
            truth: truth.max_seqs.to_string(),
            found: other.max_seqs.to_string(),
            named: setting("max_seqs") || named(&|unknown| matches!(unknown, Unknown::MaxSeqs)),
        },
        Setting {
            name: "token_budget",
            truth: truth.token_budget.to_string(),
            found: other.token_budget.to_string(),
            named: named(&|unknown| matches!(unknown, Unknown::TokenBudget)),
        },
    ];
    if system.cost.launch.prefill > 0.0 {
        all.push(Setting {
            name: "captured",
            truth: system.cost.launch.captured.to_string(),
            found: twin.cost.launch.captured.to_string(),
            named: setting("launch.captured"),
        });
    }
    all
}
