//! The logs of Claude Code. A response is one or more rows with the same `message.id`, each of which repeats the usage of
//! the whole; its input is what was not cached, what was written to the cache and what was read from it. A sub-agent has
//! rows of its own, mostly in a file of its own, with the session of its parent.

use std::collections::HashMap;
use std::sync::Arc;

use dyno_model::Nanos;
use serde_json::{Map, Value, json};

use super::claude_tree::tree;
use super::fields::{FieldsAt, array, id, object, text};
use super::format::says;
use super::gathered::GatheredSessions;
use super::messages::TreeMessages;
use super::notes::AgenticRemark;
use super::reader::{TreeBuilder, TreeDetail, TreeSink};
use crate::data::{At, DataError};
use crate::trace::time::Unit;

/// Whether an object is a row of such a log with a message.
pub(super) fn is_row(row: &Map<String, Value>) -> bool {
    let said = |message: &Map<String, Value>| message.contains_key("role");
    row.contains_key("sessionId")
        && says(row, "type", &["user", "assistant"])
        && object(row, "message").is_some_and(said)
}

/// A row, as far as it is of use.
pub(super) enum ClaudeRow {
    /// What the model is asked next: the user's words, results of tools, a summary.
    Input { said: Vec<u32>, results: Vec<Returned>, compacted: bool },
    /// A part of a response.
    Output {
        id: String,
        model: Option<Arc<str>>,
        usage: Option<Usage>,
        said: Vec<u32>,
        calls: Vec<String>,
    },
}

/// The result of a call.
pub(super) struct Returned {
    pub(super) call: String,
    /// The sub-agent that the call started.
    pub(super) agent: Option<String>,
    /// Whether the sub-agent went on.
    pub(super) launched: bool,
}

/// The usage that the rows of a response repeat.
#[derive(Clone, Copy, Default)]
pub(super) struct Usage {
    pub(super) fresh: u64,
    pub(super) cached: u64,
    pub(super) output: u64,
}

impl Usage {
    fn of(record: FieldsAt<'_>) -> Result<Self, DataError> {
        let tokens = |name| record.tokens(name).map(|tokens| tokens.unwrap_or(0));
        Ok(Self {
            fresh: tokens("input_tokens")? + tokens("cache_creation_input_tokens")?,
            cached: tokens("cache_read_input_tokens")?,
            output: tokens("output_tokens")?,
        })
    }
}

/// A row with its time and the stream it belongs to.
pub(super) struct ClaudeLine {
    pub(super) at: At,
    /// The sub-agent; absent in the session itself.
    pub(super) agent: Option<String>,
    pub(super) time: Option<Nanos>,
    pub(super) row: ClaudeRow,
}

/// Reads logs. What belongs together may be in several files.
#[derive(Default)]
pub(super) struct ClaudeLogs {
    sessions: GatheredSessions<ClaudeLine>,
    messages: TreeMessages,
    model: Option<Arc<str>>,
    /// The sub-agent of a row, by its id, in files where the rows of one have no name.
    chains: HashMap<String, String>,
}

impl TreeBuilder for ClaudeLogs {
    fn take(&mut self, at: &At, record: Value, out: &mut TreeSink) -> Result<(), DataError> {
        let Value::Object(row) = record else { return Ok(()) };
        let Some(session) = id(row.get("sessionId")).filter(|_| is_row(&row)) else {
            out.notes.remark(AgenticRemark::OtherRecords, 1);
            return Ok(());
        };
        if row.get("isApiErrorMessage").and_then(Value::as_bool) == Some(true)
            || object(&row, "message").is_some_and(|said| says(said, "model", &["<synthetic>"]))
        {
            out.notes.remark(AgenticRemark::Synthetic, 1);
            return Ok(());
        }
        let agent = self.agent(&row);
        let line = self.line(at, &row, agent, out.keep);
        self.sessions.add(&session, at, line);
        Ok(())
    }

    fn spoil(&mut self, why: &DataError) -> bool {
        self.sessions.spoil(why);
        true
    }

    fn end_of_file(&mut self, _out: &mut TreeSink) {
        self.sessions.file_ended();
    }

    fn end(&mut self, out: &mut TreeSink) {
        let messages = std::mem::take(&mut self.messages);
        for mut gathered in self.sessions.take() {
            let requests =
                gathered.rows.iter().filter(|line| matches!(line.row, ClaudeRow::Output { .. }));
            let requests = requests.count();
            match gathered.wrong.take() {
                Some(why) => out.notes.leave_tree(requests, &why),
                None if requests == 0 => {
                    out.notes.remark(AgenticRemark::OtherRecords, gathered.rows.len() as u64);
                }
                None => match tree(gathered, &messages) {
                    Ok(tree) => out.give(vec![tree]),
                    Err(error) => out.notes.leave_tree(requests, &error),
                },
            }
        }
    }
}

impl ClaudeLogs {
    /// The sub-agent that a row belongs to: by its name, or by the first row of its chain.
    fn agent(&mut self, row: &Map<String, Value>) -> Option<String> {
        if row.get("isSidechain").and_then(Value::as_bool) != Some(true) {
            return None;
        }
        let own = id(row.get("uuid")).unwrap_or_default();
        let chain = id(row.get("agentId")).unwrap_or_else(|| {
            let parent = id(row.get("parentUuid"));
            parent
                .and_then(|parent| self.chains.get(&parent).cloned())
                .unwrap_or_else(|| own.clone())
        });
        self.chains.insert(own, chain.clone());
        Some(chain)
    }

    fn line(
        &mut self,
        at: &At,
        row: &Map<String, Value>,
        agent: Option<String>,
        keep: TreeDetail,
    ) -> Result<ClaudeLine, DataError> {
        let empty = Map::new();
        let said = object(row, "message").unwrap_or(&empty);
        let time = FieldsAt::of(at, row).time("timestamp", Unit::Date)?;
        let blocks = array(said, "content").unwrap_or_default();
        let body = json!({ "role": said.get("role"), "content": said.get("content") });
        let places = match keep {
            TreeDetail::Texts => vec![self.messages.place(&body, || body.clone(), keep)],
            TreeDetail::Lengths => Vec::new(),
        };
        let of = |kind: &'static str| {
            blocks
                .iter()
                .filter_map(Value::as_object)
                .filter(move |block| says(block, "type", &[kind]))
        };
        let row = match text(row, "type") {
            Some("assistant") => {
                let usage = |usage| Usage::of(FieldsAt::of(at, usage));
                let usage = object(said, "usage").map(usage).transpose()?;
                let calls = of("tool_use").filter_map(|block| id(block.get("id"))).collect();
                ClaudeRow::Output {
                    id: id(said.get("id")).or_else(|| id(row.get("uuid"))).unwrap_or_default(),
                    model: FieldsAt::of(at, said).model("model", &mut self.model),
                    usage,
                    said: places,
                    calls,
                }
            }
            _ => {
                let result = row.get("toolUseResult").and_then(Value::as_object);
                let agent = result.and_then(|result| id(result.get("agentId")));
                let launched = result.is_some_and(|result| {
                    says(result, "status", &["async_launched"])
                        || result.get("isAsync").and_then(Value::as_bool) == Some(true)
                });
                let results = of("tool_result")
                    .filter_map(|block| id(block.get("tool_use_id")))
                    .map(|call| Returned { call, agent: agent.clone(), launched })
                    .collect();
                let compacted = row.get("isCompactSummary").and_then(Value::as_bool) == Some(true);
                ClaudeRow::Input { said: places, results, compacted }
            }
        };
        Ok(ClaudeLine { at: at.clone(), agent, time, row })
    }
}
