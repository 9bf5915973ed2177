//! Metrics that only some layouts have, by the definitions of the tools that the layouts imitate. They
//! are not part of a summary, and are gathered from the records where needed.

use crate::aggregate::{for_each_record, level_plans, request_times};
use crate::source::FrameSource;
use dyno_model::metric::Time;
use dyno_model::plan::{LevelPlan, Load, Plan};
use dyno_model::record::RequestRecord;
use dyno_model::summary::{Burstiness, Extras, LevelExtras, tidy};
use std::collections::BTreeMap;

const NS_PER_MS: f64 = 1e6;
const US_PER_SECOND: u64 = 1_000_000;

/// Gathers them from the records of a run.
pub fn extras(plan: &Plan, source: &dyn FrameSource) -> Extras {
    let mut starts: BTreeMap<u32, u64> = BTreeMap::new();
    for_each_counted(source, |record, sent| {
        let start = starts.entry(record.level).or_insert(sent);
        *start = sent.min(*start);
    });
    let mut gathered: BTreeMap<u32, Gathering> = BTreeMap::new();
    for_each_counted(source, |record, sent| {
        let start = starts.get(&record.level).copied().unwrap_or(sent);
        gathered.entry(record.level).or_default().add(record, start);
    });
    let plans = level_plans(plan, source);
    let levels = plans.iter().map(|(level, plan)| {
        let found = gathered.remove(level).unwrap_or_default();
        (*level, found.finish(plan))
    });
    Extras(levels.collect())
}

/// Completed, measured requests, with the time at which they were sent, in microseconds.
fn for_each_counted(source: &dyn FrameSource, mut take: impl FnMut(&RequestRecord, u64)) {
    for_each_record(source, |record| {
        if let Some(sent) = record.sent
            && record.is_completed()
            && record.phase.is_measured()
        {
            take(record, sent / 1_000);
        }
    });
}

/// The metrics of one level while records are read.
#[derive(Debug, Default)]
struct Gathering {
    /// Output events by the second in which they arrived.
    events: BTreeMap<u64, u64>,
    /// The change of the number of requests in flight from the previous second.
    changes: BTreeMap<u64, i64>,
    per_token: Mean,
    per_output_token: Mean,
}

impl Gathering {
    fn add(&mut self, record: &RequestRecord, start_us: u64) {
        let second = |at_us: u64| at_us.saturating_sub(start_us) / US_PER_SECOND;
        if record.streamed {
            for chunk in record.chunks.iter() {
                *self.events.entry(second(chunk.at_us)).or_default() += 1;
            }
        }
        let last = record.last.unwrap_or(record.end);
        if let Some(sent) = record.sent {
            *self.changes.entry(second(sent / 1_000)).or_default() += 1;
            *self.changes.entry(second(last / 1_000) + 1).or_default() -= 1;
        }
        let tokens =
            |count: Option<dyno_model::record::TokenCount>| count.map(|count| count.tokens);
        let (input, output) = (tokens(record.input), tokens(record.output));
        let latency = request_times(record)[Time::Latency].map(|ns| ns as f64 / NS_PER_MS);
        self.per_token.add(latency, input.zip(output).map(|(input, output)| input + output));
        self.per_output_token.add(latency, output);
    }

    fn finish(self, plan: &LevelPlan) -> LevelExtras {
        let mut in_flight = 0;
        let mut most = None;
        for change in self.changes.values() {
            in_flight += change;
            most = most.max(Some(in_flight));
        }
        LevelExtras {
            peak_output_per_s: self.events.values().copied().max(),
            peak_requests: most.and_then(|most| u64::try_from(most).ok()),
            burstiness: burstiness(&plan.load),
            latency_per_token_ms: self.per_token.finish(),
            latency_per_output_token_ms: self.per_output_token.finish(),
        }
    }
}

fn burstiness(load: &Load) -> Option<Burstiness> {
    let (Load::Rate { arrival, .. } | Load::Ramp { arrival, .. }) = load else { return None };
    Some(arrival.burstiness())
}

/// The mean of times divided by tokens; absent where any of them is unknown.
#[derive(Debug, Default)]
struct Mean {
    sum: f64,
    count: u64,
    unknown: bool,
}

impl Mean {
    fn add(&mut self, millis: Option<f64>, tokens: Option<u64>) {
        match (millis, tokens) {
            (Some(millis), Some(tokens)) if tokens > 0 => {
                self.sum += millis / tokens as f64;
                self.count += 1;
            }
            _ => self.unknown = true,
        }
    }

    fn finish(self) -> Option<f64> {
        if self.unknown { None } else { tidy(self.sum / self.count as f64) }
    }
}
