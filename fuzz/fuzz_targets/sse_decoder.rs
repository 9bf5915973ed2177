//! Any bytes, cut anywhere: the decoder gives the same events as in one piece, and an exchange of
//! any API ends in one outcome.
#![no_main]

use dyno_model::outcome::Outcome;
use dyno_model::record::{Phase, RequestRecord};
use dyno_wire::client::Arrival;
use dyno_wire::dialect::{DIALECTS, Dialect, Keep};
use dyno_wire::exchange::{Exchange, Progress, Rules};
use dyno_wire::framing::sse::SseDecoder;
use dyno_wire::redact::Redactor;
use libfuzzer_sys::fuzz_target;

const LIMIT: usize = 1 << 16;
const ARRIVAL: Arrival = Arrival { after: 1, at: 1, loose: 0 };

fn events(parts: &[&[u8]]) -> Option<Vec<Vec<u8>>> {
    let mut decoder = SseDecoder::new(LIMIT);
    let mut all = Vec::new();
    for part in parts {
        let mut input = *part;
        while let Some(event) = decoder.next(&mut input).ok()? {
            all.push([event.kind, b"|", event.data].concat());
        }
    }
    Some(all)
}

fn outcome(dialect: &'static dyn Dialect, parts: &[&[u8]]) -> Outcome {
    let rules = Rules {
        dialect,
        stream: true,
        keep: Keep { text: true, content: true },
        redactor: Redactor::default(),
    };
    let record = RequestRecord::new(0, 0, 0, Phase::Measured, 0);
    let mut exchange = Exchange::new(record, true);
    for part in parts {
        if let Progress::Over { .. } = exchange.on_data(&rules, part, ARRIVAL) {
            return exchange.record.outcome;
        }
    }
    exchange.on_close(&rules, None, ARRIVAL);
    exchange.record.outcome
}

fuzz_target!(|input: (u8, Vec<u8>, u16)| {
    let (which, bytes, cut) = input;
    let dialect = DIALECTS[usize::from(which) % DIALECTS.len()];
    let cut = usize::from(cut);
    let at = cut % (bytes.len() + 1);
    assert_eq!(events(&[&bytes]), events(&[&bytes[..at], &bytes[at..]]));
    for kind in ["text/event-stream", "application/json"] {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n\r\n");
        let answer = [head.as_bytes(), &bytes].concat();
        let (left, right) = answer.split_at(cut % (answer.len() + 1));
        assert_eq!(outcome(dialect, &[&answer]), outcome(dialect, &[left, right]));
    }
    let _ = outcome(dialect, &[&bytes]);
});
