//! Levels of several load generators, put together by hand.

use crate::runs::*;
use dyno_model::MS;
use dyno_model::Summary;
use dyno_model::fleet::{AgentEnd, ClockFit};
use dyno_model::frame::{ClientHealth, Ending};
use dyno_model::plan::Plan;
use dyno_model::record::RequestRecord;

/// The healthy end of an agent's part, of which these are the records.
pub fn agent_end(agent: u32, records: &[RequestRecord]) -> AgentEnd {
    let own: Vec<RequestRecord> =
        records.iter().filter(|record| record.agent == Some(agent)).cloned().collect();
    let end = level_end(0, &own);
    AgentEnd {
        clock: Some(ClockFit {
            offset_ns: 1_000_000_000_000 + i64::from(agent),
            bound_ns: 80_000,
            drift_ppb: 12_000,
            at: 0,
            round_trip_ns: 160_000,
            ..ClockFit::default()
        }),
        start_error_ns: Some(40_000),
        ending: Some(end.ending),
        sending_stopped: Some(end.sending_stopped),
        planned: end.planned,
        issued: end.issued,
        warmup: end.warmup,
        beats: 6,
        longest_silence_ns: 1_002 * MS,
        client: end.client,
        ..AgentEnd::new(agent, &format!("local-{agent}"), "gpu-client")
    }
}

/// Gives slot i to agent i mod `agents`.
pub fn shared(mut records: Vec<RequestRecord>, agents: u32) -> Vec<RequestRecord> {
    records.iter_mut().for_each(|record| record.agent = Some(record.slot % agents));
    records
}

/// The healthy closed loop of [`closed`], sent by so many agents.
pub fn fleet(agents: u32, slots: u32, waves: u64) -> (Plan, Vec<RequestRecord>, Vec<AgentEnd>) {
    let (plan, records) = closed(slots, waves);
    let records = shared(records, agents);
    let ends = (0..agents).map(|agent| agent_end(agent, &records)).collect();
    (plan, records, ends)
}

/// The summary of a level that these agents ran.
pub fn fleet_summary(plan: &Plan, records: Vec<RequestRecord>, agents: Vec<AgentEnd>) -> Summary {
    let waves = records.len() as u64 / records.iter().map(|r| u64::from(r.slot) + 1).max().unwrap();
    let lost = agents.iter().any(|agent| agent.lost.is_some());
    summary_with(plan, records, |end| {
        end.starved = Some(starved(waves));
        end.client = ClientHealth::default();
        end.ending = if lost { Ending::AgentLost } else { end.ending };
        end.agents = agents;
    })
}
