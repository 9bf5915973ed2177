//! Where a capacity is searched, and how long each level must be.

use crate::args::capacity::CapacitySearch;
use crate::usage::UsageError;
use dyno_analysis::search::{first_load, in_a_closed_loop, lasting};
use dyno_analysis::slo::requests_needed;
use dyno_model::SEC;
use dyno_model::course::{Over, Range, Search};
use dyno_model::plan::Load;
use dyno_model::slo::Slo;

/// The default length of a level.
const USUAL: u64 = 60 * SEC;

/// The search, its first load, and the requests and time of each level.
pub(super) struct Looking {
    pub(super) search: Search,
    pub(super) first: Load,
    pub(super) requests: Option<u64>,
    pub(super) duration: Option<u64>,
}

pub(super) fn looking(args: &CapacitySearch, slo: &Slo) -> Result<Looking, UsageError> {
    let needed = requests_needed(slo);
    if let Some(requests) = args.requests.filter(|requests| *requests < needed) {
        return Err(UsageError::new(
            "--requests",
            format!(
                "{requests} requests per level are too few for `{slo}`, whose percentiles need {needed}"
            ),
        )
        .hint("remove it, and each level gets as many as it needs"));
    }
    let over = Over::from(args.over);
    let search = Search::Capacity {
        over,
        range: args.between.or(args.near).unwrap_or(Range::Unknown),
        levels: args.levels,
        width: args.width,
        arrival: args.arrival,
        least_requests: needed,
    };
    let first = first_load(&search);
    let (requests, duration) = match (args.requests, args.duration, over) {
        (Some(requests), _, _) => (Some(requests), None),
        (None, Some(time), _) => (None, Some(time)),
        (None, None, Over::Rate) => (None, Some(USUAL)),
        (None, None, Over::Concurrency) => (Some(in_a_closed_loop(needed, &first)), None),
    };
    let duration = duration.map(|time| lasting(time, needed, &first));
    Ok(Looking { search, first, requests, duration })
}
