//! The order of levels: repeated, shuffled, with what happens in between.

use crate::args::course::{CourseArgs, LevelOrderArg};
use crate::args::plan::EachLevelArgs;
use crate::usage::UsageError;
use dyno_model::course::{Course, Search};
use dyno_model::limits::MOST_LEVELS;
use dyno_model::plan::{LevelPlan, Load};
use dyno_model::slo::Condition;
use dyno_search::grid::{Order, Turn, turns};

/// Makes the order of levels independent of everything else that the seed decides.
const OF_LEVELS: u64 = 0x6c65_7665_6c73;

/// The levels in the order in which they run, and what happens between them.
pub(super) fn course(
    args: &CourseArgs,
    each: &EachLevelArgs,
    (levels, search): (Vec<LevelPlan>, Option<Search>),
    seed: u64,
) -> Result<(Vec<LevelPlan>, Course), UsageError> {
    let rounds = args.repeat.unwrap_or(1) as usize;
    if search.is_some() && (rounds > 1 || args.level_order == LevelOrderArg::Shuffle) {
        let flag = if rounds > 1 { "--repeat" } else { "--level-order" };
        return Err(UsageError::new(
            flag,
            "the search determines the order of levels; remove it, or list the levels",
        ));
    }
    let at_a_rate = matches!(search, Some(Search::Sweep { .. }))
        || levels.iter().any(|level| matches!(level.load, Load::Rate { .. }));
    if args.stop_on.contains(&Condition::Saturated) && !at_a_rate {
        return Err(UsageError::new(
            "--stop-on",
            "`saturated` only applies to levels with a rate, and there are none: a closed loop waits \
             for the server; give --rate or --sweep, or a bound such as ttft.p99>10s",
        ));
    }
    if levels.len().saturating_mul(rounds) > MOST_LEVELS {
        return Err(UsageError::new(
            "--repeat",
            format!(
                "{} levels × {rounds} exceed the limit of {MOST_LEVELS} levels; repeat fewer times",
                levels.len()
            ),
        ));
    }
    let order = match args.level_order {
        LevelOrderArg::Given => Order::Given,
        LevelOrderArg::Shuffle => Order::Shuffled(seed ^ OF_LEVELS),
    };
    let ordered = turns(levels.len(), rounds, order).into_iter().map(|Turn { level, round }| {
        let mut level = levels[level].clone();
        if rounds > 1 {
            let round = round as u32 + 1;
            level.repeat = Some(round);
            level.label = format!("{} #{round}", level.label);
        }
        level
    });
    let ordered = ordered.collect();
    let course = Course {
        cooldown_ns: each.cooldown,
        reset_cache: each.reset_cache,
        stop_on: args.stop_on.clone(),
        search,
        versus: None,
    };
    Ok((ordered, course))
}
