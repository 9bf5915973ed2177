//! What share of the input a cache could hold that forgets nothing: whole blocks, or whole messages, in the longest
//! prefix that was seen before, in the order in which requests were sent. Once with prompts alone, and once with the
//! responses that later prompts repeat.

use dyno_model::Nanos;

use super::growth::{common, whole_blocks};
use super::key::{self, Keys};
use super::tree::{PromptParts, Tree, TreeTurn, TurnAt};

/// How many prefixes are held at a time.
const MOST: usize = 200_000_000;

/// Input, and the part of it that was seen before.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct PrefixShares {
    /// In tokens, or characters where there are no token counts.
    pub(super) input: u64,
    pub(super) seen: u64,
    pub(super) with_responses: u64,
    /// Whether some request does not show what its prompt shares.
    pub(super) unknown: bool,
    /// Whether it is in characters.
    pub(super) characters: bool,
}

/// The shares of trees that share a clock and ids.
pub(super) fn shares(batch: &[Tree]) -> PrefixShares {
    let mut shares = PrefixShares::default();
    let own = |tree: &Tree| matches!(tree.prompts, PromptParts::Blocks { local: true, .. });
    let mut seen = SeenPrefixes::default();
    let mut together: Vec<&Tree> = Vec::new();
    for tree in batch {
        match own(tree) {
            true => SeenPrefixes::default().take(&[tree], &mut shares),
            false => together.push(tree),
        }
    }
    seen.take(&together, &mut shares);
    shares
}

/// Prefixes that were seen.
#[derive(Default)]
struct SeenPrefixes {
    prompts: Keys,
    /// Those of prompts and responses, where they are messages.
    all: Keys,
}

/// The history of a session as keys of its beginnings.
#[derive(Default)]
struct History {
    /// After each part: the key of everything up to it, and its characters.
    parts: Vec<(u64, u64)>,
    /// Where each message ends in `parts`.
    ends: Vec<usize>,
    /// How many of the parts are known as those of prompts.
    known: usize,
}

impl SeenPrefixes {
    fn take(&mut self, trees: &[&Tree], shares: &mut PrefixShares) {
        let mut order: Vec<(Nanos, usize, TurnAt)> = Vec::new();
        for (number, tree) in trees.iter().enumerate() {
            let start = tree.start.unwrap_or(0);
            for (session, of) in tree.sessions.iter().enumerate() {
                let mut last = 0;
                for (turn, one) in of.turns.iter().enumerate() {
                    last = one.sent.unwrap_or(last).max(last);
                    order.push((start.saturating_add(last), number, TurnAt { session, turn }));
                }
            }
        }
        order.sort_by_key(|(time, ..)| *time);
        let mut histories: Vec<Vec<History>> = trees
            .iter()
            .map(|tree| tree.sessions.iter().map(|_| History::default()).collect())
            .collect();
        for (_, number, at) in order {
            let tree = trees[number];
            let turns = &tree.sessions[at.session].turns;
            let before = at.turn.checked_sub(1).map(|before| &turns[before]);
            let turn = &turns[at.turn];
            match tree.prompts {
                PromptParts::Blocks { size, .. } => self.blocks(before, turn, size, shares),
                PromptParts::Messages { whole: true } => {
                    self.messages(tree, turn, &mut histories[number][at.session], shares);
                }
                _ => shares.unknown = true,
            }
            shares.unknown |= self.prompts.len() + self.all.len() > MOST;
        }
    }

    fn blocks(
        &mut self,
        before: Option<&TreeTurn>,
        turn: &TreeTurn,
        size: u32,
        shares: &mut PrefixShares,
    ) {
        let input = turn.input.unwrap_or(0);
        let whole = whole_blocks(turn, size);
        shares.unknown |= (whole as u64) < input / u64::from(size.max(1));
        let ids = &turn.ids[..whole];
        let old = before.map(|before| (&before.ids[..whole_blocks(before, size)], before));
        let kept = old.map_or(0, |(old, _)| common(old, ids));
        let mut before = key::NOTHING;
        let (mut found, mut looking) = (kept, true);
        for (number, id) in ids.iter().enumerate() {
            before = key::after(before, *id);
            if number < kept {
                continue;
            }
            looking &= !self.prompts.insert(before);
            found += usize::from(looking);
        }
        let seen = found as u64 * u64::from(size);
        let answered = old.filter(|(old, _)| kept == old.len()).map_or(0, |(_, before)| {
            let held = before.input.unwrap_or(0).saturating_add(before.output.unwrap_or(0));
            held.min(input)
        });
        shares.input += input;
        shares.seen += seen;
        shares.with_responses += seen.max(answered);
    }

    fn messages(
        &mut self,
        tree: &Tree,
        turn: &TreeTurn,
        history: &mut History,
        shares: &mut PrefixShares,
    ) {
        history.cut(turn.kept as usize);
        let kept = history.parts.len();
        history.extend(tree, &turn.added);
        let parts = &history.parts;
        let longest = |keys: &Keys, from: usize| {
            let found = parts.iter().rposition(|(key, _)| keys.contains(key));
            found.filter(|found| *found + 1 >= from).map_or(0, |found| parts[found].1)
        };
        let seen = longest(&self.prompts, 0);
        shares.characters = true;
        shares.input += parts.last().map_or(0, |(_, chars)| *chars);
        shares.seen += seen;
        shares.with_responses += longest(&self.all, 0).max(seen);
        for (key, _) in &parts[history.known.min(kept)..] {
            self.prompts.insert(*key);
        }
        self.all.extend(parts[history.known.min(kept)..].iter().map(|(key, _)| *key));
        let asked = parts.len();
        history.extend(tree, &turn.response);
        self.all.extend(history.parts[asked..].iter().map(|(key, _)| *key));
        history.known = asked;
    }
}

impl History {
    /// Keeps the first messages.
    fn cut(&mut self, messages: usize) {
        self.ends.truncate(messages);
        self.parts.truncate(self.ends.last().copied().unwrap_or(0));
        self.known = self.known.min(self.parts.len());
    }

    fn extend(&mut self, tree: &Tree, places: &[u32]) {
        for said in places.iter().filter_map(|place| tree.messages.get(*place as usize)) {
            for (part, chars) in &said.parts {
                let (before, so_far) = self.parts.last().copied().unwrap_or((key::NOTHING, 0));
                self.parts.push((key::after(before, *part), so_far + u64::from(*chars)));
            }
            self.ends.push(self.parts.len());
        }
    }
}
