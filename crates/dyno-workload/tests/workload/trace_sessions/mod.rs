//! Recorded sessions in every form: grouped, with their pauses and growth, or refused with the reason.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod chats;
mod chosen;
mod forms;
mod growth;
mod properties;
mod refused;

use dyno_model::prompt::Conversation;
use dyno_workload::data::{DataError, DataSpec};
use dyno_workload::random::key::Key;
use dyno_workload::random::lengths::Lengths;
use dyno_workload::tokenizer::Tokenizer;
use dyno_workload::trace::{
    Kept, SessionPrompts, SessionTraceProfile, SessionsOf, Starts, TraceLimits, TraceSessions,
};
use proptest::prelude::*;
use serde_json::{Value, json};

pub(crate) const MS: u64 = 1_000_000;

pub(crate) fn opened(text: &str, spec: &str, starts: Starts) -> Result<TraceSessions, DataError> {
    limited(text, spec, starts, TraceLimits::default())
}

pub(crate) fn limited(
    text: &str,
    spec: &str,
    starts: Starts,
    limits: TraceLimits,
) -> Result<TraceSessions, DataError> {
    let spec: DataSpec = spec.parse().expect("a good specification");
    let path = spec.path.as_ref().and_then(|path| path.to_str()).expect("a path");
    TraceSessions::from_bytes(path, text.as_bytes(), &spec, &limits, starts)
}

pub(crate) fn lines(records: &[Value]) -> String {
    records.iter().map(|record| format!("{record}\n")).collect()
}

/// Each session as the pause in milliseconds, the input and the output of its requests.
pub(crate) fn sessions(read: &TraceSessions) -> Vec<Vec<(u64, u32, u32)>> {
    let one = |index| read.session(index).unwrap().map(|(p, i, o)| (p / MS, i, o)).collect();
    (0..read.len()).map(one).collect()
}

pub(crate) fn starts(read: &TraceSessions) -> Vec<u64> {
    read.schedule().map(|at| at / MS).collect()
}

/// Two sessions: one of three requests and, 300 ms after it, one of two.
pub(crate) fn expected() -> Vec<Vec<(u64, u32, u32)>> {
    vec![
        vec![(0, 900, 40), (500, 1_200, 60), (600, 1_300, 10)],
        vec![(0, 700, 20), (1_200, 1_000, 30)],
    ]
}

pub(crate) fn prompts(sessions: &TraceSessions, seed: u64, unique: bool) -> SessionPrompts {
    let (output, key) = (Lengths::fixed(64), Key::new(seed, 0));
    SessionPrompts::new(&Tokenizer::estimate(), sessions.clone(), output, key, unique).unwrap()
}

pub(crate) fn words(talk: &Conversation) -> Vec<Vec<String>> {
    let text = |turn: &dyno_model::prompt::UserTurn| turn.messages.last().unwrap().content.clone();
    let split = |text: String| text.split(' ').map(str::to_owned).collect();
    talk.turns.iter().map(text).map(split).collect()
}
