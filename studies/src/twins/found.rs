//! The coefficients and settings that a fit found, beside the true ones.

use super::system::System;
use dyno_engine::core::{Cost, Policy};
use dyno_engine::twin::Twin;
use dyno_fit::{Calibrated, Unknown};

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

/// The coefficients of the family, in the units of a twin file.
fn values(cost: &Cost) -> [(&'static str, f64); 12] {
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

/// Each coefficient of the family.
pub(super) fn coefficients(system: &System, found: &Calibrated) -> Vec<Coefficient> {
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

/// Each setting that is judged.
pub(super) fn settings(system: &System, twin: &Twin, found: &Calibrated) -> Vec<Setting> {
    let named = |is: &dyn Fn(&Unknown) -> bool| found.unknown.iter().any(is);
    let setting =
        |name: &str| named(&|unknown| matches!(unknown, Unknown::Setting(of) if *of == name));
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
