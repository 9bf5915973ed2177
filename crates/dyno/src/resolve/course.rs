//! How a run goes from level to level: repeated, shuffled, with what in between.

use crate::args::course::{CourseArgs, LevelOrderArg};
use crate::usage::UsageError;
use dyno_core::course::{Course, Search};
use dyno_core::plan::{LevelPlan, Load};
use dyno_core::slo::Condition;
use dyno_stats::rng::SplitMix;

const MOST_LEVELS: usize = 10_000;

/// The levels in the order in which they run, and what happens between them.
pub(super) fn course(
    args: &CourseArgs,
    levels: Vec<LevelPlan>,
    search: Option<Search>,
    seed: u64,
) -> Result<(Vec<LevelPlan>, Course), UsageError> {
    let rounds = args.repeat as usize;
    if search.is_some() && (rounds > 1 || args.level_order == LevelOrderArg::Shuffle) {
        let flag = if rounds > 1 { "--repeat" } else { "--level-order" };
        return Err(UsageError::new(
            flag,
            "levels that are chosen by how others went have an order of their own; leave it out, \
             or list the levels",
        ));
    }
    let at_a_rate = matches!(search, Some(Search::Sweep { .. }))
        || levels.iter().any(|level| matches!(level.load, Load::Rate { .. }));
    if args.stop_on.contains(&Condition::Saturated) && !at_a_rate {
        return Err(UsageError::new(
            "--stop-on",
            "`saturated` is told of levels at a rate, and there are none: other loads wait for the \
             server; give --rate or --sweep, or a bound such as ttft.p99>10s",
        ));
    }
    if levels.len().saturating_mul(rounds) > MOST_LEVELS {
        return Err(UsageError::new(
            "--repeat",
            format!("{} levels × {rounds} are more than {MOST_LEVELS}; repeat less", levels.len()),
        ));
    }
    let mut order = Vec::with_capacity(levels.len() * rounds);
    let mut rng = SplitMix::new(seed ^ 0x6c65_7665_6c73);
    for round in 1..=args.repeat {
        let mut again = levels.clone();
        if args.level_order == LevelOrderArg::Shuffle {
            shuffle(&mut again, &mut rng);
        }
        if args.repeat > 1 {
            for level in &mut again {
                level.repeat = Some(round);
                level.label = format!("{} #{round}", level.label);
            }
        }
        order.append(&mut again);
    }
    let course = Course {
        cooldown_ns: args.cooldown,
        reset_cache: args.reset_cache,
        stop_on: args.stop_on.clone(),
        search,
    };
    Ok((order, course))
}

fn shuffle<T>(items: &mut [T], rng: &mut SplitMix) {
    for last in (1..items.len()).rev() {
        let other = (rng.unit() * (last + 1) as f64) as usize;
        items.swap(last, other.min(last));
    }
}
