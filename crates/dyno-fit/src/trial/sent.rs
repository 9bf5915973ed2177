//! The records of a level as a trial, or why they cannot be used.

use super::{SentRequest, Shared, Trial, TrialChunk, TrialKind, TrialTime};
use dyno_model::outcome::Outcome;
use dyno_model::plan::{LevelPlan, Load};
use dyno_model::record::RequestRecord;
use dyno_model::{Localized, Nanos};
use std::collections::BTreeMap;

/// Fewer completed requests say too little about a level.
const FEWEST: usize = 8;
/// With more failed requests than this share, what the server did is not what it would do without them.
const MOST_FAILED: f64 = 0.02;

/// Why a level cannot be sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Localized)]
pub enum Unfit {
    /// Too few requests.
    #[message(
        "only {0} completed requests; measure at least {FEWEST}",
        "只有 {0} 个请求完成；请至少测试 {FEWEST} 个"
    )]
    Few(usize),
    /// Too many failures.
    #[message("{failed} of {all} requests failed", "{all} 个请求中有 {failed} 个失败")]
    Failures {
        /// Failed or refused.
        failed: usize,
        /// All that were sent.
        all: usize,
    },
    /// There are no times of first tokens.
    #[message(
        "its responses were not streamed; measure without --no-stream",
        "响应不是流式的；请不带 --no-stream 测试"
    )]
    NotStreamed,
    /// The server does not say how long prompts are.
    #[message(
        "the tokens of its prompts are not known; measure with --tokenizer",
        "不知道提示词的 token 数；请带 --tokenizer 测试"
    )]
    NoInput,
    /// A limit on requests in flight held arrivals back.
    #[message(
        "arrivals waited in the client for a free slot; measure without --max-concurrency",
        "请求在客户端等待空位；请不带 --max-concurrency 测试"
    )]
    HeldBack,
    /// Requests were sent again.
    #[message(
        "requests were refused and sent again; measure without --on-shed retry",
        "请求被拒绝后重新发送；请不带 --on-shed retry 测试"
    )]
    SentAgain,
}

/// The trial of a level from its records, in any order.
pub fn trial(plan: &LevelPlan, records: &[RequestRecord]) -> Result<Trial, Unfit> {
    let mut records: Vec<&RequestRecord> =
        records.iter().filter(|record| record.sent.is_some()).collect();
    records.sort_by_key(|record| record.sent);
    check(&records)?;
    let start = records.first().and_then(|record| record.sent).unwrap_or_default();
    let kind = kind(plan, &records);
    let mut before = Before::default();
    let mut requests = Vec::with_capacity(records.len());
    for (place, record) in records.iter().enumerate() {
        let sent = record.sent.unwrap_or(start);
        let when = match before.of(record, plan) {
            Some(request) => {
                let pause = sent.saturating_sub(records[request].end);
                TrialTime::After { request, pause }
            }
            None => TrialTime::At(sent - start),
        };
        before.add(record, place);
        requests.push(request(record, sent, when));
    }
    let until = (kind == TrialKind::Closed).then(|| stopped(plan, &records)).flatten();
    Ok(Trial { label: plan.label.clone(), kind, requests, until: until.map(|at| at - start) })
}

/// When a closed loop stopped sending because its time was over: after the last request, and before a slot had
/// nothing to send. Nothing where the number of requests ended it.
fn stopped(plan: &LevelPlan, records: &[&RequestRecord]) -> Option<Nanos> {
    let measured = records.iter().filter(|record| record.phase.is_measured()).count() as u64;
    if plan.requests.is_some_and(|planned| measured >= planned) {
        return None;
    }
    let last_sent = records.last()?.sent?;
    let mut ends: BTreeMap<u32, Nanos> = BTreeMap::new();
    for record in records {
        ends.insert(record.slot, record.end);
    }
    let idle = ends.into_values().min()?.max(last_sent);
    Some(last_sent + (idle - last_sent) / 2)
}

fn check(records: &[&RequestRecord]) -> Result<(), Unfit> {
    let completed = |record: &&&RequestRecord| record.outcome == Outcome::Completed;
    let done = records.iter().filter(completed).count();
    if done < FEWEST {
        return Err(Unfit::Few(done));
    }
    // What still ran when the level had to end did not fail, and loaded the server.
    let cut_off = |record: &&&RequestRecord| record.outcome == Outcome::Censored;
    let failed = records.len() - done - records.iter().filter(cut_off).count();
    if failed as f64 > MOST_FAILED * records.len() as f64 {
        return Err(Unfit::Failures { failed, all: records.len() });
    }
    let completed = || records.iter().filter(completed);
    if completed().any(|record| record.first.is_none() || record.chunks.is_empty()) {
        return Err(Unfit::NotStreamed);
    }
    if completed().any(|record| record.input.is_none()) {
        return Err(Unfit::NoInput);
    }
    if records.iter().any(|record| record.admitted.is_some()) {
        return Err(Unfit::HeldBack);
    }
    match records.iter().any(|record| record.retries > 0) {
        true => Err(Unfit::SentAgain),
        false => Ok(()),
    }
}

fn kind(plan: &LevelPlan, records: &[&RequestRecord]) -> TrialKind {
    match plan.load {
        _ if records.iter().any(|record| record.turn.is_some()) => TrialKind::Sessions,
        Load::Concurrency { .. } => TrialKind::Closed,
        Load::Burst { .. } => TrialKind::Burst,
        Load::Rate { .. } | Load::Trace { .. } | Load::Ramp { .. } => TrialKind::Open,
    }
}

/// Which request came before another: in the same conversation, or in the same slot of a closed loop.
#[derive(Default)]
struct Before {
    turns: BTreeMap<u64, usize>,
    slots: BTreeMap<u32, usize>,
}

impl Before {
    fn of(&self, record: &RequestRecord, plan: &LevelPlan) -> Option<usize> {
        let turn = record.turn.and_then(|turn| self.turns.get(&turn.session));
        // Only closed loops have slots: elsewhere all requests of an agent are in its first one.
        let slot = || match plan.load {
            Load::Concurrency { .. } => self.slots.get(&record.slot),
            Load::Rate { .. } | Load::Trace { .. } | Load::Ramp { .. } | Load::Burst { .. } => None,
        };
        turn.or_else(slot).copied()
    }

    fn add(&mut self, record: &RequestRecord, place: usize) {
        if let Some(turn) = record.turn {
            self.turns.insert(turn.session, place);
        }
        self.slots.insert(record.slot, place);
    }
}

fn request(record: &RequestRecord, sent: Nanos, when: TrialTime) -> SentRequest {
    let tokens = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
    let completed = record.outcome == Outcome::Completed;
    let seen = if completed { chunks(record, sent) } else { Vec::new() };
    let came: u32 = seen.iter().map(|chunk| chunk.tokens).sum();
    let output = match came {
        0 => record.requested_output.unwrap_or(1),
        came => came,
    };
    let input = record.input.map(|input| tokens(input.tokens)).or(record.requested_input);
    let shared = match (record.turn, record.cached) {
        (Some(turn), _) => Shared::Conversation(turn.session),
        (None, Some(cached)) if cached > 0 => Shared::Prefix(tokens(cached)),
        _ => Shared::Nothing,
    };
    SentRequest {
        when,
        input: input.unwrap_or(1).max(1),
        output: output.max(1),
        shared,
        measured: completed && record.phase.is_measured(),
        seen,
    }
}

/// The output events of a response. Where their tokens are not known, the missing ones are spread over
/// the events after the first.
fn chunks(record: &RequestRecord, sent: Nanos) -> Vec<TrialChunk> {
    let after = |at: Nanos| at.saturating_sub(sent);
    let mut chunks: Vec<TrialChunk> = record
        .chunks
        .iter()
        .map(|chunk| TrialChunk { after: after(1_000 * chunk.at_us), tokens: chunk.tokens })
        .collect();
    if let (Some(tokens), Some(last)) = (record.finish_tokens, record.last)
        && tokens > 0
    {
        chunks.push(TrialChunk { after: after(last), tokens });
    }
    let known: u64 = chunks.iter().map(|chunk| u64::from(chunk.tokens)).sum();
    let all = record.output.map_or(known, |output| output.tokens);
    let missing = all.saturating_sub(known);
    if !record.chunk_tokens_known && missing > 0 && chunks.len() > 1 {
        let later = chunks.len() as u64 - 1;
        for (place, chunk) in (0..).zip(&mut chunks[1..]) {
            chunk.tokens += ((place + 1) * missing / later - place * missing / later) as u32;
        }
    }
    chunks
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::outcome::FailureClass;
    use dyno_model::plan::Arrival;
    use dyno_model::record::{Phase, TokenCount, TokenSource, TurnOfSession};

    /// So many responses of two chunks, in a closed loop of two slots.
    fn records(count: u64) -> Vec<RequestRecord> {
        let usage = |tokens| Some(TokenCount { tokens, source: TokenSource::Usage });
        let record = |index: u64| {
            let sent = 1_000_000 * (index / 2 * 5 + index % 2);
            let mut of = RequestRecord::new(0, index, (index % 2) as u32, Phase::Measured, sent);
            of.outcome = Outcome::Completed;
            of.chunk_tokens_known = true;
            (of.sent, of.input, of.output) = (Some(sent), usage(100), usage(3));
            of.chunks.push(sent + 2_000_000, false, 1);
            of.chunks.push(sent + 4_000_000, false, 2);
            (of.first, of.last) = (Some(sent + 2_000_000), Some(sent + 4_000_000));
            of.end = sent + 4_000_000;
            of
        };
        (0..count).map(record).collect()
    }

    fn plan() -> LevelPlan {
        LevelPlan::new(Load::Concurrency { concurrency: 2 })
    }

    #[test]
    fn each_request_of_a_closed_loop_follows_the_one_before_it_in_its_slot() {
        let trial = trial(&plan(), &records(10)).unwrap();
        assert_eq!((trial.kind, trial.requests.len()), (TrialKind::Closed, 10));
        assert_eq!(trial.requests[1].when, TrialTime::At(1_000_000));
        assert_eq!(trial.requests[5].when, TrialTime::After { request: 3, pause: 1_000_000 });
        assert_eq!((trial.requests[5].input, trial.requests[5].output), (100, 3));
        let chunk = |after, tokens| TrialChunk { after, tokens };
        assert_eq!(trial.requests[5].seen, [chunk(2_000_000, 1), chunk(4_000_000, 2)]);
    }

    #[test]
    fn a_level_that_ended_by_time_has_no_number_of_requests() {
        let of = |planned: Option<u64>| {
            let plan = LevelPlan { requests: planned, duration_ns: Some(25_000_000), ..plan() };
            trial(&plan, &records(10)).unwrap().until
        };
        // The last request was sent at 21 ms; a slot was free at 24 ms, and sent nothing.
        assert_eq!(of(None), Some(22_500_000));
        assert_eq!(of(Some(200)), Some(22_500_000));
        assert_eq!(of(Some(10)), None);
    }

    #[test]
    fn a_level_that_cannot_be_sent_again_is_refused_with_the_reason() {
        let refused = |change: &dyn Fn(&mut Vec<RequestRecord>)| {
            let mut records = records(10);
            change(&mut records);
            trial(&plan(), &records).unwrap_err()
        };
        assert_eq!(refused(&|records| records.truncate(7)), Unfit::Few(7));
        let failed = |records: &mut Vec<RequestRecord>| {
            records[3].outcome = Outcome::Failed(FailureClass::Connect);
        };
        assert_eq!(refused(&failed), Unfit::Failures { failed: 1, all: 10 });
        assert_eq!(refused(&|records| records[0].first = None), Unfit::NotStreamed);
        assert_eq!(refused(&|records| records[9].input = None), Unfit::NoInput);
        assert_eq!(refused(&|records| records[1].admitted = Some(5)), Unfit::HeldBack);
        assert_eq!(refused(&|records| records[1].retries = 1), Unfit::SentAgain);
    }

    #[test]
    fn requests_that_ran_when_the_level_ended_are_load_and_no_failures() {
        let mut cut_off = records(10);
        for record in &mut cut_off[8..] {
            record.outcome = Outcome::Censored;
            record.requested_output = Some(40);
            (record.first, record.last) = (None, None);
        }
        let trial = trial(&plan(), &cut_off).unwrap();
        assert_eq!(trial.requests.len(), 10);
        let last = &trial.requests[9];
        assert_eq!((last.measured, last.output, last.seen.len()), (false, 40, 0));
    }

    /// The same requests as turns of conversations of five, all in one slot.
    fn turns(load: Load) -> Vec<TrialTime> {
        let mut records = records(10);
        for (place, record) in (0..).zip(&mut records) {
            record.turn =
                Some(TurnOfSession { session: place / 5, number: (place % 5) as u32 + 1 });
            record.slot = 0;
        }
        let trial = trial(&LevelPlan::new(load), &records).unwrap();
        assert_eq!(trial.kind, TrialKind::Sessions);
        trial.requests.iter().map(|sent| sent.when).collect()
    }

    #[test]
    fn the_next_conversation_of_one_user_waits_for_the_one_before() {
        let closed = turns(Load::Concurrency { concurrency: 1 });
        assert!(matches!(closed[5], TrialTime::After { request: 4, .. }), "{closed:?}");
        assert!(matches!(closed[6], TrialTime::After { request: 5, .. }), "{closed:?}");
        // Those of an open loop come when they come.
        let open = turns(Load::Rate { rate: 2.0, arrival: Arrival::Poisson });
        assert_eq!(open[5], TrialTime::At(11_000_000));
        assert!(matches!(open[6], TrialTime::After { request: 5, .. }), "{open:?}");
    }

    #[test]
    fn conversations_of_several_agents_in_an_open_loop_do_not_wait_for_each_other() {
        let mut records = records(10);
        for (place, record) in (0..).zip(&mut records) {
            // Each agent has its own first slot, and every conversation one turn.
            record.turn = Some(TurnOfSession { session: place, number: 1 });
            record.slot = (place % 2) as u32;
        }
        let load = Load::Rate { rate: 2.0, arrival: Arrival::Poisson };
        let trial = trial(&LevelPlan::new(load), &records).unwrap();
        assert!(trial.requests.iter().all(|sent| matches!(sent.when, TrialTime::At(_))));
    }
}
