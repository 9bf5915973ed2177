//! One row a request, warm-up included: its times, its figures, and how it ended.

use super::csv::{Field, line};
use crate::aggregate::{figures, for_each_record};
use crate::source::FrameSource;
use crate::summary::Summary;
use dyno_core::outcome::Outcome;
use dyno_core::record::{Phase, RequestRecord, TokenCount, TokenSource};
use std::io::{self, Write};

const NS_PER_MS: f64 = 1e6;

/// A column: its name, and what stands in it.
type Column = (&'static str, fn(&RequestRecord) -> Field);

const COLUMNS: &[Column] = &[
    ("index", |r| Field::own(Some(r.index))),
    ("slot", |r| Field::own(Some(r.slot))),
    ("session", |r| Field::own(r.turn.map(|turn| turn.session))),
    ("turn", |r| Field::own(r.turn.map(|turn| turn.number))),
    ("phase", |r| Field::own(Some(phase(r.phase)))),
    ("outcome", |r| Field::own(Some(outcome(&r.outcome)))),
    ("why", |r| why(&r.outcome)),
    ("intended_ns", |r| Field::own(Some(r.intended))),
    ("dispatched_ns", |r| Field::own(r.dispatched)),
    ("connected_ns", |r| Field::own(r.connected)),
    ("sent_ns", |r| Field::own(r.sent)),
    ("headers_ns", |r| Field::own(r.headers)),
    ("first_ns", |r| Field::own(r.first)),
    ("last_ns", |r| Field::own(r.last)),
    ("end_ns", |r| Field::own(Some(r.end))),
    ("ttft_ms", |r| millis(figures(r).ttft)),
    ("ttft_scheduled_ms", |r| millis(figures(r).ttft_scheduled)),
    ("latency_ms", |r| millis(figures(r).latency)),
    ("latency_scheduled_ms", |r| millis(figures(r).latency_scheduled)),
    ("tpot_ms", |r| millis(figures(r).tpot)),
    ("input_tokens", |r| Field::own(r.input.map(|count| count.tokens))),
    ("input_source", |r| Field::own(r.input.map(source))),
    ("output_tokens", |r| Field::own(r.output.map(|count| count.tokens))),
    ("output_source", |r| Field::own(r.output.map(source))),
    ("output_events", |r| Field::own(r.streamed.then_some(r.chunks.len()))),
    ("streamed", |r| Field::own(Some(r.streamed))),
    ("status", |r| Field::own(r.status)),
    ("finish_reason", |r| Field::text(r.finish_reason.as_deref())),
    ("resent", |r| Field::own(Some(r.resent))),
    ("detail", |r| Field::text(r.detail.as_deref())),
];

/// Writes the requests of a run, in the order in which they ended; the heading only where it is
/// asked for, so that several runs can stand below one. Levels that the summary does not have are
/// left out.
pub fn per_request(
    out: &mut dyn Write,
    summary: &Summary,
    source: &dyn FrameSource,
    heading: bool,
) -> io::Result<()> {
    if heading {
        let own = ["run_id", "run_label", "level", "level_index", "verdict"];
        let names = own.into_iter().chain(COLUMNS.iter().map(|(name, _)| *name));
        let names: Vec<Field> = names.map(|name| Field::Own(name.to_owned())).collect();
        out.write_all(line(&names).as_bytes())?;
    }
    let run = &summary.run;
    let mut written = Ok(());
    for_each_record(source, |record| {
        let level = summary.levels.iter().find(|level| level.index == record.level);
        let Some(level) = level.filter(|_| written.is_ok()) else { return };
        let mut fields = vec![
            Field::Text(run.id.clone()),
            Field::text(run.label.as_deref()),
            Field::Text(level.label.clone()),
            Field::own(Some(level.index)),
            Field::own(Some(level.verdict)),
        ];
        fields.extend(COLUMNS.iter().map(|(_, field)| field(record)));
        written = out.write_all(line(&fields).as_bytes());
    });
    written
}

fn millis(ns: Option<u64>) -> Field {
    Field::own(ns.map(|ns| ns as f64 / NS_PER_MS))
}

fn phase(phase: Phase) -> &'static str {
    match phase {
        Phase::Warmup => "warmup",
        Phase::Measured => "measured",
        Phase::Drain => "drain",
    }
}

fn outcome(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Completed => "completed",
        Outcome::Failed(_) => "failed",
        Outcome::Dropped(_) => "dropped",
        Outcome::Censored => "censored",
    }
}

fn why(outcome: &Outcome) -> Field {
    match outcome {
        Outcome::Failed(class) => Field::Text(class.to_string()),
        Outcome::Dropped(why) => Field::Text(why.clone()),
        Outcome::Completed | Outcome::Censored => Field::Absent,
    }
}

fn source(count: TokenCount) -> &'static str {
    match count.source {
        TokenSource::Usage => "usage",
        TokenSource::Chunks => "chunks",
        TokenSource::Tokenizer => "tokenizer",
        TokenSource::Events => "events",
    }
}
