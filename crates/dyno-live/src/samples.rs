//! Plans, records and level ends for tests.

use dyno_model::frame::{Ending, LevelEnd};
use dyno_model::outcome::Outcome;
use dyno_model::plan::{LengthSpec, LevelPlan};
use dyno_model::record::{Phase, RequestRecord, TokenCount, TokenSource};
use dyno_model::{MS, SEC};

pub(super) fn level_plan(label: &str) -> LevelPlan {
    LevelPlan {
        label: label.to_owned(),
        drain_ns: SEC,
        input_tokens: LengthSpec::fixed(100),
        output_tokens: LengthSpec::fixed(10),
        ..LevelPlan::closed_loop(8, 100)
    }
}

pub(super) fn level_end() -> LevelEnd {
    LevelEnd { sending_stopped: SEC, ..LevelEnd::at(0, Ending::Requests, 2 * SEC) }
}

/// A completed stream of ten tokens: TTFT 200 ms and a little more with each index, ITL 20 ms.
pub(super) fn record(level: u32, index: u64) -> RequestRecord {
    let sent = index * 40 * MS;
    let mut record = RequestRecord::new(level, index, 0, Phase::Measured, sent);
    record.widths = Some(Default::default());
    record.outcome = Outcome::Completed;
    (record.dispatched, record.sent) = (Some(sent), Some(sent));
    let first = sent + (200 + index % 100) * MS;
    (0..10).for_each(|i| record.chunks.push(first + i * 20 * MS, false, 1));
    let last = first + 9 * 20 * MS;
    (record.first, record.last, record.end) = (Some(first), Some(last), last);
    (record.streamed, record.terminal) = (true, true);
    record.output = Some(TokenCount { tokens: 10, source: TokenSource::Usage });
    record
}
