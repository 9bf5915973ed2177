//! The range of a capacity search, and how long each level has to be.

use super::data::Nature;
use crate::args::capacity::CapacitySearch;
use crate::usage::UsageError;
use dyno_analysis::search::{first_load, in_a_closed_loop, lasting};
use dyno_analysis::slo::requests_needed;
use dyno_model::level_schedule::{Over, Range, Search};
use dyno_model::plan::Load;
use dyno_model::slo::Slo;
use dyno_model::{Message, SEC, message};

/// The default length of a level.
const USUAL: u64 = 60 * SEC;
/// The same where the load is trees of sessions: they start in the middle if time ends the level, and all at their
/// beginning, at the same moment, if a number of requests does. They wait for minutes between requests.
const OF_TREES: u64 = 600 * SEC;
/// The usual length for a rough answer, with the most levels and the width of its interval.
const QUICK: u64 = 10 * SEC;
const QUICK_LEVELS: u32 = 6;
const QUICK_WIDTH: f64 = 0.25;

/// The search, its first load, and the requests and time of each level.
pub(super) struct Looking {
    pub(super) search: Search,
    pub(super) first: Load,
    pub(super) requests: Option<u64>,
    pub(super) duration: Option<u64>,
}

pub(super) fn looking(
    args: &CapacitySearch,
    slo: Option<&Slo>,
    nature: Nature,
) -> Result<Looking, UsageError> {
    let slo = slo.ok_or_else(|| {
        UsageError::new("--slo", message!("a capacity needs an SLO", "求容量需要指定 SLO"))
            .hint(Message::quoted("--slo 'ttft.p99<500ms and errors<1%'"))
    })?;
    let needed = requests_needed(slo);
    if let Some(requests) = args.requests.filter(|requests| *requests < needed) {
        return Err(UsageError::new(
            "--requests",
            message!(
                "{requests} requests per level are too few for `{slo}`, whose percentiles need \
                 {needed}",
                "每个档位 {requests} 个请求对 `{slo}` 过少，其分位数需要 {needed} 个"
            ),
        )
        .hint(message!(
            "remove it, and each level gets as many as it needs",
            "请去掉，每个档位会自动使用所需的请求数"
        )));
    }
    let over = args.over;
    let search = Search::Capacity {
        over,
        range: args.between.or(args.near).unwrap_or(Range::Unknown),
        levels: if args.quick { args.levels.min(QUICK_LEVELS) } else { args.levels },
        width: if args.quick { args.width.max(QUICK_WIDTH) } else { args.width },
        arrival: args.arrival,
        least_requests: needed,
        quick: args.quick,
    };
    check_cap(args, over)?;
    let first = first_load(&search, args.max_concurrency);
    let (requests, duration) = match (args.requests, args.duration, over) {
        (Some(requests), _, _) => (Some(requests), None),
        (None, Some(time), _) => (None, Some(time)),
        (None, None, Over::Rate) => (None, Some(if args.quick { QUICK } else { USUAL })),
        (None, None, Over::Concurrency) if matches!(nature, Nature::Trees { .. }) => {
            (None, Some(if args.quick { USUAL } else { OF_TREES }))
        }
        (None, None, Over::Concurrency) => (Some(in_a_closed_loop(needed, &first)), None),
    };
    let duration = duration.map(|time| lasting(time, needed, &first));
    Ok(Looking { search, first, requests, duration })
}

/// A cap has to leave something to search.
fn check_cap(args: &CapacitySearch, over: Over) -> Result<(), UsageError> {
    let Some(most) = args.max_concurrency else { return Ok(()) };
    let wrong = |what: Message| Err(UsageError::new("--max-concurrency", what));
    match (over, args.between) {
        (Over::Rate, None) if args.near.is_none() => at_least_two(most),
        (Over::Concurrency, Some(Range::Between([low, _]))) if f64::from(most) < low => {
            wrong(message!(
                "{most} is below --between {low}, so no load could be tried; raise it",
                "{most} 低于 --between {low}，没有可测试的负载；请提高"
            ))
        }
        _ => Ok(()),
    }
}

/// The server is filled to see how much it does at most, which one request at a time does not.
pub(super) fn at_least_two(most: u32) -> Result<(), UsageError> {
    match most {
        1 => Err(UsageError::new(
            "--max-concurrency",
            message!(
                "one request in flight cannot fill a server; write 2 or more",
                "并发数为 1 无法占满服务器；请写 2 或更大"
            ),
        )),
        _ => Ok(()),
    }
}
