//! Whatever a server sends, in whatever API: no panic, one outcome, the same record however the bytes are
//! cut, and nothing kept beyond the limits.
#![allow(clippy::unwrap_used)]

use dyno_model::budget::Budget;
use dyno_model::outcome::{FailureClass, Outcome};
use dyno_model::record::{Phase, RequestRecord};
use dyno_wire::client::ArrivalTime;
use dyno_wire::dialect::{DIALECTS, Dialect, Keep};
use dyno_wire::exchange::{Exchange, ExchangeProgress, MAX_EVENT, MAX_EVENTS, Rules};
use dyno_wire::redact::Redactor;
use proptest::prelude::*;
use std::fs;
use std::path::Path;

const ARRIVAL: ArrivalTime = ArrivalTime { after: 1_000_000, at: 1_000_000, last_byte_slack: 0 };

fn record(dialect: &'static dyn Dialect, stream: bool, parts: &[&[u8]]) -> RequestRecord {
    let rules = Rules {
        dialect,
        stream,
        keep: Keep { text: true, content: true },
        redactor: Redactor::default(),
        budget: Budget::foreign(),
    };
    let mut record = RequestRecord::new(0, 0, 0, Phase::Measured, 0);
    record.requested_output = Some(16);
    let mut exchange = Exchange::new(record, true);
    for part in parts {
        if let ExchangeProgress::Over { .. } = exchange.on_data(&rules, part, ARRIVAL) {
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
    assert!(whole.detail.map_or(0, |detail| detail.to_string().len()) <= 4096);
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

fn small(dialect: &'static dyn Dialect, budget: &Budget) -> Rules {
    Rules {
        dialect,
        stream: true,
        keep: Keep { text: true, content: true },
        redactor: Redactor::default(),
        budget: budget.clone(),
    }
}

fn fresh() -> Exchange {
    Exchange::new(RequestRecord::new(0, 0, 0, Phase::Measured, 0), false)
}

/// M6: each response was within its limit, all of them together were not.
#[test]
fn responses_that_hold_too_much_memory_together_fail() {
    let json = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{\"x\":\"";
    let stream = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: {\"x\":\"";
    for head in [json, stream] {
        let budget = Budget::of(4 << 20);
        let rules = small(DIALECTS[0], &budget);
        let mut open: Vec<Exchange> = (0..8).map(|_| fresh()).collect();
        let part = [b'a'; 64 << 10];
        for exchange in &mut open {
            exchange.on_data(&rules, head.as_bytes(), ARRIVAL);
        }
        let mut failed = 0;
        for _ in 0..16 {
            for exchange in open.iter_mut().filter(|e| e.record.outcome == Outcome::Censored) {
                let over = exchange.on_data(&rules, &part, ARRIVAL);
                failed += usize::from(over != ExchangeProgress::Running);
            }
            assert!(budget.used() <= 4 << 20);
        }
        assert!((1..8).contains(&failed), "{failed} of 8 failed");
        let record = open.iter().find_map(|e| e.record.detail.clone()).unwrap().to_string();
        assert!(record.starts_with("more than 4 MiB of memory would be needed"), "{record}");
        drop(open);
        assert_eq!(budget.used(), 0);
    }
}

/// M7: the record of an endless response did not fit into the record file, and was lost.
#[test]
fn a_response_has_a_largest_number_of_events() {
    let rules = small(DIALECTS[0], &Budget::foreign());
    let mut exchange = fresh();
    let head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
    exchange.on_data(&rules, head, ARRIVAL);
    let event =
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n\n".repeat(1000);
    let mut reads: u64 = 0;
    while let ExchangeProgress::Running = exchange.on_data(
        &rules,
        event.as_bytes(),
        ArrivalTime { after: 0, at: reads * 3_000_001, last_byte_slack: reads % 7 },
    ) {
        reads += 1;
        assert!(reads as usize * 1000 <= MAX_EVENTS, "endless");
    }
    assert_eq!(exchange.record.chunks.len(), MAX_EVENTS);
    assert_eq!(exchange.record.outcome, Outcome::Failed(FailureClass::StreamMalformed));
    let detail = exchange.record.detail.unwrap().to_string();
    assert_eq!(detail, "the response has more than 1000000 output events");
}

#[test]
fn what_is_kept_is_short_and_without_secrets_in_both_languages() {
    let redactor = Redactor::new(["sk-hush-hush".to_owned()]);
    let rules = Rules { redactor, ..small(DIALECTS[0], &Budget::foreign()) };
    let kept = |body: &str| {
        let mut exchange = fresh();
        exchange.on_data(&rules, &response(false, body.as_bytes()), ARRIVAL);
        exchange.on_close(&rules, None, ARRIVAL);
        exchange.record.detail.unwrap()
    };
    let cut = kept("not JSON: you sent sk-hush-hush");
    let [english, chinese] = cut.texts();
    let said = "not JSON: you sent [secret]";
    assert_eq!(english, format!("not a JSON response of this API (at byte 0): {said}"));
    assert_eq!(chinese, format!("不是该 API 的 JSON 响应（第 0 字节）：{said}"));
    let long = kept(&format!("{{\"error\":\"{}\"}}", "长 sk-hush-hush ".repeat(1000)));
    assert!(long.texts().iter().all(|text| text.len() <= 4096 && !text.contains("hush")));
    assert_eq!(long.texts()[0], long.texts()[1], "a server's words are not translated");
}
