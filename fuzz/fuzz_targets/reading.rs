//! What must hold for any bytes that arrive as a response: one outcome, and the same record however the
//! bytes were cut into reads.

use dyno_model::budget::Budget;
use dyno_model::SEC;
use dyno_model::outcome::Outcome;
use dyno_model::record::{Phase, RequestRecord};
use dyno_wire::client::Arrival;
use dyno_wire::dialect::{DIALECTS, Keep};
use dyno_wire::exchange::{Exchange, ExchangeProgress, Rules};
use dyno_wire::redact::Redactor;

const ARRIVAL: Arrival = Arrival { after: 1, at: 1, loose: 0 };
/// A key that no server may make us repeat.
const SECRET: &str = "sk-hush-hush";
const LONGEST_DETAIL: usize = 4096;
const LONGEST_WAIT: u64 = 1_000_000_000 * SEC;

/// Reads a response in one piece and in two, and compares.
pub fn check(dialect: u8, stream: bool, response: &[u8], cut: u16) {
    let whole = record(dialect, stream, &[response]);
    assert_ne!(whole.outcome, Outcome::Censored);
    let detail = whole.detail.as_ref().map(ToString::to_string).unwrap_or_default();
    assert!(detail.len() <= LONGEST_DETAIL && !detail.contains(SECRET));
    assert!(whole.retry_after.is_none_or(|wait| wait <= LONGEST_WAIT));
    let (left, right) = response.split_at(usize::from(cut) % (response.len() + 1));
    assert_eq!(shown(&record(dialect, stream, &[left, right])), shown(&whole));
}

fn record(dialect: u8, stream: bool, parts: &[&[u8]]) -> RequestRecord {
    let rules = Rules {
        dialect: DIALECTS[usize::from(dialect) % DIALECTS.len()],
        stream,
        keep: Keep { text: true, content: true },
        redactor: Redactor::new([SECRET.to_owned()]),
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

/// Everything that does not depend on how the bytes were cut into reads.
fn shown(record: &RequestRecord) -> String {
    let tokens: Vec<u32> = record.chunks.iter().map(|chunk| chunk.tokens).collect();
    format!(
        "{:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {tokens:?} {:?}",
        record.outcome,
        record.detail,
        record.retry_after,
        record.status,
        record.input,
        record.output,
        record.finish_reason,
        record.server,
        record.unstreamed,
        record.heartbeats,
        record.text
    )
}
