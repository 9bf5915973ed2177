//! Levels that are chosen during a run, and levels that stop once a metric is stable.

use super::capacity::at_least_two;
use super::data::{Nature, Sizes};
use super::needs;
use crate::args::bench::LoadArgs;
use crate::args::levels::{Concurrency, Requests};
use crate::usage::UsageError;
use dyno_model::level_schedule::{Search, Spacing, Until};
use dyno_model::plan::Arrival;
use dyno_model::units::format_duration;
use dyno_model::{Nanos, SEC, message};

/// With `--until-stable`: how well, for how long at least, and at most.
const PRECISION: f64 = 0.03;
const SHORTEST: Nanos = 10 * SEC;
pub(super) const LONGEST: Nanos = 300 * SEC;
/// Default number of requests in flight of a level that measures maximum throughput.
pub(super) const MOST_AT_ONCE: u32 = 512;

/// The search that chooses levels during the run, if there is one.
pub(super) fn search(args: &LoadArgs, sizes: &[Sizes]) -> Result<Option<Search>, UsageError> {
    let search = match (args.sweep, &args.concurrency) {
        (Some(points), _) => Search::Sweep {
            points,
            spacing: args.sweep_spacing.unwrap_or(Spacing::Bend),
            arrival: args.arrival.unwrap_or(Arrival::Poisson),
        },
        (None, Some(Concurrency::Auto)) => {
            let per_slot = match args.requests {
                Some(Requests::PerSlot(times)) => Some(times),
                _ => None,
            };
            Search::Ladder { most: args.max_concurrency.unwrap_or(MOST_AT_ONCE), per_slot }
        }
        _ => return Ok(None),
    };
    if let (Some(_), Some(most)) = (args.sweep, args.max_concurrency) {
        at_least_two(most)?;
    }
    one_length(sizes, if args.sweep.is_some() { "--sweep" } else { "--concurrency" })?;
    Ok(Some(search))
}

pub(super) fn one_length(sizes: &[Sizes], flag: &str) -> Result<(), UsageError> {
    match sizes {
        [_] => Ok(()),
        _ => Err(UsageError::new(
            flag,
            message!(
                "a search needs a single input length, output length and number of inputs; run \
                 one command for each",
                "搜索只能用一个输入长度、一个输出长度和一个输入条数；请为每种组合各运行一次"
            ),
        )),
    }
}

/// When a level is stable, if that is what ends it.
pub(super) fn until(args: &LoadArgs, nature: Nature) -> Result<Option<Until>, UsageError> {
    let Some(figure) = args.until_stable else {
        let given = [
            ("--precision", args.precision.is_some()),
            ("--min-duration", args.min_duration.is_some()),
            ("--max-duration", args.max_duration.is_some()),
        ];
        return needs(&given, "--until-stable", false).map(|()| None);
    };
    if args.burst.is_some() || matches!(nature, Nature::Trace { .. }) {
        return Err(UsageError::new(
            "--until-stable",
            message!(
                "a burst or a trace is always sent completely; remove it",
                "突发请求和流量记录总是全部发送；请去掉"
            ),
        ));
    }
    let precision = args.precision.unwrap_or(PRECISION);
    let longest = args.duration.or(args.max_duration).unwrap_or(LONGEST);
    if let Some(least) = args.min_duration.filter(|least| *least > longest) {
        return Err(UsageError::new(
            "--min-duration",
            message!(
                "{} exceeds the maximum of {} for a level; lower it, or raise --max-duration",
                "{} 超过档位的上限 {}；请降低，或提高 --max-duration",
                format_duration(least),
                format_duration(longest)
            ),
        ));
    }
    Ok(Some(Until { figure, precision, least_ns: args.min_duration.unwrap_or(SHORTEST) }))
}
