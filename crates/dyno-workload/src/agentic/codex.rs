//! The logs of Codex. A report of usage ends each request: `last_token_usage` is its own, beside totals of the session.
//! What the model is asked and what it answers are items between reports.

use std::collections::HashMap;
use std::sync::Arc;

use dyno_model::{Nanos, message};
use serde_json::{Map, Value};

use super::AgenticFormat;
use super::family::{Family, Parent, families};
use super::fields::{FieldsAt, id, object, text};
use super::format::says;
use super::gathered::{GatheredSession, GatheredSessions};
use super::messages::TreeMessages;
use super::notes::AgenticRemark;
use super::reader::{TreeBuilder, TreeDetail, TreeSink, left_out};
use super::tree::{Tools, Tree, TreeSession, TreeTurn, TurnAt, Wait, Why};
use crate::data::{At, DataError};
use crate::trace::time::Unit;

/// Whether an object is a row of such a log.
pub(super) fn is_row(row: &Map<String, Value>) -> bool {
    let Some(payload) = object(row, "payload") else { return false };
    match text(row, "type") {
        Some("session_meta") => payload.contains_key("id"),
        Some("response_item" | "event_msg") => payload.contains_key("type"),
        _ => false,
    }
}

/// A row, as far as it is of use.
enum CodexRow {
    Meta { parent: Option<String> },
    Model(Option<Arc<str>>),
    Asked { said: Option<u32>, result: bool },
    Answered { said: Option<u32>, call: bool },
    Compacted,
    Usage { last: Option<CodexTokens>, sum: Option<CodexTokens>, total: Option<u64> },
}

/// Tokens of a request, or of all requests of a session so far.
#[derive(Clone, Copy, PartialEq, Eq)]
struct CodexTokens {
    input: u64,
    cached: u64,
    output: u64,
}

impl CodexTokens {
    fn of(record: FieldsAt<'_>) -> Result<Self, DataError> {
        Ok(Self {
            input: record.needed("input_tokens")?,
            cached: record.tokens("cached_input_tokens")?.unwrap_or(0),
            output: record.needed("output_tokens")?,
        })
    }

    fn since(self, before: Option<Self>) -> Self {
        let Some(before) = before else { return self };
        Self {
            input: self.input.saturating_sub(before.input),
            cached: self.cached.saturating_sub(before.cached),
            output: self.output.saturating_sub(before.output),
        }
    }
}

/// Reads logs, of which each is a session.
#[derive(Default)]
pub(super) struct CodexLogs {
    sessions: GatheredSessions<(Option<Nanos>, CodexRow)>,
    messages: TreeMessages,
    model: Option<Arc<str>>,
    /// The session of the file, and whether it copies the beginning of another.
    current: Option<(String, bool)>,
}

impl TreeBuilder for CodexLogs {
    fn take(&mut self, at: &At, record: Value, out: &mut TreeSink) -> Result<(), DataError> {
        let Value::Object(row) = record else { return Ok(()) };
        let empty = Map::new();
        let payload = object(&row, "payload").unwrap_or(&empty);
        if says(&row, "type", &["session_meta"])
            && let Some(own) = id(payload.get("id"))
            && !self.current.as_ref().is_some_and(|(_, copies)| *copies)
        {
            self.current =
                Some((own, payload.get("forked_from_id").is_some_and(|from| !from.is_null())));
        }
        let session = self.current.get_or_insert_with(|| (at.to_string(), false)).0.clone();
        match self.row(at, &row, payload, out.keep) {
            Ok(None) => out.notes.remark(AgenticRemark::OtherRecords, 1),
            Ok(Some(read)) => self.sessions.add(&session, at, Ok(read)),
            Err(error) => self.sessions.add(&session, at, Err(error)),
        }
        Ok(())
    }

    fn spoil(&mut self, why: &DataError) -> bool {
        self.sessions.spoil(why);
        true
    }

    fn end_of_file(&mut self, _out: &mut TreeSink) {
        self.sessions.file_ended();
        self.current = None;
    }

    fn end(&mut self, out: &mut TreeSink) {
        let messages = std::mem::take(&mut self.messages);
        let mut read = Vec::new();
        for mut gathered in self.sessions.take() {
            let usage =
                |(_, row): &&(Option<Nanos>, CodexRow)| matches!(row, CodexRow::Usage { .. });
            let requests = gathered.rows.iter().filter(usage).count();
            match gathered.wrong.take() {
                Some(why) => out.notes.leave_tree(requests, &why),
                None => match session(gathered, out) {
                    Ok(one) if one.turns.is_empty() => {
                        out.notes.remark(AgenticRemark::OtherRecords, 1)
                    }
                    Ok(one) => read.push(one),
                    Err(error) => out.notes.leave_tree(requests, &error),
                },
            }
        }
        for tree in trees(read, &messages, out) {
            out.give(vec![tree]);
        }
    }
}

impl CodexLogs {
    fn row(
        &mut self,
        at: &At,
        row: &Map<String, Value>,
        payload: &Map<String, Value>,
        keep: TreeDetail,
    ) -> Result<Option<(Option<Nanos>, CodexRow)>, DataError> {
        let time = FieldsAt::of(at, row).time("timestamp", Unit::Date)?;
        let kind = text(payload, "type").unwrap_or_default();
        let mut said = || {
            let body = Value::Object(payload.clone());
            (keep == TreeDetail::Texts).then(|| self.messages.place(&body, || body.clone(), keep))
        };
        let read = match text(row, "type").unwrap_or_default() {
            "session_meta" => CodexRow::Meta { parent: parent(payload) },
            "turn_context" => {
                CodexRow::Model(FieldsAt::of(at, payload).model("model", &mut self.model))
            }
            "compacted" => CodexRow::Compacted,
            "response_item" => match kind {
                "message" if !says(payload, "role", &["assistant"]) => {
                    CodexRow::Asked { said: said(), result: false }
                }
                _ if kind.ends_with("_output") => CodexRow::Asked { said: said(), result: true },
                "message" | "reasoning" => CodexRow::Answered { said: said(), call: false },
                _ if kind.ends_with("_call") => CodexRow::Answered { said: said(), call: true },
                _ => return Ok(None),
            },
            "event_msg" if kind == "token_count" => {
                let Some(info) = object(payload, "info") else { return Ok(None) };
                let named = |name| object(info, name).map(|of| FieldsAt::of(at, of));
                let all = named("total_token_usage");
                let last = named("last_token_usage").map(CodexTokens::of).transpose()?;
                let total = all.map(|all| all.tokens("total_tokens")).transpose()?.flatten();
                // Where there is no report of the request itself, it is what the totals have grown by.
                let counts = all.filter(|all| all.object.contains_key("input_tokens"));
                let sum = counts.filter(|_| last.is_none()).map(CodexTokens::of).transpose()?;
                if last.is_none() && sum.is_none() {
                    return Ok(None);
                }
                CodexRow::Usage { last, sum, total }
            }
            _ => return Ok(None),
        };
        Ok(Some((time, read)))
    }
}

/// The session that started one, as its first row says.
fn parent(meta: &Map<String, Value>) -> Option<String> {
    let subagent = object(object(meta, "source")?, "subagent")?;
    let spawn = object(subagent, "thread_spawn").unwrap_or(subagent);
    id(spawn.get("parent_thread_id"))
}

/// A session that was read.
struct CodexSession {
    name: String,
    at: At,
    parent: Option<String>,
    turns: Vec<TreeTurn>,
}

fn session(
    of: GatheredSession<(Option<Nanos>, CodexRow)>,
    out: &mut TreeSink,
) -> Result<CodexSession, DataError> {
    let GatheredSession { name, at, rows, .. } = of;
    let (mut turns, mut above, mut model) = (Vec::<TreeTurn>::new(), None, None);
    let (mut asked, mut sent, mut ended) = (None::<Nanos>, None::<Nanos>, None::<Nanos>);
    let mut next = TreeTurn::default();
    let (mut history, mut totals, mut answered) = (0_u32, None, false);
    let mut sums = None::<CodexTokens>;
    for (time, row) in rows {
        match row {
            CodexRow::Meta { parent } => above = above.or(parent),
            CodexRow::Model(new) => model = new.or(model),
            CodexRow::Compacted => next.compacted = true,
            CodexRow::Asked { said, result } => {
                asked = asked.max(time);
                next.tools.results += u32::from(result);
                next.added.extend(said);
            }
            CodexRow::Answered { said, call } => {
                // What is asked while the response is read belongs to the next request.
                if !answered {
                    sent = asked;
                }
                answered = true;
                ended = ended.max(time);
                next.tools.calls += u32::from(call);
                next.response.extend(said);
            }
            CodexRow::Usage { sum, total, .. }
                if (total.is_some() && total == totals) || (sum.is_some() && sum == sums) =>
            {
                out.notes.remark(AgenticRemark::RepeatedUsage, 1);
            }
            CodexRow::Usage { last, sum, total } => {
                totals = total;
                let own = last.or_else(|| sum.map(|sum| sum.since(sums)));
                sums = sum.or(sums);
                let Some(CodexTokens { input, cached, output }) = own else { continue };
                let sent_at = sent.or(asked).or(time);
                let ended_at = ended.or(time).max(sent_at);
                if sent_at < turns.last().and_then(|turn| turn.sent) {
                    let what = message!(
                        "field \"timestamp\": a later request of session {name:?} was sent earlier",
                        "字段 \"timestamp\"：会话 {name:?} 中后面的请求反而更早发送"
                    );
                    return Err(DataError::bad(&at, what, left_out()));
                }
                let turn = std::mem::take(&mut next);
                let kept = if turn.compacted { 0 } else { history };
                history = kept + (turn.added.len() + turn.response.len()) as u32;
                turns.push(TreeTurn {
                    input: Some(input),
                    output: Some(output),
                    cached: Some(cached),
                    sent: sent_at,
                    ended: ended_at,
                    model: model.clone(),
                    kept,
                    tools: Tools { ..turn.tools },
                    ..turn
                });
                (sent, ended, answered) = (None, None, false);
            }
        }
    }
    out.notes.remark(AgenticRemark::WithoutUsage, u64::from(answered));
    Ok(CodexSession { name, at, parent: above, turns })
}

/// Sessions with those that they started.
fn trees(read: Vec<CodexSession>, messages: &TreeMessages, out: &mut TreeSink) -> Vec<Tree> {
    let places: HashMap<&str, usize> =
        read.iter().enumerate().map(|(place, one)| (one.name.as_str(), place)).collect();
    let parent = |one: &CodexSession| match &one.parent {
        None => Parent::None,
        Some(name) => match places.get(name.as_str()) {
            Some(place) => Parent::At(*place),
            None => Parent::Absent(name.clone()),
        },
    };
    let parents: Vec<Parent> = read.iter().map(parent).collect();
    let (families, wrong) = families(&parents, "parent_thread_id");
    for (place, what) in wrong {
        let one = &read[place];
        let what = message!("session {:?}: {what}", "会话 {:?}：{what}", one.name);
        out.notes.leave_tree(one.turns.len(), &DataError::bad(&one.at, what, left_out()));
    }
    let mut read: Vec<Option<CodexSession>> = read.into_iter().map(Some).collect();
    let tree = |family: Family| {
        let members = family.members.iter().filter_map(|place| read[*place].take()).collect();
        tree(members, &family.parents, messages)
    };
    families.into_iter().filter_map(tree).collect()
}

fn tree(
    members: Vec<CodexSession>,
    above: &[Option<usize>],
    messages: &TreeMessages,
) -> Option<Tree> {
    let start = members.iter().flat_map(|one| &one.turns).filter_map(|turn| turn.sent).min();
    let (name, at) = members.first().map(|one| (one.name.clone(), one.at.clone()))?;
    let mut sessions = Vec::with_capacity(members.len());
    for (member, parent) in members.into_iter().zip(above) {
        let mut turns = member.turns;
        for turn in &mut turns {
            let since = |time: Nanos| time.saturating_sub(start.unwrap_or(0));
            (turn.sent, turn.ended) = (turn.sent.map(since), turn.ended.map(since));
        }
        sessions.push(TreeSession {
            name: member.name,
            parent: *parent,
            turns,
            ..TreeSession::default()
        });
    }
    for session in 1..sessions.len() {
        let Some(parent) = sessions[session].parent else { continue };
        let of: &TreeSession = &sessions[session];
        let first = of.turns.first().and_then(|turn| turn.sent);
        let last = of.turns.last().and_then(|turn| turn.ended);
        let above = &sessions[parent].turns;
        let spawn = above.partition_point(|turn| turn.sent <= first).checked_sub(1);
        let join = above.iter().position(|turn| turn.sent >= last);
        let ends = TurnAt { session, turn: of.turns.len() - 1 };
        if let Some(turn) = spawn {
            let on = TurnAt { session: parent, turn };
            sessions[session].turns[0].waits.push(Wait { on, why: Why::Spawn });
        }
        if let Some(turn) = join {
            sessions[parent].turns[turn].waits.push(Wait { on: ends, why: Why::Join });
        }
    }
    Some(messages.tree_of_log(AgenticFormat::Codex, name, at, start, sessions))
}
