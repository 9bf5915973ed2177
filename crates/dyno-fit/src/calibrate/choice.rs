//! Settings of the engine that are tried, not fitted, and the parameters that are fitted with each.

use super::FitSettings;
use super::start::Start;
use crate::model::Model;
use crate::parameters::Parameter;
use crate::trial::{BLOCK, Trial};
use dyno_engine::core::{Cost, Policy, Scheduler};
use dyno_engine::twin::profile::TwinClient;

/// Tokens of a KV cache that never fills: 512 sequences of 131,072 tokens. Not more, because a prefix cache
/// keeps whatever it has room for.
const NEVER_FULL: u64 = 1 << 26;
/// The ratio of the longest to the shortest length that shows what a length costs.
const INFORMATIVE: f64 = 1.5;

/// What is tried for the tokens of a step.
const BUDGETS: [u32; 6] = [512, 1024, 2048, 4096, 8192, 16_384];
/// What is tried for the sequences of a batch.
const CAPS: [u32; 9] = [16, 32, 48, 64, 96, 128, 192, 256, 512];
/// What is tried for the largest captured step; 0 if there is one kind of launch.
const CAPTURED: [u32; 3] = [0, 256, 512];

/// A setting that is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Setting {
    Policy,
    StepsAhead,
    Turns,
    TokenBudget,
    MaxSeqs,
    Captured,
    /// Whether launches take time at all.
    Launches,
    Merges,
}

/// What is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Choice {
    pub(super) policy: Policy,
    pub(super) steps_ahead: u32,
    pub(super) token_budget: u32,
    pub(super) max_seqs: u32,
    /// Whether launches take time.
    pub(super) launches: bool,
    /// Tokens of the largest step for which a graph was captured.
    pub(super) captured: u32,
    /// How often a request has to wait for its turn in the front end.
    pub(super) turns: u32,
    /// Whether tokens that wait in the front end leave it together.
    pub(super) merges: bool,
}

impl Choice {
    /// What most engines do.
    pub(super) fn usual(known: &FitSettings, start: &Start) -> Self {
        Self {
            policy: start.policy.unwrap_or(Policy::Chunked),
            steps_ahead: start.steps_ahead.unwrap_or(1),
            token_budget: known.token_budget.unwrap_or(8192),
            max_seqs: known.max_seqs.or(start.max_seqs).unwrap_or(1024),
            launches: true,
            captured: start.captured.unwrap_or(512),
            turns: 12,
            merges: true,
        }
    }

    /// The basic ways in which engines differ, as far as steps do not show them.
    pub(super) fn ways(known: &FitSettings, start: &Start) -> Vec<Self> {
        let usual = Self::usual(known, start);
        let mut ways = Vec::new();
        for policy in Self::policies(start) {
            for steps_ahead in Self::ahead(start) {
                let way = Self { policy, steps_ahead, ..usual };
                ways.push(way);
                if start.captured.is_none() {
                    ways.extend([256, 0].map(|captured| Self { captured, ..way }));
                }
                if start.seen(Parameter::LaunchLarge).is_none() {
                    ways.push(Self { launches: false, captured: 0, ..way });
                }
            }
        }
        ways
    }

    /// The policies that steps do not exclude.
    fn policies(start: &Start) -> impl Iterator<Item = Policy> {
        let both = [Policy::Chunked, Policy::PrefillFirst].into_iter();
        both.filter(|policy| start.policy.is_none_or(|seen| seen == *policy))
    }

    /// The ways to plan steps that steps do not exclude.
    fn ahead(start: &Start) -> impl Iterator<Item = u32> {
        [1, 0].into_iter().filter(|ahead| start.steps_ahead.is_none_or(|seen| seen == *ahead))
    }

    /// How many settings differ from the usual ones.
    pub(super) fn unusual(&self, usual: &Self) -> f64 {
        let differs = [
            self.policy != usual.policy,
            self.steps_ahead != usual.steps_ahead,
            self.token_budget != usual.token_budget,
            self.max_seqs != usual.max_seqs,
            self.launches && self.captured != usual.captured,
            self.turns != usual.turns,
            self.merges != usual.merges,
        ];
        differs.into_iter().filter(|differs| *differs).count() as f64
    }

    /// The alternatives of each setting.
    pub(super) fn alternatives(
        &self,
        setting: Setting,
        known: &FitSettings,
        start: &Start,
        most_in_flight: u32,
    ) -> Vec<Self> {
        let all: Vec<Self> = match setting {
            Setting::Policy => {
                Self::policies(start).map(|policy| Self { policy, ..*self }).collect()
            }
            Setting::StepsAhead => {
                Self::ahead(start).map(|steps_ahead| Self { steps_ahead, ..*self }).collect()
            }
            Setting::Turns => [1, 4, 8, 12, 16].map(|turns| Self { turns, ..*self }).to_vec(),
            Setting::TokenBudget if known.token_budget.is_none() => {
                BUDGETS.map(|token_budget| Self { token_budget, ..*self }).to_vec()
            }
            Setting::MaxSeqs if known.max_seqs.is_none() => {
                let caps = CAPS.into_iter().filter(|cap| *cap < most_in_flight);
                caps.chain(start.max_seqs)
                    .chain([1024])
                    .map(|max_seqs| Self { max_seqs, ..*self })
                    .collect()
            }
            Setting::Captured if self.launches && start.captured.is_none() => {
                CAPTURED.map(|captured| Self { captured, ..*self }).to_vec()
            }
            Setting::Launches if start.seen(Parameter::LaunchLarge).is_none() => {
                vec![Self { launches: false, captured: 0, ..*self }]
            }
            Setting::Merges => [false, true].map(|merges| Self { merges, ..*self }).to_vec(),
            _ => Vec::new(),
        };
        all.into_iter().filter(|other| other != self).collect()
    }

    /// An engine with these settings.
    pub(super) fn model(&self, trials: &[&Trial], known: &FitSettings, start: &Start) -> Model {
        let longest = trials.iter().flat_map(|trial| &trial.requests);
        let longest = longest.map(|sent| u64::from(sent.input) + u64::from(sent.output)).max();
        let most = trials.iter().map(|trial| trial.requests.len() as u64).max().unwrap_or(1);
        let never_full = longest.unwrap_or(1).saturating_mul(most.min(2_048)).max(NEVER_FULL);
        // One that is known holds at least each of the requests.
        let kv_tokens = known.kv_tokens.unwrap_or(never_full).max(longest.unwrap_or(1));
        let block = known.block.unwrap_or(BLOCK);
        let mut cost = Cost { noise: start.noise, ..Cost::default() };
        cost.launch.captured = self.captured;
        cost.front.turns = self.turns;
        cost.front.merges = if self.merges { 128 } else { 0 };
        Model {
            scheduler: Scheduler {
                policy: self.policy,
                steps_ahead: self.steps_ahead,
                max_seqs: self.max_seqs,
                token_budget: self.token_budget,
                block,
                kv_blocks: kv_tokens.div_ceil(u64::from(block)).max(1),
                prefix_cache: known.prefix_cache.unwrap_or(true),
                context: known.context.map(|context| {
                    // The longest request was served, and the cache holds it.
                    let most = u64::from(context).max(longest.unwrap_or(1)).min(kv_tokens);
                    u32::try_from(most).unwrap_or(u32::MAX)
                }),
            },
            cost,
            client: TwinClient::default(),
            spread: 0.0,
        }
    }

    /// The parameters that these trials can show.
    pub(super) fn parameters(&self, trials: &[&Trial]) -> Vec<Parameter> {
        let ratio = |length: &dyn Fn(&crate::trial::SentRequest) -> u32| {
            let lengths = trials.iter().flat_map(|trial| &trial.requests).map(length);
            let (least, most) = lengths
                .fold((u32::MAX, 1), |(least, most), length| (least.min(length), most.max(length)));
            f64::from(most) / f64::from(least.max(1))
        };
        let prompts_differ = ratio(&|sent| sent.input) > INFORMATIVE;
        let lengths_differ = ratio(&|sent| sent.input + sent.output) > INFORMATIVE;
        let wanted = [
            (Parameter::Base, true),
            (Parameter::Decode, true),
            (Parameter::PrefillToken, true),
            (Parameter::Attention, prompts_differ),
            (Parameter::Kv, lengths_differ),
            (Parameter::FrontEnd, true),
            (Parameter::FrontRequest, true),
            (Parameter::FrontInput, prompts_differ),
            (Parameter::FrontChunk, true),
            (Parameter::LaunchPrefill, self.launches),
            (Parameter::LaunchLarge, self.launches && self.captured > 0),
            (Parameter::LaunchSequence, self.launches),
        ];
        wanted.into_iter().filter(|(_, wanted)| *wanted).map(|(parameter, _)| parameter).collect()
    }
}
