//! The seed of a run: as given, from the run being resumed, or a new one. A run that repeated the
//! prompts of an earlier one would measure the server's prefix cache.

use super::Aim;
use crate::usage::UsageError;
use dyno_model::{Message, message};
use dyno_record::RunDir;
use std::path::Path;

/// A seed, and whether it is new.
pub(super) struct Seed {
    pub(super) value: u64,
    random: bool,
}

impl Seed {
    /// The note about it, which shows its value.
    pub(super) fn note(&self) -> Message {
        let seed = self.value;
        match self.random {
            true => message!(
                "random seed {seed}; repeat with --seed {seed}",
                "随机种子 {seed}（随机生成）；使用 --seed {seed} 可复现"
            ),
            false => message!("seed {seed}", "随机种子 {seed}"),
        }
    }
}

/// Decides the seed. Predictions use 0: no earlier run can have filled their cache, and the same
/// command should give the same prediction.
pub(super) fn settle(
    given: Option<u64>,
    resumed: Option<&Path>,
    aim: Aim,
) -> Result<Seed, UsageError> {
    let known = match (given, aim) {
        (Some(seed), _) => Some(seed),
        (None, Aim::Predict) => Some(0),
        // A missing plan is reported where the run is opened.
        (None, Aim::Measure) => resumed.and_then(stored),
    };
    if let Some(value) = known {
        return Ok(Seed { value, random: false });
    }
    Ok(Seed { value: drawn()?, random: true })
}

fn stored(dir: &Path) -> Option<u64> {
    Some(RunDir::open(dir).ok()?.read_plan().ok()?.seed)
}

/// A random seed of 32 bits, short enough to type.
fn drawn() -> Result<u64, UsageError> {
    getrandom::u32().map(u64::from).map_err(|error| {
        UsageError::new(
            "--seed",
            message!(
                "the system provides no random numbers ({error})",
                "系统无法提供随机数（{error}）",
            ),
        )
        .hint(message!(
            "give a seed that no earlier run used: --seed N",
            "请指定以前的测试没有用过的随机种子：--seed N"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settled(given: Option<u64>, aim: Aim) -> Seed {
        settle(given, None, aim).unwrap()
    }

    #[test]
    fn a_seed_that_is_not_given_is_new_each_time_and_says_how_to_repeat_it() {
        let seeds: Vec<u64> = (0..4).map(|_| settled(None, Aim::Measure).value).collect();
        assert!(seeds.iter().any(|seed| *seed != seeds[0]), "{seeds:?}");
        let new = settled(None, Aim::Measure);
        let again = format!("repeat with --seed {}", new.value);
        assert!(new.note().to_string().ends_with(&again));
    }

    #[test]
    fn a_seed_that_is_given_is_kept_and_a_prediction_uses_zero() {
        assert_eq!(settled(Some(7), Aim::Measure).note().to_string(), "seed 7");
        assert_eq!(settled(Some(7), Aim::Predict).value, 7);
        assert_eq!(settled(None, Aim::Predict).value, 0);
    }
}
