//! Discrete settings that are tried rather than fitted, and the parameters that each leaves to fit.

use super::FitOptions;
use super::model::Model;
use super::parameters::Parameter;
use super::table::{FitTable, Offer, TableLevel};
use dyno_engine::core::{Cost, Policy, Scheduler};
use dyno_engine::twin::profile::TwinClient;
use dyno_engine::twin::reference::ReferenceValue;
use dyno_model::plan::Load;

/// A discrete choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) policy: Policy,
    pub(crate) max_seqs: u32,
    pub(crate) token_budget: u32,
    /// Whether the engine has a prefix cache.
    pub(crate) prefix_cache: bool,
    /// How the cost of decoding grows with the number of sequences.
    pub(crate) curve: FitCurve,
    /// Whether requests wait for the client to handle tokens.
    pub(crate) front: bool,
    /// Whether the KV pool is fitted, or assumed to be large enough.
    pub(crate) pool: bool,
    /// Steps that are decided ahead.
    pub(crate) steps_ahead: u32,
    /// Whether a prefill's own time is that of its launch.
    pub(crate) launch: bool,
    /// How often a request waits for the front end, if that is a queue.
    pub(crate) turns: Option<u32>,
}

/// How the cost of decoding grows with the number of sequences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FitCurve {
    /// By the same amount for each.
    Straight,
    /// By more for the first ones, then by the same amount for each.
    Rise,
    /// By the same amount for each up to some number, and by another above it.
    Knee,
    /// Both.
    Both,
}

/// The ratio of the largest to the smallest length that identifies a cost per length.
const INFORMATIVE: f64 = 1.5;

impl Choice {
    /// The parameters that these levels may identify, the most important first; at most two for every
    /// three measurements.
    pub(crate) fn parameters(&self, table: &FitTable, levels: &[&TableLevel]) -> Vec<Parameter> {
        let any = |figure| levels.iter().any(|level| level.metrics.contains_key(&figure));
        let streamed = any(ReferenceValue::TtftMs);
        let ratio = |length: &dyn Fn(&TableLevel) -> f64| {
            let lengths = levels.iter().map(|level| length(level));
            let most = lengths.clone().fold(0.0, f64::max);
            most / lengths.fold(f64::INFINITY, f64::min)
        };
        let wanted = [
            (Parameter::Base, true),
            (Parameter::Decode, true),
            (
                Parameter::Spread,
                table.varied && (any(ReferenceValue::P90S) || any(ReferenceValue::DurationS)),
            ),
            (Parameter::PrefillToken, true),
            (Parameter::InFlight, levels.iter().any(|level| level.client_unknown())),
            (Parameter::Pool, self.pool),
            // Cells have no time to the first token: prefill is too small a part of what they show.
            (Parameter::Attention, !cells(table) && ratio(&|level| level.input) > INFORMATIVE),
            (Parameter::Kv, ratio(&|level| level.input + level.output) > INFORMATIVE),
            (Parameter::FrontEnd, streamed),
            (Parameter::KneeAbove, matches!(self.curve, FitCurve::Knee | FitCurve::Both)),
            (Parameter::KneeSlope, matches!(self.curve, FitCurve::Knee | FitCurve::Both)),
            (Parameter::RiseTime, matches!(self.curve, FitCurve::Rise | FitCurve::Both)),
            (Parameter::RiseWithin, matches!(self.curve, FitCurve::Rise | FitCurve::Both)),
            (Parameter::PrefillBase, streamed && !self.launch),
            (Parameter::LaunchPrefill, self.launch),
            (Parameter::ClientToken, self.front && self.turns.is_none()),
            (Parameter::FrontChunk, self.turns.is_some()),
        ];
        let metrics: usize = levels.iter().map(|level| level.judged().count()).sum();
        let most = (2 * metrics / 3).max(2);
        let mut parameters: Vec<Parameter> =
            wanted.into_iter().filter(|(_, wanted)| *wanted).map(|(p, _)| p).take(most).collect();
        // Each curve has two parameters, or none.
        for [one, other] in [
            [Parameter::KneeAbove, Parameter::KneeSlope],
            [Parameter::RiseTime, Parameter::RiseWithin],
        ] {
            if !parameters.contains(&other) {
                parameters.retain(|parameter| *parameter != one);
            }
        }
        parameters.sort();
        parameters
    }

    /// An engine with these settings and a pool that is large enough for all levels.
    pub(crate) fn model(&self, table: &FitTable) -> Model {
        let longest = table.levels.iter().map(|level| level.input + 3.0 * level.output);
        let longest = longest.fold(f64::from(table.context.unwrap_or(1)), f64::max);
        let enough = (f64::from(self.max_seqs) * longest / 16.0).ceil() as u64 + 16;
        let kv_blocks = table.kv_tokens.map_or(enough, |tokens| tokens / 16);
        let mut cost = Cost::default();
        cost.front.turns = self.turns.unwrap_or(1);
        Model {
            scheduler: Scheduler {
                policy: self.policy,
                max_seqs: self.max_seqs,
                token_budget: self.token_budget,
                block: 16,
                kv_blocks,
                prefix_cache: self.prefix_cache,
                context: table.context,
                steps_ahead: self.steps_ahead,
            },
            cost,
            client: TwinClient::default(),
            spread: 0.0,
        }
    }
}

/// Whether levels are cells of a matrix: the pool then limits the throughput.
pub(crate) fn cells(table: &FitTable) -> bool {
    table.fitted().any(|level| matches!(level.offer, Offer::Cell { .. }))
}

/// The alternatives that change the shape of the measurements, apart from the curve.
pub(crate) fn shapes(table: &FitTable, options: &FitOptions, at: &Choice) -> Vec<Choice> {
    let first = |repeated: bool| {
        let levels = table.fitted().filter(move |level| level.repeated == repeated);
        levels.filter_map(|level| level.metrics.get(&ReferenceValue::TtftMs).copied())
    };
    // Repeated prompts with a shorter TTFT than new ones indicate a prefix cache.
    let sooner = first(true).fold(f64::INFINITY, f64::min) < 0.8 * first(false).fold(0.0, f64::max);
    let streamed = first(true).chain(first(false)).next().is_some();
    let prefix_cache = sooner || at.prefix_cache;
    let fronts: &[bool] = if streamed { &options.fronts } else { &[false] };
    fronts.iter().map(|front| Choice { prefix_cache, front: *front, ..*at }).collect()
}

/// The alternatives of each discrete setting.
pub(crate) fn settings(table: &FitTable, options: &FitOptions, at: &Choice) -> Vec<Vec<Choice>> {
    let most = |offer: &Offer| match offer {
        Offer::Load { load: Load::Concurrency { concurrency }, .. } => *concurrency,
        Offer::Load { load: Load::Burst { requests }, .. } => *requests as u32,
        Offer::Load { at_most, .. } => at_most.unwrap_or(u32::MAX),
        Offer::Unknown { .. } => 512,
        Offer::Cell { requests } => *requests,
    };
    let in_flight = table.fitted().map(|level| most(&level.offer)).max().unwrap_or(1);
    let mut caps: Vec<u32> = match table.max_seqs {
        Some(known) => vec![known],
        None => options.max_seqs.iter().copied().filter(|cap| *cap / 2 < in_flight).collect(),
    };
    if caps.is_empty() {
        caps.push(options.max_seqs.iter().copied().min().unwrap_or(in_flight));
    }
    let pools = if options.pool && !cells(table) { vec![false, true] } else { vec![at.pool] };
    let budgets = options.token_budgets.iter();
    vec![
        budgets.map(|token_budget| Choice { token_budget: *token_budget, ..*at }).collect(),
        caps.into_iter().map(|max_seqs| Choice { max_seqs, ..*at }).collect(),
        pools.into_iter().map(|pool| Choice { pool, ..*at }).collect(),
    ]
}
