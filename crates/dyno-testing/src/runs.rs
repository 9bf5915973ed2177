//! Runs put together by hand.

use dyno_analysis::{VecSource, summarise};
use dyno_model::frame::{ClientHealth, Ending, Frame, LevelEnd, LevelStart, RunEnd, RunHeader};
use dyno_model::lag::DelayHistogram;
use dyno_model::outcome::{FailureClass, Outcome};
use dyno_model::plan::{LengthSpec, LevelPlan, Load, Plan, Target, UsageWanted};
use dyno_model::record::{Phase, RequestRecord, TokenCount, TokenSource, TurnOfSession, Widths};
use dyno_model::{MS, Message, SEC, Summary};

/// A level of 100 tokens in and 5 out.
pub fn level_plan(label: &str, load: Load, requests: Option<u64>) -> LevelPlan {
    LevelPlan {
        label: label.to_owned(),
        requests,
        input_tokens: LengthSpec::fixed(100),
        output_tokens: LengthSpec::fixed(5),
        ..LevelPlan::new(load)
    }
}

/// A plan of these levels.
pub fn plan(levels: Vec<LevelPlan>) -> Plan {
    let mut plan = Plan { levels, seed: 42, ..Plan::new(Target::at("http://gpu-7:8000/v1")) };
    (plan.request.model, plan.request.usage) = (Some("small".to_owned()), UsageWanted::Final);
    plan
}

/// So many tokens, as the server counted them.
pub fn usage(tokens: u64) -> Option<TokenCount> {
    Some(TokenCount { tokens, source: TokenSource::Usage })
}

/// A completed stream of one token a chunk: times in milliseconds.
pub fn stream(index: u64, slot: u32, sent: u64, ttft: u64, itl: u64, tokens: u64) -> RequestRecord {
    let mut r = RequestRecord::new(0, index, slot, Phase::Measured, sent * MS);
    r.widths = Some(Widths::default());
    r.outcome = Outcome::Completed;
    r.dispatched = Some(sent * MS);
    r.connected = Some(sent * MS);
    r.reused = true;
    r.sent = Some(sent * MS);
    r.headers = Some((sent + ttft) * MS);
    for i in 0..tokens {
        r.chunks.push((sent + ttft + i * itl) * MS, false, 1);
    }
    let last = (sent + ttft + (tokens - 1) * itl) * MS;
    r.first = Some((sent + ttft) * MS);
    r.last = Some(last);
    r.end = last;
    r.streamed = true;
    r.terminal = true;
    r.input = usage(100);
    r.requested_input = Some(100);
    r.output = usage(tokens);
    r.requested_output = Some(tokens as u32);
    r.status = Some(200);
    r.finish_reason = Some("length".to_owned());
    r
}

/// A request that failed, with its times in milliseconds.
pub fn failure(
    index: u64,
    slot: u32,
    sent: u64,
    end: u64,
    class: FailureClass,
    words: &str,
) -> RequestRecord {
    let mut r = RequestRecord::new(0, index, slot, Phase::Measured, sent * MS);
    r.widths = Some(Widths::default());
    r.outcome = Outcome::Failed(class);
    r.dispatched = Some(sent * MS);
    r.connected = Some(sent * MS);
    r.reused = true;
    r.sent = Some(sent * MS);
    r.end = end * MS;
    r.detail = Some(Message::quoted(words));
    r
}

/// A hundred delays of this length.
pub fn lags(ns: u64) -> DelayHistogram {
    let mut lags = DelayHistogram::default();
    (0..100).for_each(|_| lags.record(ns));
    lags
}

/// A healthy end of a level that sent all of `records`.
pub fn level_end(level: u32, records: &[RequestRecord]) -> LevelEnd {
    let measured = records.iter().filter(|r| r.phase.is_measured());
    let ended = records.iter().map(|r| r.end).max().unwrap_or(0);
    let issued = measured.clone().count() as u64;
    LevelEnd {
        sending_stopped: measured.filter_map(|r| r.sent).max().unwrap_or(0),
        planned: Some(issued),
        issued,
        warmup: records.len() as u64 - issued,
        client: ClientHealth {
            read_delay: lags(20_000),
            timer_lag: lags(60_000),
            cpu_ns: SEC / 10,
            wall_ns: SEC,
            ..ClientHealth::default()
        },
        ..LevelEnd::at(level, Ending::Requests, ended)
    }
}

/// The records of a run of this plan.
pub fn source(plan: &Plan, frames: Vec<Frame>) -> VecSource {
    let header = RunHeader {
        format: 1,
        run_id: "20260301-000000-1a2b".to_owned(),
        shard: 0,
        shards: 1,
        anchor_unix_ns: 1_772_323_200 * SEC,
        plan_hash: plan.hash(),
        version: "0.1.0".to_owned(),
    };
    VecSource { header, frames, damaged: None }
}

/// The frames of one level and its end.
pub fn frames(records: Vec<RequestRecord>, end: Option<LevelEnd>) -> Vec<Frame> {
    let start = Frame::LevelStart(LevelStart { level: 0, started: 0 });
    let mut all = vec![start];
    all.extend(records.into_iter().map(|r| Frame::Request(Box::new(r))));
    if let Some(end) = end {
        let ending = end.ending;
        let ended = end.ended;
        all.push(Frame::LevelEnd(Box::new(end)));
        all.push(Frame::RunEnd(RunEnd { ended, ending }));
    }
    all
}

/// One level of these records with a healthy end.
pub fn source_of(plan: &Plan, records: Vec<RequestRecord>) -> VecSource {
    let end = level_end(0, &records);
    source(plan, frames(records, Some(end)))
}

/// Its summary.
pub fn summary_of(plan: &Plan, records: Vec<RequestRecord>) -> Summary {
    summarise(plan, None, &source_of(plan, records))
}

/// The same with an end of one's own making.
pub fn summary_with(
    plan: &Plan,
    records: Vec<RequestRecord>,
    change: impl FnOnce(&mut LevelEnd),
) -> Summary {
    let mut end = level_end(0, &records);
    change(&mut end);
    summarise(plan, None, &source(plan, frames(records, Some(end))))
}

/// The plan of a burst.
pub fn burst_plan(requests: u64) -> Plan {
    plan(vec![level_plan("burst", Load::Burst { requests }, None)])
}

/// A closed loop of `slots` slots and `waves` waves: 100 ms to the first of five tokens, 20 ms
/// between them, 1 ms between requests; slots start 2 ms apart.
pub fn closed(slots: u32, waves: u64) -> (Plan, Vec<RequestRecord>) {
    let load = Load::Concurrency { concurrency: slots };
    let requests = u64::from(slots) * waves;
    let plan = plan(vec![level_plan(&format!("c={slots}"), load, Some(requests))]);
    let mut records = Vec::new();
    for wave in 0..waves {
        for slot in 0..slots {
            let sent = u64::from(slot) * 2 + wave * 181;
            let index = wave * u64::from(slots) + u64::from(slot);
            let mut r = stream(index, slot, sent, 100, 20, 5);
            r.intended = if wave == 0 { 0 } else { r.intended - MS };
            r.dispatched = Some(r.intended);
            if wave == 0 {
                r.dispatched = Some(0);
            }
            records.push(r);
        }
    }
    (plan, records)
}

/// The same request as a turn of a conversation.
pub fn turn(record: RequestRecord, session: u64, number: u32) -> RequestRecord {
    RequestRecord { turn: Some(TurnOfSession { session, number }), ..record }
}

/// A closed loop of users who send a turn every second, three to a conversation: 300 ms to the
/// first of five tokens in a first turn, 100 ms in later ones, 20 ms between them; users start
/// 2 ms apart.
pub fn talking(users: u32, waves: u64) -> (Plan, Vec<RequestRecord>) {
    let load = Load::Concurrency { concurrency: users };
    let requests = u64::from(users) * waves;
    let plan = plan(vec![level_plan(&format!("c={users}"), load, Some(requests))]);
    let mut records = Vec::new();
    for wave in 0..waves {
        for user in 0..users {
            let index = wave * u64::from(users) + u64::from(user);
            let (session, before) = (wave / 3 * u64::from(users) + u64::from(user), wave % 3);
            let ttft = if before == 0 { 300 } else { 100 };
            let mut r = stream(index, user, u64::from(user) * 2 + wave * 1000, ttft, 20, 5);
            r.input = usage(100 + 60 * before);
            r.requested_input = Some(100 + 60 * before as u32);
            records.push(turn(r, session, before as u32 + 1));
        }
    }
    (plan, records)
}

/// When the first slot of [`closed`] finds nothing left to send.
pub fn starved(waves: u64) -> u64 {
    ((waves - 1) * 181 + 180) * MS
}

/// The codes of findings.
pub fn codes(reasons: &[dyno_model::Diagnostic]) -> Vec<&str> {
    reasons.iter().map(|r| r.code.as_str()).collect()
}

/// The same request in another level, later.
pub fn moved(record: RequestRecord, level: u32, by: u64) -> RequestRecord {
    let mut chunks = dyno_model::chunks::ChunkTrack::default();
    for chunk in record.chunks.iter() {
        chunks.push(chunk.at_us * 1_000 + by, chunk.coalesced, chunk.tokens);
    }
    let later = |time: Option<u64>| time.map(|time| time + by);
    RequestRecord {
        level,
        intended: record.intended + by,
        admitted: later(record.admitted),
        dispatched: later(record.dispatched),
        connected: later(record.connected),
        sent: later(record.sent),
        headers: later(record.headers),
        first: later(record.first),
        last: later(record.last),
        end: record.end + by,
        chunks,
        ..record
    }
}
