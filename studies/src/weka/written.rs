//! A tree as a trace in WEKA's form. Its times are made anew: requests are sent at whole seconds, and a sub-agent has the
//! time of its end, or of its start if nothing waits for it.

use std::collections::HashMap;

use dyno_model::SEC;
use dyno_workload::agentic::{Tree, TreeSession, TreeTurn, Why};
use serde_json::{Map, Value, json};

use super::rough::{
    BLOCK_SHORT, EARLY, EMPTY, Roughness, STREAMED, WITHOUT_API_TIME, WITHOUT_THINK_TIME,
};

const MODELS: [&str; 2] = ["model-large", "model-small"];
/// A request after sub-agents follows their end by at least so many seconds.
const AFTER_JOIN: f64 = 4.0;

/// Input and output tokens.
#[derive(Default, Clone, Copy)]
struct Sums(u64, u64);

/// Writes a tree.
pub(super) fn trace(name: &str, tree: &Tree, rough: &mut Roughness) -> Value {
    let root = &tree.sessions[0];
    let (tools, system) = root.head.unwrap_or_default();
    let mut writing = Writing { rough, unused: u64::MAX >> 16, parent: Sums::default() };
    let mut requests = Vec::new();
    let mut below = Sums::default();
    let (mut clock, mut awaited) = (Clock::default(), None);
    let mut renamed = HashMap::new();
    for (number, turn) in root.turns.iter().enumerate() {
        let request =
            writing.request(root, number, turn, (&mut clock, awaited.take()), &mut renamed);
        requests.push(request);
        for (place, session) in tree.sessions.iter().enumerate() {
            let starts = session.turns.first().and_then(|first| first.waits.first());
            if starts.is_none_or(|wait| wait.why != Why::Spawn || wait.on.turn != number) {
                continue;
            }
            let last = session.turns.len() - 1;
            let joined = tree.all().any(|(_, turn)| {
                turn.waits.iter().any(|wait| (wait.on.session, wait.on.turn) == (place, last))
                    && turn.waits.iter().any(|wait| wait.why == Why::Join)
            });
            let start = clock.ended + writing.rough.between(0.09, 1.05);
            let (entry, ended, sums) = writing.subagent(place, session, (start, joined));
            requests.push(entry);
            (below.0, below.1) = (below.0 + sums.0, below.1 + sums.1);
            awaited = joined.then(|| awaited.unwrap_or(0.0_f64).max(ended)).or(awaited);
        }
    }
    let parent = writing.parent;
    let tokens = |of: Sums| json!({ "input": of.0, "output": of.1 });
    json!({
        "id": name, "models": MODELS, "block_size": 64, "hash_id_scope": "local",
        "tool_tokens": tools, "system_tokens": system, "requests": requests,
        "totals": {
            "parent_tokens": tokens(parent), "subagent_tokens": tokens(below),
            "combined_tokens": tokens(Sums(parent.0 + below.0, parent.1 + below.1)),
            "subagent_count": tree.sessions.len() - 1,
        },
    })
}

/// The time within a session, in seconds.
#[derive(Default)]
struct Clock {
    ended: f64,
}

struct Writing<'a> {
    rough: &'a mut Roughness,
    /// Ids from here down are in no tree.
    unused: u64,
    parent: Sums,
}

impl Writing<'_> {
    /// A request, which is sent at a whole second.
    fn request(
        &mut self,
        of: &TreeSession,
        number: usize,
        turn: &TreeTurn,
        (clock, awaited): (&mut Clock, Option<f64>),
        renamed: &mut HashMap<u64, u64>,
    ) -> Value {
        let gap = turn.gap.map_or(0.0, |gap| (gap as f64 / SEC as f64).round());
        let sent = match (number, awaited) {
            (0, _) => 0.0,
            (_, Some(ended)) => (ended + gap.max(AFTER_JOIN)).ceil(),
            (_, None) if self.rough.happens(EARLY) => clock.ended.floor(),
            (_, None) => (clock.ended + gap).ceil(),
        };
        let output = if self.rough.happens(EMPTY) { 0 } else { turn.output.unwrap_or(0) };
        let took = ((2.0 + 0.02 * output as f64) * 100.0).round() / 100.0;
        // A marker in the last whole block moves, and later prompts repeat the block as it is then.
        if let Some(before) = number.checked_sub(1).map(|before| &of.turns[before].ids)
            && self.rough.happens(BLOCK_SHORT)
            && turn.ids.starts_with(before)
            && let Some(last) = before.last()
        {
            self.unused -= 1;
            renamed.insert(*last, self.unused);
        }
        let ids: Vec<u64> = turn.ids.iter().map(|id| *renamed.get(id).unwrap_or(id)).collect();
        let calls = turn.tools.calls > 0;
        let mut request = Map::new();
        let mut put = |name: &str, value: Value| request.insert(name.to_owned(), value);
        let streamed = self.rough.happens(STREAMED);
        put("t", json!(sent));
        put("type", json!(if streamed { "s" } else { "n" }));
        put("model", json!(MODELS[usize::from(of.parent.is_some())]));
        put("in", json!(turn.input));
        put("out", json!(output));
        put("hash_ids", json!(ids));
        put("input_types", json!([if turn.tools.results > 0 { "tool_result" } else { "text" }]));
        put("output_types", if calls { json!(["text", "tool_use"]) } else { json!(["text"]) });
        put("stop", json!(if calls { "tool_use" } else { "end_turn" }));
        if !self.rough.happens(WITHOUT_API_TIME) {
            put("api_time", json!(took));
            if streamed {
                put("ttft", json!(2.0));
            }
        }
        if !self.rough.happens(WITHOUT_THINK_TIME) {
            let thought = if number == 0 { 0.0 } else { (sent - clock.ended).max(0.0).round() };
            put("think_time", json!(thought));
        }
        clock.ended = sent + took;
        if of.parent.is_none() {
            self.parent.0 += turn.input.unwrap_or(0);
            self.parent.1 += output;
        }
        Value::Object(request)
    }

    /// A sub-agent that starts at a time; gives when it ends.
    fn subagent(
        &mut self,
        place: usize,
        session: &TreeSession,
        (start, joined): (f64, bool),
    ) -> (Value, f64, Sums) {
        let (mut clock, mut renamed, mut sums) =
            (Clock::default(), HashMap::new(), Sums::default());
        let mut requests = Vec::new();
        for (number, turn) in session.turns.iter().enumerate() {
            let request = self.request(session, number, turn, (&mut clock, None), &mut renamed);
            sums.0 += request["in"].as_u64().unwrap_or(0);
            sums.1 += request["out"].as_u64().unwrap_or(0);
            requests.push(request);
        }
        let milliseconds = (1e3 * clock.ended).round();
        let ended = ((start + clock.ended) * 1e3).round() / 1e3;
        let (tools, system) = session.head.unwrap_or_default();
        let calls: u32 = session.turns.iter().map(|turn| turn.tools.calls).sum();
        let entry = json!({
            "t": if joined { ended } else { (start * 1e3).round() / 1e3 },
            "type": "subagent", "agent_id": format!("agent_{place:03}"), "subagent_type": "Explore",
            "duration_ms": joined.then_some(milliseconds as u64),
            "status": if joined { "completed" } else { "async_launched" },
            "total_tokens": sums.0 + sums.1, "tool_use_count": calls, "models": [MODELS[1]],
            "tool_tokens": tools, "system_tokens": system, "requests": requests, "hash_ids": [],
        });
        (entry, ended, sums)
    }
}
