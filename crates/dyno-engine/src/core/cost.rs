//! How long a step takes: the step-time model, in seconds.

use super::clock::Fine;
use super::config::{ConfigError, LOUDEST, MOST_TURNS};
use super::front::Front;
use crate::slow_down::SlowDown;

/// The coefficients of the step-time model, in seconds.
///
/// A step takes `base + prefill_token·Σe + attention·Σe(p + e/2) + decode·n + kv·ΣKV`, where each
/// chunk prefills `e` tokens after `p` that are already there, `n` sequences decode, and ΣKV is
/// the number of tokens they attend to. Steps that prefill or that decode many sequences take
/// some time more.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Cost {
    /// For every step.
    pub base: f64,
    /// For each token that is prefilled.
    pub prefill_token: f64,
    /// For each pair of a prefilled token and a token that it attends to.
    pub attention: f64,
    /// For each sequence that decodes.
    pub decode: f64,
    /// For each token that a decoding sequence attends to.
    pub kv: f64,
    /// For every step that prefills, in addition.
    pub prefill_base: f64,
    /// What changes above some number of decoding sequences.
    pub knee: Option<CostKnee>,
    /// Extra time to decode many sequences rather than one.
    pub rise: Option<Rise>,
    /// How long the CPU takes to launch a step.
    pub launch: Launch,
    /// From the arrival of a request until it is queued.
    pub front_end: f64,
    /// The work that the front end does for each request and each token.
    pub front: Front,
    /// Standard deviation of the logarithm of a factor on each step, whose mean is 1.
    pub noise: f64,
    /// How steps get slower over time.
    pub slow_down: SlowDown,
}

/// A change of slope, or a jump, above some number of decoding sequences.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CostKnee {
    /// The last number of decoding sequences without it.
    pub above: u32,
    /// For each decoding sequence above that number, in addition; less than 0 where the curve
    /// flattens, but not so much that it falls.
    pub decode: f64,
    /// Once, in addition.
    pub jump: f64,
}

/// Extra decode time as soon as more than one sequence decodes, which then levels off: with a few
/// sequences, nearly all experts of a mixture-of-experts model are in use.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rise {
    /// Extra time with many sequences.
    pub time: f64,
    /// The number of further sequences at which 63 % of it is reached.
    pub within: f64,
}

/// How long the CPU takes to launch a step, in seconds. A step ends no earlier than its launch.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Launch {
    /// A step that only decodes: one captured graph, whatever the number of sequences.
    pub decode: f64,
    /// A step that prefills.
    pub prefill: f64,
    /// For each sequence in a step that prefills, in addition.
    pub sequence: f64,
    /// Tokens of the largest step for which a graph was captured; 0 if that makes no difference.
    pub captured: u32,
    /// A step of more tokens than that, instead of the two above: its operations are launched one by
    /// one.
    pub large: f64,
}

impl Launch {
    /// The launch of a step that prefills so many sequences, and so many tokens of them, and decodes
    /// so many.
    pub(crate) fn time(&self, prefills: u32, tokens: u64, decodes: u32) -> Fine {
        if *self == Self::default() {
            return Fine::default();
        }
        let large = self.captured > 0 && tokens + u64::from(decodes) > u64::from(self.captured);
        let each = match prefills {
            0 => 0.0,
            _ => self.sequence * (f64::from(prefills) + f64::from(decodes)),
        };
        Fine::from_seconds(
            each + if large {
                self.large
            } else if prefills > 0 {
                self.prefill
            } else {
                self.decode
            },
        )
    }
}

/// What a step has to do.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Load {
    /// Tokens to prefill.
    pub(crate) prefill_tokens: u64,
    /// Twice the pairs of prefilled tokens and those they attend to: Σe(2p + e).
    pub(crate) twice_pairs: u128,
    /// Sequences that decode.
    pub(crate) decodes: u32,
    /// Tokens they attend to.
    pub(crate) kv_tokens: u64,
}

/// No part of a step takes longer than an hour, in seconds.
const SLOWEST: f64 = 3_600.0;

impl Cost {
    /// Rejects coefficients with which steps would take no time, negative time or forever.
    pub fn check(&self) -> Result<(), ConfigError> {
        let knee = self.knee.unwrap_or(CostKnee { above: 0, decode: 0.0, jump: 0.0 });
        let rise = self.rise.unwrap_or(Rise { time: 0.0, within: 1.0 });
        let coefficients = [
            ("base", self.base),
            ("prefill_token", self.prefill_token),
            ("attention", self.attention),
            ("decode", self.decode),
            ("kv", self.kv),
            ("prefill_base", self.prefill_base),
            ("knee.jump", knee.jump),
            ("rise.time", rise.time),
            ("rise.within", rise.within),
            ("launch.decode", self.launch.decode),
            ("launch.prefill", self.launch.prefill),
            ("launch.large", self.launch.large),
            ("front.input", self.front.input),
            ("launch.sequence", self.launch.sequence),
            ("front_end", self.front_end),
            ("front.request", self.front.request),
            ("front.chunk", self.front.chunk),
            ("noise", self.noise),
        ];
        let bad = |value: f64| !(0.0..=SLOWEST).contains(&value);
        if let Some((name, value)) = coefficients.into_iter().find(|(_, value)| bad(*value)) {
            return Err(ConfigError::Coefficient { name, value });
        }
        if bad(self.decode + knee.decode) {
            return Err(ConfigError::Falling { decode: self.decode, knee: knee.decode });
        }
        if rise.within == 0.0 {
            return Err(ConfigError::Zero("rise.within"));
        }
        if self.front.turns == 0 {
            return Err(ConfigError::Zero("front.turns"));
        }
        if self.front.turns > MOST_TURNS {
            return Err(ConfigError::Turns(self.front.turns));
        }
        if self.noise > LOUDEST {
            return Err(ConfigError::Noise(self.noise));
        }
        if self.base + self.decode + self.kv == 0.0 {
            return Err(ConfigError::DecodesInNoTime);
        }
        if self.base + self.prefill_token + self.attention + self.prefill_base == 0.0 {
            return Err(ConfigError::PrefillsInNoTime);
        }
        Ok(())
    }

    /// How long a step with this load takes, without noise, given what [`decoding`](Self::decoding)
    /// says of it. Time always advances.
    pub(crate) fn duration(&self, load: &Load, decoding: Fine) -> Fine {
        let looking_back = self.looking_back().times(u128::from(load.kv_tokens));
        let decoding = decoding.plus(looking_back);
        if load.prefill_tokens == 0 {
            return decoding.max(Fine::NANO);
        }
        let tokens = self.prefill_token * load.prefill_tokens as f64;
        let pairs = self.attention * (0.5 * load.twice_pairs as f64);
        let prefilling = Fine::from_seconds(self.prefill_base + tokens + pairs);
        decoding.plus(prefilling).max(Fine::NANO)
    }

    /// The part of a step's time that depends on the number of decoding sequences alone.
    pub(crate) fn decoding(&self, decodes: u32) -> Fine {
        let mut seconds = self.base + self.decode * f64::from(decodes);
        if let Some(knee) = self.knee.filter(|knee| decodes > knee.above) {
            seconds += knee.jump + knee.decode * f64::from(decodes - knee.above);
        }
        if let Some(rise) = self.rise.filter(|_| decodes > 1) {
            // `libm`, because the standard library's result may differ between machines.
            seconds += rise.time * (1.0 - libm::exp(-f64::from(decodes - 1) / rise.within));
        }
        Fine::from_seconds(seconds)
    }

    /// The cost of each token that a decoding sequence attends to.
    pub(crate) fn looking_back(&self) -> Fine {
        Fine::from_seconds(self.kv)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Cost {
        fn lasts(&self, load: &Load) -> Fine {
            self.duration(load, self.decoding(load.decodes))
        }
    }

    fn cost() -> Cost {
        Cost {
            base: 0.01,
            prefill_token: 1e-4,
            attention: 1e-8,
            decode: 1e-3,
            kv: 1e-6,
            prefill_base: 0.002,
            ..Cost::default()
        }
    }

    #[test]
    fn a_step_is_the_sum_of_its_parts() {
        // 100 tokens after 50: 100 · (50 + 50) pairs.
        let prefill = Load { prefill_tokens: 100, twice_pairs: 100 * 200, ..Load::default() };
        assert_eq!(cost().lasts(&prefill).nanos(), 22_100_000);
        let decode = Load { decodes: 4, kv_tokens: 500, ..Load::default() };
        assert_eq!(cost().lasts(&decode).nanos(), 14_500_000);
        let knee = Some(CostKnee { above: 3, decode: 5e-4, jump: 0.001 });
        assert_eq!(Cost { knee, ..cost() }.lasts(&decode).nanos(), 16_000_000);
        let knee = Some(CostKnee { above: 4, decode: 5e-4, jump: 0.001 });
        assert_eq!(Cost { knee, ..cost() }.lasts(&decode).nanos(), 14_500_000);
    }

    #[test]
    fn a_rise_levels_off() {
        let rise = Some(Rise { time: 0.02, within: 4.0 });
        let extra = |decodes: u32| {
            let load = Load { decodes, ..Load::default() };
            let with = Cost { rise, ..cost() }.lasts(&load).nanos();
            with - cost().lasts(&load).nanos()
        };
        assert_eq!((extra(0), extra(1)), (0, 0));
        assert!((12_642_000..12_643_000).contains(&extra(5)), "{}", extra(5));
        assert!((19_999_000..=20_000_000).contains(&extra(100)), "{}", extra(100));
        let refused = |rise| Cost { rise: Some(rise), ..cost() }.check().unwrap_err().to_string();
        assert!(refused(Rise { time: 1.0, within: 0.0 }).contains("`rise.within`"));
        assert!(refused(Rise { time: -1.0, within: 1.0 }).contains("`rise.time`"));
    }

    #[test]
    fn a_launch_depends_on_what_a_step_does() {
        // As measured on a real server: 1 ms, or 20 ms and 0.09 ms for each sequence.
        let launch = Launch { decode: 0.001, prefill: 0.02, sequence: 9e-5, ..Launch::default() };
        assert_eq!(launch.time(0, 0, 256).nanos(), 1_000_000);
        assert_eq!(launch.time(1, 512, 0).nanos(), 20_090_000);
        assert_eq!(launch.time(2, 900, 98).nanos(), 29_000_000);
        // What is larger than any captured graph is launched piece by piece.
        let launch = Launch { captured: 512, large: 0.03, ..launch };
        assert_eq!(launch.time(1, 512, 0).nanos(), 20_090_000);
        assert_eq!(launch.time(1, 512, 1).nanos(), 30_180_000);
        assert_eq!(launch.time(0, 0, 513).nanos(), 30_000_000);
        let refused = |launch| Cost { launch, ..cost() }.check().unwrap_err().to_string();
        assert!(refused(Launch { prefill: -1.0, ..launch }).contains("`launch.prefill` is -1"));
    }

    #[test]
    fn time_advances_and_does_not_overflow() {
        let decode = Load { decodes: 1, kv_tokens: u64::MAX, ..Load::default() };
        let quick = Cost { base: 1e-15, ..Cost::default() };
        assert_eq!(quick.lasts(&decode).nanos(), 1);
        let endless = Cost { base: 1e300, kv: 1e300, ..Cost::default() };
        assert_eq!(endless.lasts(&decode).nanos(), u64::MAX);
    }

    #[test]
    fn impossible_coefficients_are_named() {
        assert_eq!(cost().check(), Ok(()));
        let refused = |cost: Cost| cost.check().unwrap_err().to_string();
        assert!(refused(Cost { kv: -1e-9, ..cost() }).contains("`kv`"));
        assert!(refused(Cost { base: f64::NAN, ..cost() }).contains("`base`"));
        assert!(refused(Cost { front_end: f64::INFINITY, ..cost() }).contains("`front_end`"));
        let knee = Some(CostKnee { above: 1, decode: 0.0, jump: -1.0 });
        assert!(refused(Cost { knee, ..cost() }).contains("`knee.jump`"));
        let knee = |decode| Some(CostKnee { above: 1, decode, jump: 0.0 });
        assert_eq!(Cost { knee: knee(-1e-3), ..cost() }.check(), Ok(()));
        assert!(refused(Cost { knee: knee(-1.1e-3), ..cost() }).contains("`knee.decode`"));
        assert!(refused(Cost { knee: knee(f64::NAN), ..cost() }).contains("`knee.decode`"));
        assert!(refused(Cost { noise: 3.5, ..cost() }).contains("`noise`"));
        assert!(refused(Cost { decode: 1.0, ..Cost::default() }).contains("prefills"));
        assert!(refused(Cost { prefill_token: 1.0, ..Cost::default() }).contains("decodes"));
    }
}
