//! What is known of models, cards and engines without measuring: sizes, and defaults.

use dyno_engine::core::Policy;
use dyno_engine::twin::reference::{ClientKind, Reference};
use dyno_fit::{FitCurve, FitOptions, FitTable};

/// A model's sizes.
struct Model {
    /// What its name contains.
    name: &'static str,
    /// Gigabytes of its weights.
    weights_gb: f64,
    /// Parameters that a token goes through, in billions.
    active: f64,
    layers: f64,
    width: f64,
    /// Heads of keys and values times their width.
    kv_width: f64,
}

const MODELS: &[Model] = &[
    Model {
        name: "72B-Instruct-AWQ",
        weights_gb: 41.6,
        active: 72.7,
        layers: 80.0,
        width: 8192.0,
        kv_width: 1024.0,
    },
    Model {
        name: "72B-Instruct-GPTQ-Int8",
        weights_gb: 77.0,
        active: 72.7,
        layers: 80.0,
        width: 8192.0,
        kv_width: 1024.0,
    },
    Model {
        name: "72B",
        weights_gb: 145.4,
        active: 72.7,
        layers: 80.0,
        width: 8192.0,
        kv_width: 1024.0,
    },
    Model {
        name: "Qwen-14B",
        weights_gb: 28.3,
        active: 14.2,
        layers: 40.0,
        width: 5120.0,
        kv_width: 5120.0,
    },
    Model {
        name: "MoE-57B",
        weights_gb: 114.8,
        active: 14.2,
        layers: 28.0,
        width: 3584.0,
        kv_width: 512.0,
    },
];

/// Share of a card's memory that vLLM takes, by default.
const TAKEN: f64 = 0.9;
/// Gigabytes of a card for what is computed with, at vLLM's usual budgets.
const WORKING_GB: f64 = 1.5;
/// Gigabytes that a driver leaves of each of a card's nominal ones.
const LEFT: f64 = 0.99;

/// Tells the fit what is known: the pool of keys and values if memory is short, the share of
/// attention in prefill and of looking back in decoding, and the engine's default cap.
pub(crate) fn apply(reference: &Reference, table: &mut FitTable, options: &mut FitOptions) {
    let name = reference.model.as_deref().unwrap_or_default();
    if let Some(model) = MODELS.iter().find(|model| name.contains(model.name)) {
        let kv_bytes = 4.0 * model.layers * model.kv_width;
        options.attention_ratio = 2.0 * model.layers * model.width / (1e9 * model.active);
        options.kv_ratio = kv_bytes / (1e9 * model.weights_gb);
        let cards = reference.known.cards.map(f64::from);
        let hardware = reference.hardware.as_deref().unwrap_or_default();
        if let (Some(gb), Some(cards)) = (memory_gb(hardware), cards) {
            let free = cards * (TAKEN * LEFT * gb - WORKING_GB) - model.weights_gb;
            let tokens = (1e9 * free.max(0.0) / kv_bytes) as u64;
            // Where there is plenty, the guess need not be made.
            if tokens < 100_000 {
                table.kv_tokens = Some(tokens);
            }
        }
    }
    if reference.client.kind == ClientKind::Guidellm01 {
        options.curves = vec![FitCurve::Rise, FitCurve::Both];
        options.fronts = vec![true];
    }
    match (reference.engine.as_str(), reference.client.kind) {
        // Nothing is known of its settings; short chunks show in the time between tokens.
        ("vLLM", ClientKind::Burst) => options.max_seqs = vec![256],
        // Chunks came with version 0.4.
        ("vLLM", ClientKind::Matrix) => {
            options.policies = vec![Policy::PrefillFirst];
            options.max_seqs = vec![256];
            options.token_budgets = vec![2048];
        }
        ("vLLM" | "Xinference (vLLM)", ClientKind::Closed) => {
            options.max_seqs = vec![256];
            options.token_budgets = vec![2048];
        }
        // Its defaults, with prompts that are far shorter than the budget.
        ("MindIE", _) => {
            options.max_seqs = vec![200];
            options.token_budgets = vec![8192];
        }
        // Prompts are prefilled first, as many as a context of 32,768 tokens holds.
        ("vLLM", ClientKind::Guidellm01) => {
            options.policies = vec![Policy::PrefillFirst];
            options.max_seqs = vec![256];
            options.token_budgets = vec![32_768];
        }
        // As many sequences as there is memory for, prompts first, in prefills of this size.
        ("SGLang", _) => {
            options.policies = vec![Policy::PrefillFirst];
            options.max_seqs = vec![512];
            options.token_budgets = vec![16_384];
        }
        ("LMDeploy", _) => options.max_seqs = vec![128, 256],
        _ => {}
    }
}

/// The number before "GB".
fn memory_gb(hardware: &str) -> Option<f64> {
    let before = hardware.split("GB").next()?;
    before.rsplit(' ').next()?.parse().ok()
}
