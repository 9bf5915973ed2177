//! Bodies of every dialect, damaged at random: whatever arrives, an exchange ends in one outcome, and
//! how the bytes are split into reads does not change it.

#![allow(clippy::unwrap_used)]

use dyno_model::budget::Budget;
use dyno_model::outcome::Outcome;
use dyno_model::plan::Api;
use dyno_model::record::{Phase, RequestRecord};
use dyno_wire::client::ArrivalTime;
use dyno_wire::dialect::{Dialect, Keep, find};
use dyno_wire::exchange::{Exchange, ExchangeProgress, Rules};
use dyno_wire::redact::Redactor;
use proptest::prelude::*;
use proptest::sample::Index;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

const ARRIVAL: ArrivalTime = ArrivalTime { after: 1, at: 1, last_byte_slack: 0 };

/// A dialect, the content type of a body, and the body.
type Golden = (&'static dyn Dialect, &'static str, Vec<u8>);

/// Every golden body.
static BODIES: LazyLock<Vec<Golden>> = LazyLock::new(|| {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut bodies = Vec::new();
    for folder in fs::read_dir(root).unwrap() {
        let folder = folder.unwrap().path();
        let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        let api: Api = serde_json::from_value(name.into()).unwrap();
        for file in fs::read_dir(folder).unwrap() {
            let path = file.unwrap().path();
            let kind = match path.extension().and_then(|ending| ending.to_str()) {
                Some("sse" | "nul") => "text/event-stream",
                Some("ndjson") => "application/x-ndjson",
                Some("json") => "application/json",
                _ => continue,
            };
            bodies.push((find(&api).unwrap(), kind, fs::read(path).unwrap()));
        }
    }
    bodies
});

/// What can happen to a body.
#[derive(Debug, Clone)]
enum Damage {
    Byte(Index, u8),
    Lose(Index, Index),
    Repeat(Index, Index),
    End(Index),
}

fn damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        (any::<Index>(), any::<u8>()).prop_map(|(at, byte)| Damage::Byte(at, byte)),
        (any::<Index>(), any::<Index>()).prop_map(|(from, to)| Damage::Lose(from, to)),
        (any::<Index>(), any::<Index>()).prop_map(|(from, to)| Damage::Repeat(from, to)),
        any::<Index>().prop_map(Damage::End),
    ]
}

fn apply(body: &mut Vec<u8>, damage: &Damage) {
    if body.is_empty() {
        return;
    }
    let span = |one: &Index, other: &Index| {
        let (one, other) = (one.index(body.len()), other.index(body.len()));
        one.min(other)..one.max(other)
    };
    match damage {
        Damage::Byte(at, byte) => {
            let at = at.index(body.len());
            body[at] = *byte;
        }
        Damage::Lose(from, to) => drop(body.drain(span(from, to))),
        Damage::Repeat(from, to) => {
            let span = span(from, to);
            let (end, again) = (span.end, body[span].to_vec());
            body.splice(end..end, again);
        }
        Damage::End(at) => body.truncate(at.index(body.len())),
    }
}

fn outcome(dialect: &'static dyn Dialect, parts: &[&[u8]]) -> (Outcome, Option<String>) {
    let rules = Rules {
        dialect,
        stream: true,
        keep: Keep { text: true, content: true },
        redactor: Redactor::default(),
        budget: Budget::foreign(),
    };
    let mut exchange = Exchange::new(RequestRecord::new(0, 0, 0, Phase::Measured, 0), true);
    let is_over = |exchange: &mut Exchange, part: &[u8]| {
        matches!(exchange.on_data(&rules, part, ARRIVAL), ExchangeProgress::Over { .. })
    };
    if !parts.iter().any(|part| is_over(&mut exchange, part)) {
        exchange.on_close(&rules, None, ARRIVAL);
    }
    (exchange.record.outcome, exchange.record.text)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn a_damaged_body_has_one_outcome_however_it_is_split(
        which in any::<Index>(),
        damages in prop::collection::vec(damage(), 0..4),
        cut in any::<Index>(),
    ) {
        let (dialect, kind, body) = &BODIES[which.index(BODIES.len())];
        let mut body = body.clone();
        damages.iter().for_each(|damage| apply(&mut body, damage));
        let head = format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n\r\n");
        let response = [head.as_bytes(), &body].concat();
        let (left, right) = response.split_at(cut.index(response.len() + 1));
        prop_assert_eq!(outcome(*dialect, &[&response]), outcome(*dialect, &[left, right]));
    }
}
