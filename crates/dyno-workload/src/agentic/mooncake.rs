//! Mooncake's rows with dependencies, as Dynamo writes them: a row is a request that waits for the ends of the requests it
//! names, and then for a delay and its tools.

use std::collections::{BTreeMap, HashMap};

use dyno_model::{Nanos, message};
use serde_json::{Map, Value};

use super::AgenticFormat;
use super::family::groups;
use super::fields::{FieldsAt, array, id};
use super::notes::AgenticRemark;
use super::reader::{TreeBuilder, TreeSink, left_out};
use super::tree::{PromptParts, Tools, Tree, TreeSession, TreeTurn, TurnAt, Wait, Why};
use crate::data::{At, DataError};
use crate::trace::time::Unit;

/// Tokens of a block where nothing says otherwise.
const USUAL_BLOCK: u64 = 512;
/// How many rows are held of one file.
const MOST_ROWS: usize = 20_000_000;

/// Whether an object is such a row. Rows that wait for nothing look like those of any trace.
pub(super) fn is_row(row: &Map<String, Value>) -> bool {
    let lengths = [["input_length", "input_tokens"], ["output_length", "output_tokens"]];
    let has = |names: &[&str]| names.iter().any(|name| row.contains_key(*name));
    lengths.iter().all(|names| has(names))
        && row.contains_key("request_id")
        && has(&["wait_for", "branches", "prefix_reset", "request_kind"])
}

fn is_request(row: &Map<String, Value>) -> bool {
    row.contains_key("request_id")
        && ["input_length", "input_tokens"].iter().any(|name| row.contains_key(*name))
}

/// A request.
struct MooncakeRow {
    at: At,
    id: String,
    session: String,
    kind: Option<String>,
    sent: Option<Nanos>,
    wait_for: Vec<String>,
    turn: TreeTurn,
}

/// Reads rows.
#[derive(Default)]
pub(super) struct MooncakeRows {
    rows: Vec<MooncakeRow>,
    /// Rows that could not be read, and the sessions they are of.
    wrong: Vec<(Option<String>, DataError)>,
    block: Option<u32>,
}

impl TreeBuilder for MooncakeRows {
    fn take(&mut self, at: &At, record: Value, out: &mut TreeSink) -> Result<(), DataError> {
        let Value::Object(row) = record else { return Ok(()) };
        let size =
            ["block_size", "trace_block_size"].iter().find_map(|name| row.get(*name)?.as_u64());
        self.block =
            self.block.or(size.and_then(|size| u32::try_from(size).ok()).filter(|size| *size > 0));
        if !is_request(&row) {
            out.notes.remark(AgenticRemark::OtherRecords, 1);
            return Ok(());
        }
        let session = id(row.get("session_id"));
        match read(at, &row) {
            Ok(read) if self.rows.len() < MOST_ROWS => self.rows.push(read),
            Ok(_) => {
                let what =
                    message!("the file has more than {MOST_ROWS} rows", "文件超过 {MOST_ROWS} 行");
                self.wrong.push((session, DataError::bad(at, what, left_out())));
            }
            Err(error) => self.wrong.push((session, error)),
        }
        Ok(())
    }

    fn spoil(&mut self, why: &DataError) -> bool {
        let wrong = |row: &MooncakeRow| {
            let what =
                message!("a row could not be read ({})", "有一行无法读取（{}）", why.plain());
            (Some(row.session.clone()), DataError::bad(&row.at, what, left_out()))
        };
        self.wrong.extend(self.rows.last().map(wrong));
        true
    }

    fn end_of_file(&mut self, out: &mut TreeSink) {
        let Self { rows, wrong, block } = std::mem::take(self);
        let size = block.unwrap_or_else(|| block_of(&rows));
        let mut groups = grouped(&rows);
        for (session, error) in wrong {
            let lost = groups.iter().position(|group| {
                group.iter().any(|row| Some(&rows[*row].session) == session.as_ref())
            });
            let lost = lost.map(|group| groups.remove(group));
            out.notes.leave_tree(lost.map_or(1, |group| group.len() + 1), &error);
        }
        let places: HashMap<&str, usize> =
            rows.iter().enumerate().map(|(place, row)| (row.id.as_str(), place)).collect();
        let mut trees = Vec::new();
        for group in groups {
            match tree(&rows, &group, &places, size) {
                Ok(tree) => trees.push(tree),
                Err(error) => out.notes.leave_tree(group.len(), &error),
            }
        }
        out.give(trees);
    }
}

fn read(at: &At, row: &Map<String, Value>) -> Result<MooncakeRow, DataError> {
    let record = FieldsAt::of(at, row);
    let either = |one: &str, other: &str| match record.tokens(one)? {
        Some(tokens) => Ok(tokens),
        None => record
            .tokens(other)?
            .ok_or_else(|| record.wrong(one, &message!("it is missing", "缺少该字段"))),
    };
    let time = |names: [&str; 2]| -> Result<Option<Nanos>, DataError> {
        for name in names {
            if let Some(time) = record.time(name, Unit::Milliseconds)? {
                return Ok(Some(time));
            }
        }
        Ok(None)
    };
    let name = id(row.get("request_id")).unwrap_or_else(|| at.to_string());
    let wait_for: Vec<String> =
        array(row, "wait_for").unwrap_or_default().iter().filter_map(|one| id(Some(one))).collect();
    let delay = time(["delay", "delay_ms"])?;
    let tools = record.time("tool_wait_ms", Unit::Milliseconds)?;
    let events = array(row, "tool_events").map_or(0, <[Value]>::len) as u32;
    Ok(MooncakeRow {
        at: at.clone(),
        session: id(row.get("session_id")).unwrap_or_else(|| name.clone()),
        id: name,
        kind: id(row.get("request_kind")),
        sent: time(["timestamp", "created_time"])?,
        turn: TreeTurn {
            input: Some(either("input_length", "input_tokens")?),
            output: Some(either("output_length", "output_tokens")?),
            gap: (!wait_for.is_empty())
                .then(|| delay.unwrap_or(0).saturating_add(tools.unwrap_or(0))),
            ids: record.ids("hash_ids")?.unwrap_or_default(),
            tools: Tools { calls: 0, results: events },
            ..TreeTurn::default()
        },
        wait_for,
    })
}

/// Tokens of a block, with which every prompt has as many ids as it has blocks: the usual one, or the largest that fits.
fn block_of(rows: &[MooncakeRow]) -> u32 {
    let fits = |size: u64| {
        rows.iter().filter(|row| !row.turn.ids.is_empty()).all(|row| {
            row.turn.input.is_some_and(|input| input.div_ceil(size) == row.turn.ids.len() as u64)
        })
    };
    let sizes = [USUAL_BLOCK, 2048, 1024, 256, 128, 64, 32, 16];
    sizes.into_iter().find(|size| fits(*size)).unwrap_or(USUAL_BLOCK) as u32
}

/// Rows that wait for each other or are of one session, in the order of the first of each.
fn grouped(rows: &[MooncakeRow]) -> Vec<Vec<usize>> {
    let names = rows.iter().map(|row| {
        let ids = std::iter::once(&row.id).chain(&row.wait_for).map(|id| (true, id.as_str()));
        ids.chain([(false, row.session.as_str())]).collect()
    });
    let mut grouped: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (one, group) in groups(names).into_iter().enumerate() {
        grouped.entry(group).or_default().push(one);
    }
    grouped.into_values().collect()
}

fn tree(
    rows: &[MooncakeRow],
    group: &[usize],
    places: &HashMap<&str, usize>,
    size: u32,
) -> Result<Tree, DataError> {
    let mut sessions: Vec<TreeSession> = Vec::new();
    let mut of_session: HashMap<&str, usize> = HashMap::new();
    let mut at: HashMap<usize, TurnAt> = HashMap::new();
    let start = group.iter().filter_map(|row| rows[*row].sent).min();
    for row in group {
        let of = &rows[*row];
        let session = *of_session.entry(&of.session).or_insert_with(|| {
            let (name, kind) = (of.session.clone(), of.kind.clone());
            sessions.push(TreeSession { name, kind, ..TreeSession::default() });
            sessions.len() - 1
        });
        let turns = &mut sessions[session].turns;
        at.insert(*row, TurnAt { session, turn: turns.len() });
        let sent = of.sent.map(|sent| sent.saturating_sub(start.unwrap_or(0)));
        turns.push(TreeTurn { sent, ..of.turn.clone() });
    }
    let place = rows[group[0]].at.clone();
    for row in group {
        let of = &rows[*row];
        let own = at[row];
        for id in &of.wait_for {
            let Some(on) = places.get(id.as_str()).and_then(|other| at.get(other)) else {
                let what =
                    message!("the request {id:?} is not in the file", "文件中没有请求 {id:?}");
                return Err(super::fields::wrong(&of.at, "wait_for", &what));
            };
            let why = match (on.session == own.session, own.turn) {
                (true, _) => Why::Session,
                (false, 0) => Why::Spawn,
                (false, _) => Why::Join,
            };
            if why == Why::Spawn {
                sessions[own.session].parent.get_or_insert(on.session);
            }
            sessions[own.session].turns[own.turn].waits.push(Wait { on: *on, why });
        }
    }
    Ok(Tree {
        name: rows[group[0]].session.clone(),
        at: place,
        format: AgenticFormat::Mooncake,
        start,
        prompts: PromptParts::Blocks { size, local: false },
        messages: Vec::new(),
        sessions,
        totals: None,
    })
}
