//! AIPerf's conversations, one a record: those that branch into others (`forks`, `spawns`), and those that do not. They
//! are written by hand rather than recorded: responses are the server's own, and lengths are limits.

use dyno_model::{Nanos, message};
use serde_json::{Map, Value, json};

use super::AgenticFormat;
use super::fields::{FieldsAt, array, id, text, within};
use super::format::first_of;
use super::messages::TreeMessages;
use super::notes::AgenticRemark;
use super::reader::{TreeBuilder, TreeDetail, TreeSink, left_out};
use super::tree::{PromptMessage, PromptParts, Tree, TreeSession, TreeTurn};
use crate::data::{At, DataError};
use crate::trace::time::Unit;

pub(super) const TURNS: &str = "turns";

/// Whether an object is a conversation that may branch.
pub(super) fn is_branching(object: &Map<String, Value>) -> bool {
    let messages = |turn: &Map<String, Value>| turn.get("messages").is_some_and(Value::is_array);
    object.contains_key("session_id")
        && (first_of(object, TURNS).is_some_and(messages) || object.contains_key("orchestrator"))
}

/// Whether an object is a conversation of texts.
pub(super) fn is_conversation(object: &Map<String, Value>) -> bool {
    let own = ["text", "texts"];
    first_of(object, TURNS).is_some_and(|turn| own.iter().any(|name| turn.contains_key(*name)))
        && (object.contains_key("session_id")
            || object.get("type").is_some_and(|kind| kind == "multi_turn"))
}

/// Reads conversations that do not branch: each is a tree.
pub(super) struct AiperfConversations;

impl TreeBuilder for AiperfConversations {
    fn take(&mut self, at: &At, record: Value, out: &mut TreeSink) -> Result<(), DataError> {
        let Some(object) = record.as_object().filter(|object| is_conversation(object)) else {
            out.notes.remark(AgenticRemark::OtherRecords, 1);
            return Ok(());
        };
        let mut messages = TreeMessages::default();
        let mut turns = Vec::new();
        let mut kept = 0;
        for (number, turn) in array(object, TURNS).unwrap_or_default().iter().enumerate() {
            let path = format!("{TURNS}[{number}]");
            let read =
                said(at, turn, &mut messages, out.keep).map_err(|error| within(error, &path))?;
            let count = read.added.len() as u32;
            turns.push(TreeTurn { kept, ..read });
            kept += count;
        }
        let name = id(object.get("session_id")).unwrap_or_else(|| at.to_string());
        let session = TreeSession { name: name.clone(), turns, ..TreeSession::default() };
        out.give(vec![authored(
            AgenticFormat::AiperfMultiTurn,
            name,
            at,
            messages.all,
            vec![session],
        )]);
        Ok(())
    }
}

/// A tree that somebody wrote.
pub(super) fn authored(
    format: AgenticFormat,
    name: String,
    at: &At,
    messages: Vec<PromptMessage>,
    sessions: Vec<TreeSession>,
) -> Tree {
    Tree {
        name,
        at: at.clone(),
        format,
        start: None,
        prompts: PromptParts::Messages { whole: false },
        messages,
        sessions,
        totals: None,
    }
}

/// What a turn of texts adds.
fn said(
    at: &At,
    turn: &Value,
    messages: &mut TreeMessages,
    keep: TreeDetail,
) -> Result<TreeTurn, DataError> {
    let not = || message!("it is not an object", "不是对象");
    let Some(turn) = turn.as_object() else {
        return Err(DataError::bad(at, not(), left_out()));
    };
    let record = FieldsAt::of(at, turn);
    let mut added = Vec::new();
    let texts = array(turn, "texts").unwrap_or_default().iter().flat_map(|one| {
        let contents = one.get("contents").and_then(Value::as_array).map(Vec::as_slice);
        contents.unwrap_or(std::slice::from_ref(one)).iter().filter_map(Value::as_str)
    });
    for said in text(turn, "text").into_iter().chain(texts) {
        let body = json!({ "role": text(turn, "role").unwrap_or("user"), "content": said });
        added.push(messages.place(&body, || body.clone(), keep));
    }
    Ok(TreeTurn {
        output: record.tokens("output_length")?,
        limit: record.tokens("max_tokens")?,
        gap: delay(record)?,
        added,
        ..TreeTurn::default()
    })
}

/// The wait before a turn.
pub(super) fn delay(record: FieldsAt<'_>) -> Result<Option<Nanos>, DataError> {
    record.time("delay", Unit::Milliseconds)
}
