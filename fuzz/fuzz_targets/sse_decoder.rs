//! Any bytes, cut anywhere: the decoder gives the same events as in one piece, and an exchange
//! ends in one outcome.
#![no_main]

use dyno_model::outcome::Outcome;
use dyno_model::record::{Phase, RequestRecord};
use dyno_wire::client::Arrival;
use dyno_wire::dialect::{DIALECTS, Keep};
use dyno_wire::exchange::{Exchange, Progress, Rules};
use dyno_wire::redact::Redactor;
use dyno_wire::framing::sse::SseDecoder;
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

fn outcome(parts: &[&[u8]]) -> Outcome {
    let rules = Rules {
        dialect: DIALECTS[0],
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

fuzz_target!(|input: (Vec<u8>, u16)| {
    let (bytes, cut) = input;
    let cut = usize::from(cut) % (bytes.len() + 1);
    let parts = [&bytes[..cut], &bytes[cut..]];
    assert_eq!(events(&[&bytes]), events(&parts));
    let answer = [b"HTTP/1.1 200 OK\r\n\r\n", bytes.as_slice()].concat();
    let cut = usize::from(cut as u16) % (answer.len() + 1);
    assert_eq!(outcome(&[&answer]), outcome(&[&answer[..cut], &answer[cut..]]));
    let _ = outcome(&[&bytes]);
});
