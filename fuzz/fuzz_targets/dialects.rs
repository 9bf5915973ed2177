//! Any bytes as the body of a response in any API, streamed or whole, cut anywhere: the same record as in
//! one piece, and one outcome.
#![no_main]

use dyno_model::record::{Phase, RequestRecord};
use dyno_wire::client::Arrival;
use dyno_wire::dialect::{DIALECTS, Keep};
use dyno_wire::exchange::{Exchange, Progress, Rules};
use dyno_wire::redact::Redactor;
use libfuzzer_sys::fuzz_target;

const ARRIVAL: Arrival = Arrival { after: 1, at: 1, loose: 0 };

fn record(dialect: usize, stream: bool, parts: &[&[u8]]) -> String {
    let rules = Rules {
        dialect: DIALECTS[dialect],
        stream,
        keep: Keep { text: true, content: true },
        redactor: Redactor::default(),
    };
    let mut record = RequestRecord::new(0, 0, 0, Phase::Measured, 0);
    record.requested_output = Some(16);
    let mut exchange = Exchange::new(record, true);
    for part in parts {
        if let Progress::Over { .. } = exchange.on_data(&rules, part, ARRIVAL) {
            return shown(&exchange.record);
        }
    }
    exchange.on_close(&rules, None, ARRIVAL);
    shown(&exchange.record)
}

/// Everything that does not depend on how the bytes were cut into reads.
fn shown(record: &RequestRecord) -> String {
    let tokens: Vec<u32> = record.chunks.iter().map(|chunk| chunk.tokens).collect();
    format!(
        "{:?} {:?} {:?} {:?} {:?} {:?} {tokens:?} {:?}",
        record.outcome,
        record.input,
        record.output,
        record.finish_reason,
        record.server,
        record.unstreamed,
        record.text
    )
}

fuzz_target!(|input: (u8, bool, u16, Vec<u8>)| {
    let (dialect, stream, cut, body) = input;
    let dialect = usize::from(dialect) % DIALECTS.len();
    let kind = if stream { "text/event-stream" } else { "application/json" };
    let head = format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n\r\n");
    let response = [head.as_bytes(), &body].concat();
    let cut = usize::from(cut) % (response.len() + 1);
    let (left, right) = response.split_at(cut);
    assert_eq!(record(dialect, stream, &[&response]), record(dialect, stream, &[left, right]));
});
