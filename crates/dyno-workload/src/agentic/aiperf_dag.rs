//! AIPerf's conversations that branch: a turn starts others, which continue its history (`forks`) or begin with none
//! (`spawns`), and a later turn waits for the ends of those.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use dyno_model::{Message, message};
use serde_json::{Map, Value, json};

use super::AgenticFormat;
use super::aiperf::{TURNS, authored, delay, is_branching};
use super::fields::{FieldsAt, array, id, within};
use super::messages::TreeMessages;
use super::notes::AgenticRemark;
use super::reader::{TreeBuilder, TreeDetail, TreeSink, left_out};
use super::tree::{TreeSession, TreeTurn, TurnAt, Wait, Why};
use crate::data::{At, DataError};

/// How many sessions a tree may have: one may be named by many.
const MOST_SESSIONS: usize = 10_000;
/// Fields that ask for something that is not read.
const NOT_READ: [&str; 3] = ["orchestrator", "pre_session_spawns", "rounds"];

/// A conversation of a file whose conversations branch.
struct DagConversation {
    at: At,
    turns: Vec<TreeTurn>,
    branches: Vec<Branch>,
}

/// What a turn starts.
struct Branch {
    turn: usize,
    child: String,
    /// The turn that waits for its end.
    join: Option<usize>,
    /// Whether it continues the history of its parent.
    fork: bool,
}

/// Reads conversations that branch. Those that no other starts are roots.
#[derive(Default)]
pub(super) struct Branching {
    order: Vec<String>,
    all: HashMap<String, Result<DagConversation, DataError>>,
    messages: TreeMessages,
    /// What conversations start that cannot be used.
    refused: Vec<String>,
    spoiled: Option<DataError>,
}

impl TreeBuilder for Branching {
    fn take(&mut self, at: &At, record: Value, out: &mut TreeSink) -> Result<(), DataError> {
        let Some(object) = record.as_object().filter(|object| is_branching(object)) else {
            out.notes.remark(AgenticRemark::OtherRecords, 1);
            return Ok(());
        };
        let name = id(object.get("session_id")).unwrap_or_else(|| at.to_string());
        if self.all.contains_key(&name) {
            let what = message!(
                "another conversation is called {name:?}, too",
                "另一个对话也名为 {name:?}"
            );
            return Err(super::fields::wrong(at, "session_id", &what));
        }
        let read = conversation(at, object, &mut self.messages, out.keep);
        if read.is_err() {
            started(object, &mut self.refused);
        }
        self.order.push(name.clone());
        self.all.insert(name, read);
        Ok(())
    }

    fn spoil(&mut self, why: &DataError) -> bool {
        let what = why.plain();
        if let Some(Ok(one)) = self.order.last().and_then(|name| self.all.get(name)) {
            self.spoiled.get_or_insert_with(|| DataError::bad(&one.at, what, left_out()));
        }
        true
    }

    fn end_of_file(&mut self, out: &mut TreeSink) {
        let Self { order, all, messages, refused, .. } = std::mem::take(self);
        let read = all.values().filter_map(|one| one.as_ref().ok());
        let mut children: HashSet<String> =
            read.flat_map(|one| one.branches.iter().map(|branch| branch.child.clone())).collect();
        children.extend(refused.iter().cloned());
        let roots: Vec<&String> = order.iter().filter(|name| !children.contains(*name)).collect();
        // What a conversation starts that cannot be used is left out with it.
        let mut used: HashSet<String> = HashSet::new();
        let mut below: Vec<&String> = refused.iter().collect();
        while let Some(name) = below.pop() {
            if let Some(Ok(one)) = all.get(name)
                && used.insert(name.clone())
            {
                below.extend(one.branches.iter().map(|branch| &branch.child));
            }
        }
        for root in roots {
            let mut growing =
                Growing { all: &all, sessions: Vec::new(), path: Vec::new(), used: &mut used };
            let grown = growing.grow(root, None);
            let Growing { sessions, .. } = growing;
            let at = match all.get(root) {
                Some(Ok(one)) => one.at.clone(),
                Some(Err(error)) => {
                    out.notes.leave_tree(0, error);
                    continue;
                }
                None => continue,
            };
            let requests = sessions.iter().map(|session| session.turns.len()).sum();
            match grown {
                Ok(_) => {
                    let mut sessions = sessions;
                    let mut places: Vec<&mut Vec<u32>> = sessions
                        .iter_mut()
                        .flat_map(|session| session.turns.iter_mut().map(|turn| &mut turn.added))
                        .collect();
                    let messages = messages.only(&mut places);
                    let tree =
                        authored(AgenticFormat::AiperfDag, root.clone(), &at, messages, sessions);
                    out.give(vec![tree]);
                }
                Err(what) => {
                    let what = message!("tree {root:?}: {what}", "树 {root:?}：{what}");
                    out.notes.leave_tree(requests, &DataError::bad(&at, what, left_out()));
                }
            }
        }
        // What is started only by itself has no root.
        for name in order.iter().filter(|name| children.contains(*name) && !used.contains(*name)) {
            if let Some(Ok(one)) = all.get(name) {
                let what = message!(
                    "conversations start each other in a cycle, {name:?} among them",
                    "对话循环启动，其中有 {name:?}"
                );
                out.notes.leave_tree(one.turns.len(), &DataError::bad(&one.at, what, left_out()));
            }
        }
    }
}

/// A tree that grows from its root.
struct Growing<'a> {
    all: &'a HashMap<String, Result<DagConversation, DataError>>,
    sessions: Vec<TreeSession>,
    path: Vec<String>,
    used: &'a mut HashSet<String>,
}

impl Growing<'_> {
    /// Adds a conversation and all that it starts. Gives its place.
    fn grow(&mut self, name: &str, parent: Option<(usize, &Branch)>) -> Result<usize, Message> {
        if self.path.iter().any(|above| above == name) {
            return Err(message!("{name:?} starts itself again", "{name:?} 会再次启动自身"));
        }
        if self.sessions.len() >= MOST_SESSIONS || self.path.len() >= 64 {
            return Err(message!("it has too many sessions", "会话过多"));
        }
        let of = match self.all.get(name) {
            Some(Ok(of)) => of,
            Some(Err(error)) => return Err(error.plain()),
            None => {
                return Err(message!(
                    "the conversation {name:?}, which it starts, is not in the file",
                    "文件中没有它要启动的对话 {name:?}"
                ));
            }
        };
        self.used.insert(name.to_owned());
        let place = self.sessions.len();
        let mut turns = of.turns.clone();
        let mut kind = None;
        if let Some((session, branch)) = parent {
            let why = Why::Spawn;
            let wait = Wait { on: TurnAt { session, turn: branch.turn }, why };
            turns.iter_mut().take(1).for_each(|turn| turn.waits.push(wait));
            kind = branch.fork.then(|| "fork".to_owned());
        }
        self.sessions.push(TreeSession {
            name: name.to_owned(),
            kind,
            parent: parent.map(|(session, _)| session),
            turns,
            ..TreeSession::default()
        });
        self.path.push(name.to_owned());
        for branch in &of.branches {
            let child = self.grow(&branch.child, Some((place, branch)))?;
            if let Some(join) = branch.join {
                let turn = self.sessions[child].turns.len().saturating_sub(1);
                let wait = Wait { on: TurnAt { session: child, turn }, why: Why::Join };
                match self.sessions[place].turns.get_mut(join) {
                    Some(turn) => turn.waits.push(wait),
                    None => {
                        return Err(message!(
                            "field \"join_at\": {name:?} has no turn {join}",
                            "字段 \"join_at\"：{name:?} 没有第 {join} 轮"
                        ));
                    }
                }
            }
        }
        self.path.pop();
        Ok(place)
    }
}

/// The names of all conversations that one starts, in whichever way.
fn started(object: &Map<String, Value>, names: &mut Vec<String>) {
    for name in ["forks", "spawns", "pre_session_spawns", "children", "child"] {
        let list = match object.get(name) {
            Some(Value::Array(list)) => list.as_slice(),
            Some(one) => std::slice::from_ref(one),
            None => continue,
        };
        for one in list {
            match one {
                Value::Object(inner) => started(inner, names),
                other => names.extend(id(Some(other))),
            }
        }
    }
    for turn in array(object, TURNS).unwrap_or_default().iter().filter_map(Value::as_object) {
        started(turn, names);
    }
}

fn conversation(
    at: &At,
    object: &Map<String, Value>,
    messages: &mut TreeMessages,
    keep: TreeDetail,
) -> Result<DagConversation, DataError> {
    let set = |name: &&str| {
        object.get(*name).is_some_and(|value| !value.is_null() && value != &json!(false))
    };
    if let Some(name) = NOT_READ.iter().find(|name| set(name)) {
        let what = message!("field {name:?} is not read", "字段 {name:?} 不支持读取");
        return Err(DataError::bad(at, what, left_out()));
    }
    let list = array(object, TURNS).unwrap_or_default();
    let (mut turns, mut branches) = (Vec::<TreeTurn>::new(), Vec::new());
    let (mut model, mut kept) = (None::<Arc<str>>, 0_u32);
    for (number, turn) in list.iter().enumerate() {
        let path = format!("{TURNS}[{number}]");
        let Some(turn) = turn.as_object() else {
            return Err(super::fields::wrong(
                at,
                &path,
                &message!("it is not an object", "不是对象"),
            ));
        };
        let record = FieldsAt::of(at, turn);
        let read = || -> Result<TreeTurn, DataError> {
            Ok(TreeTurn {
                limit: record.tokens("max_tokens")?,
                gap: delay(record)?,
                ..TreeTurn::default()
            })
        };
        let read = read().map_err(|error| within(error, &path))?;
        let said = array(turn, "messages").unwrap_or_default().iter();
        let added: Vec<u32> = said.map(|one| messages.place(one, || one.clone(), keep)).collect();
        let count = added.len() as u32;
        turns.push(TreeTurn {
            kept,
            added,
            model: record.model("model", &mut model),
            definitions: turn
                .get("tools")
                .filter(|tools| keep == TreeDetail::Texts && !tools.is_null())
                .map(|tools| Arc::new(tools.clone())),
            ..read
        });
        kept += count;
        for fork in array(turn, "forks").unwrap_or_default() {
            let child = id(Some(fork)).or_else(|| id(fork.get("child")));
            branches.extend(child.map(|child| Branch {
                turn: number,
                child,
                join: None,
                fork: true,
            }));
        }
        for spawn in array(turn, "spawns").unwrap_or_default() {
            let next = (number + 1 < list.len()).then_some(number + 1);
            let named = spawn.get("join_at").and_then(super::fields::whole);
            let join = named.and_then(|join| usize::try_from(join).ok()).or(next);
            let children = spawn.get("children").and_then(Value::as_array);
            let children = children.map_or(std::slice::from_ref(spawn), Vec::as_slice);
            for child in children.iter().filter_map(|child| id(Some(child))) {
                branches.push(Branch { turn: number, child, join, fork: false });
            }
        }
    }
    Ok(DagConversation { at: at.clone(), turns, branches })
}
