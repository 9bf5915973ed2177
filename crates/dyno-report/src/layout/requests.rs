//! One row per request, warm-up included: its timestamps, its metrics, and its outcome.

use super::column::{Cell, Column};
use super::levels::{LevelColumn, LevelRow};
use super::table::LayoutTable;
use dyno_analysis::FrameSource;
use dyno_analysis::{OutsideServer, for_each_record, outside_server, request_times};
use dyno_model::metric::Time;
use dyno_model::outcome::Outcome;
use dyno_model::record::{Phase, RequestRecord, TokenCount, TokenSource};
use dyno_model::summary::Summary;
use dyno_model::tree::Growth;
use dyno_model::units::to_s;
use std::io::{self, Write};

const NS_PER_MS: f64 = 1e6;

type RequestColumn = Column<RequestRecord>;

/// The run and level of a request.
fn origin<'a>() -> Vec<LevelColumn<'a>> {
    vec![
        LevelColumn::text("run_id", |row| Some(row.run.id.clone())),
        LevelColumn::text("run_label", |row| row.run.label.clone()),
        LevelColumn::text("level", |row| Some(row.level.label.clone())),
        LevelColumn::whole("level_index", |row| Some(row.level.index)),
        LevelColumn::own("verdict", |row| Some(row.level.verdict)),
    ]
}

fn columns() -> Vec<RequestColumn> {
    let mut columns = vec![
        RequestColumn::whole("index", |record| Some(record.index)),
        RequestColumn::whole("slot", |record| Some(record.slot)),
        RequestColumn::whole("session", |record| record.turn.map(|turn| turn.session)),
        RequestColumn::whole("turn", |record| record.turn.map(|turn| turn.number)),
        RequestColumn::own("phase", |record| Some(phase(record.phase))),
        RequestColumn::own("outcome", |record| Some(outcome(&record.outcome))),
        RequestColumn::text("why", |record| why(&record.outcome)),
        RequestColumn::whole("intended_ns", |record| Some(record.intended)),
        RequestColumn::whole("dispatched_ns", |record| record.dispatched),
        RequestColumn::whole("connected_ns", |record| record.connected),
        RequestColumn::whole("sent_ns", |record| record.sent),
        RequestColumn::whole("headers_ns", |record| record.headers),
        RequestColumn::whole("first_ns", |record| record.first),
        RequestColumn::whole("last_ns", |record| record.last),
        RequestColumn::whole("end_ns", |record| Some(record.end)),
    ];
    let own = |time: &Time| time.is_own() && !time.is_later();
    for time in Time::ALL.into_iter().filter(own) {
        columns.push(RequestColumn::number(time.id(), move |record| {
            millis(request_times(record)[time])
        }));
    }
    columns.extend([
        RequestColumn::whole("input_tokens", |record| record.input.map(|count| count.tokens)),
        RequestColumn::own("input_source", |record| record.input.map(source)),
        RequestColumn::whole("output_tokens", |record| record.output.map(|count| count.tokens)),
        RequestColumn::own("output_source", |record| record.output.map(source)),
        RequestColumn::whole("output_events", |record| {
            record.streamed.then_some(record.chunks.len() as u64)
        }),
        RequestColumn::truth("streamed", |record| Some(record.streamed)),
        RequestColumn::whole("status", |record| record.status),
        RequestColumn::text("finish_reason", |record| record.finish_reason.clone()),
        RequestColumn::truth("resent", |record| Some(record.resent)),
        RequestColumn::text("detail", |record| record.detail.as_ref().map(ToString::to_string)),
        RequestColumn::whole("cached_tokens", |record| record.cached),
        RequestColumn::number("retry_after_s", |record| record.retry_after.map(to_s)),
        RequestColumn::whole("retries", |record| Some(record.retries)),
        RequestColumn::whole("first_refused_ns", |record| record.first_refused),
        RequestColumn::number("server_queue_ms", |record| millis(record.server?.queue)),
        RequestColumn::number("server_prefill_ms", |record| millis(record.server?.prefill)),
        RequestColumn::number("server_decode_ms", |record| millis(record.server?.decode)),
        RequestColumn::number("server_load_ms", |record| millis(record.server?.load)),
        RequestColumn::number("server_total_ms", |record| millis(record.server?.total)),
        RequestColumn::number("outside_server_ms", |record| match outside_server(record)? {
            OutsideServer::Left(time) => millis(Some(time)),
            OutsideServer::Exceeded(_) => None,
        }),
        RequestColumn::whole("inputs", |record| record.inputs),
        RequestColumn::whole("body_bytes", |record| record.body_bytes),
        RequestColumn::whole("reasoning_tokens", |record| record.reasoning),
        RequestColumn::text("refused_as", |record| Some(record.refused_as?.to_string())),
        RequestColumn::whole("heartbeats", |record| record.streamed.then_some(record.heartbeats)),
        RequestColumn::truth("unconfirmed", |record| Some(record.outcome == Outcome::Unconfirmed)),
    ]);
    columns.extend([
        RequestColumn::whole("tree", |record| Some(record.tree.as_ref()?.tree)),
        RequestColumn::whole("tree_requests", |record| Some(record.tree.as_ref()?.turns)),
        RequestColumn::number("gap_s", |record| Some(to_s(record.tree.as_ref()?.gap))),
        RequestColumn::number("gap_skipped_s", |record| Some(to_s(record.tree.as_ref()?.skipped))),
        RequestColumn::number("join_wait_s", |record| record.tree.as_ref()?.join_wait.map(to_s)),
        RequestColumn::own("growth", |record| record.tree.as_ref()?.growth.map(growth)),
        RequestColumn::whole("repeated_of_prompts", |record| {
            Some(record.tree.as_ref()?.repeated?.of_prompts)
        }),
        RequestColumn::whole("repeated_with_responses", |record| {
            Some(record.tree.as_ref()?.repeated?.with_responses)
        }),
        RequestColumn::truth("warms_cache", |record| Some(record.tree.as_ref()?.warms)),
    ]);
    columns
}

/// Writes the requests of runs in one table, in the order in which they ended. Levels that a
/// summary does not have are left out. Memory does not grow with the number of requests.
pub fn per_request(
    out: &mut dyn Write,
    table: LayoutTable,
    runs: &[(&Summary, &dyn FrameSource)],
) -> io::Result<()> {
    let (origin, mut columns) = (origin(), columns());
    let is_fleet = |summary: &Summary| summary.levels.iter().any(|level| !level.agents.is_empty());
    if runs.iter().any(|(summary, _)| is_fleet(summary)) {
        columns.push(RequestColumn::whole("agent", |record| record.agent));
    }
    let headings = origin.iter().map(Column::heading).chain(columns.iter().map(Column::heading));
    let mut rows = table.open(out, headings.collect())?;
    for (summary, source) in runs {
        let mut written = Ok(());
        for_each_record(*source, |record| {
            let level = summary.levels.iter().find(|level| level.index == record.level);
            let Some(level) = level.filter(|_| written.is_ok()) else { return };
            let of_level = LevelRow { run: &summary.run, level };
            let whose = origin.iter().map(|column| column.cell(&of_level));
            let cells: Vec<Option<Cell>> =
                whose.chain(columns.iter().map(|column| column.cell(record))).collect();
            written = rows.row(cells);
        });
        written?;
    }
    rows.finish()
}

fn millis(ns: Option<u64>) -> Option<f64> {
    ns.map(|ns| ns as f64 / NS_PER_MS)
}

fn growth(growth: Growth) -> &'static str {
    match growth {
        Growth::Whole => "whole",
        Growth::Trimmed => "trimmed",
        Growth::Cut => "cut",
    }
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
        Outcome::Unconfirmed => Outcome::UNCONFIRMED,
        Outcome::Failed(_) => "failed",
        Outcome::Shed(_) => "shed",
        Outcome::Dropped(_) => "dropped",
        Outcome::Censored => "censored",
    }
}

fn why(outcome: &Outcome) -> Option<String> {
    match outcome {
        Outcome::Dropped(why) => Some(why.clone()),
        other => other.class(),
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
