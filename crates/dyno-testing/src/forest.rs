//! Trees of sessions put together by hand: tasks with sub-agents and joins, as a replay would record them.

use crate::runs::{failure, level_plan, plan, stream, usage};
use dyno_model::outcome::{FailureClass, Outcome};
use dyno_model::plan::{Load, Plan};
use dyno_model::record::{Phase, RequestRecord, TurnOfSession};
use dyno_model::tree::{Growth, Repeated, TurnOfTree};
use dyno_model::{MS, Nanos, SEC};

/// Numbers that look random, and are the same each time.
struct Dice(u64);

impl Dice {
    fn next(&mut self, most: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most.max(1)
    }
}

/// A request of a tree that waits for nothing and follows nothing: what differs is set by hand.
pub fn of_tree(
    record: RequestRecord,
    tree: u64,
    session: u64,
    number: u32,
    turns: u32,
) -> RequestRecord {
    let turn = TurnOfTree {
        tree,
        turns,
        gap: 0,
        skipped: 0,
        join_wait: None,
        recorded: None,
        growth: None,
        repeated: None,
        warms: false,
    };
    let place = TurnOfSession { session, number };
    RequestRecord { turn: Some(place), tree: Some(Box::new(turn)), ..record }
}

/// One tree while it is made; times in milliseconds.
struct Growing<'a> {
    dice: &'a mut Dice,
    tree: u64,
    slot: u32,
    records: Vec<RequestRecord>,
}

/// What a session has sent and received so far.
#[derive(Default)]
struct Past {
    input: u64,
    output: u64,
    number: u32,
}

impl Growing<'_> {
    /// Sends the next turn of a session, `gap` after `ready`; its end.
    fn turn(
        &mut self,
        session: u64,
        past: &mut Past,
        ready: u64,
        gap: u64,
        join: Option<u64>,
    ) -> u64 {
        let first = past.number == 0;
        let added = if first { 3_000 + self.dice.next(6_000) } else { 200 + self.dice.next(2_500) };
        let cut = !first && self.dice.next(15) == 0;
        let kept = if cut { past.input / 3 } else { past.input + past.output };
        let input = kept + added;
        let output = 60 + self.dice.next(500);
        let cached = if first { 0 } else { kept / 16 * 16 };
        let ttft = 60 + (input - cached) / 12;
        let itl = 8 + self.dice.next(14);
        let due = ready + gap;
        let mut record = stream(0, self.slot, due + 1, ttft, itl, output);
        record.intended = due * MS;
        (record.input, record.requested_input) = (usage(input), Some(input as u32));
        record.cached = Some(cached);
        past.number += 1;
        let mut record = of_tree(record, self.tree, session, past.number, 0);
        let ended = record.end / MS;
        let tree = record.tree.as_mut().unwrap();
        tree.gap = gap * MS;
        tree.skipped = if self.dice.next(9) == 0 { 2 * SEC } else { 0 };
        tree.join_wait = join.map(|wait| wait * MS);
        let took = (record.end - record.sent.unwrap()) * 4 / 5;
        tree.recorded = Some((due * MS, due * MS + took));
        tree.growth = (!first).then_some(if cut { Growth::Cut } else { Growth::Whole });
        let of_prompts = if first { 0 } else { past.input.min(kept) as u32 };
        tree.repeated =
            Some(Repeated { of_prompts, with_responses: if first { 0 } else { kept as u32 } });
        self.records.push(record);
        (past.input, past.output) = (input, output);
        ended
    }

    /// The whole tree: a root that twice starts sub-agents and waits for them.
    fn grow(&mut self, start: u64) {
        let mut root = Past::default();
        let mut now = self.turn(0, &mut root, start, 0, None);
        let mut next = 1;
        for _ in 0..2 {
            for _ in 0..1 + self.dice.next(3) {
                let gap = 200 + self.dice.next(3_500);
                now = self.turn(0, &mut root, now, gap, None);
            }
            let mut ends = vec![now];
            for _ in 0..1 + self.dice.next(3) {
                let mut child = Past::default();
                let mut at = now;
                for _ in 0..2 + self.dice.next(4) {
                    let gap = 80 + self.dice.next(1_200);
                    at = self.turn(next, &mut child, at, gap, None);
                }
                ends.push(at);
                next += 1;
            }
            let (first, last) = (ends[1..].iter().min().unwrap(), ends.iter().max().unwrap());
            let (join, gap) = (last - first, 150 + self.dice.next(900));
            now = self.turn(0, &mut root, *last, gap, Some(join));
        }
        let turns = self.records.len() as u32;
        self.records.iter_mut().for_each(|record| record.tree.as_mut().unwrap().turns = turns);
    }
}

/// The records of a closed loop of `slots` live trees, in the order in which they ended: every seventh tree has a failed
/// request, every eleventh one that is too long, and those that were not over at `stop` (ms) are cut.
pub fn forest(slots: u32, stop: u64) -> Vec<RequestRecord> {
    let mut dice = Dice(7);
    let mut records = Vec::new();
    let mut free: Vec<u64> = (0..slots).map(|slot| u64::from(slot) * 700).collect();
    for tree in 0.. {
        let (slot, start) = free.iter().copied().enumerate().min_by_key(|(_, at)| *at).unwrap();
        if start >= stop {
            break;
        }
        let mut growing = Growing { dice: &mut dice, tree, slot: slot as u32, records: vec![] };
        growing.grow(start);
        let mut grown = growing.records;
        if tree % 7 == 3 {
            end_early(&mut grown, |record| {
                let (sent, end) = (record.sent.unwrap() / MS, record.end / MS);
                let failed =
                    failure(0, slot as u32, sent, end, FailureClass::Http(500), "out of memory");
                let same = (record.intended, record.turn, record.tree.clone());
                (record.outcome, record.intended, record.turn, record.tree) =
                    (failed.outcome, same.0, same.1, same.2);
                (record.output, record.cached, record.first, record.last) =
                    (None, None, None, None);
            });
        } else if tree % 11 == 5 {
            end_early(&mut grown, |record| {
                record.outcome = Outcome::Dropped(Outcome::OVERFLOW.to_owned());
                (record.dispatched, record.sent, record.first, record.last) =
                    (None, None, None, None);
                (record.output, record.input, record.cached) = (None, None, None);
                record.end = record.intended;
            });
        }
        free[slot] = grown.iter().map(|record| record.end / MS).max().unwrap() + 2;
        grown.retain(|record| record.intended < stop * MS);
        for record in &mut grown {
            if record.end > stop * MS {
                cut(record, stop * MS);
            }
        }
        records.extend(grown);
    }
    records.sort_by_key(|record| record.end);
    for (index, record) in (0..).zip(&mut records) {
        record.index = index;
    }
    records
}

/// Changes a request in the middle of a tree, and takes away what would have waited for it.
fn end_early(records: &mut Vec<RequestRecord>, change: impl FnOnce(&mut RequestRecord)) {
    let at = records.len() / 2;
    change(&mut records[at]);
    let end = records[at].end;
    records.retain(|record| record.end <= end || record.intended < end);
}

/// Still in flight when the level ended.
fn cut(record: &mut RequestRecord, at: Nanos) {
    record.outcome = Outcome::Censored;
    record.end = at;
    (record.last, record.output, record.cached) = (None, None, None);
    record.first = record.first.filter(|first| *first < at);
}

/// A plan of so many live trees.
pub fn forest_plan(slots: u32) -> Plan {
    let load = Load::Concurrency { concurrency: slots };
    let mut plan = plan(vec![level_plan(&format!("c={slots}"), load, None)]);
    plan.data.spec = Some("agents.json".to_owned());
    plan
}

/// The same request as part of the warm-up that only fills the cache.
pub fn warming(mut record: RequestRecord) -> RequestRecord {
    record.phase = Phase::Warmup;
    if let Some(tree) = record.tree.as_mut() {
        tree.warms = true;
    }
    record
}
