//! TraceLab's rounds of coding agents, one a record, and the workload of its replayer, one row a round. Neither says which
//! session is a sub-agent of which.

use std::sync::Arc;

use dyno_model::{Nanos, message};
use serde_json::{Map, Value};

use super::AgenticFormat;
use super::fields::{FieldsAt, array, id, text, whole};
use super::gathered::{GatheredSession, GatheredSessions};
use super::notes::AgenticRemark;
use super::reader::{TreeBuilder, TreeSink};
use super::tree::{PromptParts, Tools, Tree, TreeSession, TreeTurn};
use crate::data::{At, DataError};
use crate::trace::time::Unit;

const EVENTS: &str = "timing_events";
/// What a request waits for, and what its response consists of.
const BEFORE: [&str; 2] = ["user_message", "tool_result"];
const AFTER: [&str; 3] = ["reasoning", "text", "tool_call"];

/// Whether an object is a round.
pub(super) fn is_round(object: &Map<String, Value>) -> bool {
    ["session_id", "round_index", "input_tokens_total"]
        .iter()
        .all(|name| object.contains_key(*name))
}

/// Whether an object is a row of a workload.
pub(super) fn is_row(object: &Map<String, Value>) -> bool {
    let names = ["session_id", "round_idx", "prefix_len", "input_len", "output_len"];
    names.iter().all(|name| object.contains_key(*name))
}

/// A round of a session.
struct TraceLabRound {
    number: u64,
    /// On the clock of the file.
    sent: Option<Nanos>,
    ended: Option<Nanos>,
    /// The wait after it.
    after: Option<Nanos>,
    turn: TreeTurn,
}

/// Reads rounds, or rows of a workload.
pub(super) struct TraceLabRows {
    format: AgenticFormat,
    sessions: GatheredSessions<TraceLabRound>,
    model: Option<Arc<str>>,
}

impl TraceLabRows {
    /// Of one of the two formats.
    pub(super) fn of(format: AgenticFormat) -> Self {
        Self { format, sessions: GatheredSessions::default(), model: None }
    }
}

impl TreeBuilder for TraceLabRows {
    fn take(&mut self, at: &At, record: Value, out: &mut TreeSink) -> Result<(), DataError> {
        let of_workload = self.format == AgenticFormat::TraceLabWorkload;
        let is_one = if of_workload { is_row } else { is_round };
        let Some(object) = record.as_object().filter(|object| is_one(object)) else {
            out.notes.remark(AgenticRemark::OtherRecords, 1);
            return Ok(());
        };
        let session = id(object.get("session_id")).unwrap_or_else(|| at.to_string());
        let fields = FieldsAt::of(at, object);
        let row = if of_workload { planned(fields) } else { round(fields, &mut self.model) };
        self.sessions.add(&session, at, row);
        Ok(())
    }

    fn spoil(&mut self, why: &DataError) -> bool {
        self.sessions.spoil(why);
        true
    }

    fn end_of_file(&mut self, out: &mut TreeSink) {
        self.sessions.spoil_those_with_holes(0, |round| Some(round.number));
        give(self.sessions.take(), self.format, out);
    }
}

/// A round was sent when the last of its input was there, and ended with the last event of its response.
fn round(record: FieldsAt<'_>, model: &mut Option<Arc<str>>) -> Result<TraceLabRound, DataError> {
    let (mut sent, mut first, mut last) = (None::<Nanos>, None::<Nanos>, None::<Nanos>);
    for event in array(record.object, EVENTS).unwrap_or_default() {
        let Some(event) = event.as_object() else { continue };
        let kind = text(event, "event_type").unwrap_or_default();
        let (before, after) = (BEFORE.contains(&kind), AFTER.contains(&kind));
        if !before && !after {
            continue;
        }
        let time = FieldsAt::of(record.at, event).time("timestamp", Unit::Date)?;
        if before {
            sent = sent.max(time);
        } else {
            first = first.into_iter().chain(time).min();
            last = last.max(time);
        }
    }
    let sent = sent.or(first);
    let results = record.tokens("current_tool_result_count")?.unwrap_or(0);
    Ok(TraceLabRound {
        number: record.needed("round_index")?,
        sent,
        ended: last.map(|last| last.max(sent.unwrap_or(last))),
        after: None,
        turn: TreeTurn {
            input: Some(record.needed("input_tokens_total")?),
            output: Some(record.needed("output_tokens")?),
            cached: record.tokens("prefix_tokens")?,
            model: record.model("model", model),
            tools: Tools {
                calls: array(record.object, "tools").map_or(0, <[Value]>::len) as u32,
                results: u32::try_from(results).unwrap_or(u32::MAX),
            },
            ..TreeTurn::default()
        },
    })
}

/// A row of a workload: what its replayer would send.
fn planned(record: FieldsAt<'_>) -> Result<TraceLabRound, DataError> {
    let prefix = record.needed("prefix_len")?;
    let number = record.needed("round_idx")?;
    let after = record.object.get("tool_wait_after_ms").filter(|after| whole(after) != Some(0));
    let arrival = record.time("arrival_time", Unit::Milliseconds)?;
    Ok(TraceLabRound {
        number,
        sent: arrival,
        ended: None,
        after: match after {
            Some(_) => record.time("tool_wait_after_ms", Unit::Milliseconds)?,
            None => Some(0),
        },
        turn: TreeTurn {
            input: Some(prefix + record.needed("input_len")?),
            output: Some(record.needed("output_len")?),
            cached: Some(prefix),
            ..TreeTurn::default()
        },
    })
}

/// Makes a tree of each session.
fn give(sessions: Vec<GatheredSession<TraceLabRound>>, format: AgenticFormat, out: &mut TreeSink) {
    let mut trees = Vec::new();
    for gathered in sessions {
        match &gathered.wrong {
            Some(why) => out.notes.leave_tree(gathered.rows.len(), why),
            None => match tree(gathered, format, out) {
                Ok(tree) => trees.push(tree),
                Err((requests, error)) => out.notes.leave_tree(requests, &error),
            },
        }
    }
    out.give(trees);
}

fn tree(
    mut of: GatheredSession<TraceLabRound>,
    format: AgenticFormat,
    out: &mut TreeSink,
) -> Result<Tree, (usize, DataError)> {
    if !of.rows.is_sorted_by_key(|round| round.number) {
        out.notes.remark(AgenticRemark::Reordered, 1);
        of.rows.sort_by_key(|round| round.number);
    }
    let sent = |round: &TraceLabRound| round.sent;
    if format == AgenticFormat::TraceLab && !of.rows.iter().filter_map(sent).is_sorted() {
        let what = message!(
            "field \"timing_events\": a later round of session {:?} was sent earlier",
            "字段 \"timing_events\"：会话 {:?} 中后面的轮次反而更早发送",
            of.name
        );
        let error = DataError::bad(&of.at, what, super::reader::left_out());
        return Err((of.rows.len(), error));
    }
    let start = of.rows.iter().filter_map(sent).min();
    let mut after = None;
    let mut turns = Vec::with_capacity(of.rows.len());
    for round in of.rows {
        let since = |time: Nanos| time.saturating_sub(start.unwrap_or(0));
        let waited = std::mem::replace(&mut after, round.after);
        turns.push(match format {
            // A row has the time at which its session began.
            AgenticFormat::TraceLabWorkload => {
                let first = turns.is_empty();
                TreeTurn { sent: first.then_some(0), gap: waited, ..round.turn }
            }
            _ => TreeTurn {
                sent: round.sent.map(since),
                ended: round.ended.map(since),
                ..round.turn
            },
        });
    }
    Ok(Tree {
        name: of.name.clone(),
        at: of.at,
        format,
        start,
        prompts: PromptParts::Lengths,
        messages: Vec::new(),
        sessions: vec![TreeSession { name: of.name, turns, ..TreeSession::default() }],
        totals: None,
    })
}
