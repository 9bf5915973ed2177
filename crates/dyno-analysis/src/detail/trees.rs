//! The first trees of a level, request by request. Which ones they are does not depend on the order of the records.

use super::bars::Bar;
use dyno_model::record::RequestRecord;
use std::collections::{BTreeMap, BTreeSet};

/// The most trees of a level, and the most requests of each.
const TREES: usize = 12;
const TURNS: usize = 200;

/// Trees of a level, from the first that began in it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TreeBars {
    /// Number of trees in the level.
    pub of: u64,
    /// The first ones.
    pub kept: Vec<TreeBar>,
}

/// One tree.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TreeBar {
    /// Its index in the level.
    pub tree: u64,
    /// Requests of the whole tree, as planned.
    pub turns: u32,
    /// Requests that have a record.
    pub records: u64,
    /// By their place in the tree, requests in the order in which they were due: those that were due first, where there
    /// are more than can be shown.
    pub sessions: BTreeMap<u64, Vec<TurnBar>>,
}

/// One request of a tree.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnBar {
    /// The request.
    pub bar: Bar,
    /// Its number in its session.
    pub number: u32,
    /// When all that it waits for had ended, in seconds from the start of the level.
    pub ready_s: f64,
    /// It waited for several sessions.
    pub joins: bool,
    /// It only warmed the cache.
    pub warms: bool,
    /// It was not sent because it is longer than the server's context.
    pub too_long: bool,
}

/// Trees while records are read.
#[derive(Debug, Default)]
pub(super) struct Trees {
    seen: BTreeSet<u64>,
    kept: BTreeMap<u64, Growing>,
}

#[derive(Debug, Default)]
struct Growing {
    turns: u32,
    records: u64,
    bars: Vec<(u64, TurnBar)>,
}

impl Growing {
    /// Keeps those that were due first.
    fn shorten(&mut self) {
        let order = |a: &TurnBar, b: &TurnBar| {
            a.bar.due_s.total_cmp(&b.bar.due_s).then(a.bar.index.cmp(&b.bar.index))
        };
        self.bars.sort_by(|(_, a), (_, b)| order(a, b));
        self.bars.truncate(TURNS);
    }
}

impl Trees {
    pub(super) fn add(&mut self, record: &RequestRecord, started: u64) {
        let (Some(tree), Some(place)) = (record.tree.as_deref(), record.turn) else { return };
        self.seen.insert(tree.tree);
        let last = self.kept.last_key_value().map(|(last, _)| *last);
        let full = self.kept.len() >= TREES;
        if full && last.is_some_and(|last| tree.tree > last) {
            return;
        }
        let one = self.kept.entry(tree.tree).or_default();
        one.turns = one.turns.max(tree.turns);
        one.records += 1;
        let bar = Bar::of(record, started);
        let turn = TurnBar {
            ready_s: bar.due_s - tree.gap as f64 / 1e9,
            bar,
            number: place.number,
            joins: tree.join_wait.is_some(),
            warms: tree.warms,
            too_long: record.outcome.is_overflow(),
        };
        one.bars.push((place.session, turn));
        if one.bars.len() >= 2 * TURNS {
            one.shorten();
        }
        if self.kept.len() > TREES {
            self.kept.pop_last();
        }
    }

    pub(super) fn finish(self) -> TreeBars {
        let finish = |(tree, mut one): (u64, Growing)| {
            one.shorten();
            let mut sessions: BTreeMap<u64, Vec<TurnBar>> = BTreeMap::new();
            for (session, turn) in one.bars {
                sessions.entry(session).or_default().push(turn);
            }
            TreeBar { tree, turns: one.turns, records: one.records, sessions }
        };
        TreeBars { of: self.seen.len() as u64, kept: self.kept.into_iter().map(finish).collect() }
    }
}
