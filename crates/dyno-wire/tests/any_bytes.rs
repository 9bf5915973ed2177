//! Whatever a server sends, in whatever API: no panic, one outcome, the same record however the bytes are
//! cut, and nothing kept beyond the limits.
#![allow(clippy::unwrap_used)]

use dyno_model::outcome::{FailureClass, Outcome};
use dyno_model::record::{Phase, RequestRecord};
use dyno_wire::client::Arrival;
use dyno_wire::dialect::{DIALECTS, Dialect, Keep};
use dyno_wire::exchange::{Exchange, MAX_EVENT, Progress, Rules};
use dyno_wire::redact::Redactor;
use proptest::prelude::*;
use std::fs;
use std::path::Path;

const ARRIVAL: Arrival = Arrival { after: 1_000_000, at: 1_000_000, loose: 0 };

fn record(dialect: &'static dyn Dialect, stream: bool, parts: &[&[u8]]) -> RequestRecord {
    let rules = Rules {
        dialect,
        stream,
        keep: Keep { text: true, content: true },
        redactor: Redactor::default(),
    };
    let mut record = RequestRecord::new(0, 0, 0, Phase::Measured, 0);
    record.requested_output = Some(16);
    let mut exchange = Exchange::new(record, true);
    for part in parts {
        if let Progress::Over { .. } = exchange.on_data(&rules, part, ARRIVAL) {
            return exchange.record;
        }
    }
    exchange.on_close(&rules, None, ARRIVAL);
    exchange.record
}

fn response(stream: bool, body: &[u8]) -> Vec<u8> {
    let kind = if stream { "text/event-stream" } else { "application/json" };
    let head = format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n\r\n");
    [head.as_bytes(), body].concat()
}

fn check(dialect: &'static dyn Dialect, stream: bool, body: &[u8], at: usize) {
    let response = response(stream, body);
    let whole = record(dialect, stream, &[&response]);
    assert_ne!(whole.outcome, Outcome::Censored);
    let (left, right) = response.split_at(at % (response.len() + 1));
    let cut = record(dialect, stream, &[left, right]);
    let seen = |r: &RequestRecord| {
        let tokens: Vec<u32> = r.chunks.iter().map(|chunk| chunk.tokens).collect();
        (r.outcome.clone(), r.input, r.output, r.unstreamed, tokens, r.text.clone())
    };
    assert_eq!(seen(&cut), seen(&whole), "{} cut at {at}", dialect.about().name);
    let text = whole.text.map_or(0, |text| text.len());
    assert!(text <= 4 * body.len(), "{text} bytes of text in {} of body", body.len());
    assert!(whole.detail.map_or(0, |detail| detail.len()) <= 4096);
}

/// The golden bodies of all APIs: each is read in every API, damaged.
fn bodies() -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut bodies = Vec::new();
    for folder in fs::read_dir(root).unwrap() {
        for file in fs::read_dir(folder.unwrap().path()).unwrap() {
            let path = file.unwrap().path();
            if !["expected", "ask"].map(Some).contains(&path.extension().and_then(|e| e.to_str())) {
                bodies.push(fs::read(path).unwrap());
            }
        }
    }
    bodies.sort();
    bodies
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_bytes(body in prop::collection::vec(any::<u8>(), 0..600), at in any::<usize>(), stream: bool) {
        for dialect in DIALECTS {
            check(*dialect, stream, &body, at);
        }
    }

    #[test]
    fn damaged_bodies(
        which in any::<prop::sample::Index>(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        at in any::<usize>(),
        stream: bool,
    ) {
        let bodies = bodies();
        let mut body = bodies[which.index(bodies.len())].clone();
        for (place, byte) in edits {
            let place = place.index(body.len());
            body[place] = byte;
        }
        for dialect in DIALECTS {
            check(*dialect, stream, &body, at);
        }
    }
}

#[test]
fn a_frame_without_end_is_refused_at_the_limit() {
    for dialect in DIALECTS.iter().filter(|dialect| dialect.about().streams()) {
        let mut body = b"data: {\"x\":\"".to_vec();
        body.resize(MAX_EVENT + 1000, b'a');
        let record = record(*dialect, true, &[&response(true, &body)]);
        let malformed = Outcome::Failed(FailureClass::StreamMalformed);
        assert_eq!(record.outcome, malformed, "{}", dialect.about().name);
    }
}
