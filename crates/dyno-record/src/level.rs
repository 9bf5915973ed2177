//! The stored forms of a level's start and end and of the run's end.

use crate::agent;
use crate::fields::{
    Bad, Fields, Value, put_bytes, put_plain, put_some, take_number, unzigzag, zigzag,
};
use dyno_model::chunks::put_varint;
use dyno_model::frame::{
    ClientHealth, Ending, EngineSlip, LevelChosen, LevelEnd, LevelStart, RunEnd,
};
use dyno_model::lag::DelayHistogram;
use dyno_model::message;

pub(crate) fn ending_number(ending: Ending) -> u64 {
    match ending {
        Ending::Requests => 0,
        Ending::Duration => 1,
        Ending::Interrupted => 2,
        Ending::TargetLost => 3,
        Ending::Aborted => 4,
        Ending::Stable => 5,
        Ending::MaxFailures => 6,
        Ending::AgentLost => 7,
        Ending::BehindSchedule => 8,
    }
}

pub(crate) fn ending(value: Value) -> Result<Ending, Bad> {
    match value.number()? {
        0 => Ok(Ending::Requests),
        1 => Ok(Ending::Duration),
        2 => Ok(Ending::Interrupted),
        3 => Ok(Ending::TargetLost),
        4 => Ok(Ending::Aborted),
        5 => Ok(Ending::Stable),
        6 => Ok(Ending::MaxFailures),
        7 => Ok(Ending::AgentLost),
        8 => Ok(Ending::BehindSchedule),
        other => Err(Bad(message!("unknown ending {other}", "未知的结束方式 {other}"))),
    }
}

/// There are few levels, so their plans can be JSON.
pub(crate) fn encode_chosen(chosen: &LevelChosen, out: &mut Vec<u8>) {
    put_plain(out, 1, chosen.level.into());
    let json = serde_json::to_vec(&chosen.plan).unwrap_or_default();
    put_bytes(out, 2, &json);
}

pub(crate) fn decode_chosen(payload: &[u8]) -> Result<LevelChosen, Bad> {
    let (mut level, mut plan) = (0, None);
    for field in Fields(payload) {
        match field? {
            (1, value) => level = value.narrow()?,
            (2, value) => {
                let read = serde_json::from_slice(value.bytes()?);
                plan = Some(read.map_err(|error| {
                    Bad(message!("a level's plan: {error}", "档位的计划：{error}"))
                })?);
            }
            _ => {}
        }
    }
    let plan =
        plan.ok_or_else(|| Bad(message!("a chosen level without its plan", "选出的档位没有计划")))?;
    Ok(LevelChosen { level, plan })
}

pub(crate) fn encode_start(start: &LevelStart, out: &mut Vec<u8>) {
    put_plain(out, 1, start.level.into());
    put_plain(out, 2, start.started);
}

pub(crate) fn decode_start(payload: &[u8]) -> Result<LevelStart, Bad> {
    let mut start = LevelStart { level: 0, started: 0 };
    for field in Fields(payload) {
        match field? {
            (1, value) => start.level = value.narrow()?,
            (2, value) => start.started = value.number()?,
            _ => {}
        }
    }
    Ok(start)
}

pub(crate) fn encode_run_end(end: &RunEnd, out: &mut Vec<u8>) {
    put_plain(out, 1, end.ended);
    put_plain(out, 2, ending_number(end.ending));
}

pub(crate) fn decode_run_end(payload: &[u8]) -> Result<RunEnd, Bad> {
    let mut end = RunEnd { ended: 0, ending: Ending::Requests };
    for field in Fields(payload) {
        match field? {
            (1, value) => end.ended = value.number()?,
            (2, value) => end.ending = ending(value)?,
            _ => {}
        }
    }
    Ok(end)
}

pub(crate) fn encode_end(end: &LevelEnd, out: &mut Vec<u8>) {
    put_plain(out, 1, end.level.into());
    put_plain(out, 2, ending_number(end.ending));
    put_plain(out, 3, end.ended);
    put_plain(out, 4, end.sending_stopped);
    put_some(out, 5, end.starved);
    put_some(out, 6, end.planned);
    put_plain(out, 7, end.issued);
    put_plain(out, 8, end.warmup);
    let mut scratch = Vec::new();
    encode_client(&end.client, &mut scratch);
    put_bytes(out, 9, &scratch);
    if let Some(slip) = &end.slip {
        scratch.clear();
        encode_slip(slip, &mut scratch);
        put_bytes(out, 10, &scratch);
    }
    for agent in &end.agents {
        scratch.clear();
        agent::encode(agent, &mut scratch);
        put_bytes(out, 11, &scratch);
    }
}

pub(crate) fn decode_end(payload: &[u8]) -> Result<LevelEnd, Bad> {
    let mut end = LevelEnd::at(0, Ending::Requests, 0);
    for field in Fields(payload) {
        match field? {
            (1, value) => end.level = value.narrow()?,
            (2, value) => end.ending = ending(value)?,
            (3, value) => end.ended = value.number()?,
            (4, value) => end.sending_stopped = value.number()?,
            (5, value) => end.starved = Some(value.number()?),
            (6, value) => end.planned = Some(value.number()?),
            (7, value) => end.issued = value.number()?,
            (8, value) => end.warmup = value.number()?,
            (9, value) => end.client = decode_client(value.bytes()?)?,
            (10, value) => end.slip = Some(decode_slip(value.bytes()?)?),
            (11, value) => end.agents.push(agent::decode(value.bytes()?)?),
            _ => {}
        }
    }
    Ok(end)
}

pub(crate) fn encode_client(client: &ClientHealth, out: &mut Vec<u8>) {
    let mut scratch = Vec::new();
    encode_lag(&client.read_lag, &mut scratch);
    put_bytes(out, 1, &scratch);
    scratch.clear();
    encode_lag(&client.timer_lag, &mut scratch);
    put_bytes(out, 2, &scratch);
    put_plain(out, 3, client.cpu_ns);
    put_plain(out, 4, client.wall_ns);
    put_plain(out, 5, client.out_of_files);
    put_plain(out, 6, client.out_of_ports);
    put_plain(out, 7, zigzag(client.clock_step_ns));
    scratch.clear();
    encode_lag(&client.read_delay, &mut scratch);
    put_bytes(out, 8, &scratch);
    put_plain(out, 9, client.missed_ticks);
    put_plain(out, 10, client.unstamped_reads);
    put_plain(out, 11, client.blind_ns);
    put_plain(out, 12, client.longest_stall_ns);
    put_plain(out, 13, client.awaited_prompts_ns);
    put_plain(out, 14, client.awaited_records_ns);
    put_plain(out, 15, client.paused_ns);
    put_plain(out, 16, client.pauses);
    put_plain(out, 17, client.behind_ns);
    put_plain(out, 18, client.unasked);
    put_plain(out, 19, client.skipped_idle_ns);
}

pub(crate) fn decode_client(payload: &[u8]) -> Result<ClientHealth, Bad> {
    let mut client = ClientHealth::default();
    for field in Fields(payload) {
        match field? {
            (1, value) => client.read_lag = decode_lag(value.bytes()?)?,
            (2, value) => client.timer_lag = decode_lag(value.bytes()?)?,
            (3, value) => client.cpu_ns = value.number()?,
            (4, value) => client.wall_ns = value.number()?,
            (5, value) => client.out_of_files = value.number()?,
            (6, value) => client.out_of_ports = value.number()?,
            (7, value) => client.clock_step_ns = unzigzag(value.number()?),
            (8, value) => client.read_delay = decode_lag(value.bytes()?)?,
            (9, value) => client.missed_ticks = value.number()?,
            (10, value) => client.unstamped_reads = value.number()?,
            (11, value) => client.blind_ns = value.number()?,
            (12, value) => client.longest_stall_ns = value.number()?,
            (13, value) => client.awaited_prompts_ns = value.number()?,
            (14, value) => client.awaited_records_ns = value.number()?,
            (15, value) => client.paused_ns = value.number()?,
            (16, value) => client.pauses = value.number()?,
            (17, value) => client.behind_ns = value.number()?,
            (18, value) => client.unasked = value.number()?,
            (19, value) => client.skipped_idle_ns = value.number()?,
            _ => {}
        }
    }
    Ok(client)
}

fn encode_slip(slip: &EngineSlip, out: &mut Vec<u8>) {
    put_plain(out, 1, slip.count);
    put_plain(out, 2, slip.p50_ns);
    put_plain(out, 3, slip.p99_ns);
    put_plain(out, 4, slip.max_ns);
    put_some(out, 5, slip.mean_ns);
}

fn decode_slip(payload: &[u8]) -> Result<EngineSlip, Bad> {
    let mut slip = EngineSlip { count: 0, mean_ns: None, p50_ns: 0, p99_ns: 0, max_ns: 0 };
    for field in Fields(payload) {
        match field? {
            (1, value) => slip.count = value.number()?,
            (2, value) => slip.p50_ns = value.number()?,
            (3, value) => slip.p99_ns = value.number()?,
            (4, value) => slip.max_ns = value.number()?,
            (5, value) => slip.mean_ns = Some(value.number()?),
            _ => {}
        }
    }
    Ok(slip)
}

/// The maximum, then each non-empty bucket as its distance from the one before and its count;
/// nothing at all for an empty histogram.
fn encode_lag(lag: &DelayHistogram, out: &mut Vec<u8>) {
    let Some(max) = lag.max() else { return };
    put_varint(out, max);
    let mut before = 0;
    for (index, count) in lag.sparse() {
        put_varint(out, (index - before) as u64);
        put_varint(out, count);
        before = index;
    }
}

fn decode_lag(mut input: &[u8]) -> Result<DelayHistogram, Bad> {
    if input.is_empty() {
        return Ok(DelayHistogram::default());
    }
    let max = take_number(&mut input)?;
    let mut buckets = Vec::new();
    let mut index = 0_usize;
    while !input.is_empty() {
        let step = take_number(&mut input)?;
        index = usize::try_from(step).ok().and_then(|step| index.checked_add(step)).ok_or_else(
            || Bad(message!("a histogram bucket that does not exist", "直方图的区间不存在")),
        )?;
        buckets.push((index, take_number(&mut input)?));
    }
    let lag = DelayHistogram::from_sparse(buckets, max)
        .ok_or_else(|| Bad(message!("a histogram that does not add up", "直方图的合计不符")))?;
    // An empty histogram has no maximum, whatever was stored with it.
    Ok(if lag.count() == 0 { DelayHistogram::default() } else { lag })
}
