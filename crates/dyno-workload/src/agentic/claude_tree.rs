//! The tree that the rows of a Claude Code session make: rows of one response together, and sub-agents where the results
//! of their calls say, or else their times.

use std::collections::HashMap;

use dyno_model::{Nanos, message};

use super::AgenticFormat;
use super::claude::{ClaudeLine, ClaudeRow, Returned};
use super::gathered::GatheredSession;
use super::messages::TreeMessages;
use super::reader::left_out;
use super::tree::{Tools, Tree, TreeSession, TreeTurn, TurnAt, Wait, Why};
use crate::data::DataError;

/// A session that is being put together.
#[derive(Default)]
struct ClaudeStream {
    turns: Vec<TreeTurn>,
    /// The id of the response of each turn.
    ids: Vec<String>,
    calls: HashMap<String, usize>,
    /// The results of sub-agents that came back, and the number of turns before each.
    returned: Vec<(Returned, usize)>,
    said: Vec<u32>,
    results: u32,
    asked: Option<Nanos>,
    compacted: bool,
    history: u32,
}

impl ClaudeStream {
    fn take(&mut self, line: ClaudeLine) -> Result<(), DataError> {
        let ClaudeLine { at, time, row, .. } = line;
        match row {
            ClaudeRow::Input { said, results, compacted } => {
                self.asked = self.asked.max(time);
                self.said.extend(said);
                self.results += results.len() as u32;
                self.compacted |= compacted;
                let of_agents = results.into_iter().filter(|result| result.agent.is_some());
                let turns = self.turns.len();
                self.returned.extend(of_agents.map(|result| (result, turns)));
            }
            ClaudeRow::Output { id, model, usage, said, calls } => {
                let known = self.ids.iter().rev().take(64).position(|other| *other == id);
                let number = match known {
                    Some(back) => self.ids.len() - 1 - back,
                    None => {
                        let sent = self.asked.or(time);
                        let earlier = self.turns.last().and_then(|turn| turn.sent);
                        if sent.is_some() && sent < earlier {
                            let what = message!(
                                "field \"timestamp\": it is earlier than that of the request before it",
                                "字段 \"timestamp\"：早于前一个请求的时间"
                            );
                            return Err(DataError::bad(&at, what, left_out()));
                        }
                        let added = std::mem::take(&mut self.said);
                        let kept = if self.compacted { 0 } else { self.history };
                        self.history = kept + added.len() as u32;
                        self.turns.push(TreeTurn {
                            sent,
                            model,
                            kept,
                            added,
                            tools: Tools { calls: 0, results: std::mem::take(&mut self.results) },
                            compacted: std::mem::take(&mut self.compacted),
                            ..TreeTurn::default()
                        });
                        self.ids.push(id);
                        self.turns.len() - 1
                    }
                };
                let turn = &mut self.turns[number];
                if let Some(usage) = usage {
                    turn.input = turn.input.max(Some(usage.fresh + usage.cached));
                    turn.cached = turn.cached.max(Some(usage.cached));
                    turn.output = turn.output.max(Some(usage.output));
                }
                turn.ended = turn.ended.max(time).max(turn.sent);
                turn.tools.calls += calls.len() as u32;
                self.history += said.len() as u32;
                turn.response.extend(said);
                self.calls.extend(calls.into_iter().map(|call| (call, number)));
            }
        }
        Ok(())
    }
}

/// The tree of a session.
pub(super) fn tree(
    gathered: GatheredSession<ClaudeLine>,
    messages: &TreeMessages,
) -> Result<Tree, DataError> {
    let GatheredSession { name, at, mut rows, .. } = gathered;
    // Files are read one after another; a row without a time stays behind the one before it.
    let mut last = None;
    let mut timed: Vec<(Option<Nanos>, ClaudeLine)> = Vec::with_capacity(rows.len());
    for line in rows.drain(..) {
        last = line.time.or(last);
        timed.push((last, line));
    }
    timed.sort_by_key(|(time, _)| *time);
    let mut streams: Vec<(Option<String>, ClaudeStream)> = vec![(None, ClaudeStream::default())];
    for (_, line) in timed {
        let place =
            streams.iter().position(|(agent, _)| *agent == line.agent).unwrap_or_else(|| {
                streams.push((line.agent.clone(), ClaudeStream::default()));
                streams.len() - 1
            });
        streams[place].1.take(line)?;
    }
    streams.retain(|(agent, stream)| agent.is_none() || !stream.turns.is_empty());
    if streams[0].1.turns.is_empty() {
        let what = message!(
            "field \"sessionId\": the log of session {name:?} itself is missing, only its sub-agents are there",
            "字段 \"sessionId\"：缺少会话 {name:?} 自身的日志，只有其子代理的日志"
        );
        return Err(DataError::bad(&at, what, left_out()));
    }
    let mut links = links(&streams);
    // A parent before its sub-agents.
    let mut order: Vec<usize> = (0..streams.len()).collect();
    let depth = |mut place: usize| {
        let mut depth = 0;
        while let Some((parent, ..)) = links[place]
            && depth <= links.len()
        {
            (place, depth) = (parent, depth + 1);
        }
        depth
    };
    order.sort_by_key(|place| depth(*place));
    let mut new = vec![0; streams.len()];
    for (number, place) in order.iter().enumerate() {
        new[*place] = number;
    }
    let start =
        streams.iter().flat_map(|(_, stream)| &stream.turns).filter_map(|turn| turn.sent).min();
    let mut sessions: Vec<TreeSession> = Vec::with_capacity(streams.len());
    let mut waits: Vec<(TurnAt, Wait)> = Vec::new();
    let mut streams: Vec<Option<(Option<String>, ClaudeStream)>> =
        streams.into_iter().map(Some).collect();
    for (number, place) in order.into_iter().enumerate() {
        let Some((agent, stream)) = streams[place].take() else { continue };
        let mut turns = stream.turns;
        for turn in &mut turns {
            let since = |time: Nanos| time.saturating_sub(start.unwrap_or(0));
            (turn.sent, turn.ended) = (turn.sent.map(since), turn.ended.map(since));
        }
        let link = links[place].take();
        if let Some((parent, spawn, join)) = link {
            let session = new[parent];
            let on = |turn| TurnAt { session, turn };
            waits.extend(spawn.map(|turn| {
                (TurnAt { session: number, turn: 0 }, Wait { on: on(turn), why: Why::Spawn })
            }));
            let last = TurnAt { session: number, turn: turns.len() - 1 };
            waits.extend(join.map(|turn| (on(turn), Wait { on: last, why: Why::Join })));
        }
        sessions.push(TreeSession {
            name: agent.unwrap_or_else(|| name.clone()),
            parent: link.map(|(parent, ..)| new[parent]),
            turns,
            ..TreeSession::default()
        });
    }
    for (at, wait) in waits {
        if let Some(turn) = sessions[at.session].turns.get_mut(at.turn) {
            turn.waits.push(wait);
        }
    }
    Ok(messages.tree_of_log(AgenticFormat::ClaudeCode, name, at, start, sessions))
}

/// The parent of a sub-agent, the turn that started it, and the one that waits for it.
type SubagentLink = Option<(usize, Option<usize>, Option<usize>)>;

/// How each stream hangs on another: by the result of the call that started it, else by times.
fn links(streams: &[(Option<String>, ClaudeStream)]) -> Vec<SubagentLink> {
    let mut links: Vec<SubagentLink> = vec![None; streams.len()];
    for (place, (agent, stream)) in streams.iter().enumerate() {
        let Some(agent) = agent else { continue };
        let explicit = streams.iter().enumerate().find_map(|(parent, (_, other))| {
            let of_this = |(result, _): &&(Returned, usize)| result.agent.as_ref() == Some(agent);
            let (result, before) = other.returned.iter().find(of_this)?;
            let spawn = other.calls.get(&result.call).copied().or_else(|| before.checked_sub(1));
            let waits = !result.launched && *before < other.turns.len();
            (parent != place).then_some((parent, spawn, waits.then_some(*before)))
        });
        links[place] = Some(explicit.unwrap_or_else(|| {
            let above = &streams[0].1.turns;
            let first = stream.turns.first().and_then(|turn| turn.sent);
            let last = stream.turns.last().and_then(|turn| turn.ended);
            let spawn = above.partition_point(|turn| turn.sent <= first).checked_sub(1);
            (0, spawn, above.iter().position(|turn| turn.sent >= last))
        }));
    }
    links
}
