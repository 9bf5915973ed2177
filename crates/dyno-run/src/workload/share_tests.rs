//! What several load generators send together, byte by byte: exactly what one would have sent, for
//! every load and every kind of data.

use super::*;
use dyno_drive::{
    Ended, Job, LevelOutcome, LevelRecorder, LevelSetup, Lookahead, OnFailure, Prepare, Share,
    StopSignal, Transport, TransportError, run_level,
};
use dyno_model::frame::ClientHealth;
use dyno_model::outcome::Outcome;
use dyno_model::plan::{Api, Arrival, LengthSpec, Load, Shard, Target, Task, Warmup};
use dyno_model::record::RequestRecord;
use dyno_model::{MS, SEC};
use dyno_wire::dialect::Shape;
use dyno_wire::encode::{Encoder, SecretHeaders};
use dyno_wire::endpoint::Endpoint;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use tempfile::TempDir;

const REQUESTS: u64 = 40;
const WARMUP: u64 = 7;
const OF: [u32; 3] = [1, 2, 8];

/// Everything sent, by index; of conversations, the first turn by the number of the conversation.
type Sent = BTreeMap<u64, Vec<u8>>;

/// A server in virtual time that answers after 5 ms and keeps what it got.
#[derive(Default)]
struct Keeping {
    now: Nanos,
    running: BTreeMap<(Nanos, u64), Ended>,
    got: Sent,
}

impl Transport for Keeping {
    type Body = Vec<u8>;

    fn now(&self) -> Nanos {
        self.now
    }
    fn prepare(&mut self, _: usize) -> Result<(), TransportError> {
        Ok(())
    }
    fn dispatch(&mut self, job: Job<Vec<u8>>) {
        let number = match job.turn {
            None => Some(job.index),
            Some(turn) => (turn.number == 1).then_some(turn.session),
        };
        if let Some(number) = number {
            let before = self.got.insert(number, job.payload.body.clone());
            assert!(before.is_none(), "number {number} was sent twice");
        }
        let mut record = job.record();
        record.end = self.now + 5 * MS;
        record.outcome = Outcome::Completed;
        let (end, index) = (record.end, record.index);
        let ended = Ended { record: Box::new(record), answer: Some("Yes.".to_owned()) };
        self.running.insert((end, index), ended);
    }
    fn wait(&mut self, until: Nanos, ended: &mut Vec<Ended>) -> Result<(), TransportError> {
        let next = self.running.first_key_value().map_or(Nanos::MAX, |((end, _), _)| *end);
        self.now = self.now.max(next.min(until));
        if next <= until {
            ended.extend(self.running.pop_first().map(|(_, running)| running));
        }
        Ok(())
    }
    fn in_flight(&self) -> usize {
        self.running.len()
    }
    fn censor(&mut self, ended: &mut Vec<Ended>) {
        ended.extend(std::mem::take(&mut self.running).into_values());
    }
    fn take_health(&mut self) -> ClientHealth {
        ClientHealth::default()
    }
}

struct Unseen;

impl LevelRecorder for Unseen {
    fn record(&mut self, _record: Box<RequestRecord>) {}
}

/// Data of one kind, and the plan that names them.
struct Kind {
    name: &'static str,
    plan: Plan,
    workload: Workload,
    encoder: Encoder,
}

impl Kind {
    fn new(name: &'static str, change: impl FnOnce(&mut Plan)) -> Self {
        let mut plan = Plan { seed: 11, ..Plan::new(Target::at("http://localhost:1")) };
        change(&mut plan);
        let workload = Workload::open(&plan).unwrap_or_else(|fault| panic!("{name}: {fault:?}"));
        let dialect = crate::api::dialect_of(&plan).unwrap();
        let endpoint = Endpoint::parse("http://localhost:1", dialect).unwrap();
        let headers = [("X-Team".to_owned(), "blue".to_owned())];
        let secret = SecretHeaders::new(dialect, "localhost", Some("sesame"), &headers);
        let shape = Shape { model: "m".into(), ..Shape::default() };
        let encoder = Encoder::new(&endpoint, dialect, shape, &secret);
        Self { name, plan, workload, encoder }
    }

    fn file(name: &'static str, path: &str, change: impl FnOnce(&mut Plan)) -> Self {
        Self::new(name, |plan| {
            plan.data.spec = Some(path.to_owned());
            change(plan);
        })
    }

    fn level(&self, load: Load) -> LevelPlan {
        LevelPlan {
            requests: Some(REQUESTS),
            warmup: Some(Warmup::Requests(WARMUP)),
            input_tokens: LengthSpec("20-60".into()),
            output_tokens: LengthSpec("1-90".into()),
            inputs: (!self.plan.request.task.generates()).then_some(3),
            ..LevelPlan::new(load)
        }
    }

    /// What one of several load generators sends of level `number`, where the data go on from `taken`.
    fn sent(
        &self,
        level: &LevelPlan,
        (number, taken): (u32, u64),
        shard: Shard,
    ) -> (LevelOutcome, Sent) {
        let plan = Plan { shard, ..self.plan.clone() };
        let mut workload = self.workload.for_other_run();
        workload.took(&plan, level, taken);
        let items = workload.items(&plan, level, number).unwrap();
        let mut requests = Lookahead::prepare(4, items, self.encoder.clone()).unwrap();
        let mut server = Keeping { now: SEC, ..Keeping::default() };
        let setup = LevelSetup {
            level: number,
            plan: level,
            seed: plan.seed,
            trace: workload.schedule(),
            sessions: workload.is_session(),
            once: false,
            max_idle: None,
            at_most: level.max_concurrency,
            shard,
            on_failure: OnFailure::default(),
            gate: None,
            stop: &StopSignal::new(),
            recorder: &mut Unseen,
            observer: &(),
        };
        let outcome = run_level(setup, &mut server, &mut requests).unwrap();
        drop(requests);
        assert_eq!(workload.error(), None, "{}", self.name);
        (outcome, server.got)
    }

    /// What all send together, and how far they took the data.
    fn together(&self, level: &LevelPlan, from: (u32, u64), of: u32) -> (u64, Sent) {
        let (mut all, mut taken) = (Sent::new(), 0);
        for index in 0..of {
            let (outcome, part) = self.sent(level, from, Shard { index, of });
            taken = taken.max(outcome.taken);
            for (number, body) in part {
                assert!(all.insert(number, body).is_none(), "{}: {number} twice", self.name);
            }
        }
        (taken, all)
    }
}

/// Seven loads; the last replays recorded times.
fn loads() -> Vec<Load> {
    let rate = |arrival| Load::Rate { rate: 100.0, arrival };
    vec![
        Load::Concurrency { concurrency: 5 },
        rate(Arrival::Constant),
        rate(Arrival::Poisson),
        rate(Arrival::Gamma { shape: 0.5 }),
        Load::Ramp {
            from: 20.0,
            to: 80.0,
            over_ns: 2 * SEC,
            steps: None,
            arrival: Arrival::Poisson,
        },
        Load::Burst { requests: REQUESTS },
        Load::Trace { speed: 1.0 },
    ]
}

fn written(dir: &TempDir, name: &str, lines: impl Iterator<Item = String>) -> String {
    let mut text = String::new();
    lines.for_each(|line| writeln!(text, "{line}").unwrap());
    let path = dir.path().join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Prompts of other lengths each; every third says how long its response is to be.
fn prompts(dir: &TempDir) -> String {
    let line = |n: u32| {
        let prompt = format!("Question {n}: {}", "why is that so? ".repeat((n % 7) as usize));
        match n % 3 {
            0 => format!(r#"{{"prompt": "{prompt}", "output_tokens": {}}}"#, 10 + n),
            _ => format!(r#"{{"prompt": "{prompt}"}}"#),
        }
    };
    written(dir, "prompts.jsonl", (0..37).map(line))
}

fn trace(dir: &TempDir) -> String {
    let line = |n: u32| {
        let (at, input, output) = (n * 13, 600 + n * 7 % 90, 20 + n % 9);
        format!(
            r#"{{"timestamp": {at}, "input_length": {input}, "output_length": {output}, "hash_ids": [0, {n}]}}"#
        )
    };
    written(dir, "trace.jsonl", (1..90).map(line))
}

fn chats(dir: &TempDir) -> String {
    let line = |n: u32| {
        format!(
            r#"{{"messages": [{{"role": "user", "content": "Tell me about {n}."}}, {{"role": "assistant", "content": "It is a number."}}, {{"role": "user", "content": "And {n} squared?"}}]}}"#
        )
    };
    written(dir, "chats.jsonl", (0..23).map(line))
}

fn recorded_sessions(dir: &TempDir) -> String {
    let lines = |n: u32| {
        let first = format!(
            r#"{{"session_id": "s{n}", "timestamp": {}, "input_length": {}, "output_length": 8, "hash_ids": [0, {n}]}}"#,
            n * 17,
            600 + n % 50,
        );
        let second = format!(
            r#"{{"session_id": "s{n}", "delay": 30, "input_length": {}, "output_length": 9, "hash_ids": [0, {n}, {}]}}"#,
            1100 + n % 50,
            1000 + n,
        );
        [first, second]
    };
    written(dir, "sessions.jsonl", (1..60).flat_map(lines))
}

/// Single requests, of every kind.
fn singles(dir: &TempDir) -> Vec<Kind> {
    let embed = |plan: &mut Plan| {
        plan.target.api = Api::named("openai-embeddings");
        plan.request.task = Task::Embed;
    };
    let prompts = prompts(dir);
    vec![
        Kind::new("random", |_| {}),
        Kind::new("random, unique", |plan| plan.data.unique_prefix = true),
        Kind::new("random, shared prefixes", |plan| {
            plan.data.spec = Some("random,prefix=9,groups=3".into());
        }),
        Kind::new("random texts to embed", embed),
        Kind::new("random texts to rank", |plan| {
            plan.target.api = Api::named("rerank");
            plan.request.task = Task::Rank;
        }),
        Kind::file("a file in order", &prompts, |_| {}),
        Kind::file("a file, shuffled", &prompts, |plan| plan.data.shuffle = true),
        Kind::file("a file, bounded", &prompts, |plan| {
            (plan.data.min_input_tokens, plan.data.max_input_tokens) = (Some(8), Some(24));
        }),
        Kind::file("a file, cut and unique", &prompts, |plan| {
            (plan.data.max_input_tokens, plan.data.truncate) = (Some(18), true);
            plan.data.unique_prefix = true;
        }),
        Kind::file("batches of a file", &prompts, embed),
        Kind::file("a trace", &format!("trace:{}", trace(dir)), |_| {}),
    ]
}

#[test]
fn together_they_send_what_one_would() {
    let dir = TempDir::new().unwrap();
    for kind in singles(&dir) {
        let timed = kind.workload.schedule().is_some();
        for load in loads() {
            if matches!(load, Load::Trace { .. }) && !timed {
                continue;
            }
            let level = kind.level(load);
            let (outcome, whole) = kind.sent(&level, (0, 0), Shard::WHOLE);
            assert_eq!(whole.len() as u64, outcome.taken);
            assert!(whole.len() as u64 >= REQUESTS, "{}, {load:?}: {}", kind.name, whole.len());
            for of in OF {
                let (taken, all) = kind.together(&level, (0, 0), of);
                assert_eq!(taken, outcome.taken, "{}, {load:?}, {of} parts", kind.name);
                assert!(all == whole, "{}, {load:?}, {of} parts", kind.name);
            }
        }
    }
}

#[test]
fn the_next_level_goes_on_behind_the_furthest_of_them() {
    let dir = TempDir::new().unwrap();
    for kind in singles(&dir) {
        let level = LevelPlan { requests: Some(13), ..kind.level(loads()[0]) };
        let next = LevelPlan { requests: Some(20), ..kind.level(loads()[2]) };
        let (outcome, _) = kind.sent(&level, (0, 0), Shard::WHOLE);
        let (_, whole) = kind.sent(&next, (1, outcome.taken), Shard::WHOLE);
        let (taken, _) = kind.together(&level, (0, 0), 8);
        let (_, all) = kind.together(&next, (1, taken), 8);
        assert!(all == whole, "{}", kind.name);
    }
}

#[test]
fn in_a_given_time_each_sends_a_prefix_of_its_part() {
    let dir = TempDir::new().unwrap();
    for kind in singles(&dir) {
        for load in loads() {
            if matches!(load, Load::Trace { .. } | Load::Burst { .. }) {
                continue;
            }
            // In fewer milliseconds than the whole needs, so that everything is part of it.
            let counted = kind.level(load);
            let (_, whole) = kind.sent(&counted, (0, 0), Shard::WHOLE);
            let timed = LevelPlan {
                requests: None,
                warmup: None,
                duration_ns: Some(30 * MS),
                ..counted.clone()
            };
            // The number of arrivals changes their times, never what is in them.
            for index in 0..2 {
                let shard = Shard { index, of: 2 };
                let (_, part) = kind.sent(&timed, (0, 0), shard);
                let share = Share::new(load, None, (kind.plan.seed, 0), shard);
                let own = (0..).filter(|index| share.has(*index)).take(part.len());
                assert!(own.eq(part.keys().copied()), "{}, {load:?}", kind.name);
                for (number, body) in &part {
                    assert!(whole.get(number) == Some(body), "{}, {load:?}", kind.name);
                }
            }
        }
    }
}

/// Conversations, of every kind.
fn conversations(dir: &TempDir) -> Vec<Kind> {
    let recorded = recorded_sessions(dir);
    vec![
        Kind::file("synthetic sessions", "session,turns=1-3,think=20ms", |_| {}),
        Kind::file("conversations of a file", &format!("session:{}", chats(dir)), |_| {}),
        Kind::file("shuffled conversations", &format!("session:{}", chats(dir)), |plan| {
            plan.data.shuffle = true;
        }),
        Kind::file("recorded sessions", &format!("session:{recorded}"), |_| {}),
        Kind::file("recorded sessions at their times", &format!("trace:{recorded}"), |_| {}),
    ]
}

#[test]
fn conversations_begin_as_they_would_have_begun_and_each_in_one_part() {
    let dir = TempDir::new().unwrap();
    for kind in conversations(&dir) {
        assert!(kind.workload.is_session(), "{}", kind.name);
        let timed = kind.workload.schedule().is_some_and(|mut times| times.next().is_some());
        for load in loads() {
            if matches!(load, Load::Trace { .. }) != timed {
                continue;
            }
            let level = kind.level(load);
            let mut items = kind.workload.all(&kind.plan, &level, 0).unwrap();
            let begun: Vec<Vec<u8>> = (0..200)
                .map_while(|index| match items.make(index)? {
                    Sending::Conversation(talk) => kind
                        .encoder
                        .conversation(&talk)
                        .and_then(|mut turns| Some(turns.requests.take(0)?.payload.body)),
                    Sending::Single(..) | Sending::Tree(_) => None,
                })
                .collect();
            for of in OF {
                let mut seen = Sent::new();
                for index in 0..of {
                    let shard = Shard { index, of };
                    let (_, part) = kind.sent(&level, (0, 0), shard);
                    let share = Share::new(load, None, (kind.plan.seed, 0), shard);
                    let own = (0..).take_while(|_| !share.is_empty());
                    let own = own.filter(|index| share.has(*index)).take(part.len());
                    assert!(own.eq(part.keys().copied()), "{}, {load:?}", kind.name);
                    seen.extend(part);
                }
                assert!(seen.len() > 15, "{}, {load:?}: {} begun", kind.name, seen.len());
                for (session, first) in &seen {
                    assert!(begun[*session as usize] == *first, "{}, {load:?}", kind.name);
                }
            }
        }
    }
}
