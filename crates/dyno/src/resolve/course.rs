//! The order of levels: repeated, shuffled, with what happens in between.

use crate::args::course::{CourseArgs, LevelOrderArg};
use crate::args::plan::EachLevelArgs;
use crate::usage::UsageError;
use dyno_model::level_schedule::{LevelSchedule, Search};
use dyno_model::limits::MOST_LEVELS;
use dyno_model::message;
use dyno_model::plan::{LevelPlan, Load};
use dyno_model::slo::Condition;
use dyno_search::grid::{GridOrder, turns};

/// Makes the order of levels independent of everything else that the seed decides.
const OF_LEVELS: u64 = 0x6c65_7665_6c73;

/// The levels in the order in which they run, and what happens between them.
pub(super) fn course(
    args: &CourseArgs,
    each: &EachLevelArgs,
    (levels, search): (Vec<LevelPlan>, Option<Search>),
    seed: u64,
) -> Result<(Vec<LevelPlan>, LevelSchedule), UsageError> {
    let rounds = args.repeat.unwrap_or(1) as usize;
    if search.is_some() && (rounds > 1 || args.level_order == LevelOrderArg::Shuffle) {
        let flag = if rounds > 1 { "--repeat" } else { "--level-order" };
        return Err(UsageError::new(
            flag,
            message!(
                "the search determines the order of levels; remove it, or list the levels",
                "档位的顺序由搜索决定；请去掉，或列出档位"
            ),
        ));
    }
    let at_a_rate = matches!(search, Some(Search::Sweep { .. }))
        || levels.iter().any(|level| matches!(level.load, Load::Rate { .. }));
    if args.stop_on.contains(&Condition::Saturated) && !at_a_rate {
        return Err(UsageError::new(
            "--stop-on",
            message!(
                "`saturated` only applies to levels with a rate, and there are none: a closed \
                 loop waits for the server; give --rate or --sweep, or a bound such as \
                 ttft.p99>10s",
                "`saturated` 只适用于按请求速率运行的档位，而这里没有：闭环会等待服务器；请加 \
                 --rate 或 --sweep，或写一个界限，例如 ttft.p99>10s"
            ),
        ));
    }
    if levels.len().saturating_mul(rounds) > MOST_LEVELS {
        return Err(UsageError::new(
            "--repeat",
            message!(
                "{} levels × {rounds} exceed the limit of {MOST_LEVELS} levels; repeat fewer times",
                "{} 个档位 × {rounds} 超过 {MOST_LEVELS} 个档位的上限；请减少重复次数",
                levels.len()
            ),
        ));
    }
    let order = match args.level_order {
        LevelOrderArg::Given => GridOrder::Given,
        LevelOrderArg::Shuffle => GridOrder::Shuffled(seed ^ OF_LEVELS),
    };
    let ordered = turns(levels.len(), rounds, order).into_iter().map(|(level, round)| {
        let mut level = levels[level].clone();
        if rounds > 1 {
            let round = round as u32 + 1;
            level.repeat = Some(round);
            level.label = format!("{} #{round}", level.label);
        }
        level
    });
    let ordered = ordered.collect();
    let course = LevelSchedule {
        cooldown_ns: each.cooldown,
        reset_cache: each.reset_cache,
        stop_on: args.stop_on.clone(),
        search,
        versus: None,
    };
    Ok((ordered, course))
}
