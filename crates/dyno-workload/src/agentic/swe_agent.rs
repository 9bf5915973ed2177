//! Trajectories of SWE-agent: one task, of which each response of the model is a request. `history` is what the agent
//! remembers at the end, not what it sent: old observations are shortened in it. What was sent is in the steps of
//! `trajectory`, where they have it. Token counts are totals; no request has a time, but tools do.

use dyno_model::Nanos;
use serde_json::{Map, Value, json};

use super::AgenticFormat;
use super::fields::{FieldsAt, array, id, object, text};
use super::format::first_of;
use super::messages::TreeMessages;
use super::notes::AgenticRemark;
use super::reader::{TreeBuilder, TreeDetail, TreeSink};
use super::tree::{PromptParts, Tools, Tree, TreeSession, TreeTurn};
use crate::data::{At, DataError};
use crate::trace::time::Unit;

/// Whether an object is a trajectory.
pub(super) fn is_trajectory(object_: &Map<String, Value>) -> bool {
    let own = ["agent", "message_type", "thought", "action", "is_demo"];
    let remembers = || {
        array(object_, "history").is_some_and(|history| {
            let entry = |entry: &Value| {
                entry.get("role").is_some() && own.iter().any(|name| entry.get(*name).is_some())
            };
            history.iter().any(entry)
        })
    };
    let steps = || {
        first_of(object_, "trajectory")
            .is_some_and(|step| step.contains_key("response") && step.contains_key("observation"))
    };
    let stats = || object(object_, "info").is_some_and(|info| info.contains_key("model_stats"));
    remembers() || steps() || (stats() && array(object_, "history").is_some())
}

/// Reads trajectories.
pub(super) struct SweAgentTrajectories;

impl TreeBuilder for SweAgentTrajectories {
    fn take(&mut self, at: &At, record: Value, out: &mut TreeSink) -> Result<(), DataError> {
        let Some(object_) = record.as_object().filter(|object| is_trajectory(object)) else {
            out.notes.remark(AgenticRemark::OtherRecords, 1);
            return Ok(());
        };
        let empty = Map::new();
        let stats = object(object_, "info").and_then(|info| object(info, "model_stats"));
        let stats = FieldsAt::of(at, stats.unwrap_or(&empty));
        // A replay that asked no model has sent nothing.
        let sent = stats.tokens("tokens_sent")?.filter(|tokens| *tokens > 0);
        let received = stats.tokens("tokens_received")?.filter(|_| sent.is_some());
        let mut messages = TreeMessages::default();
        let steps = array(object_, "trajectory").unwrap_or_default();
        let turns = match steps.is_empty() {
            true => of_history(at, object_, &mut messages, out.keep)?,
            false => of_steps(at, object_, steps, &mut messages, out)?,
        };
        let name = id(object_.get("instance_id")).or_else(|| id(object_.get("environment")));
        let name = name.unwrap_or_else(|| at.to_string());
        out.give(vec![Tree {
            name: name.clone(),
            at: at.clone(),
            format: AgenticFormat::SweAgent,
            start: None,
            prompts: PromptParts::Messages { whole: false },
            messages: messages.all,
            sessions: vec![TreeSession { name, turns, ..TreeSession::default() }],
            totals: sent.zip(received),
        }]);
        Ok(())
    }
}

/// A message of a history, as OpenAI's API has it.
fn body(entry: &Map<String, Value>) -> Value {
    let mut body = json!({ "role": entry.get("role"), "content": entry.get("content") });
    if let Some(calls) = entry.get("tool_calls").filter(|calls| !calls.is_null()) {
        body["tool_calls"] = calls.clone();
    }
    let call = array(entry, "tool_call_ids").and_then(<[Value]>::first);
    if let Some(call) = call.or_else(|| entry.get("tool_call_id")) {
        body["tool_call_id"] = call.clone();
    }
    body
}

fn is_demo(entry: &Map<String, Value>) -> bool {
    entry.get("is_demo").and_then(Value::as_bool) == Some(true)
}

fn calls(entry: &Map<String, Value>) -> u32 {
    array(entry, "tool_calls").map_or(0, <[Value]>::len) as u32
}

/// One turn for each message of the model that is no part of a demonstration.
fn of_history(
    at: &At,
    trajectory: &Map<String, Value>,
    messages: &mut TreeMessages,
    keep: TreeDetail,
) -> Result<Vec<TreeTurn>, DataError> {
    let mut turns = Vec::<TreeTurn>::new();
    let mut next = TreeTurn::default();
    let mut history = 0_u32;
    let entries = array(trajectory, "history").unwrap_or_default();
    for (number, entry) in entries.iter().enumerate() {
        let Some(entry) = entry.as_object() else {
            let what = dyno_model::message!("it is not an object", "不是对象");
            return Err(super::fields::wrong(at, &format!("history[{number}]"), &what));
        };
        let body = body(entry);
        let place = messages.place(&body, || body.clone(), keep);
        history += 1;
        match text(entry, "role") {
            Some("assistant") if !is_demo(entry) => {
                let mut turn = std::mem::take(&mut next);
                turn.kept = history - 1 - turn.added.len() as u32;
                turn.response.push(place);
                turn.tools.calls = calls(entry);
                turns.push(turn);
            }
            role => {
                next.tools.results += u32::from(role == Some("tool"));
                next.added.push(place);
            }
        }
    }
    Ok(turns)
}

/// One turn for each step that has a response of the model.
fn of_steps(
    at: &At,
    trajectory: &Map<String, Value>,
    steps: &[Value],
    messages: &mut TreeMessages,
    out: &mut TreeSink,
) -> Result<Vec<TreeTurn>, DataError> {
    let keep = out.keep;
    // What stands before the first response in the history was sent with every request.
    let entries = array(trajectory, "history").unwrap_or_default().iter();
    let mut head: Vec<Value> = entries
        .filter_map(Value::as_object)
        .take_while(|entry| text(entry, "role") != Some("assistant") || is_demo(entry))
        .map(body)
        .collect();
    let mut turns: Vec<TreeTurn> = Vec::with_capacity(steps.len());
    let mut history: Vec<u32> = Vec::new();
    let mut tool = None::<Nanos>;
    for (number, step) in steps.iter().enumerate() {
        let path = format!("trajectory[{number}]");
        let Some(step) = step.as_object() else {
            let what = dyno_model::message!("it is not an object", "不是对象");
            return Err(super::fields::wrong(at, &path, &what));
        };
        let record = FieldsAt::of(at, step);
        let took = record
            .time("execution_time", Unit::Seconds)
            .map_err(|error| super::fields::within(error, &path))?;
        let response = step.get("response").filter(|response| !response.is_null());
        let observed = text(step, "observation").unwrap_or_default();
        if response.and_then(Value::as_str).is_some_and(str::is_empty) && calls(step) == 0
            || response.is_none()
        {
            out.notes.remark(AgenticRemark::Unasked, 1);
            continue;
        }
        let mut place = |body: Value| messages.place(&body, || body.clone(), keep);
        let sent = ["messages", "query"].iter().find_map(|name| array(step, name));
        // A replay that asked no model has steps with an empty query.
        let says = |sent: &&[Value]| sent.iter().all(|one| one.get("role").is_some());
        let sent = sent.filter(|sent| !sent.is_empty() && says(sent));
        let (kept, added) = match sent {
            Some(sent) => {
                let sent = sent.iter().filter_map(Value::as_object).map(|one| place(body(one)));
                let sent: Vec<u32> = sent.collect();
                let equal = history.iter().zip(&sent).take_while(|(one, other)| one == other);
                let kept = equal.count();
                (kept, sent[kept..].to_vec())
            }
            None => {
                (history.len(), std::mem::take(&mut head).into_iter().map(&mut place).collect())
            }
        };
        let mut answer = json!({ "role": "assistant", "content": response });
        if let Some(calls) = step.get("tool_calls").filter(|calls| !calls.is_null()) {
            answer["tool_calls"] = calls.clone();
        }
        let answer = place(answer);
        let acted = text(step, "action").is_some_and(|action| !action.trim().is_empty());
        history.truncate(kept);
        history.extend(&added);
        history.push(answer);
        let gap = tool.filter(|_| !turns.is_empty());
        turns.push(TreeTurn {
            kept: kept as u32,
            added,
            response: vec![answer],
            gap,
            tools: Tools {
                calls: calls(step).max(u32::from(acted)),
                results: u32::from(number > 0),
            },
            ..TreeTurn::default()
        });
        // The observation is the next message, unless the next step says what it sent.
        head = vec![json!({ "role": "user", "content": observed })];
        tool = took;
    }
    Ok(turns)
}
