//! A server in virtual time, and a level run against it.
#![allow(clippy::unwrap_used, dead_code)]

pub(crate) mod slow;

use dyno_drive::{
    Ended, Job, LevelOutcome, LevelRecorder, LevelSetup, Lookahead, OnFailure, Payload, StartGate,
    StopSignal, Transport, TransportError, TurnRequest, TurnRequests, Turns, Work, run_level,
};
use dyno_model::frame::ClientHealth;
use dyno_model::outcome::{FailureClass, Outcome};
use dyno_model::plan::{LengthSpec, LevelPlan, Load, Shard};
use dyno_model::record::{Phase, RequestRecord, TokenCount, TokenSource};
use dyno_model::{MS, Nanos, SEC};
use std::collections::BTreeMap;

/// What the server answers.
pub(crate) fn answer_to(payload: &Payload<Vec<u8>>) -> String {
    format!("<{}>", String::from_utf8_lossy(&payload.body).len())
}

/// Makes the request of a turn from its place and the answers so far.
pub(crate) struct Made<F> {
    make: F,
    answers: Vec<String>,
}

impl<F: FnMut(u32, &[String]) -> Vec<u8> + Send> TurnRequests<Vec<u8>> for Made<F> {
    fn take(&mut self, turn: u32) -> Option<TurnRequest<Vec<u8>>> {
        let body = (self.make)(turn, &self.answers);
        Some(Payload { body, ..Payload::default() }.into())
    }

    fn answered(&mut self, _turn: u32, answer: &str) {
        self.answers.push(answer.to_owned());
    }

    fn size(&self) -> usize {
        0
    }
}

/// A conversation of so many turns with the same pause before each.
pub(crate) fn conversation(
    turns: u32,
    pause: Nanos,
    make: impl FnMut(u32, &[String]) -> Vec<u8> + Send + 'static,
) -> Work<Vec<u8>> {
    let pauses = std::iter::repeat_n(pause, turns as usize);
    Work::Turns(Turns::conversation(pauses, Box::new(Made { make, answers: Vec::new() })))
}

/// Endless conversations in which nothing is said.
pub(crate) fn conversations(turns: u32, pause: Nanos) -> Lookahead<Vec<u8>> {
    Lookahead::start(8, move |_| Some(conversation(turns, pause, |_, _| Vec::new()))).unwrap()
}

/// A gate that opens at this time, or never.
#[derive(Clone, Copy)]
pub(crate) struct OpensAt(pub(crate) Option<Nanos>);

impl StartGate for OpensAt {
    fn ready(&mut self) -> Option<Nanos> {
        self.0
    }
}

/// Answers after a fixed time; every `fails_every`-th fails instead.
pub(crate) struct Simulated {
    pub(crate) now: Nanos,
    service: Nanos,
    fails_every: u64,
    seen: u64,
    running: BTreeMap<(Nanos, u64), Ended>,
    /// What was sent, in order.
    pub(crate) got: Vec<Vec<u8>>,
    pub(crate) peak: usize,
    pub(crate) stop_at: Option<(Nanos, StopSignal)>,
    /// The most that an open loop may have in flight.
    pub(crate) at_most: Option<u32>,
    /// How those that fail do, how soon, and what they ask for.
    pub(crate) fails_with: Outcome,
    pub(crate) fails_in: Option<Nanos>,
    pub(crate) retry_after: Option<Nanos>,
    pub(crate) on_failure: OnFailure,
    /// How long a request takes instead, by what was sent.
    pub(crate) takes: Option<fn(&[u8]) -> Nanos>,
    /// The supply has an end.
    pub(crate) once: bool,
    pub(crate) max_idle: Option<Nanos>,
    /// Holds its levels back.
    pub(crate) gate: Option<OpensAt>,
    /// From then on, none fails.
    pub(crate) recovers_after: Option<u64>,
    /// Serves at most so many at once and fails all others.
    pub(crate) serves: Option<usize>,
    /// While they run, responses stream a token each time this has passed.
    pub(crate) token_every: Option<Nanos>,
    /// Tokens of responses that have ended.
    streamed: u64,
}

impl Simulated {
    pub(crate) fn new(service: Nanos, fails_every: u64) -> Self {
        Self {
            now: 7 * SEC,
            service,
            fails_every,
            seen: 0,
            running: BTreeMap::new(),
            got: Vec::new(),
            peak: 0,
            stop_at: None,
            at_most: None,
            fails_with: Outcome::Failed(FailureClass::Http(500)),
            fails_in: None,
            retry_after: None,
            on_failure: OnFailure::default(),
            takes: None,
            once: false,
            max_idle: None,
            gate: None,
            recovers_after: None,
            serves: None,
            token_every: None,
            streamed: 0,
        }
    }

    /// How many tokens of a response have been streamed by now; those that fail at once have none.
    fn tokens_of(&self, record: &RequestRecord) -> u64 {
        let lasts = record.end.min(self.now).saturating_sub(record.sent.unwrap_or(self.now));
        self.token_every.map_or(0, |every| lasts / every)
    }

    fn is_full(&self) -> bool {
        let serving = self.running.values().filter(|ended| ended.record.is_completed()).count();
        self.serves.is_some_and(|most| serving >= most)
    }

    /// Sheds every `sheds_every`-th request within a millisecond.
    pub(crate) fn shedding(service: Nanos, sheds_every: u64) -> Self {
        Self {
            fails_with: Outcome::Shed(FailureClass::Http(429)),
            fails_in: Some(MS),
            ..Self::new(service, sheds_every)
        }
    }
}

impl Transport for Simulated {
    type Body = Vec<u8>;

    fn now(&self) -> Nanos {
        self.now
    }
    fn prepare(&mut self, _: usize) -> Result<(), TransportError> {
        Ok(())
    }
    fn dispatch(&mut self, job: Job<Vec<u8>>) {
        self.seen += 1;
        let answer = answer_to(&job.payload);
        self.got.push(job.payload.body.clone());
        let mut record = job.record();
        record.sent = Some(self.now);
        let takes = self.takes.map_or(self.service, |takes| takes(&job.payload.body));
        record.end = self.now + takes;
        record.outcome = Outcome::Completed;
        let recovered = self.recovers_after.is_some_and(|after| self.seen > after);
        let unlucky = self.fails_every > 0 && self.seen.is_multiple_of(self.fails_every);
        if unlucky && !recovered || self.is_full() {
            record.outcome = self.fails_with.clone();
            record.retry_after = self.retry_after;
            record.end = self.now + self.fails_in.unwrap_or(self.service);
        }
        self.running.insert(
            (record.end, self.seen),
            Ended { record: Box::new(record), answer: Some(answer) },
        );
        self.peak = self.peak.max(self.running.len());
    }
    fn wait(&mut self, until: Nanos, ended: &mut Vec<Ended>) -> Result<(), TransportError> {
        if let Some((at, signal)) = &self.stop_at
            && self.now >= *at
        {
            signal.raise();
            self.stop_at = None;
        }
        let next = self.running.first_key_value().map_or(Nanos::MAX, |((end, _), _)| *end);
        if next <= until {
            self.now = self.now.max(next);
            if let Some((_, mut running)) = self.running.pop_first() {
                let tokens = self.tokens_of(&running.record);
                self.streamed += tokens;
                running.record.output =
                    Some(TokenCount { tokens, source: TokenSource::Events }).filter(|_| tokens > 0);
                ended.push(running);
            }
        } else {
            self.now = self.now.max(until);
        }
        Ok(())
    }
    fn in_flight(&self) -> usize {
        self.running.len()
    }
    fn tokens_received(&self) -> Option<u64> {
        let running = self.running.values().map(|ended| self.tokens_of(&ended.record));
        self.token_every.map(|_| self.streamed + running.sum::<u64>())
    }
    fn censor(&mut self, ended: &mut Vec<Ended>) {
        for (_, mut running) in std::mem::take(&mut self.running) {
            running.record.outcome = Outcome::Censored;
            running.record.end = self.now;
            ended.push(running);
        }
    }
    fn take_health(&mut self) -> ClientHealth {
        ClientHealth::default()
    }
}

pub(crate) fn level(load: Load) -> LevelPlan {
    let one = LengthSpec::fixed(1);
    LevelPlan { input_tokens: one.clone(), output_tokens: one, ..LevelPlan::new(load) }
}

#[derive(Default)]
struct Seen {
    started: Option<Nanos>,
    records: Vec<RequestRecord>,
}

impl LevelRecorder for Seen {
    fn started(&mut self, at: Nanos) {
        self.started = Some(at);
    }
    fn record(&mut self, record: Box<RequestRecord>) {
        self.records.push(*record);
    }
}

pub(crate) fn run_with(
    plan: &LevelPlan,
    server: &mut Simulated,
    shard: Shard,
    signal: &StopSignal,
) -> (LevelOutcome, Vec<RequestRecord>) {
    let singles = Lookahead::start(8, |_| Some(Payload::default())).unwrap();
    run_work(plan, server, shard, signal, singles, false, None)
}

pub(crate) fn run_work(
    plan: &LevelPlan,
    server: &mut Simulated,
    shard: Shard,
    signal: &StopSignal,
    mut work: Lookahead<Vec<u8>>,
    sessions: bool,
    trace: Option<Vec<Nanos>>,
) -> (LevelOutcome, Vec<RequestRecord>) {
    let mut seen = Seen::default();
    let mut gate = server.gate;
    let setup = LevelSetup {
        level: 0,
        plan,
        seed: 3,
        trace: trace.map(|offsets| Box::new(offsets.into_iter()) as _),
        sessions,
        once: server.once,
        max_idle: server.max_idle,
        at_most: server.at_most,
        shard,
        on_failure: server.on_failure,
        gate: gate.as_mut().map(|gate| gate as _),
        stop: signal,
        recorder: &mut seen,
        observer: &(),
    };
    let outcome = run_level(setup, server, &mut work).unwrap();
    let Seen { started, mut records } = seen;
    assert_eq!(started, Some(outcome.started));
    assert_eq!(server.in_flight(), 0, "a level is over only when nothing is in flight");
    records.sort_by_key(|r| r.index);
    (outcome, records)
}

pub(crate) fn run(plan: &LevelPlan, server: &mut Simulated) -> (LevelOutcome, Vec<RequestRecord>) {
    run_with(plan, server, Shard::WHOLE, &StopSignal::new())
}

/// Invariant 1: one arrival, one record.
pub(crate) fn reconciles(outcome: &LevelOutcome, records: &[RequestRecord]) {
    let total = outcome.end.issued + outcome.end.warmup;
    let indices: Vec<u64> = records.iter().map(|r| r.index).collect();
    assert_eq!(indices, (0..total).collect::<Vec<_>>());
    let warmup = records.iter().filter(|r| r.phase == Phase::Warmup).count() as u64;
    assert_eq!(warmup, outcome.end.warmup);
}
