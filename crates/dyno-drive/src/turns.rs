//! Turns in progress, of conversations and of trees of sessions: which of them wait for responses, and when the others
//! are due. A turn is due its gap after the latest end among what it waits for. A turn that fails takes along
//! everything that waits for it.

use crate::transport::Ended;
use crate::work::{TurnRequest, Turns};
use dyno_model::Nanos;
use dyno_model::record::TurnOfSession;
use dyno_model::tree::{PlannedTurn, TurnOfTree};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// A turn that waits for nothing but its time or for a slot. Turns due at the same time go in the order of their
/// arrivals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct DueTurn {
    /// When it is to be sent.
    pub(crate) at: Nanos,
    /// The arrival that it is of.
    arrival: u64,
    /// Its place among the turns of that.
    turn: u32,
    /// How much earlier than [`at`](Self::at) it may have been due.
    pub(crate) slack: Nanos,
    pub(crate) slot: u32,
    /// By how much idle time made it earlier than its gap says.
    skipped: Nanos,
}

/// The place of a request among turns.
#[derive(Debug)]
pub(crate) struct PlaceOfTurn {
    pub(crate) turn: TurnOfSession,
    pub(crate) tree: Option<Box<TurnOfTree>>,
}

/// What a turn still waits for.
#[derive(Debug, Clone, Copy, Default)]
struct Awaited {
    left: usize,
    /// The last end so far.
    last: Nanos,
    /// How many of other sessions have ended, and the first and the last end of these.
    others: u32,
    of_others: (Nanos, Nanos),
    slack: Nanos,
    /// What it waits for has failed.
    cancelled: bool,
}

/// The turns of an arrival.
struct Progress<B> {
    turns: Turns<B>,
    slot: u32,
    awaited: Vec<Awaited>,
    /// Which turn waits for which: pairs of an earlier turn and a later one, in order.
    followers: Vec<(u32, u32)>,
    /// How many are in flight or due.
    open: usize,
    /// No more are sent.
    closed: bool,
}

/// The turns of a level; empty where requests are independent.
pub(crate) struct OpenTurns<B> {
    open: HashMap<u64, Progress<B>>,
    /// The arrival and the turn of each request that is in flight.
    answering: HashMap<u64, (u64, u32)>,
    due: BinaryHeap<Reverse<DueTurn>>,
    /// How many turns that only warm the cache have not ended.
    warming: usize,
    /// Turns for which these were the last that they waited for, with their gaps as their times. They go on together, as
    /// if all trees had been at work before: none of them queues behind the warm-up of another.
    held: Vec<DueTurn>,
}

impl<B> Default for OpenTurns<B> {
    fn default() -> Self {
        Self {
            open: HashMap::new(),
            answering: HashMap::new(),
            due: BinaryHeap::new(),
            warming: 0,
            held: Vec::new(),
        }
    }
}

impl<B> OpenTurns<B> {
    /// An arrival of this number begins.
    pub(crate) fn begin(
        &mut self,
        arrival: u64,
        slot: u32,
        (start, slack): (Nanos, Nanos),
        turns: Turns<B>,
    ) {
        let awaits = |turn: &PlannedTurn| Awaited { left: turn.waits.len(), ..Awaited::default() };
        let awaited: Vec<Awaited> = turns.planned.iter().map(awaits).collect();
        let firsts = (0_u32..).zip(turns.planned.iter()).filter(|(_, turn)| turn.waits.is_empty());
        let warming = turns.planned.iter().filter(|turn| turn.warms).count();
        let is_held = |turn: u32| warming > 0 && !turns.planned[turn as usize].warms;
        let (held, firsts): (Vec<DueTurn>, Vec<DueTurn>) = firsts
            .map(|(turn, planned)| {
                let at = if is_held(turn) { 0 } else { start };
                let at = at.saturating_add(planned.gap);
                DueTurn { at, arrival, turn, slack, slot, skipped: 0 }
            })
            .partition(|first| is_held(first.turn));
        let mut followers: Vec<(u32, u32)> = Vec::with_capacity(turns.planned.len());
        for (next, planned) in (0_u32..).zip(turns.planned.iter()) {
            followers.extend(planned.waits.iter().map(|on| (*on, next)));
        }
        followers.sort_unstable();
        let open = firsts.len() + held.len();
        self.warming += warming;
        self.held.extend(held);
        self.due.extend(firsts.into_iter().map(Reverse));
        let progress = Progress { turns, slot, awaited, followers, open, closed: false };
        self.open.insert(arrival, progress);
    }

    /// When the next turn is to be sent.
    pub(crate) fn next_due(&self) -> Option<Nanos> {
        self.due.peek().map(|Reverse(first)| first.at)
    }

    /// A turn that is due.
    pub(crate) fn due(&mut self, now: Nanos) -> Option<DueTurn> {
        if self.next_due()? > now {
            return None;
        }
        self.due.pop().map(|Reverse(first)| first)
    }

    /// The request of a turn that is due; none where it cannot be made.
    pub(crate) fn take(&mut self, due: &DueTurn) -> Option<TurnRequest<B>> {
        self.open.get_mut(&due.arrival)?.turns.requests.take(due.turn)
    }

    /// Where a turn that is due belongs, and whether it only warms the server's cache.
    pub(crate) fn place(
        &self,
        due: &DueTurn,
        request: Option<&TurnRequest<B>>,
    ) -> Option<PlaceOfTurn> {
        let progress = self.open.get(&due.arrival)?;
        let all = &progress.turns.planned;
        let planned = all.get(due.turn as usize)?;
        if !progress.turns.is_tree {
            let turn = TurnOfSession { session: due.arrival, number: planned.number };
            return Some(PlaceOfTurn { turn, tree: None });
        }
        let awaited = progress.awaited.get(due.turn as usize).copied().unwrap_or_default();
        let (first, last) = awaited.of_others;
        let tree = TurnOfTree {
            tree: due.arrival,
            turns: u32::try_from(all.len()).unwrap_or(u32::MAX),
            gap: planned.gap.saturating_sub(due.skipped),
            skipped: planned.skipped.saturating_add(due.skipped),
            join_wait: (awaited.others > 1).then(|| last - first),
            recorded: planned.recorded,
            growth: request.and_then(|request| request.growth),
            repeated: request.and_then(|request| request.repeated),
            warms: planned.warms,
        };
        let turn = TurnOfSession { session: planned.session.into(), number: planned.number };
        Some(PlaceOfTurn { turn, tree: Some(Box::new(tree)) })
    }

    /// A turn goes out as the request of this index.
    pub(crate) fn sent(&mut self, index: u64, due: &DueTurn) {
        self.answering.insert(index, (due.arrival, due.turn));
        if let Some(progress) = self.open.get_mut(&due.arrival) {
            progress.turns.requests.sent(due.turn);
        }
    }

    /// A request has ended; returns whether its arrival continues, by this request or another.
    pub(crate) fn ended(&mut self, ended: &Ended) -> bool {
        if self.answering.is_empty() {
            return false;
        }
        let record = &ended.record;
        let Some((arrival, turn)) = self.answering.remove(&record.index) else { return false };
        let Some(progress) = self.open.get_mut(&arrival) else { return false };
        progress.open -= 1;
        let warms = progress.turns.planned[turn as usize].warms;
        if record.is_completed() {
            progress.turns.requests.answered(turn, ended.answer.as_deref().unwrap_or_default());
            let slack = record.widths.map_or(0, |widths| widths.end);
            for next in progress.follow(turn, record.end, slack) {
                let planned = &progress.turns.planned[next as usize];
                let Awaited { last, slack, .. } = progress.awaited[next as usize];
                let at = if warms { 0 } else { last }.saturating_add(planned.gap);
                let slot = progress.slot;
                let next = DueTurn { at, arrival, turn: next, slack, slot, skipped: 0 };
                match warms {
                    true => self.held.push(next),
                    false => self.due.push(Reverse(next)),
                }
                progress.open += 1;
            }
        } else {
            progress.cancel_behind(turn);
        }
        self.warmed(usize::from(warms), record.end);
        self.is_open(arrival)
    }

    /// So many turns that warm the cache have ended, or are not sent. After the last one, what they held goes on.
    fn warmed(&mut self, count: usize, now: Nanos) {
        self.warming = self.warming.saturating_sub(count);
        if count > 0 && self.warming == 0 {
            let held = self.held.drain(..);
            self.due.extend(
                held.map(|turn| Reverse(DueTurn { at: now.saturating_add(turn.at), ..turn })),
            );
        }
    }

    /// The tree of a turn that was due ends there. Returns whether requests of it are still in flight.
    pub(crate) fn end_tree(&mut self, due: &DueTurn) -> bool {
        let Some(progress) = self.open.get_mut(&due.arrival) else { return false };
        progress.closed = true;
        let planned = &progress.turns.planned;
        let warms = |turn: &DueTurn| planned[turn.turn as usize].warms;
        let mut warming = usize::from(warms(due));
        let waiting = self.due.len() + self.held.len();
        self.held.retain(|other| other.arrival != due.arrival);
        self.due.retain(|Reverse(other)| {
            let ends = other.arrival == due.arrival;
            warming += usize::from(ends && warms(other));
            !ends
        });
        progress.open -= 1 + waiting - self.due.len() - self.held.len();
        self.warmed(warming, due.at);
        self.is_open(due.arrival)
    }

    /// Whether anything of an arrival is in flight or due; otherwise it is forgotten.
    fn is_open(&mut self, arrival: u64) -> bool {
        let goes_on = self.open.get(&arrival).is_some_and(|progress| progress.open > 0);
        if !goes_on {
            self.open.remove(&arrival);
        }
        goes_on
    }

    /// Makes the next turn due at `at` instead of later, and all others earlier by as much. Returns by how much.
    pub(crate) fn hasten(&mut self, at: Nanos) -> Nanos {
        let by = self.next_due().map_or(0, |due| due.saturating_sub(at));
        if by > 0 {
            let all = std::mem::take(&mut self.due);
            self.due = all
                .into_iter()
                .map(|Reverse(due)| {
                    let skipped = due.skipped + by;
                    Reverse(DueTurn { at: due.at.saturating_sub(by), skipped, ..due })
                })
                .collect();
        }
        by
    }

    /// Sending has stopped: nothing continues.
    pub(crate) fn break_off(&mut self) {
        self.answering.clear();
        self.open.clear();
        self.due.clear();
        self.held.clear();
        self.warming = 0;
    }

    /// No turn is waiting for its time.
    pub(crate) fn nobody_waits(&self) -> bool {
        self.due.is_empty() && self.held.is_empty()
    }
}

impl<B> Progress<B> {
    /// The turns that wait for `turn`.
    fn behind(&self, turn: u32) -> std::ops::Range<usize> {
        let from = self.followers.partition_point(|(on, _)| *on < turn);
        let to = self.followers.partition_point(|(on, _)| *on <= turn);
        from..to
    }

    /// The turns for which the end of `turn` was the last one that they waited for.
    fn follow(&mut self, turn: u32, end: Nanos, slack: Nanos) -> Vec<u32> {
        let mut ready = Vec::new();
        let planned = &self.turns.planned;
        for at in self.behind(turn).filter(|_| !self.closed) {
            let next = self.followers[at].1;
            let awaited = &mut self.awaited[next as usize];
            awaited.left = awaited.left.saturating_sub(1);
            if end >= awaited.last {
                (awaited.last, awaited.slack) = (end, slack);
            }
            if planned[next as usize].session != planned[turn as usize].session {
                let (first, last) = awaited.of_others;
                awaited.of_others = match awaited.others {
                    0 => (end, end),
                    _ => (first.min(end), last.max(end)),
                };
                awaited.others += 1;
            }
            if awaited.left == 0 && !awaited.cancelled {
                ready.push(next);
            }
        }
        ready
    }

    /// Nothing that waits for `turn` is sent any more, nor what waits for that.
    fn cancel_behind(&mut self, turn: u32) {
        let mut gone = vec![turn];
        while let Some(turn) = gone.pop() {
            for at in self.behind(turn) {
                let next = self.followers[at].1;
                if !std::mem::replace(&mut self.awaited[next as usize].cancelled, true) {
                    gone.push(next);
                }
            }
        }
    }
}
