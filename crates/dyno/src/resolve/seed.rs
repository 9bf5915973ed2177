//! The seed of a run: the one that was given, that of the run being resumed, or a new one. A run that
//! repeats the prompts of an earlier one would measure the server's prefix cache.

use super::Aim;
use crate::usage::UsageError;
use dyno_record::RunDir;
use std::path::Path;

/// A seed, and what the opening lines say of it.
pub(super) struct Seed {
    pub(super) value: u64,
    pub(super) note: String,
}

/// Settles the seed. A prediction keeps 0: it has no cache that an earlier run could have filled, and
/// the same command should give the same prediction.
pub(super) fn settle(
    given: Option<u64>,
    resumed: Option<&Path>,
    aim: Aim,
) -> Result<Seed, UsageError> {
    let known = match (given, aim) {
        (Some(seed), _) => Some(seed),
        (None, Aim::Predict) => Some(0),
        // A directory without a plan is told where the run is opened.
        (None, Aim::Measure) => resumed.and_then(stored),
    };
    if let Some(value) = known {
        return Ok(Seed { value, note: format!("seed {value}") });
    }
    let value = drawn()?;
    Ok(Seed { value, note: format!("seed {value}, drawn for this run; --seed {value} repeats it") })
}

fn stored(dir: &Path) -> Option<u64> {
    Some(RunDir::open(dir).ok()?.read_plan().ok()?.seed)
}

/// Thirty-two bits of the operating system's randomness: short enough to be typed again.
fn drawn() -> Result<u64, UsageError> {
    getrandom::u32().map(u64::from).map_err(|error| {
        UsageError::new("--seed", format!("this system gives no random number ({error})"))
            .hint("give a seed that no earlier run had: --seed N")
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
        let seed = settled(None, Aim::Measure);
        assert!(seed.note.contains(&format!("--seed {} repeats it", seed.value)));
    }

    #[test]
    fn a_seed_that_is_given_is_kept_and_a_prediction_keeps_nought() {
        assert_eq!(settled(Some(7), Aim::Measure).note, "seed 7");
        assert_eq!(settled(Some(7), Aim::Predict).value, 7);
        assert_eq!(settled(None, Aim::Predict).value, 0);
    }
}
