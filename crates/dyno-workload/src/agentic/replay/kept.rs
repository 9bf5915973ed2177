//! How long the prompts and responses of a tree are, and which beginning each prompt has in common with an earlier one. All
//! of that follows from the recording alone, so that it is the same in every run.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use super::plan::TurnOrder;
use crate::agentic::growth::{kept_tokens, whole_blocks};
use crate::agentic::key::{self, Mixed};
use crate::agentic::tree::{PromptParts, Tree, TreeTurn, TurnAt};

/// The longest prompt and the longest response that are made: more than any model takes.
pub(super) const MOST_TOKENS: u32 = 1 << 24;
/// Characters of a token where text is all that is known.
const CHARACTERS: u64 = 4;

/// What is known of a turn before its text is made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct TurnSize {
    pub(super) input: u32,
    pub(super) output: u32,
    /// The place of an earlier turn with which its prompt begins alike, and for how many tokens.
    pub(super) kept: Option<(usize, u32)>,
}

/// The sizes of all turns, by their places.
pub(super) fn sizes(tree: &Tree, order: &TurnOrder) -> Vec<TurnSize> {
    let (mut sizes, repeated) = lengths(tree);
    let blocks = match tree.prompts {
        PromptParts::Blocks { size, .. } => Some(size),
        _ => None,
    };
    let mut known = KnownPrefixes::default();
    for at in &order.turns {
        let (Some(turn), place) = (tree.turn(*at), order.place(*at)) else { continue };
        let input = sizes[place].input;
        let before = at.turn.checked_sub(1).and_then(|before| {
            let before = TurnAt { turn: before, ..*at };
            let (old, place) = (tree.turn(before)?, order.place(before));
            let most = sizes[place].input.min(input);
            let kept = match repeated[order.place(*at)] {
                Some((kept, all)) => part(sizes[place].input, kept, all),
                None => kept_tokens(old, turn, tree.prompts).unwrap_or(u64::from(most)),
            };
            Some((place, u32::try_from(kept).unwrap_or(most).min(most)))
        });
        let other = blocks.and_then(|size| known.take(place, turn, input, size));
        let best = match (before, other) {
            (Some(before), Some(other)) if other.1 > before.1 => Some(other),
            (before, other) => before.or(other),
        };
        sizes[place].kept = best.filter(|(_, kept)| *kept > 0);
    }
    sizes
}

/// So many tokens as the characters are of all characters.
fn part(tokens: u32, characters: u64, all: u64) -> u64 {
    let part = u128::from(tokens) * u128::from(characters) / u128::from(all.max(1));
    u64::try_from(part).unwrap_or(u64::MAX)
}

/// What of the prompt before it a turn repeats, and all of that: in characters.
type RepeatedPart = Option<(u64, u64)>;

/// The lengths of all turns, as recorded, else as its ids or the characters of its messages say; and what of the prompt
/// before each is in its messages, where messages are whole prompts.
fn lengths(tree: &Tree) -> (Vec<TurnSize>, Vec<RepeatedPart>) {
    let whole = matches!(tree.prompts, PromptParts::Messages { whole: true });
    let characters = |places: &[u32]| -> u64 {
        let said = places.iter().filter_map(|place| tree.messages.get(*place as usize));
        said.flat_map(|said| &said.parts).map(|(_, characters)| u64::from(*characters)).sum()
    };
    let mut sizes = Vec::with_capacity(tree.turns());
    let mut repeated = Vec::with_capacity(tree.turns());
    for session in &tree.sessions {
        // Characters up to the end of each message of the history.
        let (mut history, mut before): (Vec<u64>, Option<u64>) = (Vec::new(), None);
        for turn in &session.turns {
            history.truncate(turn.kept as usize);
            let kept = history.last().copied().unwrap_or(0);
            let all = before.filter(|all| whole && *all > 0);
            repeated.push(all.map(|all| (kept.min(all), all)));
            let mut add = |places: &[u32]| {
                for place in places {
                    let so_far = history.last().copied().unwrap_or(0);
                    history.push(so_far.saturating_add(characters(&[*place])));
                }
                history.last().copied().unwrap_or(0)
            };
            let asked = add(&turn.added);
            before = Some(asked);
            let answered = add(&turn.response) - asked;
            let of_ids = || match tree.prompts {
                PromptParts::Blocks { size, .. } if !turn.ids.is_empty() => {
                    (turn.ids.len() as u64).saturating_mul(u64::from(size))
                }
                _ => asked.div_ceil(CHARACTERS),
            };
            sizes.push(TurnSize {
                input: tokens(turn.input.unwrap_or_else(of_ids)),
                output: tokens(turn.output.unwrap_or(answered.div_ceil(CHARACTERS))),
                kept: None,
            });
        }
    }
    (sizes, repeated)
}

fn tokens(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX).clamp(1, MOST_TOKENS)
}

/// Beginnings of prompts by the keys of their blocks.
#[derive(Default)]
struct KnownPrefixes(HashMap<u64, KnownPrefix, BuildHasherDefault<Mixed>>);

struct KnownPrefix {
    /// The first turn that has it.
    first: usize,
    /// The longest turn that has no whole block behind it, and its input.
    ends: Option<(usize, u32)>,
}

impl KnownPrefixes {
    /// The turn with the longest common beginning, in tokens; the turn is known from then on.
    fn take(
        &mut self,
        place: usize,
        turn: &TreeTurn,
        input: u32,
        size: u32,
    ) -> Option<(usize, u32)> {
        let ids = &turn.ids[..whole_blocks(turn, size)];
        let (mut key, mut looking, mut best) = (key::NOTHING, true, None);
        for (number, id) in ids.iter().enumerate() {
            key = key::after(key, *id);
            let known = self.0.get(&key).filter(|_| looking);
            looking = known.is_some();
            if let Some(known) = known {
                let blocks = (number as u64 + 1).saturating_mul(u64::from(size));
                let whole = known.ends.map(|(turn, whole)| (turn, whole.min(input)));
                best = whole.or(Some((known.first, tokens(blocks).min(input))));
            }
            self.0.entry(key).or_insert(KnownPrefix { first: place, ends: None });
        }
        let last = self.0.get_mut(&key).filter(|_| !ids.is_empty());
        if let Some(last) = last
            && last.ends.is_none_or(|(_, longest)| longest < input)
        {
            last.ends = Some((place, input));
        }
        best
    }
}
