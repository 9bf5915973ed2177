//! Makes the prompts of a plan differ between levels, rounds, both sides of a comparison, and attempts
//! of a resumed run. A repeated prompt may be served from the server's prefix cache.

use dyno_model::plan::{LevelPlan, Plan};
use dyno_model::versus::Side;
use dyno_workload::random::key::Key;
use serde::{Deserialize, Serialize};

/// One attempt of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Attempt {
    /// Differs between the sides and the attempts of one plan.
    edition: u32,
    /// Differs between runs, even with the same seed; 0 for predictions.
    pub(crate) run: u64,
    /// Prompts or conversations taken by earlier levels.
    pub(crate) taken: u64,
}

impl Attempt {
    /// The attempt with this number, from 1, of the run with this id. A prediction does not depend on
    /// when it is made.
    pub(crate) fn new(plan: &Plan, run: &str, number: u32, taken: u64) -> Self {
        let second = plan.course.versus.as_ref().is_some_and(|versus| versus.side == Side::B);
        let edition = (number.saturating_sub(1)).wrapping_mul(2) + u32::from(second);
        let taken = if plan.data.same_prompts { 0 } else { taken };
        let run = if plan.target.predicted { 0 } else { hash(run, number) };
        Self { edition, run, taken }
    }

    /// What the prompts of a level depend on.
    pub(crate) fn key(&self, plan: &Plan, level: &LevelPlan, number: u32) -> Key {
        if plan.data.same_prompts {
            return Key { run: self.run, ..Key::new(plan.seed, 0) };
        }
        Key {
            lengths: first_round(plan, level, number),
            edition: self.edition,
            run: self.run,
            ..Key::new(plan.seed, number)
        }
    }
}

/// Of a level that is repeated, the number of its first round: all have the same lengths.
fn first_round(plan: &Plan, level: &LevelPlan, number: u32) -> u32 {
    let kind =
        |level: &LevelPlan| LevelPlan { label: String::new(), repeat: None, ..level.clone() };
    let sought = level.repeat.map(|_| kind(level));
    let first = sought.and_then(|sought| plan.levels.iter().position(|one| kind(one) == sought));
    first.and_then(|first| u32::try_from(first).ok()).unwrap_or(number)
}

/// FNV-1a, with its bits mixed so that runs of the same second differ from the first digit on.
fn hash(run: &str, number: u32) -> u64 {
    let bytes = run.bytes().chain(number.to_le_bytes());
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    let mixed = (hash ^ hash >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::plan::Target;
    use dyno_model::versus::Versus;

    fn plan() -> Plan {
        let round = |concurrency, repeat| LevelPlan {
            repeat: Some(repeat),
            ..LevelPlan::closed_loop(concurrency, 10)
        };
        let levels = vec![round(1, 1), round(8, 1), round(8, 2), round(1, 2)];
        Plan { levels, seed: 7, ..Plan::new(Target::at("http://localhost:1")) }
    }

    fn key(plan: &Plan, run: &str, number: u32, level: u32) -> Key {
        Attempt::new(plan, run, number, 0).key(plan, &plan.levels[level as usize], level)
    }

    #[test]
    fn rounds_have_the_same_lengths_and_other_words() {
        let plan = plan();
        let keys: Vec<Key> = (0..4).map(|level| key(&plan, "r", 1, level)).collect();
        let lengths: Vec<u32> = keys.iter().map(|key| key.lengths).collect();
        assert_eq!(lengths, [0, 1, 1, 0]);
        assert_eq!(keys.iter().map(|key| key.level).collect::<Vec<_>>(), [0, 1, 2, 3]);
    }

    #[test]
    fn sides_and_attempts_differ_in_words_alone() {
        let (a, mut b) = (plan(), plan());
        b.course.versus =
            Some(Versus { side: Side::B, other_run: "a".to_owned(), other_target: String::new() });
        let keys = [key(&a, "a", 1, 0), key(&b, "b", 1, 0), key(&a, "a", 2, 0), key(&b, "b", 2, 0)];
        for (at, one) in keys.iter().enumerate() {
            assert_eq!((one.seed, one.lengths), (7, 0));
            assert!(keys[..at].iter().all(|other| other.edition != one.edition));
            assert!(keys[..at].iter().all(|other| other.run != one.run));
        }
    }

    #[test]
    fn the_same_prompts_are_the_same_wherever_they_are_sent() {
        let mut plan = plan();
        plan.data.same_prompts = true;
        let apart = |key: Key| Key { run: 0, ..key };
        assert_eq!(apart(key(&plan, "a", 1, 0)), apart(key(&plan, "b", 3, 3)));
        assert_eq!(Attempt::new(&plan, "a", 2, 40).taken, 0, "files begin at their top");
    }

    #[test]
    fn a_prediction_does_not_depend_on_when_it_is_made() {
        let mut plan = plan();
        plan.target.predicted = true;
        assert_eq!(key(&plan, "a", 1, 0), key(&plan, "b", 1, 0));
    }
}
