//! The plan and the frames that Dyno would have written for another tool's requests.

use super::{RunHead, StatedLevel, sample};
use dyno_analysis::VecSource;
use dyno_model::frame::{ClientHealth, Ending, Frame, LevelEnd, LevelStart, RunEnd, RunHeader};
use dyno_model::load::LoadKind;
use dyno_model::plan::{
    Arrival, DataPlan, LengthSpec, LevelPlan, Load, Plan, RequestPlan, Target, Timeouts,
    UsageWanted,
};
use dyno_model::record::RequestRecord;

/// A plan that is sufficient for the computation.
pub(crate) fn plan(head: &RunHead, found: &[StatedLevel]) -> Plan {
    // A plan without a URL would mean the embedded engine.
    let url = head.target.as_deref().unwrap_or("unknown");
    let plan = Plan::new(Target::at(url));
    let never = u64::MAX;
    Plan {
        levels: found.iter().map(level_plan).collect(),
        data: DataPlan { spec: Some("imported".to_owned()), ..DataPlan::default() },
        request: RequestPlan {
            model: head.model.clone(),
            usage: UsageWanted::Final,
            ..plan.request
        },
        timeouts: Timeouts {
            connect_ns: never,
            total_ns: never,
            first_token_ns: never,
            idle_ns: never,
        },
        allow_failures: 1.0,
        label: head.label.clone(),
        ..plan
    }
}

fn level_plan(found: &StatedLevel) -> LevelPlan {
    let stated = &found.stated;
    let requests = found.requests().map_or(0, |samples| samples.len() as u64);
    let length = |asked: Option<u32>| match asked {
        Some(tokens) => LengthSpec::fixed(tokens),
        None => LengthSpec("unknown".to_owned()),
    };
    LevelPlan {
        label: stated.label.clone(),
        requests: Some(requests),
        drain_ns: 0,
        input_tokens: length(stated.input_length),
        output_tokens: length(stated.output_length),
        ..LevelPlan::new(load(found, requests))
    }
}

/// The load for the computation. An unknown one is treated as a burst, which has no steady window and no
/// intervals.
fn load(found: &StatedLevel, requests: u64) -> Load {
    let stated = &found.stated.load;
    let value = stated.value.filter(|value| value.is_finite() && *value > 0.0);
    match (stated.kind, value) {
        (LoadKind::Concurrency, Some(slots)) if slots < 1e6 => {
            Load::Concurrency { concurrency: slots as u32 }
        }
        (LoadKind::Rate, Some(rate)) => {
            Load::Rate { rate, arrival: found.arrival.unwrap_or(Arrival::Constant) }
        }
        (LoadKind::Trace, _) => Load::Trace { speed: value.unwrap_or(1.0) },
        _ => Load::Burst { requests },
    }
}

/// The frames of the levels whose requests are known.
pub(crate) fn source(id: &str, plan: &Plan, found: &[StatedLevel]) -> VecSource {
    let anchor = found
        .iter()
        .filter_map(StatedLevel::requests)
        .filter_map(sample::earliest)
        .reduce(f64::min);
    let zero = anchor.unwrap_or(0.0);
    let mut frames = Vec::new();
    let mut last = 0;
    for (index, found) in (0..).zip(found) {
        let Some(samples) = found.requests() else { continue };
        let slots = match found.stated.load.kind {
            LoadKind::Concurrency => found.stated.load.value.unwrap_or(1.0) as u32,
            _ => 1,
        };
        let records = sample::records(index, samples, zero, slots);
        let end = level_end(index, &records);
        let begun = records.iter().map(|record| record.intended).min().unwrap_or(0);
        last = last.max(end.ended);
        frames.push(Frame::LevelStart(LevelStart { level: index, started: begun }));
        frames.extend(records.into_iter().map(|record| Frame::Request(Box::new(record))));
        frames.push(Frame::LevelEnd(Box::new(end)));
    }
    frames.push(Frame::RunEnd(RunEnd { ended: last, ending: Ending::Requests }));
    VecSource {
        header: RunHeader {
            format: 1,
            run_id: id.to_owned(),
            shard: 0,
            shards: 1,
            anchor_unix_ns: anchor.map_or(0, sample::wall_clock),
            plan_hash: plan.hash(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        },
        frames,
        damaged: None,
    }
}

fn level_end(level: u32, records: &[RequestRecord]) -> LevelEnd {
    let measured = |record: &&RequestRecord| record.phase.is_measured();
    let issued = records.iter().filter(measured).count() as u64;
    let stopped = records.iter().filter_map(|record| record.sent).max().unwrap_or(0);
    let after = records.iter().map(|record| record.end).filter(|end| *end >= stopped);
    LevelEnd {
        level,
        ending: Ending::Requests,
        ended: records.iter().map(|record| record.end).max().unwrap_or(0),
        sending_stopped: stopped,
        starved: after.min(),
        planned: Some(issued),
        issued,
        warmup: records.len() as u64 - issued,
        client: ClientHealth::default(),
        slip: None,
        agents: Vec::new(),
    }
}
