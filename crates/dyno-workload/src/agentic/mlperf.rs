//! MLPerf's agentic data sets: a row is a message of a conversation. What the client says between two responses, be it
//! the user's words or the results of tools, is one request.

use std::sync::Arc;

use dyno_model::{Nanos, message};
use serde_json::{Map, Value, json};

use super::AgenticFormat;
use super::fields::{FieldsAt, array, id, text};
use super::gathered::{GatheredSession, GatheredSessions};
use super::messages::TreeMessages;
use super::notes::AgenticRemark;
use super::reader::{TreeBuilder, TreeDetail, TreeSink};
use super::tree::{PromptParts, Tools, Tree, TreeSession, TreeTurn};
use crate::data::{At, DataError};
use crate::trace::time::Unit;

const CONVERSATION: &str = "conversation_id";
const LIMITS: [&str; 3] = ["max_new_tokens", "max_completion_tokens", "max_tokens"];

/// Whether an object is such a message.
pub(super) fn is_message(object: &Map<String, Value>) -> bool {
    [CONVERSATION, "turn", "role"].iter().all(|name| object.contains_key(*name))
}

/// A row of a conversation.
struct MlperfRow {
    number: Option<u64>,
    answer: bool,
    said: Vec<u32>,
    delay: Option<Nanos>,
    limit: Option<u64>,
    tools: Tools,
    definitions: Option<Arc<Value>>,
}

/// Reads conversations.
#[derive(Default)]
pub(super) struct MlperfConversations {
    sessions: GatheredSessions<MlperfRow>,
    messages: TreeMessages,
}

impl TreeBuilder for MlperfConversations {
    fn take(&mut self, at: &At, record: Value, out: &mut TreeSink) -> Result<(), DataError> {
        let Some(object) = record.as_object().filter(|object| is_message(object)) else {
            out.notes.remark(AgenticRemark::OtherRecords, 1);
            return Ok(());
        };
        let session = id(object.get(CONVERSATION)).unwrap_or_else(|| at.to_string());
        let row = row(at, object, &mut self.messages, out.keep);
        self.sessions.add(&session, at, row);
        Ok(())
    }

    fn spoil(&mut self, why: &DataError) -> bool {
        self.sessions.spoil(why);
        true
    }

    fn end_of_file(&mut self, out: &mut TreeSink) {
        let messages = std::mem::take(&mut self.messages);
        self.sessions.spoil_those_with_holes(1, |row| row.number);
        let mut trees = Vec::new();
        for gathered in self.sessions.take() {
            match &gathered.wrong {
                Some(why) => out.notes.leave_tree(requests(&gathered), why),
                None => trees.push(tree(gathered, &messages, out)),
            }
        }
        out.give(trees);
    }
}

fn row(
    at: &At,
    object: &Map<String, Value>,
    messages: &mut TreeMessages,
    keep: TreeDetail,
) -> Result<MlperfRow, DataError> {
    let record = FieldsAt::of(at, object);
    let role = text(object, "role").unwrap_or_default();
    if !["system", "developer", "user", "assistant", "tool"].contains(&role) {
        let what = message!("{role:?} is no role of a message", "{role:?} 不是消息的角色");
        return Err(record.wrong("role", &what));
    }
    let definitions = object.get("tools").filter(|tools| !tools.is_null());
    let said = said(object, role, definitions, messages, keep);
    let mut limit = None;
    for name in LIMITS {
        limit = limit.or(record.tokens(name)?);
    }
    let calls = array(object, "tool_calls").map_or(0, <[Value]>::len);
    let results = array(object, "tool_results").unwrap_or_default();
    let single = usize::from(results.is_empty() && role == "tool");
    Ok(MlperfRow {
        number: record.tokens("turn")?,
        answer: role == "assistant",
        said,
        delay: record.time("delay_seconds", Unit::Seconds)?,
        limit,
        tools: Tools { calls: calls as u32, results: (results.len() + single) as u32 },
        definitions: definitions.filter(|_| keep == TreeDetail::Texts).cloned().map(Arc::new),
    })
}

/// The messages of a row: before the first words those of the system and the tools, and one for each result of a tool.
/// Their characters are those of the row as JSON, without what is only about the replay.
fn said(
    object: &Map<String, Value>,
    role: &str,
    definitions: Option<&Value>,
    messages: &mut TreeMessages,
    keep: TreeDetail,
) -> Vec<u32> {
    let mut said = Vec::new();
    let mut say = |body: Value, characters: usize, of: Value| {
        said.push(messages.counted(&of, characters, || body, keep));
    };
    let length = |value: &Value| value.to_string().chars().count();
    if let Some(tools) = definitions {
        let body = json!({ "tools": tools });
        say(body.clone(), length(tools), body);
    }
    if let Some(system) = text(object, "system") {
        let body = json!({ "role": "system", "content": system });
        say(body.clone(), system.chars().count(), body);
    }
    let mut row = object.clone();
    for name in [CONVERSATION, "turn", "delay_seconds", "system", "tools"].iter().chain(&LIMITS) {
        row.remove(*name);
    }
    let row = Value::Object(row);
    let mut characters = length(&row);
    for (number, result) in array(object, "tool_results").unwrap_or_default().iter().enumerate() {
        let mut body = json!({ "role": "tool" });
        for name in ["tool_call_id", "content"] {
            body[name] = result.get(name).cloned().unwrap_or_default();
        }
        // Only the first of them has the characters of the row.
        let of = if number == 0 { row.clone() } else { json!([body, number]) };
        say(body, std::mem::take(&mut characters), of);
    }
    let mut body = json!({ "role": role });
    for name in ["content", "reasoning_content", "tool_calls", "tool_call_id", "name"] {
        if let Some(value) = object.get(name).filter(|value| !value.is_null()) {
            body[name] = value.clone();
        }
    }
    if characters > 0 || body.get("content").is_some() {
        say(body, characters, row);
    }
    said
}

/// Runs of rows of the client.
fn requests(gathered: &GatheredSession<MlperfRow>) -> usize {
    let rows = &gathered.rows;
    let begins = |(number, row): &(usize, &MlperfRow)| {
        !row.answer && (*number == 0 || rows[number - 1].answer)
    };
    rows.iter().enumerate().filter(begins).count()
}

fn tree(
    mut gathered: GatheredSession<MlperfRow>,
    messages: &TreeMessages,
    out: &mut TreeSink,
) -> Tree {
    let sorted = gathered.rows.is_sorted_by_key(|row| row.number);
    if !sorted {
        out.notes.remark(AgenticRemark::Reordered, 1);
        gathered.rows.sort_by_key(|row| row.number);
    }
    let mut turns: Vec<TreeTurn> = Vec::new();
    let (mut answered, mut history) = (true, 0_u32);
    for row in gathered.rows {
        let count = row.said.len() as u32;
        match turns.last_mut() {
            Some(turn) if row.answer => {
                turn.response.extend(row.said);
                turn.tools.calls += row.tools.calls;
                answered = true;
            }
            Some(turn) if !answered => {
                turn.added.extend(row.said);
                turn.tools.results += row.tools.results;
                turn.gap = turn.gap.into_iter().chain(row.delay).reduce(Nanos::saturating_add);
                turn.limit = turn.limit.or(row.limit);
                turn.definitions = turn.definitions.take().or(row.definitions);
            }
            _ => {
                // What the assistant says before anybody has asked is the beginning of the first prompt.
                turns.push(TreeTurn {
                    kept: history,
                    added: row.said,
                    gap: row.delay,
                    limit: row.limit,
                    tools: row.tools,
                    definitions: row.definitions,
                    ..TreeTurn::default()
                });
                answered = false;
            }
        }
        history += count;
    }
    let mut places: Vec<&mut Vec<u32>> =
        turns.iter_mut().flat_map(|turn| [&mut turn.added, &mut turn.response]).collect();
    let messages = messages.only(&mut places);
    Tree {
        name: gathered.name.clone(),
        at: gathered.at,
        format: AgenticFormat::Mlperf,
        start: None,
        prompts: PromptParts::Messages { whole: true },
        messages,
        sessions: vec![TreeSession { name: gathered.name, turns, ..TreeSession::default() }],
        totals: None,
    }
}
