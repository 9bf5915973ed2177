//! How the scheduler is set up, and which settings are impossible.

use dyno_model::Localized;
use serde::{Deserialize, Serialize};

/// The most tokens a block may hold.
const LARGEST_BLOCK: u32 = 65_536;

/// The most steps that may be decided ahead.
const MOST_AHEAD: u32 = 1;

/// How work is put into steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Policy {
    /// Admitted prompts are prefilled in a separate step, and decoding waits.
    PrefillFirst,
    /// Every step decodes, and prefills in chunks with what is left of the token budget.
    Chunked,
}

/// The settings of the scheduler.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scheduler {
    /// Which work goes into a step.
    pub policy: Policy,
    /// Sequences that may run at the same time.
    pub max_seqs: u32,
    /// Tokens that a step may process. A longer prompt is prefilled alone or in chunks.
    pub token_budget: u32,
    /// Tokens in a block of the KV pool.
    #[serde(default = "sixteen")]
    pub block: u32,
    /// Blocks in the KV pool.
    pub kv_blocks: u64,
    /// Whether prompts with a common prefix share blocks.
    #[serde(default)]
    pub prefix_cache: bool,
    /// Context length: prompt and output tokens together. Only the pool bounds it if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<u32>,
    /// Steps that are decided and launched before the one before them has ended: 0 or 1.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub steps_ahead: u32,
}

fn sixteen() -> u32 {
    16
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl Scheduler {
    /// Rejects settings with which an accepted request could never run.
    pub fn check(&self) -> Result<(), ConfigError> {
        let counts = [
            ("max_seqs", u64::from(self.max_seqs)),
            ("token_budget", u64::from(self.token_budget)),
            ("block", u64::from(self.block)),
            ("kv_blocks", self.kv_blocks),
            ("context", self.context.map_or(1, u64::from)),
        ];
        if let Some((name, _)) = counts.into_iter().find(|(_, count)| *count == 0) {
            return Err(ConfigError::Zero(name));
        }
        if self.block > LARGEST_BLOCK {
            return Err(ConfigError::Block(self.block));
        }
        if self.steps_ahead > MOST_AHEAD {
            return Err(ConfigError::Ahead(self.steps_ahead));
        }
        match self.context {
            Some(context) if u64::from(context) > self.kv_tokens() => {
                Err(ConfigError::Pool { context, pool: self.kv_tokens() })
            }
            _ => Ok(()),
        }
    }

    /// Tokens that the whole KV pool holds.
    pub fn kv_tokens(&self) -> u64 {
        self.kv_blocks.saturating_mul(u64::from(self.block))
    }

    /// Blocks that hold this many tokens.
    pub(crate) fn blocks(&self, tokens: u64) -> u64 {
        tokens.div_ceil(u64::from(self.block))
    }
}

/// An impossible setting or coefficient.
#[derive(Debug, Clone, Copy, PartialEq, Localized)]
pub enum ConfigError {
    /// A count that must not be zero.
    #[message("`{0}` is 0; give at least 1", "`{0}` 为 0；至少为 1")]
    Zero(&'static str),
    /// A block that is too large.
    #[message(
        "`block` is {0} tokens; give 1 to {LARGEST_BLOCK}",
        "`block` 为 {0} 个 token；请写 1 到 {LARGEST_BLOCK}"
    )]
    Block(u32),
    /// More steps decided ahead than the engine can.
    #[message(
        "`steps_ahead` is {0}; give 0 or {MOST_AHEAD}",
        "`steps_ahead` 为 {0}；请写 0 或 {MOST_AHEAD}"
    )]
    Ahead(u32),
    /// Not even one sequence of full length fits the pool.
    #[message(
        "the KV pool holds {pool} tokens (`kv_blocks` × `block`) and `context` is {context}; \
         raise `kv_blocks` or lower `context`",
        "KV 池可容纳 {pool} 个 token（`kv_blocks` × `block`），而 `context` 为 {context}；\
         请增大 `kv_blocks` 或减小 `context`"
    )]
    Pool {
        /// The longest sequence allowed.
        context: u32,
        /// Tokens that the pool holds.
        pool: u64,
    },
    /// A coefficient that is negative, not a number or absurdly large.
    #[message(
        "`{name}` is {value}; give a number from 0 to one hour",
        "`{name}` 为 {value}；请给出 0 到一小时之间的数"
    )]
    Coefficient {
        /// Which one.
        name: &'static str,
        /// Its value.
        value: f64,
    },
    /// More sequences would take less time.
    #[message(
        "`knee.decode` is {knee} and `decode` is {decode}; give a finite number of at least \
         -{decode}, or more sequences would take less time",
        "`knee.decode` 为 {knee}，`decode` 为 {decode}；请给出不小于 -{decode} 的有限数，\
         否则序列越多用时反而越短"
    )]
    Falling {
        /// For each decoding sequence.
        decode: f64,
        /// What the knee adds to it.
        knee: f64,
    },
    /// More turns of the front end than it could ever take.
    #[message(
        "`front.turns` is {0}; give 1 to {MOST_TURNS}",
        "`front.turns` 为 {0}；请写 1 到 {MOST_TURNS}"
    )]
    Turns(u32),
    /// Noise that no measurement could show.
    #[message(
        "`noise` is {0}; give the standard deviation of the logarithm of step times, 0 to {LOUDEST}",
        "`noise` 为 {0}；请给出单步时间对数的标准差，0 到 {LOUDEST}"
    )]
    Noise(f64),
    /// A step that decodes would take no time.
    #[message(
        "a step that decodes takes no time; give `base` or `decode` or `kv` more than 0",
        "解码的一步不耗时；请把 `base`、`decode` 或 `kv` 设为大于 0"
    )]
    DecodesInNoTime,
    /// A step that prefills would take no time.
    #[message(
        "a step that prefills takes no time; give `base` or `prefill_base`, `prefill_token` or \
         `attention` more than 0",
        "预填充的一步不耗时；请把 `base`、`prefill_base`、`prefill_token` 或 `attention` 设为大于 0"
    )]
    PrefillsInNoTime,
}

/// The largest noise that is accepted.
pub(crate) const LOUDEST: f64 = 3.0;

/// The most turns that a request takes in the front end.
pub(crate) const MOST_TURNS: u32 = 1_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn scheduler() -> Scheduler {
        Scheduler {
            policy: Policy::Chunked,
            max_seqs: 256,
            token_budget: 2048,
            block: 16,
            kv_blocks: 1000,
            prefix_cache: false,
            context: Some(16_000),
            steps_ahead: 0,
        }
    }

    #[test]
    fn a_pool_must_hold_the_longest_sequence() {
        assert_eq!(scheduler().check(), Ok(()));
        let small = Scheduler { kv_blocks: 999, ..scheduler() };
        assert_eq!(small.check(), Err(ConfigError::Pool { context: 16_000, pool: 15_984 }));
        assert_eq!(Scheduler { context: None, ..small }.check(), Ok(()));
    }

    #[test]
    fn zeros_are_named() {
        let zero = |scheduler: Scheduler| scheduler.check().unwrap_err().to_string();
        assert!(zero(Scheduler { max_seqs: 0, ..scheduler() }).contains("`max_seqs`"));
        assert!(zero(Scheduler { token_budget: 0, ..scheduler() }).contains("`token_budget`"));
        assert!(zero(Scheduler { block: 0, ..scheduler() }).contains("`block`"));
        assert!(zero(Scheduler { kv_blocks: 0, ..scheduler() }).contains("`kv_blocks`"));
        assert!(zero(Scheduler { context: Some(0), ..scheduler() }).contains("`context`"));
        assert!(zero(Scheduler { block: 65_537, ..scheduler() }).contains("65537"));
    }

    #[test]
    fn at_most_one_step_is_decided_ahead() {
        assert_eq!(Scheduler { steps_ahead: 1, ..scheduler() }.check(), Ok(()));
        let two = Scheduler { steps_ahead: 2, ..scheduler() }.check().unwrap_err();
        assert_eq!(two.to_string(), "`steps_ahead` is 2; give 0 or 1");
    }

    #[test]
    fn settings_have_defaults_and_no_unknown_keys() {
        let text = r#"{"policy":"prefill_first","max_seqs":8,"token_budget":64,"kv_blocks":100}"#;
        let read: Scheduler = serde_json::from_str(text).unwrap();
        assert_eq!((read.policy, read.block, read.context), (Policy::PrefillFirst, 16, None));
        assert_eq!(read.steps_ahead, 0);
        let unknown = text.replace("kv_blocks", "blocks");
        assert!(serde_json::from_str::<Scheduler>(&unknown).is_err());
    }
}
