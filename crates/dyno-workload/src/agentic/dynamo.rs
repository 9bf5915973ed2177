//! Dynamo's request traces with sessions: a record is a request that ended, or an event of a tool. Sub-agents name the
//! session that started them. A link of a tool says which request started one and which waited for it; without one, a
//! sub-agent hangs on its parent's latest request that was sent before it, and the parent's first request after its end
//! waits for it.

use std::collections::HashMap;
use std::sync::Arc;

use dyno_model::{MS, Nanos, message};
use serde_json::{Map, Value};

use super::AgenticFormat;
use super::family::{Parent, families};
use super::fields::{FieldsAt, id, object, text};
use super::format::says;
use super::gathered::{GatheredSession, GatheredSessions};
use super::notes::AgenticRemark;
use super::reader::{TreeBuilder, TreeSink, left_out};
use super::tree::{PromptParts, Tools, Tree, TreeSession, TreeTurn, TurnAt, Wait, Why};
use crate::data::{At, DataError};
use crate::trace::time::Unit;

const SCHEMA: &str = "dynamo.request.trace.";
/// Tokens of a block where the file does not say.
const USUAL_BLOCK: u32 = 512;

fn unwrapped(record: &Map<String, Value>) -> &Map<String, Value> {
    object(record, "event").unwrap_or(record)
}

/// Whether an object is a request of a session in such a trace.
pub(super) fn is_request(record: &Map<String, Value>) -> bool {
    let event = unwrapped(record);
    let session =
        || object(event, "agent_context").and_then(|context| id(context.get("session_id")));
    is_event(event) && says(event, "event_type", &["request_end"]) && session().is_some()
}

fn is_event(event: &Map<String, Value>) -> bool {
    text(event, "schema").is_some_and(|schema| schema.starts_with(SCHEMA))
}

/// A request of a session.
struct DynamoRow {
    id: String,
    parent: Option<String>,
    sent: Nanos,
    ended: Option<Nanos>,
    block: Option<u32>,
    turn: TreeTurn,
}

/// Which request of a session started a sub-agent, and which waited for it.
struct ToolLink {
    child: String,
    source: Option<String>,
    consumer: Option<String>,
    background: bool,
}

/// Reads requests and events of tools.
#[derive(Default)]
pub(super) struct DynamoRequests {
    sessions: GatheredSessions<DynamoRow>,
    links: Vec<ToolLink>,
    /// Calls of tools by session, with the time of their start.
    calls: HashMap<String, Vec<Nanos>>,
    model: Option<Arc<str>>,
}

impl TreeBuilder for DynamoRequests {
    fn take(&mut self, at: &At, record: Value, out: &mut TreeSink) -> Result<(), DataError> {
        let event = record.as_object().map(unwrapped).filter(|event| is_event(event));
        let kind = event.and_then(|event| text(event, "event_type")).unwrap_or_default();
        let Some(event) = event.filter(|_| kind == "request_end" || kind.starts_with("tool_"))
        else {
            out.notes.remark(AgenticRemark::OtherRecords, 1);
            return Ok(());
        };
        let empty = Map::new();
        let context = object(event, "agent_context").unwrap_or(&empty);
        if kind != "request_end" {
            *out.tool_events.get_or_insert(0) += 1;
            self.tool(at, event, context, kind);
            return Ok(());
        }
        let request = object(event, "request").unwrap_or(&empty);
        let session = id(context.get("session_id"))
            .or_else(|| id(request.get("request_id")))
            .unwrap_or_else(|| at.to_string());
        let row = row(at, event, context, request, &mut self.model);
        self.sessions.add(&session, at, row);
        Ok(())
    }

    fn spoil(&mut self, why: &DataError) -> bool {
        self.sessions.spoil(why);
        true
    }

    fn end_of_file(&mut self, out: &mut TreeSink) {
        let Self { mut sessions, links, mut calls, .. } = std::mem::take(self);
        let mut all = sessions.take();
        for of in &mut all {
            if !of.rows.is_sorted_by_key(|row| row.sent) {
                out.notes.remark(AgenticRemark::Reordered, 1);
            }
            of.rows.sort_by_key(|row| row.sent);
            let mut called = calls.remove(&of.name).unwrap_or_default();
            called.sort_unstable();
            for number in 0..of.rows.len() {
                let until = of.rows.get(number + 1).map_or(Nanos::MAX, |next| next.sent);
                let before = called.partition_point(|call| *call < until);
                let count = called.drain(..before).count() as u32;
                of.rows[number].turn.tools.calls = count;
                if let Some(next) = of.rows.get_mut(number + 1) {
                    next.turn.tools.results = count;
                }
            }
        }
        let trees = members(all, out).into_iter().map(|family| tree(family, &links));
        let trees: Vec<Tree> = trees.collect();
        out.give(trees);
    }
}

impl DynamoRequests {
    fn tool(
        &mut self,
        at: &At,
        event: &Map<String, Value>,
        context: &Map<String, Value>,
        kind: &str,
    ) {
        let empty = Map::new();
        let tool = object(event, "tool").unwrap_or(&empty);
        if let Some(claude) = object(tool, "claude")
            && let Some(child) = id(claude.get("child_session_id"))
        {
            let background = says(claude, "execution_mode", &["background"]);
            let [source, consumer] =
                ["source_request_id", "consumer_request_id"].map(|name| id(claude.get(name)));
            if !self.links.iter().any(|link| link.child == child && link.consumer == consumer) {
                self.links.push(ToolLink { child, source, consumer, background });
            }
        }
        if kind == "tool_start"
            && let Some(session) = id(context.get("session_id"))
            && let Ok(Some(start)) =
                FieldsAt::of(at, tool).time("started_at_unix_ms", Unit::Milliseconds)
        {
            self.calls.entry(session).or_default().push(start);
        }
    }
}

fn row(
    at: &At,
    event: &Map<String, Value>,
    context: &Map<String, Value>,
    request: &Map<String, Value>,
    model: &mut Option<Arc<str>>,
) -> Result<DynamoRow, DataError> {
    let record = FieldsAt::of(at, request);
    let empty = Map::new();
    let replay = FieldsAt::of(at, object(request, "replay").unwrap_or(&empty));
    let missing = || message!("it is missing", "缺少该字段");
    let Some(sent) = record.time("request_received_ms", Unit::Milliseconds)? else {
        return Err(record.wrong("request.request_received_ms", &missing()));
    };
    let took = record.time("total_time_ms", Unit::Milliseconds)?;
    let ended = FieldsAt::of(at, event).time("event_time_unix_ms", Unit::Milliseconds)?;
    let ended = took.map(|took| sent.saturating_add(took)).or(ended);
    if ended.is_some_and(|ended| ended < sent) {
        let what = message!("it ended before it was received", "结束时间早于接收时间");
        return Err(record.wrong("event_time_unix_ms", &what));
    }
    let input = match record.tokens("input_tokens")? {
        Some(input) => input,
        None => replay
            .tokens("input_length")?
            .ok_or_else(|| record.wrong("input_tokens", &missing()))?,
    };
    let block = replay.tokens("trace_block_size")?.and_then(|size| u32::try_from(size).ok());
    Ok(DynamoRow {
        id: id(request.get("request_id")).unwrap_or_default(),
        parent: id(context.get("parent_session_id")),
        sent,
        ended,
        block: block.filter(|size| *size > 0),
        turn: TreeTurn {
            input: Some(input),
            output: Some(record.tokens("output_tokens")?.unwrap_or(0)),
            cached: record.tokens("cached_tokens")?,
            model: record.model("model", model),
            ids: replay.ids("input_sequence_hashes")?.unwrap_or_default(),
            compacted: context
                .get("compaction")
                .is_some_and(|value| value.as_bool() != Some(false) && !value.is_null()),
            tools: Tools::default(),
            ..TreeTurn::default()
        },
    })
}

/// A session and the place of its parent in its tree.
type TreeMember = (GatheredSession<DynamoRow>, Option<usize>);

/// The sessions of each tree, the root first. What belongs to an absent session, or to itself, is left out with
/// everything below it, and so is a tree with a request that could not be read.
fn members(all: Vec<GatheredSession<DynamoRow>>, out: &mut TreeSink) -> Vec<Vec<TreeMember>> {
    let places: HashMap<&str, usize> =
        all.iter().enumerate().map(|(place, of)| (of.name.as_str(), place)).collect();
    let parent = |of: &GatheredSession<DynamoRow>| match of
        .rows
        .iter()
        .find_map(|row| row.parent.as_ref())
    {
        None => Parent::None,
        Some(name) => match places.get(name.as_str()) {
            Some(place) => Parent::At(*place),
            None => Parent::Absent(name.clone()),
        },
    };
    let parents: Vec<Parent> = all.iter().map(parent).collect();
    let (families, wrong) = families(&parents, "agent_context.parent_session_id");
    let mut all: Vec<Option<GatheredSession<DynamoRow>>> = all.into_iter().map(Some).collect();
    for (place, what) in wrong {
        let Some(of) = all[place].take() else { continue };
        let what = message!("session {:?}: {what}", "会话 {:?}：{what}", of.name);
        out.notes.leave_tree(of.rows.len(), &DataError::bad(&of.at, what, left_out()));
    }
    let mut trees = Vec::with_capacity(families.len());
    for family in families {
        let of = family.members.iter().filter_map(|place| all[*place].take());
        let mut of: Vec<TreeMember> = of.zip(family.parents).collect();
        match of.iter_mut().find_map(|(of, _)| of.wrong.take()) {
            None => trees.push(of),
            Some(why) => {
                let requests = of.iter().map(|(of, _)| of.rows.len()).sum();
                out.notes.leave_tree(requests, &why);
            }
        }
    }
    trees
}

fn tree(family: Vec<TreeMember>, links: &[ToolLink]) -> Tree {
    let start = family.iter().flat_map(|(of, _)| &of.rows).map(|row| row.sent).min().unwrap_or(0);
    let (mut joins, mut spawns) = (Vec::new(), Vec::new());
    for (child, (of, parent)) in family.iter().enumerate() {
        let Some(parent) = *parent else { continue };
        let above = &family[parent].0.rows;
        let (Some(first), Some(last)) = (of.rows.first(), of.rows.len().checked_sub(1)) else {
            continue;
        };
        let last_end = of.rows.iter().map(|row| row.ended.unwrap_or(row.sent)).max().unwrap_or(0);
        let named = |id: &Option<String>| {
            id.as_ref().and_then(|id| above.iter().position(|row| row.id == *id))
        };
        let mut linked = links.iter().filter(|link| link.child == of.name).peekable();
        let (spawn, join) = match linked.peek() {
            Some(_) => {
                let linked: Vec<&ToolLink> = linked.collect();
                let source = linked.iter().find_map(|link| named(&link.source));
                let consumer = linked
                    .iter()
                    .filter(|link| !link.background)
                    .find_map(|link| named(&link.consumer));
                (source, consumer)
            }
            None => (
                above.partition_point(|row| row.sent <= first.sent).checked_sub(1),
                // Times of requests and of events are rounded to a millisecond.
                above.iter().position(|row| row.sent.saturating_add(MS) >= last_end),
            ),
        };
        spawns.extend(spawn.map(|turn| (child, TurnAt { session: parent, turn })));
        let on = TurnAt { session: child, turn: last };
        joins.extend(join.map(|turn| (TurnAt { session: parent, turn }, on)));
    }
    let block = family.iter().flat_map(|(of, _)| &of.rows).find_map(|row| row.block);
    let name = family.first().map(|(of, _)| of.name.clone()).unwrap_or_default();
    let at = family[0].0.at.clone();
    let session = |(of, parent): (GatheredSession<DynamoRow>, Option<usize>)| TreeSession {
        name: of.name,
        parent,
        turns: of
            .rows
            .into_iter()
            .map(|row| TreeTurn {
                sent: Some(row.sent - start),
                ended: row.ended.map(|ended| ended.saturating_sub(start)),
                ..row.turn
            })
            .collect(),
        ..TreeSession::default()
    };
    let mut sessions: Vec<TreeSession> = family.into_iter().map(session).collect();
    for (child, on) in spawns {
        sessions[child].turns[0].waits.push(Wait { on, why: Why::Spawn });
    }
    for (at, on) in joins {
        sessions[at.session].turns[at.turn].waits.push(Wait { on, why: Why::Join });
    }
    Tree {
        name,
        at,
        format: AgenticFormat::Dynamo,
        start: Some(start),
        prompts: PromptParts::Blocks { size: block.unwrap_or(USUAL_BLOCK), local: false },
        messages: Vec::new(),
        sessions,
        totals: None,
    }
}
