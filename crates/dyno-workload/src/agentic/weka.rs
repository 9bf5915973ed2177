//! WEKA's traces of coding agents. An object is a tree: the requests of the root session in order, and among them
//! sub-agents with requests of their own, which stand between the request that started them and the one that waits.
//!
//! The times of a sub-agent are of one of two forms. If its first request has a smaller time than its entry, inner times
//! count from its start, and the entry has the time of its end, or of its start where it has no duration. Otherwise all
//! times are those of the tree.

use std::sync::Arc;

use dyno_model::{Nanos, SEC, message};
use serde_json::{Map, Value};

use super::AgenticFormat;
use super::fields::{FieldsAt, array, id, text, within};
use super::format::first_of;
use super::format::says;
use super::notes::AgenticRemark;
use super::reader::{TreeBuilder, TreeSink};
use super::tree::{PromptParts, Tools, Tree, TreeSession, TreeTurn, TurnAt, Wait, Why};
use crate::data::{At, DataError};
use crate::trace::time::Unit;

const REQUESTS: &str = "requests";
/// Times are whole seconds, so what was sent after something may seem to be sent up to a second before it.
const ROUNDED: Nanos = SEC;
/// Tokens of a block where the file does not say.
const USUAL_BLOCK: u32 = 64;

/// Whether an object is such a tree.
pub(super) fn is_tree(object: &Map<String, Value>) -> bool {
    let Some(first) = first_of(object, REQUESTS) else {
        return object.contains_key("block_size") && array(object, REQUESTS).is_some();
    };
    let has = |name| first.contains_key(name);
    has("t") && (has("in") && has("out") || is_subagent(first))
}

fn is_subagent(request: &Map<String, Value>) -> bool {
    says(request, "type", &["subagent"])
}

/// Reads traces.
pub(super) struct WekaTraces;

impl TreeBuilder for WekaTraces {
    fn take(&mut self, at: &At, record: Value, out: &mut TreeSink) -> Result<(), DataError> {
        let Some(object) = record.as_object().filter(|object| is_tree(object)) else {
            out.notes.remark(AgenticRemark::OtherRecords, 1);
            return Ok(());
        };
        let record = FieldsAt::of(at, object);
        let size =
            record.tokens("block_size")?.map_or(Some(USUAL_BLOCK), |size| size.try_into().ok());
        let Some(size) = size.filter(|size| *size > 0) else {
            return Err(record.wrong("block_size", &message!("it is no block size", "不是块大小")));
        };
        let local = !says(object, "hash_id_scope", &["global"]);
        let mut reading = WekaReading { at, sessions: Vec::new(), overlapping: 0, model: None };
        reading.session(object, None, 0)?;
        let WekaReading { sessions, overlapping, .. } = reading;
        out.notes.remark(AgenticRemark::Overlapping, overlapping);
        out.give(vec![Tree {
            name: id(object.get("id")).unwrap_or_else(|| at.to_string()),
            at: at.clone(),
            format: AgenticFormat::Weka,
            start: None,
            prompts: PromptParts::Blocks { size, local },
            messages: Vec::new(),
            sessions,
            totals: None,
        }]);
        Ok(())
    }
}

/// A tree that is being read.
struct WekaReading<'a> {
    at: &'a At,
    sessions: Vec<TreeSession>,
    overlapping: u64,
    model: Option<Arc<str>>,
}

/// A sub-agent that a later request of its parent waits for.
struct Awaited {
    session: usize,
    ended: Nanos,
}

impl WekaReading<'_> {
    /// Reads a session whose times count from `base`, and the sub-agents in it. Gives its place.
    fn session(
        &mut self,
        of: &Map<String, Value>,
        parent: Option<usize>,
        base: Nanos,
    ) -> Result<usize, DataError> {
        let record = FieldsAt::of(self.at, of);
        let head = record.tokens("tool_tokens")?.zip(record.tokens("system_tokens")?);
        let name = id(of.get("agent_id")).or_else(|| id(of.get("id"))).unwrap_or_default();
        let kind = text(of, "subagent_type").map(str::to_owned);
        let place = self.sessions.len();
        self.sessions.push(TreeSession { name, kind, parent, head, turns: Vec::new() });
        let mut awaited = Vec::new();
        for (number, request) in array(of, REQUESTS).unwrap_or_default().iter().enumerate() {
            let path = format!("{REQUESTS}[{number}]");
            let Some(request) = request.as_object() else {
                return Err(record.wrong(&path, &message!("it is not an object", "不是对象")));
            };
            let read = match is_subagent(request) {
                true => self.subagent(request, place, base, &mut awaited),
                false => self.request(request, place, base, &mut awaited),
            };
            read.map_err(|error| within(error, &path))?;
        }
        Ok(place)
    }

    fn request(
        &mut self,
        request: &Map<String, Value>,
        session: usize,
        base: Nanos,
        awaited: &mut Vec<Awaited>,
    ) -> Result<(), DataError> {
        let record = FieldsAt::of(self.at, request);
        let time = record.time("t", Unit::Seconds)?;
        let Some(sent) = time.map(|time| base.saturating_add(time)) else {
            return Err(record.wrong("t", &message!("it is missing", "缺少该字段")));
        };
        let took = record.time("api_time", Unit::Seconds)?;
        let mut gap = record.time("think_time", Unit::Seconds)?;
        let turns = &self.sessions[session].turns;
        let mut waits = Vec::new();
        if let Some(before) = turns.last() {
            let on = TurnAt { session, turn: turns.len() - 1 };
            waits.push(Wait { on, why: Why::Session });
            if before.sent.is_some_and(|before| before > sent.saturating_add(ROUNDED)) {
                let what = message!(
                    "it is earlier than that of the request before it",
                    "早于前一个请求的时间"
                );
                return Err(record.wrong("t", &what));
            }
            if before.ended.is_some_and(|ended| ended > sent) {
                self.overlapping += 1;
                gap = Some(0);
            }
        }
        awaited.retain(|one| {
            let joined = one.ended <= sent.saturating_add(ROUNDED);
            let turns = self.sessions[one.session].turns.len();
            if joined && let Some(turn) = turns.checked_sub(1) {
                let on = TurnAt { session: one.session, turn };
                waits.push(Wait { on, why: Why::Join });
            }
            !joined
        });
        // The pause since the parent's own response contains the run of the sub-agents.
        let joins = waits.iter().any(|wait| wait.why == Why::Join);
        let first = waits.is_empty();
        let types = |name, kind: &str| {
            let list = array(request, name).unwrap_or_default();
            u32::from(list.iter().any(|one| one.as_str() == Some(kind)))
        };
        let turn = TreeTurn {
            input: Some(record.needed("in")?),
            output: Some(record.needed("out")?),
            sent: Some(sent),
            ended: took.map(|took| sent.saturating_add(took)),
            gap: gap.filter(|_| !joins && !first),
            waits,
            model: record.model("model", &mut self.model),
            ids: record.ids("hash_ids")?.unwrap_or_default(),
            tools: Tools {
                calls: types("output_types", "tool_use"),
                results: types("input_types", "tool_result"),
            },
            ..TreeTurn::default()
        };
        self.sessions[session].turns.push(turn);
        Ok(())
    }

    fn subagent(
        &mut self,
        entry: &Map<String, Value>,
        parent: usize,
        base: Nanos,
        awaited: &mut Vec<Awaited>,
    ) -> Result<(), DataError> {
        let record = FieldsAt::of(self.at, entry);
        let missing = || message!("it is missing", "缺少该字段");
        let Some(time) = record.time("t", Unit::Seconds)? else {
            return Err(record.wrong("t", &missing()));
        };
        let took = record.time("duration_ms", Unit::Milliseconds)?;
        let Some(first) = first_of(entry, REQUESTS) else {
            return Err(record.wrong(REQUESTS, &missing()));
        };
        let first = FieldsAt::of(self.at, first).time("t", Unit::Seconds)?.unwrap_or(0);
        let (starts, ended) = match took {
            _ if first >= time => (0, took.map(|took| time.saturating_add(took))),
            None => (time, None),
            Some(took) => match time.checked_sub(took) {
                Some(start) => (start, Some(time)),
                None => {
                    let what = message!(
                        "the sub-agent would have started before the trace",
                        "子代理的开始时间会早于整个记录"
                    );
                    return Err(record.wrong("duration_ms", &what));
                }
            },
        };
        let spawned_by = self.sessions[parent].turns.len().checked_sub(1);
        let session = self.session(entry, Some(parent), base.saturating_add(starts))?;
        let of = &mut self.sessions[session];
        if let (Some(turn), Some(first)) = (spawned_by, of.turns.first_mut()) {
            let on = TurnAt { session: parent, turn };
            first.waits.push(Wait { on, why: Why::Spawn });
        }
        let last = of.turns.last().and_then(|turn| turn.ended.or(turn.sent));
        let ended = ended.map(|ended| base.saturating_add(ended)).or(last);
        if !says(entry, "status", &["async_launched"])
            && let Some(ended) = ended
        {
            awaited.push(Awaited { session, ended });
        }
        Ok(())
    }
}
