//! In which order the turns of a tree are sent, what each waits for and for how long: from the beginning of the recording,
//! or from an instant of it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use dyno_model::Nanos;
use dyno_model::tree::PlannedTurn;

use super::TreeStart;
use crate::agentic::tree::{Tree, TreeTurn, TurnAt};

/// All turns of a tree, each after those that it waits for, otherwise by time.
pub(super) struct TurnOrder {
    /// The place of the first turn of each session, where all turns are numbered session by session.
    firsts: Vec<usize>,
    /// All turns in order.
    pub(super) turns: Vec<TurnAt>,
    /// When each was sent and when it ended, by its place; from gaps alone where the file has no times.
    times: Vec<(Nanos, Nanos)>,
}

impl TurnOrder {
    pub(super) fn of(tree: &Tree) -> Self {
        let mut firsts = Vec::with_capacity(tree.sessions.len());
        let mut count = 0;
        for session in &tree.sessions {
            firsts.push(count);
            count += session.turns.len();
        }
        let mut order =
            Self { firsts, turns: Vec::with_capacity(count), times: vec![(0, 0); count] };
        let mut waiting = vec![0_u32; count];
        let mut next: Vec<(usize, usize)> = Vec::new();
        for (at, turn) in tree.all() {
            for wait in turn.waits.iter().filter(|wait| tree.turn(wait.on).is_some()) {
                waiting[order.place(at)] += 1;
                next.push((order.place(wait.on), order.place(at)));
            }
        }
        next.sort_unstable();
        let all: Vec<(TurnAt, &TreeTurn)> = tree.all().collect();
        let mut free = BinaryHeap::new();
        for place in (0..count).filter(|place| waiting[*place] == 0) {
            free.push(Reverse((order.sent(all[place].1), place)));
        }
        while let Some(Reverse((sent, place))) = free.pop() {
            let (at, turn) = all[place];
            order.times[place] = (sent, turn.ended.unwrap_or(sent).max(sent));
            order.turns.push(at);
            let from = next.partition_point(|(before, _)| *before < place);
            for (_, after) in next[from..].iter().take_while(|(before, _)| *before == place) {
                waiting[*after] -= 1;
                if waiting[*after] == 0 {
                    free.push(Reverse((order.sent(all[*after].1), *after)));
                }
            }
        }
        order
    }

    /// The number of a turn where all turns are numbered session by session.
    pub(super) fn place(&self, at: TurnAt) -> usize {
        self.firsts[at.session] + at.turn
    }

    /// The turn with a number.
    pub(super) fn at(&self, place: usize) -> TurnAt {
        let session = self.firsts.partition_point(|first| *first <= place).saturating_sub(1);
        TurnAt { session, turn: place - self.firsts.get(session).copied().unwrap_or(0) }
    }

    /// How many turns there are.
    pub(super) fn len(&self) -> usize {
        self.times.len()
    }

    /// When a turn was sent, once it is known of those that it waits for.
    fn sent(&self, turn: &TreeTurn) -> Nanos {
        turn.sent.unwrap_or_else(|| {
            let ends = turn.waits.iter().filter_map(|wait| {
                let first = self.firsts.get(wait.on.session)?;
                self.times.get(first + wait.on.turn)
            });
            let end = ends.map(|(_, end)| *end).max().unwrap_or(0);
            end.saturating_add(turn.gap.unwrap_or(0))
        })
    }

    fn sent_at(&self, at: TurnAt) -> Nanos {
        self.times[self.place(at)].0
    }
}

/// What of a tree is sent.
pub(super) struct Plan {
    pub(super) turns: Arc<[PlannedTurn]>,
    /// Which turn of the tree each is.
    pub(super) places: Vec<TurnAt>,
}

impl Plan {
    pub(super) fn new(
        tree: &Tree,
        order: &TurnOrder,
        start: TreeStart,
        max_gap: Option<Nanos>,
    ) -> Self {
        let instant = instant(order, start);
        let behind = |at: TurnAt| order.sent_at(at) >= instant;
        let mut making =
            Making { tree, order, max_gap, place: vec![None; order.len()], plan: Vec::new() };
        let warms = match instant {
            0 => Vec::new(),
            _ => warming(tree, order, behind),
        };
        for at in warms.iter().flatten() {
            making.add(*at, Vec::new(), 0, true);
        }
        let began = order.turns.iter().map(|at| order.sent_at(*at)).min().unwrap_or(0);
        for at in order.turns.iter().copied().filter(|at| behind(*at)) {
            let Some(turn) = tree.turn(at) else { continue };
            let mut waits: Vec<u32> = Vec::with_capacity(turn.waits.len());
            for wait in turn.waits.iter().filter(|wait| tree.turn(wait.on).is_some()) {
                waits.extend(making.place[order.place(wait.on)]);
            }
            waits.sort_unstable();
            waits.dedup();
            let all_before = waits.iter().all(|place| making.plan[*place as usize].1.warms);
            let gap = match (all_before, turn.waits.is_empty()) {
                (false, _) => turn.gap.unwrap_or(0),
                (true, _) if instant > 0 => {
                    let own = warms.get(at.session).copied().flatten();
                    if let (Some(own), true) = (own, waits.is_empty()) {
                        waits.extend(making.place[order.place(own)]);
                    }
                    order.sent_at(at) - instant
                }
                (true, true) => turn.gap.unwrap_or_else(|| order.sent_at(at) - began),
                (true, false) => turn.gap.unwrap_or(0),
            };
            making.add(at, waits, gap, false);
        }
        let (places, turns): (Vec<TurnAt>, Vec<PlannedTurn>) = making.plan.into_iter().unzip();
        Self { turns: turns.into(), places }
    }
}

/// The instant from which a tree is sent; 0 where all of it is.
fn instant(order: &TurnOrder, start: TreeStart) -> Nanos {
    let TreeStart::At(share) = start else { return 0 };
    let end = order.times.iter().map(|(_, end)| *end).max().unwrap_or(0);
    let instant = (end as f64 * share.clamp(0.0, 1.0)) as Nanos;
    match order.times.iter().any(|(sent, _)| *sent >= instant) {
        true => instant,
        false => 0,
    }
}

/// The last turn before the instant of each session that has one before and one behind it.
fn warming(tree: &Tree, order: &TurnOrder, behind: impl Fn(TurnAt) -> bool) -> Vec<Option<TurnAt>> {
    let mut last: Vec<Option<TurnAt>> = vec![None; tree.sessions.len()];
    let mut alive = vec![false; tree.sessions.len()];
    for at in &order.turns {
        match behind(*at) {
            true => alive[at.session] = true,
            false => last[at.session] = Some(*at),
        }
    }
    last.into_iter().zip(alive).map(|(last, alive)| last.filter(|_| alive)).collect()
}

/// A plan that is being made.
struct Making<'a> {
    tree: &'a Tree,
    order: &'a TurnOrder,
    max_gap: Option<Nanos>,
    /// Where each turn is in the plan.
    place: Vec<Option<u32>>,
    plan: Vec<(TurnAt, PlannedTurn)>,
}

impl Making<'_> {
    fn add(&mut self, at: TurnAt, waits: Vec<u32>, due: Nanos, warms: bool) {
        let gap = due.min(self.max_gap.unwrap_or(Nanos::MAX));
        let recorded = self.tree.turn(at).and_then(|turn| turn.sent.zip(turn.ended));
        self.place[self.order.place(at)] = u32::try_from(self.plan.len()).ok();
        let number = |place: usize| u32::try_from(place).unwrap_or(u32::MAX);
        self.plan.push((
            at,
            PlannedTurn {
                session: number(at.session),
                number: number(at.turn).saturating_add(1),
                waits,
                gap,
                skipped: due - gap,
                recorded,
                warms,
            },
        ));
    }
}
