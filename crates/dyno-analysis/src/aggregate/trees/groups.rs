//! Completed requests in groups: by turn, by context length, of roots and sub-agents, and by how much was cached.

use crate::aggregate::distributions::describe;
use crate::aggregate::request_times::request_times;
use crate::aggregate::tokens::TokenSum;
use dyno_model::metric::Time;
use dyno_model::record::RequestRecord;
use dyno_model::summary::{GroupedBy, RequestGroup};
use dyno_stats::Counted;
use std::collections::BTreeMap;

/// The groups of requests, by what they are grouped by and where each begins.
#[derive(Debug, Default)]
pub(super) struct Groups(BTreeMap<(GroupedBy, u64), Group>);

#[derive(Debug, Default)]
struct Group {
    requests: u64,
    input: TokenSum,
    ttft: Vec<u64>,
    tpot: Vec<u64>,
    latency: Vec<u64>,
}

/// The number that a request is grouped by; nothing where it is not known.
fn number(by: GroupedBy, record: &RequestRecord) -> Option<u64> {
    match by {
        GroupedBy::Turn => record.turn.map(|turn| turn.number.into()),
        GroupedBy::Context => record.input.map(|input| input.tokens),
        GroupedBy::Session => record.turn.map(|turn| turn.session),
        GroupedBy::Cached => {
            let input = record.input.filter(|input| input.tokens > 0)?;
            let percent = u128::from(record.cached?) * 100 / u128::from(input.tokens);
            u64::try_from(percent).ok()
        }
    }
}

impl Groups {
    /// Counts a completed request in one group of each kind.
    pub(super) fn add(&mut self, record: &RequestRecord) {
        let times = request_times(record);
        for by in GroupedBy::ALL {
            let known = number(by, record);
            let begins =
                |number: u64| by.bounds().iter().copied().rev().find(|from| *from <= number);
            let Some(from) = known.and_then(begins) else { continue };
            let group = self.0.entry((by, from)).or_default();
            group.requests += 1;
            group.input.add(record.input);
            group.ttft.extend(times[Time::Ttft]);
            group.tpot.extend(times[Time::Tpot]);
            group.latency.extend(times[Time::Latency]);
        }
    }

    pub(super) fn summary(&self) -> Vec<RequestGroup> {
        let spread = |samples: &Vec<u64>| describe(&Counted::from_samples(samples.clone()));
        let group = |((by, from), group): (&(GroupedBy, u64), &Group)| RequestGroup {
            by: *by,
            from: *from,
            below: by.bounds().iter().copied().find(|bound| bound > from),
            requests: group.requests,
            input_tokens: group.input.tokens(),
            ttft: spread(&group.ttft),
            tpot: spread(&group.tpot),
            latency: spread(&group.latency),
        };
        self.0.iter().map(group).collect()
    }
}
